package rules

import (
	"math"
	"slices"
	"testing"
	"time"

	"github.com/gowhy/gowhy/internal/diagnosis"
	"github.com/gowhy/gowhy/internal/fact"
	"github.com/gowhy/gowhy/internal/model"
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
	// A counter that was set back is no time gained.
	m.Limits.Samples[1].ThrottledTime = 0
	if s, _ := throttling(p); s.stopped.Value != 0 {
		t.Errorf("stopped for %v", s.stopped.Text)
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
		if got := stuckIn(m, m.Stacks.Add(frames)); got.words != c.want || got.cure == "" {
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
