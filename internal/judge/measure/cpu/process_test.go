package cpu

import (
	"math"
	"testing"
	"time"

	"github.com/gowhy/gowhy/internal/judge/diagnosis"
	"github.com/gowhy/gowhy/internal/know/fact"
	"github.com/gowhy/gowhy/internal/know/model"
)

// TestStopsOverCPUs: two threads stopped together for 75 ms in each of ten
// periods count 1.5 s, and each of them stood for 0.75 s.
func TestStopsOverCPUs(t *testing.T) {
	m := &model.Model{
		Machine: &model.Machine{CPUs: 2},
		Limits: &model.Limits{Quota: 0.5, Samples: []model.LimitSample{
			{Throttled: 5, Periods: 7, ThrottledTime: time.Second},
			{At: time.Second, Throttled: 15, Periods: 17, ThrottledTime: 2500 * time.Millisecond},
		}},
	}
	p := &diagnosis.Pass{Meter: fact.Meter{Model: m}}
	s, ok := Throttling(p)
	if !ok || math.Abs(s.stopped.Value-0.75) > 1e-9 || s.Throttled.Value != 10 || s.Periods.Value != 10 || math.Abs(s.Mean.Value-0.075) > 1e-9 {
		t.Errorf("stopped %s, %s each", s.stopped.Text, s.Mean.Text)
	}
	// Nobody stands still for longer than the time that was watched.
	m.Limits.Samples[1].Throttled, m.Limits.Samples[1].ThrottledTime = 45, 9*time.Second
	if s, _ := Throttling(p); s.stopped.Value != 1 {
		t.Errorf("stopped for %s of a second", s.stopped.Text)
	}
	// A quota of more than the CPUs that there are does not tell when it is used up.
	m.Limits.Quota, m.Limits.Samples[1].Throttled = 3, 11
	if s, _ := Throttling(p); math.Abs(s.stopped.Value-0.6) > 1e-9 {
		t.Errorf("stopped for %s of a second", s.stopped.Text)
	}
	// A counter that was set back is no time gained.
	m.Limits.Samples[1].ThrottledTime = 0
	if s, _ := Throttling(p); s.stopped.Value != 0 {
		t.Errorf("stopped for %v", s.stopped.Text)
	}
}

// The CPUs that can run a process are those of its affinity that are online.
func TestUsableCPUs(t *testing.T) {
	machine := func(n int) *model.Machine { return &model.Machine{CPUs: n} }
	limits := func(n int) *model.Limits { return &model.Limits{CPUs: n} }
	for _, c := range []struct {
		m    model.Model
		want float64
	}{
		{model.Model{}, 0},
		{model.Model{Machine: machine(8)}, 8},
		{model.Model{Limits: limits(3)}, 3},
		{model.Model{Machine: machine(8), Limits: limits(3)}, 3},
		{model.Model{Machine: machine(2), Limits: limits(3)}, 2},
		{model.Model{Machine: machine(2), Limits: limits(0)}, 2},
		{model.Model{Machine: machine(0), Limits: limits(3)}, 3},
	} {
		if got := UsableCPUs(&diagnosis.Pass{Meter: fact.Meter{Model: &c.m}}); got.Value != c.want {
			t.Errorf("%+v, %+v: %v, want %v", c.m.Machine, c.m.Limits, got.Value, c.want)
		}
	}
}

// GOMAXPROCS is what the run says, else what any evidence shows.
func TestKnownProcs(t *testing.T) {
	metric := func(v float64) *model.Metrics {
		return &model.Metrics{Series: map[string]model.Series{"/sched/gomaxprocs:threads": {{Value: v}}}}
	}
	log := []model.SchedLine{{Procs: 7}, {Procs: 5, IdleProcs: 2}}
	for _, c := range []struct {
		name string
		m    model.Model
		want int
	}{
		{"nothing", model.Model{}, 0},
		{"the run", model.Model{Run: model.Run{Procs: 4}, Metrics: metric(3)}, 4},
		{"the trace", model.Model{Sched: &model.Sched{Procs: make([]model.Proc, 3)}, Metrics: metric(2)}, 3},
		{"a trace without Ps", model.Model{Sched: &model.Sched{}, Metrics: metric(2)}, 2},
		{"a metric of one", model.Model{Metrics: metric(1), SchedLog: log}, 1},
		{"a metric that says nothing", model.Model{Metrics: metric(0.6), SchedLog: log}, 5},
		{"schedtrace", model.Model{SchedLog: log}, 5},
	} {
		if got := ProcsCount(&c.m); got != c.want {
			t.Errorf("%s: %d, want %d", c.name, got, c.want)
		}
	}
}

// CPU in use is the kernel's count, else of Ps that have a thread, else of samples.
func TestUsedCPU(t *testing.T) {
	s := time.Second
	process := &model.Process{Samples: []model.ProcessSample{{}, {At: s, User: 200 * time.Millisecond, System: 100 * time.Millisecond}}}
	trace := &model.Sched{Procs: []model.Proc{{User: s, GC: s, Syscall: s, Scheduler: s, Idle: s}}}
	samples := &model.Profile{Types: []model.ValueType{{Name: "samples", Unit: "count"}, {Name: "cpu", Unit: "nanoseconds"}},
		Duration: 2 * s, Samples: []model.Sample{{Values: []int64{300, 3e9}}}}
	for _, c := range []struct {
		name string
		m    model.Model
		want float64
	}{
		{"nothing", model.Model{}, 0},
		{"counters", model.Model{Run: model.Run{Duration: 5 * s}, Process: process, Sched: trace}, 0.3},
		{"a trace", model.Model{Run: model.Run{Duration: 5 * s}, Sched: trace, CPU: samples}, 0.8},
		{"a trace without Ps", model.Model{Run: model.Run{Duration: 5 * s}, Sched: &model.Sched{}, CPU: samples}, 1.5},
		{"a trace without a window", model.Model{Sched: trace, CPU: samples}, 1.5},
		{"a profile", model.Model{Run: model.Run{Duration: 5 * s}, CPU: samples}, 1.5},
	} {
		if got := Cores(&diagnosis.Pass{Meter: fact.Meter{Model: &c.m}}); math.Abs(got.Value-c.want) > 1e-9 {
			t.Errorf("%s: %s, want %v", c.name, got.Text, c.want)
		}
	}
}
