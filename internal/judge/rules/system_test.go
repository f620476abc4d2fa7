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
