package memory

import (
	"slices"
	"testing"
	"time"

	"github.com/gowhy/gowhy/internal/judge/diagnosis"
	"github.com/gowhy/gowhy/internal/know/fact"
	"github.com/gowhy/gowhy/internal/know/model"
)

func passOf(m *model.Model) *diagnosis.Pass { return &diagnosis.Pass{Meter: fact.Meter{Model: m}} }

// Metrics say best what collections found alive, then gctrace, then the samples of a trace.
func TestLiveHeap(t *testing.T) {
	s := time.Second
	metrics := &model.Metrics{Series: map[string]model.Series{MetricLive: {{At: 0}, {At: s, Value: 5}, {At: 2 * s, Value: 5}, {At: 3 * s, Value: 4}}}}
	lines := []model.GCLine{{At: s, Live: 7}, {At: 2 * s, Live: 9}}
	trace := &model.GC{Cycles: []model.Cycle{{Begin: s}}, Heap: []model.HeapSample{{At: 2 * s, Alloc: 3}, {At: 3 * s, Alloc: 8}}}
	for _, c := range []struct {
		what   string
		m      model.Model
		source model.Source
		values []float64
		most   float64
	}{
		{"nothing", model.Model{}, "", nil, 0},
		{"metrics, which repeat what has not changed", model.Model{Metrics: metrics, GCLog: lines, GC: trace}, model.MetricsLog, []float64{5, 4}, 5},
		{"the lines of gctrace", model.Model{Metrics: &model.Metrics{}, GCLog: lines, GC: trace}, model.GCTrace, []float64{7, 9}, 9},
		{"a trace", model.Model{GC: trace}, model.Trace, []float64{3}, 3},
	} {
		live := LiveHeap(&c.m)
		var values []float64
		for _, p := range live.Series {
			values = append(values, p.Value)
		}
		if live.Source != c.source || !slices.Equal(values, c.values) {
			t.Errorf("%s: LiveHeap() = %v by %q, want %v by %q", c.what, values, live.Source, c.values, c.source)
		}
		if got := live.MostFound(passOf(&c.m)); got.Value != c.most {
			t.Errorf("%s: MostFound() = %v, want %v", c.what, got.Value, c.most)
		}
	}
}

// The runtime's metric says how the collector is set, else the environment, else Go's default.
func TestSettings(t *testing.T) {
	environment := func(key, value string) model.Model {
		return model.Model{Build: &model.Build{Environment: map[string]string{key: value}}}
	}
	metric := func(name string, v float64) model.Model {
		return model.Model{Metrics: &model.Metrics{Series: map[string]model.Series{name: {{Value: v}}}}}
	}
	for _, c := range []struct {
		m    model.Model
		want float64
		off  bool
	}{
		{model.Model{}, 100, false},
		{environment("GOGC", "50"), 50, false},
		{environment("GOGC", "off"), 0, true},
		{environment("GOGC", "-1"), 100, false},
		{metric(MetricGOGC, 400), 400, false},
		{metric(MetricGOGC, 2e9), 2e9, true},
	} {
		if got, off := GOGC(passOf(&c.m)); got.Value != c.want || off != c.off {
			t.Errorf("GOGC() = %v, %v; want %v, %v", got.Value, off, c.want, c.off)
		}
	}
	for _, c := range []struct {
		m          model.Model
		want       float64
		set, known bool
	}{
		{model.Model{}, 0, false, false},
		{environment("GOGC", "50"), 0, false, true},
		{environment("GOMEMLIMIT", "64MiB"), 64 << 20, true, true},
		{environment("GOMEMLIMIT", "64MB"), 0, false, false},
		{environment("GOMEMLIMIT", "off"), 0, false, true},
		{metric(MetricLimit, 1<<30), 1 << 30, true, true},
		{metric(MetricLimit, 1<<63), 1 << 63, false, true},
	} {
		if got, set, known := Limit(passOf(&c.m)); got.Value != c.want || set != c.set || known != c.known {
			t.Errorf("Limit() = %v, %v, %v; want %v, %v, %v", got.Value, set, known, c.want, c.set, c.known)
		}
	}
}
