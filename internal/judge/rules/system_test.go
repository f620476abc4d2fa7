package rules

import (
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gowhy/gowhy/internal/judge/diagnosis"
	"github.com/gowhy/gowhy/internal/know/fact"
	"github.com/gowhy/gowhy/internal/know/model"
)

func TestCompilerFlags(t *testing.T) {
	for _, c := range []struct {
		setting    string
		flags      []string
		everywhere bool
	}{
		{"", nil, false},
		{"-N -l", []string{"-N", "-l"}, false},
		{"all=-N -l", []string{"-N", "-l"}, true},
		{"all=-l=4", []string{"-l=4"}, true},
		{"example.com/...=-d=checkptr=2,ssa/check/on", []string{"-d=checkptr", "-d=ssa/check/on"}, false},
		{"-d=checkptr=0 -m", []string{"-m"}, false},
		{"all=-d=checkptr", []string{"-d=checkptr"}, true},
	} {
		flags, everywhere := compilerFlags(c.setting)
		if !slices.Equal(flags, c.flags) || everywhere != c.everywhere {
			t.Errorf("%q: %q, %v; want %q, %v", c.setting, flags, everywhere, c.flags, c.everywhere)
		}
	}
}

func TestGodebug(t *testing.T) {
	m := &model.Model{Build: &model.Build{
		Settings:    map[string]string{"DefaultGODEBUG": "containermaxprocs=0,updatemaxprocs=0"},
		Environment: map[string]string{"GODEBUG": "gctrace=1,containermaxprocs=1"},
	}}
	for key, want := range map[string]string{"containermaxprocs": "1", "updatemaxprocs": "0", "gctrace": "1", "maxprocs": ""} {
		if got := godebug(m, key); got != want {
			t.Errorf("%s: %q, want %q", key, got, want)
		}
	}
	if got := godebug(&model.Model{}, "gctrace"); got != "" {
		t.Errorf("without build info: %q", got)
	}
}

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
	s, ok := throttling(p)
	if !ok || math.Abs(s.stopped.Value-0.75) > 1e-9 || s.throttled.Value != 10 || s.periods.Value != 10 || math.Abs(s.mean.Value-0.075) > 1e-9 {
		t.Errorf("stopped %s, %s each", s.stopped.Text, s.mean.Text)
	}
	// Nobody stands still for longer than the time that was watched.
	m.Limits.Samples[1].Throttled, m.Limits.Samples[1].ThrottledTime = 45, 9*time.Second
	if s, _ := throttling(p); s.stopped.Value != 1 {
		t.Errorf("stopped for %s of a second", s.stopped.Text)
	}
	// A quota of more than the CPUs that there are does not tell when it is used up.
	m.Limits.Quota, m.Limits.Samples[1].Throttled = 3, 11
	if s, _ := throttling(p); math.Abs(s.stopped.Value-0.6) > 1e-9 {
		t.Errorf("stopped for %s of a second", s.stopped.Text)
	}
	// A counter that was set back is no time gained.
	m.Limits.Samples[1].ThrottledTime = 0
	if s, _ := throttling(p); s.stopped.Value != 0 {
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
		if got := usableCPUs(&diagnosis.Pass{Meter: fact.Meter{Model: &c.m}}); got.Value != c.want {
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
		if got := psCount(&c.m); got != c.want {
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
		if got := coresInUse(&diagnosis.Pass{Meter: fact.Meter{Model: &c.m}}); math.Abs(got.Value-c.want) > 1e-9 {
			t.Errorf("%s: %s, want %v", c.name, got.Text, c.want)
		}
	}
}

// A call that is tried again explains what else it takes only where that is most.
func TestRetryExplains(t *testing.T) {
	_, cases := readFixtures(t, "testdata/hotretry.txt")
	for _, c := range cases {
		for _, f := range diagnosis.Run(c.model, []*diagnosis.Rule{hotretry}, diagnosis.Options{}).Findings {
			if explains := len(f.Explains) > 0; explains != (f.Cost.Share >= 0.5) {
				t.Errorf("%q: %v of the CPU, and it explains %v", c.story, f.Cost.Share, f.Explains)
			}
		}
	}
}

func TestStuckIn(t *testing.T) {
	for _, c := range []struct {
		frames []string
		want   string
	}{
		{[]string{"runtime.gopark", "runtime.chansend", "runtime.chansend1", "main.f"}, "a send"},
		{[]string{"runtime.gopark", "runtime.selectgo", "main.f"}, "a select"},
		{[]string{"runtime.gopark", "runtime.goparkunlock", "runtime.semacquire1", "sync.runtime_SemacquireWaitGroup", "sync.(*WaitGroup).Wait", "main.f"}, "WaitGroup.Wait"},
		// What the user's code was called from is not what it waits in.
		{[]string{"runtime.gopark", "runtime.chanrecv", "runtime.chanrecv1", "main.f", "sync.(*WaitGroup).Wait"}, "a receive"},
		{[]string{"main.f"}, "a wait"},
	} {
		m := &model.Model{}
		var frames []model.Frame
		for _, f := range c.frames {
			frames = append(frames, model.Frame{Func: f})
		}
		if got := stuckIn(m, m.Stacks.Add(frames)); got.words != c.want || got.fix == "" {
			t.Errorf("%q: %+v, want %q", c.frames, got, c.want)
		}
	}
}

// TestAliveOverTime: goroutines are counted from their start to their end, the
// runtime's own are not.
func TestAliveOverTime(t *testing.T) {
	s := time.Second
	m := &model.Model{Run: model.Run{Duration: 50 * s}, Sched: &model.Sched{
		AllKept: true, Groups: []model.Group{{Name: "work"}, {Name: "gc", System: true}},
		Goroutines: []model.Goroutine{
			{Group: "work", Created: -1, Ended: -1},
			{Group: "work", Created: 10 * s, Ended: -1},
			{Group: "work", Created: 20 * s, Ended: 30 * s},
			{Group: "gc", Created: 5 * s, Ended: -1},
		},
	}}
	alive := aliveOverTime(m)
	for at, want := range map[time.Duration]float64{0: 1, 9 * s: 1, 10 * s: 2, 20 * s: 3, 29 * s: 3, 30 * s: 2, 50 * s: 2} {
		if got := alive.At(at); got != want {
			t.Errorf("at %v: %v, want %v", at, got, want)
		}
	}
	g, ok := measureGrowth(&diagnosis.Pass{Meter: fact.Meter{Model: m}})
	if !ok || g.start.Value != 1 || g.end.Value != 2 {
		t.Errorf("from %v to %v, want from 1 to 2", g.start.Value, g.end.Value)
	}
}

// TestOutsideSurvives: evidence that says little or nonsense makes no rule fail.
func TestOutsideSurvives(t *testing.T) {
	for name, m := range map[string]*model.Model{
		"nothing": {},
		"empty": {Process: &model.Process{}, Machine: &model.Machine{}, Limits: &model.Limits{}, Kernel: &model.Kernel{},
			Syscalls: &model.Syscalls{}, Leaks: &model.Profile{}, Build: &model.Build{}, Metrics: &model.Metrics{}, Load: &model.Load{}},
		"backwards": {
			Run:      model.Run{Duration: time.Second, Procs: 1},
			Process:  &model.Process{Samples: []model.ProcessSample{{User: time.Hour}, {At: time.Second}}},
			Machine:  &model.Machine{CPUs: -3, Samples: []model.MachineSample{{Busy: time.Hour, Steal: time.Hour}, {At: time.Second}}},
			Limits:   &model.Limits{CPUs: -1, Quota: 1e-9, Period: -1, Samples: []model.LimitSample{{Throttled: 9, Periods: 3}, {At: time.Second}}},
			Kernel:   &model.Kernel{CPU: &model.Profile{Samples: []model.Sample{{Stack: 77, Values: nil}, {Stack: -1, Values: []int64{-5}}}}},
			Syscalls: &model.Syscalls{Window: -time.Second, Calls: []model.Syscall{{Name: "write", Count: -9, Bytes: -7}, {Name: "futex", Count: 1 << 62}}},
			Leaks:    &model.Profile{Samples: []model.Sample{{Stack: 5, Values: []int64{-3}}, {Values: []int64{7}}}},
			Load:     &model.Load{Ops: -5, Rate: -1},
		},
	} {
		d := diagnosis.Run(m, All, diagnosis.Options{})
		if len(d.Warnings) > 0 {
			t.Errorf("%s: %q", name, d.Warnings)
		}
	}
}

// The busiest time lies between two readings, whenever the first was.
func TestPeakCPU(t *testing.T) {
	proc := &model.Process{}
	var used time.Duration
	for i, cpu := range []time.Duration{0, 1, 3, 1} {
		used += cpu * idlespinWindow
		proc.Samples = append(proc.Samples, model.ProcessSample{At: time.Minute + time.Duration(i)*idlespinWindow, User: used})
	}
	if got := peakCPU(proc); math.Abs(got-3) > 1e-9 {
		t.Errorf("peakCPU() = %v, want 3", got)
	}
}

// A place of which the profile counts nothing leaks nothing.
func TestNoLeaksBySite(t *testing.T) {
	m := &model.Model{Leaks: &model.Profile{Samples: []model.Sample{{}, {Values: []int64{0}}, {Values: []int64{-1}}}}}
	if got := leaksBySite(&diagnosis.Pass{Meter: fact.Meter{Model: m}}); len(got) != 0 {
		t.Errorf("leaksBySite() = %v, want none", got)
	}
}

// The remedy is that of the kind of stop; what is not known as one is not a change of GOMAXPROCS.
func TestStopRemedy(t *testing.T) {
	for kind, want := range map[string]bool{"stop-the-world (GOMAXPROCS)": true, "GOMAXPROCS": true, "all threads syscall": false, "": false} {
		if got := strings.Contains(stopRemedy(kind, nil).Text, "runtime.GOMAXPROCS stops the world"); got != want {
			t.Errorf("stopRemedy(%q) is about GOMAXPROCS: %v, want %v", kind, got, want)
		}
	}
}

// Of calls in a trace those count for sockets that go through package net.
func TestOnSockets(t *testing.T) {
	p := passOf(t, smallio, `window 1s procs=2 go=go1.26
stack socket syscall.write@z.go:1 < internal/poll.(*FD).Write@fd_unix.go:374 < net.(*conn).Write@net.go:191 < main.send@main.go:1
stack file syscall.write@z.go:1 < internal/poll.(*FD).Write@fd_unix.go:374 < os.(*File).Write@file.go:195 < main.save@main.go:2
group main.main count=1 peak=1 run=1s
wait syscall stack=socket group=main.main count=300 total=30ms
wait syscall stack=file group=main.main count=700 total=70ms`)
	d := directions[slices.IndexFunc(directions, func(d direction) bool { return slices.Contains(d.names, "write") })]
	if share, known := d.onSockets(p); !known || math.Abs(share.Value-0.3) > 1e-9 {
		t.Errorf("onSockets() = %v, %v, want 0.3", share.Value, known)
	}
}
