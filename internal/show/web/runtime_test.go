package web

import (
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gowhy/gowhy/internal/know/model"
)

// chartsOf returns what the page gets of a model.
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
			t.Errorf("thinned %d points to %d, want %d to %d", n, len(v), min(n, maxPoints/2), maxPoints)
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
			t.Errorf("%d points: from %v to %v, want %v to %v", n, s.At[0], s.At[len(v)-1], int64(ms/2), int64(time.Duration(n)*ms-ms/2))
		}
		p := chartNamed(t, chartsOf(t, m), "procs")
		if !p.Stack || len(p.Series) != 3 {
			t.Fatalf("chart of Ps = %+v, want 3 lines to be added up", p)
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
				t.Fatalf("%d points: the lines add up to %v Ps, want 4", n, sum)
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
		t.Errorf("user CPU %v, want [0.5 1 NaN 0.25]", got)
	}
	if got := values(seriesNamed(t, cpu, "kernel")); got[0] != 0.1 || math.Abs(got[3]-0.1) > 1e-9 {
		t.Errorf("kernel CPU %v, want 0.1 first and last", got)
	}
	if at := cpu.Series[0].At; at[0] != int64(time.Second/2) {
		t.Errorf("the first rate is at %v, want 500ms", time.Duration(at[0]))
	}
	calls := chartNamed(t, r, "syscalls")
	if len(calls.Series) != 1 || calls.Series[0].Name != "write" {
		t.Errorf("the system calls are %+v, want write alone: reads were not permitted", calls.Series)
	} else if got := *calls.Series[0].Value[0]; got != 10 {
		t.Errorf("%v writes a second at first, want 10", got)
	}
	if got := values(chartNamed(t, r, "goroutines").Series[0]); got[0] != 7 || !math.IsNaN(got[1]) || got[2] != 9 {
		t.Errorf("goroutines %v, want [7 NaN 9]", got)
	}
	if heap := chartNamed(t, r, "heap"); len(heap.Series) != 1 || heap.Series[0].Name != "goal" {
		t.Errorf("heap: %+v, want the goal only: a limit of 2^63 is none", heap)
	}
	if threads := chartNamed(t, r, "threads"); len(threads.Series) != 1 || *threads.Series[0].Value[4] != 9 {
		t.Errorf("chart of threads = %+v, want one line, 9 at its end", threads)
	}
}

// What was not read at a moment is no zero of then and no spike of later; and nothing
// is busier than the cores that there are.
func TestRatesOfWhatWasRead(t *testing.T) {
	m := &model.Model{Process: &model.Process{}, Machine: &model.Machine{CPUs: 2}}
	for i, n := range []int64{0, 0, 0, 300, 400} {
		at := time.Duration(i) * time.Second
		m.Process.Samples = append(m.Process.Samples, model.ProcessSample{At: at, User: at * 5 / 2, Voluntary: n, OldSwitches: i == 1 || i == 2, ReadCalls: n, OldCalls: i == 1 || i == 2})
	}
	r := chartsOf(t, m)
	for name, chart := range map[string]string{"voluntary": "switches", "read": "syscalls"} {
		if got := values(seriesNamed(t, chartNamed(t, r, chart), name)); !slices.Equal(got, []float64{100, 100}) {
			t.Errorf("%s per second = %v, want 100 over three seconds, then 100", name, got)
		}
	}
	if got := values(seriesNamed(t, chartNamed(t, r, "machine"), "process")); slices.Max(got) != 2 {
		t.Errorf("the process uses %v cores of 2", got)
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
		t.Errorf("run queue of the log = %+v, want 3 local and 3 global first", q)
	}
	load := chartNamed(t, r, "load")
	if *seriesNamed(t, load, "done").Value[0] != 60 || *seriesNamed(t, load, "failed").Value[0] != 20 || *seriesNamed(t, load, "offered").Value[0] != 100 {
		t.Errorf("chart of the load = %+v, want 60 done, 20 failed and 100 offered", load)
	}
	if l := chartNamed(t, r, "latency"); len(l.Series) != 1 || l.Series[0].Name != "p99" {
		t.Errorf("the series of latency are %+v, want p99 alone: the median was not said", l.Series)
	}
	if empty := chartsOf(t, &model.Model{}); len(empty.Charts) != 0 || empty.MMU != nil {
		t.Errorf("charts of nothing are %+v, MMU %+v, want none", empty.Charts, empty.MMU)
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
		t.Fatalf("chart of the collector = %+v, want a line of assists and no more", c)
	}
	var mean float64
	for _, v := range values(c.Series[0]) {
		mean += v / stretches
	}
	want := m.GC.LoadTime(model.CountAssist, 4, 0, time.Second).Seconds() / 4
	if math.Abs(mean-want) > 1e-6 {
		t.Errorf("the chart's mean is %v, want %v as the collector took", mean, want)
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
		if got, charts := hasCharts(m), (&View{Model: m}).charts(window{}); got != (len(charts) > 0) {
			t.Errorf("%s: a screen of charts: %v, want one only if there are any: %d", name, got, len(charts))
		}
	}
}

// A window has the points that all of the run has no room for, and the charts and
// lines that all of it has.
func TestChartsOfWindow(t *testing.T) {
	const n = 100_000
	m := &model.Model{Run: model.Run{Procs: 4, Duration: n * ms}, Sched: &model.Sched{}, GC: &model.GC{
		Load:   []model.LoadChange{{At: 10 * ms, Kind: model.LoadBackground, Delta: 1}, {At: 20 * ms, Kind: model.LoadBackground, Delta: -1}},
		Cycles: []model.Cycle{{Seq: 1, Begin: -1, End: 9 * ms}, {Seq: 2, Begin: 500*ms + 1, End: 502 * ms}, {Seq: 3, Begin: 900 * ms, End: -1}},
		Pauses: []model.Pause{{At: 5 * ms, Duration: ms}, {At: 501 * ms, Duration: ms}},
	}}
	for i := range n {
		m.Sched.Timeline = append(m.Sched.Timeline, model.Bucket{Start: time.Duration(i) * ms, Width: ms, Running: 1, Held: 1, Runnable: float64(i % 10)})
	}
	v := &View{Model: m}
	whole := chartsOf(t, m)
	if !chartNamed(t, whole, "runqueue").Thinned || !chartNamed(t, whole, "procs").Thinned || whole.ToNS != 0 {
		t.Errorf("100,000 points: run queue thinned %v, Ps thinned %v, to %d ns, want true, true, 0",
			chartNamed(t, whole, "runqueue").Thinned, chartNamed(t, whole, "procs").Thinned, whole.ToNS)
	}
	value, err := v.runtime(query("from", "500000000", "to", "600000000"))
	got := ask[Runtime](t, value, err)
	if got.FromNS != int64(500*ms) || got.ToNS != int64(600*ms) || got.MMU != nil {
		t.Errorf("window from %d to %d, MMU %v; want 500 ms to 600 ms without an MMU", got.FromNS, got.ToNS, got.MMU)
	}
	queue := chartNamed(t, got, "runqueue")
	if s := queue.Series[0]; queue.Thinned || len(s.At) != 102 || s.At[0] != int64(499*ms+ms/2) || s.At[101] != int64(600*ms+ms/2) || *s.Value[7] != 6 {
		t.Errorf("run queue of the window: thinned %v, %d points from %d to %d; want 102 as they are, one beyond each side", queue.Thinned, len(s.At), s.At[0], s.At[len(s.At)-1])
	}
	for _, c := range whole.Charts {
		if of := chartNamed(t, got, c.Name); len(of.Series) != len(c.Series) || of.Source != c.Source {
			t.Errorf("%s of a window: %d lines from %s, want as of all: %d from %s", c.Name, len(of.Series), of.Source, len(c.Series), c.Source)
		}
	}
	if len(got.Cycles) != 1 || got.Cycles[0].Why != "2" || len(got.Pauses) != 1 || got.Pauses[0].FromNS != int64(501*ms) {
		t.Errorf("collections %v, stops %v; want the collection 2 and the stop at 501 ms", got.Cycles, got.Pauses)
	}
	for q, want := range map[string]string{"from=5 to=5": "no length", "from=-1": "whole number", "to=x": "whole number"} {
		var pairs []string
		for _, p := range strings.Fields(q) {
			key, val, _ := strings.Cut(p, "=")
			pairs = append(pairs, key, val)
		}
		if _, err := v.runtime(query(pairs...)); !refused(err, want) {
			t.Errorf("runtime(%s): error %v, want one with %q", q, err, want)
		}
	}
}

// What the collector took of a window is averaged over pieces of the window.
func TestCollectorChartOfWindow(t *testing.T) {
	m := &model.Model{Run: model.Run{Duration: 10 * time.Second, Procs: 2}, GC: &model.GC{Load: []model.LoadChange{
		{At: 5000 * ms, Proc: -1, Kind: model.LoadSTW, Delta: 1}, {At: 5001 * ms, Proc: -1, Kind: model.LoadSTW, Delta: -1},
	}}}
	most := func(r Runtime) float64 { return slices.Max(values(seriesNamed(t, chartNamed(t, r, "gc"), "stop"))) }
	if got := most(chartsOf(t, m)); math.Abs(got-0.05) > 1e-9 {
		t.Errorf("of all of the run the stop is %v of 20 ms, want 0.05", got)
	}
	value, err := (&View{Model: m}).runtime(query("from", "4990000000", "to", "5010000000"))
	if got := most(ask[Runtime](t, value, err)); got != 1 {
		t.Errorf("near by the stop takes %v of the Ps, want 1", got)
	}
}

// While the world is stopped, background workers keep their Ps: what is taken twice
// is drawn once, and the lines add up to what the collector takes.
func TestCollectorChartAddsUp(t *testing.T) {
	m := &model.Model{Run: model.Run{Duration: time.Second, Procs: 2}, GC: &model.GC{Load: []model.LoadChange{
		{At: 100 * ms, Proc: 0, Kind: model.LoadBackground, Delta: 1},
		{At: 150 * ms, Proc: 1, Kind: model.LoadAssist, Delta: 1},
		{At: 200 * ms, Proc: -1, Kind: model.LoadSTW, Delta: 1},
		{At: 300 * ms, Proc: -1, Kind: model.LoadSTW, Delta: -1},
		{At: 350 * ms, Proc: 1, Kind: model.LoadAssist, Delta: -1},
		{At: 400 * ms, Proc: 0, Kind: model.LoadBackground, Delta: -1},
	}}}
	c := chartNamed(t, chartsOf(t, m), "gc")
	if len(c.Series) != 3 || c.Series[0].Name != "background" || c.Series[2].Name != "stop" {
		t.Fatalf("lines of the collector %+v, want 3 from background to stop", c.Series)
	}
	var sum float64
	for i := range c.Series[0].At {
		var all float64
		for _, s := range c.Series {
			all += *s.Value[i]
		}
		if all > 1+1e-9 {
			t.Fatalf("at %v the collector takes %v of the Ps, want at most 1", time.Duration(c.Series[0].At[i]), all)
		}
		sum += all / stretches
	}
	if want := m.GC.LoadTime(model.CountAll, 2, 0, time.Second).Seconds() / 2; math.Abs(sum-want) > 1e-9 {
		t.Errorf("the lines add up to %v, want %v as the collector took", sum, want)
	}
	if stop := slices.Max(values(seriesNamed(t, c, "stop"))); stop != 1 {
		t.Errorf("the stopped world takes %v of the Ps, want 1", stop)
	}
}

// Points far left and right of a window do not take the room of those in it.
func TestThinningIsOfTheWindow(t *testing.T) {
	l := line{name: "x"}
	l.add(0, 1)
	for i := range 5000 {
		l.add(time.Hour+time.Duration(i), float64(i%2))
	}
	l.add(100*time.Hour, 1)
	w := window{time.Hour, time.Hour + 5000}
	c := plot{&model.Model{}, w}.chart("heap", "bytes", fromTrace, false, l)
	if s := c.Series[0]; !c.Thinned || len(s.At) < maxPoints/2 || len(s.At) > maxPoints || s.At[0] != 0 || s.At[len(s.At)-1] != int64(100*time.Hour) {
		t.Errorf("thinned %v to %d points from %v to %v, want %d to %d points and one beyond each side", c.Thinned, len(s.At), s.At[0], s.At[len(s.At)-1], maxPoints/2, maxPoints)
	}
}
