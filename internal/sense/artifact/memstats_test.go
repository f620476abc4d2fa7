package artifact

import (
	"reflect"
	"runtime"
	"runtime/metrics"
	"testing"
)

// Each metric exists, and so does each field.
func TestMemMetrics(t *testing.T) {
	known := map[string]bool{}
	for _, d := range metrics.All() {
		known[d.Name] = true
	}
	stats := reflect.TypeFor[runtime.MemStats]()
	for _, m := range MemMetrics {
		if !known[m.Name] {
			t.Errorf("runtime/metrics has no %s", m.Name)
		}
		for _, field := range []string{m.Plus, m.Minus} {
			if _, ok := stats.FieldByName(field); field != "" && (!ok || !MemField(field)) {
				t.Errorf("%s: runtime.MemStats has no %s, or MemField does not know it", m.Name, field)
			}
		}
	}
	if MemField("") || MemField("PauseNs") {
		t.Error("MemField knows what no metric needs")
	}
}

func TestMemMetricOf(t *testing.T) {
	idle := MemMetric{"/memory/classes/heap/free:bytes", "HeapIdle", "HeapReleased"}
	for _, c := range []struct {
		fields map[string]float64
		value  float64
		ok     bool
	}{
		{map[string]float64{"HeapIdle": 30, "HeapReleased": 10}, 20, true},
		{map[string]float64{"HeapIdle": 10, "HeapReleased": 30}, 0, true},
		{map[string]float64{"HeapIdle": 30}, 30, false},
		{nil, 0, false},
	} {
		if v, ok := idle.Value(c.fields); v != c.value || ok != c.ok {
			t.Errorf("Of(%v) = %v, %v; want %v, %v", c.fields, v, ok, c.value, c.ok)
		}
	}
}
