package memory

import (
	"math"
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
		if got := live.MaxHeap(passOf(&c.m)); got.Value != c.most {
			t.Errorf("%s: MostFound() = %v, want %v", c.what, got.Value, c.most)
		}
	}
}

// A heap profile is of the last collection but one before it was taken; of metrics, before they
// were read again.
func TestGrownInProfile(t *testing.T) {
	s := time.Second
	end := func(at time.Duration) *model.Profile { return &model.Profile{At: at, Known: true} }
	series := model.Series{{At: 0, Value: 1}, {At: s, Value: 2}, {At: 2 * s, Value: 4}, {At: 2*s + 1, Value: 4}, {At: 3 * s, Value: 8}, {At: 4 * s, Value: 8}}
	metrics := &model.Metrics{Series: map[string]model.Series{MetricLive: series}}
	lines := []model.GCLine{{At: 0, Live: 1}, {At: s, Live: 2}, {At: 2 * s, Live: 4}, {At: 3 * s, Live: 8}}
	for _, c := range []struct {
		what string
		m    model.Model
		end  *model.Profile
		want float64
		ok   bool
	}{
		{"no profile", model.Model{Metrics: metrics}, nil, 0, false},
		{"at nobody knows when", model.Model{Metrics: metrics}, &model.Profile{At: 4 * s}, 0, false},
		{"of the start", model.Model{Metrics: metrics}, end(s), 0, false},
		{"at the third collection", model.Model{Metrics: metrics}, end(2 * s), 1, true},
		{"before the fourth was read", model.Model{Metrics: metrics}, end(2*s + 2), 3, true},
		{"at the end", model.Model{Metrics: metrics}, end(9 * s), 3, true},
		{"lines, at the second", model.Model{GCLog: lines}, end(2*s - 1), 0, false},
		{"lines, before the fourth", model.Model{GCLog: lines}, end(3*s - 1), 1, true},
		{"lines, at the end", model.Model{GCLog: lines}, end(9 * s), 3, true},
	} {
		c.m.LiveHeap.End = c.end
		live := LiveHeap(&c.m)
		if got, ok := live.GrownInProfile(&c.m); got != c.want || ok != c.ok {
			t.Errorf("%s: GrownInProfile() = %v, %v, want %v, %v", c.what, got, ok, c.want, c.ok)
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

// A limit binds where what is alive, with what GOGC adds, would come to it.
func TestLimitBinds(t *testing.T) {
	for _, c := range []struct {
		live, gogc, limit float64
		want              bool
	}{
		{60, 100, 119, true}, {60, 100, 121, false}, {60, 400, 290, true}, {60, 400, 310, false},
		{60, 1e15, 1000, true}, {60, 100, math.MaxInt64, false},
	} {
		series := func(v float64) model.Series { return model.Series{{At: time.Second, Value: v}} }
		m := &model.Model{Metrics: &model.Metrics{Series: map[string]model.Series{
			MetricLive: {{At: 0}, {At: time.Second, Value: c.live}}, MetricGOGC: series(c.gogc), MetricLimit: series(c.limit),
		}}}
		if got := LimitBinds(passOf(m)); got != c.want {
			t.Errorf("LimitBinds() with %v alive, GOGC=%v and a limit of %v = %v, want %v", c.live, c.gogc, c.limit, got, c.want)
		}
	}
}
