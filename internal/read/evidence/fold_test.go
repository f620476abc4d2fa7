package evidence

import (
	"testing"
	"time"

	"github.com/gowhy/gowhy/exectrace"
	"github.com/gowhy/gowhy/internal/know/model"
)

func folded(acc *exectrace.Accounts) (*model.Model, *model.Profile) {
	m := &model.Model{}
	f := folder{acc: acc, m: m}
	f.fold()
	return m, f.samples()
}

// Times of a trace count from its clock's zero, those of the model from the
// window's start.
func TestFoldTimes(t *testing.T) {
	wall := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	m, _ := folded(&exectrace.Accounts{
		Info: exectrace.Info{Version: "go1.26", Start: 1000, End: 9000, Procs: 4, Clock: exectrace.Clock{At: 500, Wall: wall},
			Generations: []exectrace.Generation{
				{Events: 7, Overlap: 30, Trusted: true}, {Events: 5, Overlap: 40, Trusted: true, LostBytes: 9}, {Events: 1}},
			Damage: exectrace.Damage{LostBytes: 9, LostEvents: 2, LostTime: 11, Forced: 3, Notes: []string{"cut"}}},
		Window: exectrace.Range{From: 2000, To: 12000},
		Groups: []exectrace.Group{{Name: "main.f", Times: exectrace.Times{Unknown: 5}}},
		Goroutines: []exectrace.Goroutine{
			{ID: 1, Created: 0, First: 2500, Ended: 0}, {ID: 2, Created: 2000, First: 0, Ended: 4000, Group: 5}},
		Buckets: []exectrace.Bucket{{From: 3000, Width: 100, Running: 150, Held: 200, Runnable: 1000}, {From: 3100}},
		Cycles:  []exectrace.Cycle{{Seq: 1, End: 3000}, {Seq: 2, Begin: 4000}},
		Pauses:  []exectrace.Pause{{Kind: "x", Begin: 5000, End: 5010}},
		Heap:    []exectrace.HeapSample{{At: 2100, Alloc: 1, Goal: 2}},
		Load:    []exectrace.LoadChange{{At: 2000, Kind: exectrace.LoadProcs, Proc: -1, Delta: 4}, {At: 2010, Kind: exectrace.LoadSweep, Delta: 1}},
		Slow:    []exectrace.Task{{ID: 1, End: 2600}},
	})
	if m.Run.Duration != 7000 || !m.Run.Start.Equal(wall.Add(1500)) || m.Run.Procs != 4 {
		t.Errorf("run %+v, want 7µs from %v on, 4 Ps", m.Run, wall.Add(1500))
	}
	c := m.Run.Coverage
	if c.Events != 13 || c.Generations != 3 || c.Damaged != 2 || c.Overlap != 70 || c.MaxOverlap != 40 || c.Unknown != 5 ||
		c.LostBytes != 9 || c.LostEvents != 2 || c.Lost != 11 || c.Forced != 3 || len(c.Notes) != 1 {
		t.Errorf("coverage %+v, want 13 events of 3 generations, 2 damaged, 70 of overlap, 5 unknown, and what was lost", c)
	}
	g := m.Sched.Goroutines
	if g[0].Created != -1 || g[0].First != 500 || g[0].Ended != -1 || g[0].Group != "main.f" || g[1].Created != 0 || g[1].First != -1 || g[1].Group != "" {
		t.Errorf("goroutines %+v, want the first of main.f since 500, the second created at 0", g)
	}
	if b := m.Sched.Timeline; b[0].Start != 1000 || b[0].Running != 1.5 || b[0].Held != 2 || b[0].Runnable != 10 || b[1].Running != 0 {
		t.Errorf("timeline %+v, want 1.5 running, 2 held and 10 runnable in the bucket at 1000, then none running", b)
	}
	if y := m.GC.Cycles; y[0].Begin != -1 || y[0].End != 1000 || y[1].Begin != 2000 || y[1].End != -1 {
		t.Errorf("cycles %+v, want the first to end at 1000 and the second to begin at 2000", y)
	}
	if p := m.GC.Pauses[0]; p.At != 3000 || p.Duration != 10 || m.GC.Heap[0].At != 100 {
		t.Errorf("pause %+v, heap %+v; want 10 at 3000 and a heap at 100", p, m.GC.Heap)
	}
	if l := m.GC.Load; l[0].At != 0 || l[0].Kind != model.LoadProcs || l[1].Kind != model.LoadSweep {
		t.Errorf("load %+v, want the number of Ps at 0 and then sweeping", l)
	}
	if s := m.Tasks.Slow[0]; s.Begin != -1 || s.End != 600 {
		t.Errorf("task %+v, want one that ends at 600 and began before the trace", s)
	}
}

// The main goroutine goes by its name also where it was first seen while
// packages were initialized, and is the program's and not the runtime's.
func TestFoldMain(t *testing.T) {
	init := exectrace.Group{Name: "runtime.doInit1", Start: exectrace.Frame{Func: "runtime.doInit1", File: "proc.go", Line: 7}, Count: 1}
	m, _ := folded(&exectrace.Accounts{
		Groups:     []exectrace.Group{{Name: "runtime.bgsweep", Count: 1}, init},
		Goroutines: []exectrace.Goroutine{{ID: 1, Group: 1}},
		Waits:      []exectrace.Wait{{State: exectrace.Waiting, Reason: "sleep", Group: 1, Count: 1, Total: 1}},
	})
	g := m.Sched.Groups
	if g[1].Name != "main.main" || g[1].System || g[1].Start != (model.Frame{Func: "main.main"}) || !g[0].System {
		t.Errorf("groups %+v, want bgsweep of the runtime and main.main of the program", g)
	}
	if m.Sched.Goroutines[0].Group != "main.main" || m.Sched.Waits[0].Group != "main.main" {
		t.Errorf("goroutine %+v, wait %+v; want both of main.main", m.Sched.Goroutines[0], m.Sched.Waits[0])
	}
}

func TestFoldStacksAndSamples(t *testing.T) {
	frames := []exectrace.Frame{{PC: 1, Func: "leaf", File: "a.go", Line: 2}, {PC: 3, Func: "root"}}
	acc := &exectrace.Accounts{
		Stacks:       [][]exectrace.Frame{nil, frames, nil},
		Groups:       []exectrace.Group{{Name: "main.f", Creator: 1}},
		Waits:        []exectrace.Wait{{State: exectrace.Waiting, Reason: "network", Stack: 1, Group: 0, Count: 2, Total: 3}, {State: exectrace.Runnable, Stack: 99, Group: -1}},
		Samples:      []exectrace.SampleCount{{Stack: 1, Group: 0, Count: 5}, {Stack: 2, Group: -1, Count: 1}},
		SamplePeriod: 10 * time.Millisecond,
	}
	m, p := folded(acc)
	w := m.Sched.Waits
	if f := m.Stacks.Frames(w[0].Stack); len(f) != 2 || f[0] != (model.Frame{PC: 1, Func: "leaf", File: "a.go", Line: 2}) {
		t.Errorf("frames %+v, want leaf at a.go:2 and its caller", f)
	}
	if w[0].Kind != model.Net || w[0].Group != "main.f" || w[0].Count != 2 || w[0].Total != 3 || w[1].Stack != 0 || w[1].Group != "" {
		t.Errorf("waits %+v, want 2 of 3 ns for the network in main.f, and one without stack and group", w)
	}
	if m.Sched.Groups[0].Creator != w[0].Stack {
		t.Error("one stack became two")
	}
	if !p.FromTrace || p.Samples[0].Values[0] != 5 || p.Samples[0].Values[1] != int64(50*time.Millisecond) || p.Samples[0].Group != "main.f" || p.Samples[1].Stack != 0 {
		t.Errorf("samples %+v, want 5 of 50 ms from the trace in main.f, and one without a stack", p)
	}
	acc.Samples = nil
	if _, p := folded(acc); p != nil {
		t.Error("a profile of no samples")
	}
}

// The words are those that `go tool trace` looks for.
func TestWaitKind(t *testing.T) {
	for _, tt := range []struct {
		state  exectrace.State
		reason string
		want   model.WaitKind
	}{
		{exectrace.Runnable, "", model.SchedWait},
		{exectrace.Syscall, "", model.SyscallWait},
		{exectrace.SyscallBlocked, "", model.SyscallWait},
		{exectrace.Waiting, "network", model.Net},
		{exectrace.Waiting, "chan send", model.Sync},
		{exectrace.Waiting, "select", model.Sync},
		{exectrace.Waiting, "sync.(*Cond).Wait", model.Sync},
		{exectrace.Waiting, "sleep", model.OtherWait},
		{exectrace.Waiting, "GC mark assist wait for work", model.OtherWait},
		{exectrace.Waiting, "", model.OtherWait},
	} {
		if got := waitKind(tt.state, tt.reason); got != tt.want {
			t.Errorf("%d %q is %q, want %q", tt.state, tt.reason, got, tt.want)
		}
	}
}

func TestSystem(t *testing.T) {
	for name, want := range map[string]bool{
		"runtime.gcBgMarkWorker": true, "runtime.bgsweep": true, "runtime/trace.Start.func1": true, "runtime/pprof.profileWriter": true,
		"runtime.main": false, "main.main": false, "runtimes.x": false, "": false,
	} {
		if got := exectrace.IsSystem(name); got != want {
			t.Errorf("exectrace.IsSystem(%q) = %v, want %v", name, got, want)
		}
	}
}
