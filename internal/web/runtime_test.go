package web

import (
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gowhy/gowhy/model"
)

// chartsOf is what the page gets of a model.
func chartsOf(t *testing.T, m *model.Model) Runtime {
	t.Helper()
	v := &View{Model: m}
	value, err := v.runtime(nil)
	return ask[Runtime](t, value, err)
}

func chartNamed(t *testing.T, r Runtime, name string) Chart {
	t.Helper()
	i := slices.IndexFunc(r.Charts, func(c Chart) bool { return c.Name == name })
	if i < 0 {
		t.Fatalf("no chart %s", name)
	}
	return r.Charts[i]
}

func values(s Series) (list []float64) {
	for _, v := range s.Value {
		if v == nil {
			list = append(list, math.NaN())
		} else {
			list = append(list, *v)
		}
	}
	return list
}

func seriesNamed(t *testing.T, c Chart, name string) Series {
	t.Helper()
	i := slices.IndexFunc(c.Series, func(s Series) bool { return s.Name == name })
	if i < 0 {
		t.Fatalf("%s has no line %s", c.Name, name)
	}
	return c.Series[i]
}

// However long a line is, single spikes, dips and gaps of it are drawn.
func TestThinKeepsExtremes(t *testing.T) {
	for _, n := range []int{1, 2, maxPoints, maxPoints + 1, 100_000} {
		m := &model.Model{Sched: &model.Sched{}, Run: model.Run{Procs: 4, Duration: time.Duration(n) * ms}}
		for i := range n {
			m.Sched.Timeline = append(m.Sched.Timeline, model.Bucket{Start: time.Duration(i) * ms, Width: ms, Running: 2, Held: 3, Runnable: 5 + float64(i%7)})
		}
		spike, dip, hole := n/3, n/2, 2*n/3
		m.Sched.Timeline[hole].Runnable = math.NaN()
		m.Sched.Timeline[dip].Runnable = -1
		m.Sched.Timeline[spike].Runnable = 1e6
		s := chartNamed(t, chartsOf(t, m), "runqueue").Series[0]
		v := values(s)
		if len(v) > maxPoints || len(v) < min(n, maxPoints/2) {
			t.Errorf("%d points of %d", len(v), n)
		}
		if !slices.IsSorted(s.At) {
			t.Errorf("%d points: not in order of time", n)
		}
		i := slices.Index(v, 1e6)
		if i < 0 || s.At[i] != int64(time.Duration(spike)*ms+ms/2) {
			t.Errorf("%d points: the spike is lost", n)
		}
		if n > 3 && (!slices.Contains(v, -1) || !slices.ContainsFunc(v, math.IsNaN)) {
			t.Errorf("%d points: the dip or the gap is lost", n)
		}
		if s.At[0] != int64(ms/2) || s.At[len(v)-1] != int64(time.Duration(n)*ms-ms/2) {
			t.Errorf("%d points: from %v to %v", n, s.At[0], s.At[len(v)-1])
		}
		p := chartNamed(t, chartsOf(t, m), "procs")
		if !p.Stack || len(p.Series) != 3 {
			t.Fatalf("%+v", p)
		}
		for i := range p.Series[0].Value {
			var sum float64
			for _, s := range p.Series {
				if s.At[i] != p.Series[0].At[i] {
					t.Fatalf("%d points: lines to be added up are at different times", n)
				}
				sum += *s.Value[i]
			}
			if sum != 4 {
				t.Fatalf("%d points: %v Ps", n, sum)
			}
		}
	}
}

// Counters become rates between samples, and what began anew or was not
// permitted is a gap and no fall.
func TestRates(t *testing.T) {
	m := &model.Model{Process: &model.Process{}, Metrics: &model.Metrics{Series: map[string]model.Series{
		"/sched/goroutines:goroutines": {{At: 0, Value: 7}, {At: time.Second, Value: math.Inf(1)}, {At: 2 * time.Second, Value: 9}},
		"/gc/gomemlimit:bytes":         {{At: 0, Value: math.MaxInt64}},
		"/gc/heap/goal:bytes":          {{At: 0, Value: 4 << 20}},
	}}}
	for i, user := range []time.Duration{0, ms * 500, ms * 1500, 0, ms * 250} {
		m.Process.Samples = append(m.Process.Samples, model.ProcessSample{At: time.Duration(i) * time.Second, User: user, System: time.Duration(i) * ms * 100, ReadCalls: -1, WriteCalls: int64(i) * 10, RSS: 1 << 20, FDs: -1, Threads: 5 + i})
	}
	r := chartsOf(t, m)
	cpu := chartNamed(t, r, "cpu")
	if got := values(seriesNamed(t, cpu, "user")); got[0] != 0.5 || got[1] != 1 || !math.IsNaN(got[2]) || got[3] != 0.25 {
		t.Errorf("user: %v", got)
	}
	if got := values(seriesNamed(t, cpu, "kernel")); got[0] != 0.1 || math.Abs(got[3]-0.1) > 1e-9 {
		t.Errorf("kernel: %v", got)
	}
	if at := cpu.Series[0].At; at[0] != int64(time.Second/2) {
		t.Errorf("the first rate is at %v", time.Duration(at[0]))
	}
	calls := chartNamed(t, r, "syscalls")
	if len(calls.Series) != 1 || calls.Series[0].Name != "write" || *calls.Series[0].Value[0] != 10 {
		t.Errorf("%+v: reads were not permitted, writes are 10 a second", calls)
	}
	if got := values(chartNamed(t, r, "goroutines").Series[0]); got[0] != 7 || !math.IsNaN(got[1]) || got[2] != 9 {
		t.Errorf("goroutines: %v", got)
	}
	if heap := chartNamed(t, r, "heap"); len(heap.Series) != 1 || heap.Series[0].Name != "goal" {
		t.Errorf("heap: %+v; a limit of 2^63 is none", heap)
	}
	if threads := chartNamed(t, r, "threads"); len(threads.Series) != 1 || *threads.Series[0].Value[4] != 9 {
		t.Errorf("threads: %+v", threads)
	}
}

// Each chart comes from the source that measures best of those that there are.
func TestChartSources(t *testing.T) {
	full := func() *model.Model {
		return &model.Model{
			Run:   model.Run{Duration: time.Second, Procs: 2},
			Sched: &model.Sched{Timeline: []model.Bucket{{Width: time.Second, Running: 1, Held: 1, Runnable: 3}}},
			GC: &model.GC{Heap: []model.HeapSample{{At: 1, Alloc: 100, Goal: 0}, {At: 2, Alloc: 90, Goal: 200}},
				Load: []model.LoadChange{{At: 100 * ms, Kind: model.LoadBackground, Delta: 1}, {At: 600 * ms, Kind: model.LoadBackground, Delta: -1}}},
			GCLog:    []model.GCLine{{At: ms, Aligned: true, Before: 4 << 20, Goal: 8 << 20, Live: 2 << 20, Mark: ms, MarkTerm: 1000}, {At: 9 * time.Hour, Before: 1}},
			SchedLog: []model.SchedLine{{At: ms, Aligned: true, Procs: 2, IdleProcs: 1, RunQueue: 3, Local: []int{1, 2}, Threads: 7}},
			Load:     &model.Load{Offered: 100, Over: []model.Interval{{At: 0, Width: time.Second / 2, Ops: 40, Failed: 10, P99: 5 * ms}}},
		}
	}
	source := func(m *model.Model, chart string) string { return chartNamed(t, chartsOf(t, m), chart).Source }
	m := full()
	for chart, want := range map[string]string{"heap": fromTrace, "gc": fromTrace, "procs": fromTrace, "runqueue": fromTrace, "threads": fromSchLog, "load": fromLoad, "latency": fromLoad} {
		if got := source(m, chart); got != want {
			t.Errorf("%s from %s, want %s", chart, got, want)
		}
	}
	m.Sched, m.GC = nil, nil
	for chart, want := range map[string]string{"heap": fromGCLog, "gc": fromGCLog, "procs": fromSchLog, "runqueue": fromSchLog} {
		if got := source(m, chart); got != want {
			t.Errorf("without a trace: %s from %s, want %s", chart, got, want)
		}
	}
	r := chartsOf(t, m)
	if heap := seriesNamed(t, chartNamed(t, r, "heap"), "heap"); len(heap.At) != 1 {
		t.Errorf("a line of the log on another clock is drawn: %v", heap.At)
	}
	if q := chartNamed(t, r, "runqueue"); *seriesNamed(t, q, "local").Value[0] != 3 || *seriesNamed(t, q, "global").Value[0] != 3 {
		t.Errorf("%+v", q)
	}
	load := chartNamed(t, r, "load")
	if *seriesNamed(t, load, "done").Value[0] != 60 || *seriesNamed(t, load, "failed").Value[0] != 20 || *seriesNamed(t, load, "offered").Value[0] != 100 {
		t.Errorf("%+v", load)
	}
	if l := chartNamed(t, r, "latency"); len(l.Series) != 1 || l.Series[0].Name != "p99" {
		t.Errorf("latency: %+v; the median was not said", l)
	}
	if empty := chartsOf(t, &model.Model{}); len(empty.Charts) != 0 || empty.MMU != nil {
		t.Errorf("of nothing: %+v", empty)
	}
}

// The collector's share is averaged, not sampled: what it took in all is what
// the chart adds up to.
func TestCollectorChart(t *testing.T) {
	m := &model.Model{Run: model.Run{Duration: time.Second, Procs: 4}, GC: &model.GC{}}
	for i := range 333 { // not in step with the chart's stretches
		at := time.Duration(i) * 3 * ms
		m.GC.Load = append(m.GC.Load, model.LoadChange{At: at, Proc: int32(i % 4), Kind: model.LoadAssist, Delta: 1}, model.LoadChange{At: at + 1234567, Proc: int32(i % 4), Kind: model.LoadAssist, Delta: -1})
	}
	c := chartNamed(t, chartsOf(t, m), "gc")
	if len(c.Series) != 1 || c.Series[0].Name != "assist" {
		t.Fatalf("%+v", c)
	}
	var mean float64
	for _, v := range values(c.Series[0]) {
		mean += v / stretches
	}
	want := m.GC.LoadTime(model.CountAssist, 4, 0, time.Second).Seconds() / 4
	if math.Abs(mean-want) > 1e-6 {
		t.Errorf("the chart's mean is %v, the collector took %v", mean, want)
	}
}

func TestMMU(t *testing.T) {
	m := &model.Model{Run: model.Run{Duration: time.Second, Procs: 2}, GC: &model.GC{}}
	for i, at := range []time.Duration{100 * ms, 400 * ms, 405 * ms, 900 * ms} {
		m.GC.Load = append(m.GC.Load,
			model.LoadChange{At: at, Proc: -1, Kind: model.LoadSTW, Delta: 1},
			model.LoadChange{At: at + time.Duration(i+1)*ms, Proc: -1, Kind: model.LoadSTW, Delta: -1})
	}
	v := &View{Model: m}
	value, err := v.mmu(query("window", "10000000"))
	got := ask[MMU](t, value, err)
	windows := make([]time.Duration, len(got.WindowNS))
	for i, w := range got.WindowNS {
		windows[i] = time.Duration(w)
	}
	want := m.GC.MMU(model.CountAll, 2, 0, time.Second, windows...)
	if !slices.Equal(got.Util, want) || !slices.IsSorted(got.WindowNS) || len(windows) < 10 || windows[len(windows)-1] != time.Second {
		t.Errorf("%v %v, want %v", windows, got.Util, want)
	}
	if math.Abs(got.Mean-0.99) > 1e-9 || strings.Join(got.Flags, " ") != "stw background assist sweep" {
		t.Errorf("a mean of %v for %v", got.Mean, got.Flags)
	}
	// The stops at 400 and 405 ms are in one window; the windows keep apart.
	if len(got.Worst) != 3 || math.Abs(got.Worst[0].Util-0.5) > 1e-9 || math.Abs(got.Worst[1].Util-0.6) > 1e-9 || math.Abs(got.Worst[2].Util-0.9) > 1e-9 {
		t.Errorf("worst: %+v", got.Worst)
	}
	for i, a := range got.Worst {
		for _, b := range got.Worst[:i] {
			if a.AtNS < b.AtNS+b.WindowNS && b.AtNS < a.AtNS+a.WindowNS {
				t.Errorf("windows %+v and %+v overlap", a, b)
			}
		}
	}
	value, err = v.mmu(query("flags", "assist"))
	if got := ask[MMU](t, value, err); got.Mean != 1 || len(got.Worst) != 0 {
		t.Errorf("nothing assisted: %+v", got)
	}
	for q, want := range map[string]string{"flags=stw,colour": "no load called", "window=0": "whole number", "window=x": "whole number"} {
		key, val, _ := strings.Cut(q, "=")
		if _, err := v.mmu(query(key, val)); !refused(err, want) {
			t.Errorf("%s: %v", q, err)
		}
	}
	m.Run.Procs = 0
	if _, err := v.mmu(nil); !refused(err, "how many Ps") {
		t.Errorf("without Ps: %v", err)
	}
	if r := chartsOf(t, m); r.MMU != nil {
		t.Errorf("without Ps: %+v", r.MMU)
	}
}

// The screen is there when it has something to show.
func TestHasCharts(t *testing.T) {
	for name, m := range map[string]*model.Model{
		"nothing":                   {},
		"a CPU profile":             {CPU: &model.Profile{}},
		"kernel samples":            {Kernel: &model.Kernel{CPU: &model.Profile{}}},
		"a benchmark":               {Load: &model.Load{Benchmarks: []model.Benchmark{{Name: "X"}}}},
		"a load test over time":     {Load: &model.Load{Over: []model.Interval{{Width: time.Second, Ops: 3}}}},
		"a log with its own clock":  {GCLog: []model.GCLine{{Before: 1}}, SchedLog: []model.SchedLine{{Threads: 3}}},
		"a log of the run":          {GCLog: []model.GCLine{{Before: 1, Aligned: true}}},
		"counters of the process":   {Process: &model.Process{Samples: []model.ProcessSample{{Threads: 3}}}},
		"counters of the machine":   {Machine: &model.Machine{Samples: []model.MachineSample{{}, {At: time.Second, Busy: time.Second}}}},
		"metrics of the goroutines": {Metrics: &model.Metrics{Series: map[string]model.Series{"/sched/goroutines:goroutines": {{Value: 3}}}}},
	} {
		if got, charts := hasCharts(m), (&View{Model: m}).charts(); got != (len(charts) > 0) {
			t.Errorf("%s: a screen of charts: %v, there are %d", name, got, len(charts))
		}
	}
}
