package model

import (
	"slices"
	"strings"
	"testing"
	"time"
)

// whole returns a small model whose accounts add up: two Ps for a second, a group
// of two workers and a mark worker.
func whole() *Model {
	m := &Model{Run: Run{Go: "go1.26", Duration: time.Second, Procs: 2}}
	send := m.Stacks.Add([]Frame{{Func: "runtime.chansend1"}, {Func: "main.worker", File: "main.go", Line: 7}})
	ms := time.Millisecond
	var delay Histogram
	delay.AddN(5*ms, 20)
	worker := Times{Running: 400 * ms, Runnable: 50 * ms, Syscall: 50 * ms, Blocked: map[string]time.Duration{"chan send": 500 * ms}}
	both := Times{}
	both.Add(worker)
	both.Add(worker)
	mark := Times{Running: 200 * ms, Blocked: map[string]time.Duration{"GC worker (idle)": 800 * ms}}
	m.Sched = &Sched{
		Groups: []Group{
			{Name: "main.worker", Count: 2, Created: 1, Peak: 2, Times: both, Runs: 20, Delay: delay},
			{Name: "runtime.gcBgMarkWorker", System: true, Count: 1, Peak: 1, Times: mark},
		},
		Goroutines: []Goroutine{
			{ID: 7, Group: "main.worker", Times: worker}, {ID: 8, Group: "main.worker", Times: worker},
			{ID: 2, Group: "runtime.gcBgMarkWorker", Times: mark},
		},
		AllKept: true,
		Procs: []Proc{
			{ID: 0, User: 500 * ms, GC: 200 * ms, Syscall: 100 * ms, Scheduler: 50 * ms, Idle: 150 * ms},
			{ID: 1, User: 300 * ms, Idle: 700 * ms, Starts: 3},
		},
		Timeline: []Bucket{
			{Start: 0, Width: 250 * ms, Running: 2, Held: 2, Runnable: 4},
			{Start: 250 * ms, Width: 500 * ms, Running: 1, Held: 1, Runnable: 1},
			{Start: 750 * ms, Width: 250 * ms, Running: 0, Held: 0, Runnable: 0},
		},
		Waits: []Wait{
			{Kind: Sync, Reason: "chan send", Stack: send, Group: "main.worker", Count: 10, Total: 900 * ms},
			{Kind: SchedWait, Group: "main.worker", Count: 20, Total: 100 * ms},
			{Kind: SyscallWait, Group: "main.worker", Count: 4, Total: 80 * ms},
		},
		Wakes:  []Wake{{Waker: send, Woken: send, Count: 10}},
		Bursts: []Burst{{Waker: send, Count: 2, Woken: 20, Max: 12, Futile: 3}},
		Delay:  delay,
	}
	m.GC = &GC{
		Cycles: []Cycle{{Seq: 1, Begin: 100 * ms, End: 200 * ms}},
		Heap:   []HeapSample{{At: 0, Alloc: 1 << 20, Goal: 4 << 20}, {At: 5, Alloc: 2 << 20, Goal: 4 << 20}},
		Pauses: []Pause{{Kind: "GC mark termination", At: 200 * ms, Duration: ms}, {Kind: "GC sweep termination", At: 100 * ms, Duration: 2 * ms}},
		Load:   []LoadChange{{At: 1, Kind: LoadSTW, Delta: 1}, {At: 2, Kind: LoadSTW, Delta: -1}},
	}
	m.Tasks = &Tasks{Tasks: []TaskType{{Name: "request", Count: 2, Complete: 0}}}
	m.CPU = &Profile{Types: []ValueType{{"cpu", "nanoseconds"}}, Samples: []Sample{{Stack: send, Values: []int64{10}}}}
	return m
}

func TestCheckWhole(t *testing.T) {
	if err := whole().Check(); err != nil {
		t.Errorf("accounts that add up: %v", err)
	}
	if err := new(Model).Check(); err != nil {
		t.Errorf("no evidence at all: %v", err)
	}
}

func TestCheckFaults(t *testing.T) {
	ms := time.Millisecond
	tests := []struct {
		want  string // a piece of the error
		spoil func(*Model)
	}{
		{"is the most there was", func(m *Model) { m.Sched.Groups[1].Unknown = time.Hour }},
		{"a part of its time is", func(m *Model) { m.Sched.Groups[1].Syscall = -ms }},
		{"a part of its time is", func(m *Model) { m.Sched.Goroutines[1].Runnable = -ms }},
		{"listed twice", func(m *Model) { m.Sched.Groups[1].Name = "main.worker" }},
		{"3 created", func(m *Model) { m.Sched.Groups[0].Created = 3 }},
		{"groups: not the largest first", func(m *Model) { g := m.Sched.Groups; g[0], g[1] = g[1], g[0] }},
		{"goroutines add up to", func(m *Model) { m.Sched.Goroutines[0].Running -= ms }},
		{"not all of them kept", func(m *Model) { m.Sched.Goroutines = m.Sched.Goroutines[:2] }},
		{"which is not listed", func(m *Model) { m.Sched.Goroutines[0].Group = "main.nobody" }},
		{"kept of 2", func(m *Model) {
			m.Sched.AllKept = false
			m.Sched.Goroutines = append(m.Sched.Goroutines, m.Sched.Goroutines[0])
		}},
		{"listed after P 0", func(m *Model) { m.Sched.Procs[1].ID = 0 }},
		{"in a window of 1s", func(m *Model) { m.Sched.Procs[1].Idle += ms }},
		{"Ps ran goroutines for", func(m *Model) { m.Sched.Procs[1].User -= ms; m.Sched.Procs[1].Idle += ms }},
		{"the next begins at", func(m *Model) { m.Sched.Timeline[1].Start++ }},
		{"of running goroutines, the groups have", func(m *Model) { m.Sched.Timeline[1].Running = 1.1 }},
		{"the group has 1s", func(m *Model) { m.Sched.Waits[0].Total = 2 * time.Second }},
		{"the group has 100ms", func(m *Model) { m.Sched.Waits[1].Total = 101 * ms }},
		{"waits: not the largest first", func(m *Model) { w := m.Sched.Waits; w[0], w[1] = w[1], w[0] }},
		{"stack 99 of 2", func(m *Model) { m.Sched.Waits[0].Stack = 99 }},
		{"stack -1 of 2", func(m *Model) { m.Sched.Wakes[0].Waker = -1 }},
		{"burst:", func(m *Model) { m.Sched.Bursts[0].Futile = 21 }},
		{"delay: 21 waits", func(m *Model) { m.Sched.Delay.Add(1) }},
		{"buckets hold 20, N is 19", func(m *Model) { m.Sched.Groups[0].Delay.N = 19 }},
		{"the largest is 1ns", func(m *Model) { m.Sched.Delay.Max = 1 }},
		{"collector load: not in time order", func(m *Model) { m.GC.Load[0].At = 9 }},
		{"heap: not in time order", func(m *Model) { m.GC.Heap[0].At = 9 }},
		{`pause "GC mark termination"`, func(m *Model) { m.GC.Pauses[0].At = time.Second }},
		{"collection 1:", func(m *Model) { m.GC.Cycles[0].End = 50 * ms }},
		{"1 complete, 0 latencies", func(m *Model) { m.Tasks.Tasks[0].Complete = 1 }},
		{"2 values of 1 types", func(m *Model) { m.CPU.Samples[0].Values = []int64{1, 2} }},
	}
	for _, tt := range tests {
		m := whole()
		tt.spoil(m)
		if err := m.Check(); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("Check() = %v, want %q", err, tt.want)
		}
	}
}

// What was lost or guessed explains a difference between goroutines and Ps.
func TestCheckDamaged(t *testing.T) {
	m := whole()
	m.Sched.Procs[1].User -= time.Millisecond
	m.Sched.Procs[1].Unknown += time.Millisecond
	m.Run.Coverage.Damaged = 1
	if err := m.Check(); err != nil {
		t.Errorf("a damaged trace: %v", err)
	}
}

func TestViews(t *testing.T) {
	m := whole()
	s := m.Sched
	ms := time.Millisecond
	if g := s.Group("main.worker"); g == nil || g.Count != 2 {
		t.Errorf("Group(main.worker) = %+v, want 2 goroutines", g)
	}
	if g := s.Group("main.nobody"); g != nil {
		t.Errorf("Group(main.nobody) = %+v, want nil", g)
	}
	if p := s.ProcSeconds(); p.Total() != 2*time.Second || p.User != 800*ms || p.Starts != 3 || p.ID != -1 {
		t.Errorf("ProcSeconds() = %+v, want 2s in 3 starts, 800ms of the user", p)
	}
	if got := s.Busy(); got != 0.5 {
		t.Errorf("busy %v, want (800 + 200 ms) of 2 s", got)
	}
	if got := new(Sched).Busy(); got != 0 {
		t.Errorf("busy without Ps: %v", got)
	}
	if got := s.Total(); got.Running != time.Second || got.BlockedTotal() != 1800*ms || got.Total() != 3*time.Second {
		t.Errorf("Total() = %+v, want 1s running and 1.8s blocked of 3s", got)
	}
	worker, nobody := "main.worker", ""
	for _, tt := range []struct {
		f     WaitFilter
		count int64
		total time.Duration
	}{
		{WaitFilter{}, 34, 1080 * ms},
		{WaitFilter{Kind: Sync}, 10, 900 * ms},
		{WaitFilter{Kind: Sync, Reason: "select"}, 0, 0},
		{WaitFilter{Reason: "chan send"}, 10, 900 * ms},
		{WaitFilter{Kind: SchedWait, Group: &worker}, 20, 100 * ms},
		{WaitFilter{Group: &nobody}, 0, 0},
	} {
		if n, d := s.WaitTime(tt.f); n != tt.count || d != tt.total {
			t.Errorf("waits %+v: %d, %v, want %d, %v", tt.f, n, d, tt.count, tt.total)
		}
	}
	if n, d := m.GC.PauseTime(""); n != 2 || d != 3*ms {
		t.Errorf("PauseTime() = %d, %v; want 2 of 3ms", n, d)
	}
	if n, d := m.GC.PauseTime("GC mark termination"); n != 1 || d != ms {
		t.Errorf("PauseTime(GC mark termination) = %d, %v; want 1 of 1ms", n, d)
	}
}

// Each fault is said with the numbers that do not fit.
func TestCheckSays(t *testing.T) {
	ms := time.Millisecond
	group := func(change func(g *Group)) func(*Model) {
		return func(m *Model) { change(&m.Sched.Groups[0]) }
	}
	wait := func(change func(w *Wait)) func(*Model) {
		return func(m *Model) {
			w := &m.Sched.Waits[0]
			w.Open, w.Parked, w.OpenTotal, w.Early = 3, 2, 5*ms, 7*ms
			change(w)
		}
	}
	proc := func(change func(p *Proc)) func(*Model) {
		return func(m *Model) { change(&m.Sched.Procs[0]) }
	}
	pause := func(at, long time.Duration) func(*Model) {
		return func(m *Model) { p := &m.GC.Pauses[0]; p.At, p.Duration = at, long }
	}
	collection := func(begin, end time.Duration) func(*Model) {
		return func(m *Model) { c := &m.GC.Cycles[0]; c.Begin, c.End = begin, end }
	}
	bucket := func(b Bucket) func(*Model) {
		return func(m *Model) { m.Sched.Timeline[0] = b }
	}
	moments := func(list ...KernelMoment) func(*Model) {
		return func(m *Model) {
			m.Kernel = &Kernel{CPU: &Profile{Samples: make([]Sample, 3)}, Off: &Profile{Samples: make([]Sample, 9)}, Moments: list}
		}
	}
	later := func(at, user, system time.Duration) func(*Model) {
		return func(m *Model) {
			m.CPU, m.Process = nil, &Process{Samples: []ProcessSample{{At: 30, User: 500, System: 7000, RunQueue: 2}, {At: at, User: user, System: system, RunQueue: 3}}}
		}
	}
	burst := func(b Burst) func(*Model) {
		return func(m *Model) { m.Sched.Bursts[0] = b }
	}
	handover := func(change func(h *Handover)) func(*Model) {
		return func(m *Model) {
			h := Handover{Waits: 5, Waited: 50, Taken: 5, TakenTime: 50, Idle: 600, Lived: 600, PeersIdle: 7000, PeersLived: 7000}
			change(&h)
			m.Sched.Handovers = []Handover{h}
		}
	}
	one := Histogram{N: 2, Max: 5}
	const worker, negative = `group "main.worker": `, `group "main.worker": a part of its time is -1ms`
	for _, tt := range []struct {
		want  string // how one of its lines begins
		spoil func(*Model)
	}{
		{"run: duration 1s, -3 Ps", func(m *Model) { m.Run.Procs = -3 }},
		{"run: duration -5ns, 0 Ps", func(m *Model) { *m = Model{Run: Run{Duration: -5}} }},
		{worker + "2 goroutines, -1 created, 0 ended, peak 2", group(func(g *Group) { g.Created = -1 })},
		{worker + "2 goroutines, 1 created, -1 ended, peak 2", group(func(g *Group) { g.Ended = -1 })},
		{worker + "2 goroutines, 1 created, 3 ended, peak 2", group(func(g *Group) { g.Ended = 3 })},
		{worker + "2 goroutines, 1 created, 0 ended, peak 4", group(func(g *Group) { g.Peak = 4 })},
		{negative, group(func(g *Group) { g.Running = -ms })},
		{negative, group(func(g *Group) { g.Runnable = -ms })},
		{negative, group(func(g *Group) { g.Syscall = -ms })},
		{negative, group(func(g *Group) { g.SyscallBlocked = -ms })},
		{negative, group(func(g *Group) { g.Unknown = -ms })},
		{negative, group(func(g *Group) { g.Blocked["x"] = -ms })},
		{negative, group(func(g *Group) { g.Ranges = map[string]time.Duration{"x": -ms} })},
		{worker + "2.001s of time, 2s is the most there was", group(func(g *Group) { g.Unknown = ms })},
		{worker + "stack 7 of 2", group(func(g *Group) { g.Creator = 7 })},
		{worker + "stack -1 of 2", group(func(g *Group) { g.Creator = -1 })},
		{worker + "stack 2 of 2", group(func(g *Group) { g.Creator = 2 })},
		{worker[:len(worker)-2] + " running: buckets hold 0, N is 2", group(func(g *Group) { g.RunningEach = one })},
		{worker[:len(worker)-2] + " life: buckets hold 0, N is 2", group(func(g *Group) { g.Life = one })},
		{"slice: buckets hold 0, N is 2", func(m *Model) { m.Sched.Slice = one }},
		{"delay: counts 4.718592ms or more, the largest is 4ms", func(m *Model) { m.Sched.Delay.Max = 4 * ms }},
		{"delay: 21 waits for a P, the groups have 20", func(m *Model) { m.Sched.Delay.Add(1) }},
		{"goroutine 7: 1.001s of time, 1s is the most there was", func(m *Model) { m.Sched.Goroutines[0].Unknown, m.Sched.Goroutines[0].Runs = ms, 9 }},
		{worker + "3 goroutines with 3s kept of 2 with 2s", func(m *Model) {
			m.Sched.AllKept = false
			m.Sched.Goroutines = append(m.Sched.Goroutines, m.Sched.Goroutines[0])
		}},
		{worker + "3 goroutines with 2s kept of 2 with 2s", func(m *Model) {
			m.Sched.AllKept = false
			m.Sched.Goroutines = append(m.Sched.Goroutines, Goroutine{Group: "main.worker"})
		}},
		{worker + "1 goroutines with 3s kept of 2 with 2s", func(m *Model) {
			m.Sched.AllKept, m.Run.Duration = false, 3*time.Second
			m.Sched.Goroutines = []Goroutine{{Group: "main.worker", Times: Times{Running: 3 * time.Second}}}
		}},
		{worker + "its goroutines add up to {Running:799ms Runnable:100ms Syscall:100ms SyscallBlocked:0s Unknown:0s Blocked:map[chan send:1s]}, " +
			"it has {Running:800ms Runnable:100ms Syscall:100ms SyscallBlocked:0s Unknown:0s Blocked:map[chan send:1s]}",
			func(m *Model) { m.Sched.Goroutines[0].Running -= ms }},
		{worker + "its goroutines add up to", func(m *Model) { g := &m.Sched.Goroutines[0]; g.Runnable, g.Unknown = g.Runnable-ms, g.Unknown+ms }},
		{worker + "its goroutines add up to", func(m *Model) {
			g := &m.Sched.Goroutines[0]
			g.SyscallBlocked, g.Running = g.SyscallBlocked+ms, g.Running-ms
		}},
		{worker + "2 goroutines, not all of them kept", func(m *Model) { m.Sched.Goroutines = m.Sched.Goroutines[1:] }},
		{worker + "2 goroutines, not all of them kept", func(m *Model) { m.Sched.Goroutines = m.Sched.Goroutines[2:] }},
		{"P 4: listed after P 4", func(m *Model) { m.Sched.Procs[0].ID, m.Sched.Procs[1].ID = 4, 4 }},
		{"P 3: listed after P 4", func(m *Model) { m.Sched.Procs[0].ID, m.Sched.Procs[1].ID = 4, 3 }},
		{"P 0: a part of its time is negative: {ID:0 User:-1ns", proc(func(p *Proc) { p.User = -1 })},
		{"P 0: a part of its time is negative", proc(func(p *Proc) { p.GC = -1 })},
		{"P 0: a part of its time is negative", proc(func(p *Proc) { p.GCIdle = -1 })},
		{"P 0: a part of its time is negative", proc(func(p *Proc) { p.Syscall = -1 })},
		{"P 0: a part of its time is negative", proc(func(p *Proc) { p.Scheduler = -1 })},
		{"P 0: a part of its time is negative", proc(func(p *Proc) { p.Idle = -1 })},
		{"P 0: a part of its time is negative", proc(func(p *Proc) { p.Unknown = -1 })},
		{"P 0: 1.001s of time in a window of 1s", proc(func(p *Proc) { p.Idle += ms })},
		{"Ps ran goroutines for 1.002s, goroutines ran for 1s", proc(func(p *Proc) { p.GCIdle, p.Idle = 2*ms, p.Idle-2*ms })},
		{"timeline: {Start:0s Width:0s Running:2 Held:2 Runnable:4}", bucket(Bucket{0, 0, 2, 2, 4})},
		{"timeline: {Start:0s Width:250ms Running:-2 Held:2 Runnable:4}", bucket(Bucket{0, 250 * ms, -2, 2, 4})},
		{"timeline: {Start:0s Width:250ms Running:2 Held:-2 Runnable:4}", bucket(Bucket{0, 250 * ms, 2, -2, 4})},
		{"timeline: {Start:0s Width:250ms Running:2 Held:2 Runnable:-4}", bucket(Bucket{0, 250 * ms, 2, 2, -4})},
		{"timeline: a bucket ends at 240ms, the next begins at 250ms", bucket(Bucket{-20 * ms, 260 * ms, 2, 2, 4})},
		{"timeline: a bucket ends at 750ms, the next begins at 760ms", func(m *Model) { m.Sched.Timeline[2].Start += 10 * ms }},
		{"timeline: 1.050000000s of running goroutines, the groups have 1s", func(m *Model) { m.Sched.Timeline[1].Running = 1.1 }},
		{"timeline: 0.950000000s of running goroutines, the groups have 1s", func(m *Model) { m.Sched.Timeline[1].Running = 0.9 }},
		{"wait: {Kind:sync Reason:chan send Stack:1 Group:main.worker Count:-1 Open:3 Parked:2", wait(func(w *Wait) { w.Count = -1 })},
		{"wait: ", wait(func(w *Wait) { w.Total, w.OpenTotal = -1, 0 })},
		{"wait: ", wait(func(w *Wait) { w.Total, w.OpenTotal = -1, -2 })},
		{"wait: ", wait(func(w *Wait) { w.Parked = -1 })},
		{"wait: ", wait(func(w *Wait) { w.Parked = 4 })},
		{"wait: ", wait(func(w *Wait) { w.OpenTotal = -1 })},
		{"wait: ", wait(func(w *Wait) { w.OpenTotal = w.Total + 1 })},
		{`waits of group "main.worker", sync "chan send": 1.1s, the group has 1s`, wait(func(w *Wait) { w.Total = 1100 * ms })},
		{`waits of group "main.nobody", which is not listed`, wait(func(w *Wait) { w.Group = "main.nobody" })},
		{`waits of group "main.worker": kind "odd"`, wait(func(w *Wait) { w.Kind = "odd" })},
		{`waits of group "main.worker", syscall "": 101ms, the group has 100ms`, func(m *Model) { m.Sched.Waits[2].Total = 101 * ms }},
		{"wake: stack 9 of 2", func(m *Model) { m.Sched.Wakes[0].Woken = 9 }},
		{"wake: {Waker:1 Woken:1 Count:-1}", func(m *Model) { m.Sched.Wakes[0].Count = -1 }},
		{"burst: ", burst(Burst{Count: 2, Woken: 20, Max: 7})},
		{"burst: ", burst(Burst{Count: 2, Woken: 15, Max: 9})},
		{"burst: ", burst(Burst{Count: 2, Woken: 20, Max: 9, Futile: 21})},
		{"handover: stack 9 of 2", handover(func(h *Handover) { h.Stack = 9 })},
		{"handover: {Stack:0 Waits:5 Waited:50ns", handover(func(h *Handover) { h.Taken = 6 })},
		{"handover: {", handover(func(h *Handover) { h.TakenTime = 51 })},
		{"handover: {", handover(func(h *Handover) { h.Idle = 601 })},
		{"handover: {", handover(func(h *Handover) { h.PeersIdle = 7001 })},
		{"handover: {", handover(func(h *Handover) { h.GaveUp = -1 })},
		{"pause \"GC mark termination\": -1ns at 5ms of 1s", pause(5*ms, -1)},
		{"pause \"GC mark termination\": 5ms at -1ns of 1s", pause(-1, 5*ms)},
		{"pause \"GC mark termination\": 2ms at 999ms of 1s", pause(999*ms, 2*ms)},
		{"pause: stack 9 of 2", func(m *Model) { m.GC.Pauses[0].Stack = 9 }},
		{"heap: not in time order", func(m *Model) { m.GC.Heap = []HeapSample{{At: 6}, {At: 5}} }},
		{"collector load: not in time order", func(m *Model) { m.GC.Load = []LoadChange{{At: 6}, {At: 5}} }},
		{"collection 1: from 50ms to 40ms", collection(50*ms, 40*ms)},
		{`task "request": 2 seen, 3 complete, 0 latencies`, func(m *Model) { m.Tasks.Tasks[0].Complete = 3 }},
		{`task "request": 2 seen, 1 complete, 0 latencies`, func(m *Model) { m.Tasks.Tasks[0].Complete = 1 }},
		{`task "request": 2 seen, 0 complete, 1 latencies`, func(m *Model) { m.Tasks.Tasks[0].Latency.Add(5) }},
		{`task "request": 2 seen, 3 complete, 3 latencies`, func(m *Model) { m.Tasks.Tasks[0].Complete = 3; m.Tasks.Tasks[0].Latency.AddN(5, 3) }},
		{"region r: buckets hold 0, N is 2", func(m *Model) { m.Tasks.Regions = append(m.Tasks.Regions, RegionType{Name: "r", Latency: one}) }},
		{"heap sample: 1 values of 0 types", func(m *Model) { m.Heap = &Profile{Samples: []Sample{{Values: []int64{1}}}} }},
		{"kernel sample: 1 values of 0 types", func(m *Model) { m.Kernel = &Kernel{CPU: &Profile{Samples: []Sample{{Values: []int64{1}}}}} }},
		{"off-CPU sample: 1 values of 0 types", func(m *Model) { m.Kernel = &Kernel{Off: &Profile{Samples: []Sample{{Values: []int64{1}}}}} }},
		{"kernel sample at 7ns: stack 3 of 3", moments(KernelMoment{At: 7, Sample: 3, Thread: 1})},
		{"kernel sample at 7ns: stack -1 of 3", moments(KernelMoment{At: 7, Sample: -1, Thread: 1})},
		{"kernel sample at 5ns: stack 1 of 3", moments(KernelMoment{At: 7}, KernelMoment{At: 5, Sample: 1, Thread: 2})},
		{"process: at 30ns user 500ns and system 7µs, at 20ns 600ns and 8µs", later(20, 600, 8000)},
		{"process: at 30ns user 500ns and system 7µs, at 40ns 400ns and 8µs", later(40, 400, 8000)},
		{"process: at 30ns user 500ns and system 7µs, at 40ns 600ns and 6µs", later(40, 600, 6000)},
	} {
		m := whole()
		tt.spoil(m)
		err := m.Check()
		if err == nil || !slices.ContainsFunc(strings.Split(err.Error(), "\n"), func(line string) bool { return strings.HasPrefix(line, tt.want) }) {
			t.Errorf("Check() = %v, want a line %q", err, tt.want)
		}
	}
	for name, fine := range map[string]func(*Model){
		"goroutines kept in part": func(m *Model) {
			m.Sched.AllKept, m.Sched.Goroutines = false, m.Sched.Goroutines[1:]
		},
		"system calls after their P was taken": func(m *Model) {
			g := m.Sched
			g.Groups[0].Syscall, g.Groups[0].SyscallBlocked = 60*ms, 40*ms
			for i := range g.Goroutines[:2] {
				g.Goroutines[i].Syscall, g.Goroutines[i].SyscallBlocked = 30*ms, 20*ms
			}
		},
		"waits that go on":            wait(func(*Wait) {}),
		"a burst that never happened": burst(Burst{}),
		"a handover of all":           handover(func(*Handover) {}),
		"a burst of just as many":     burst(Burst{Count: 2, Woken: 16, Max: 8, Futile: 16}),
		"a pause to the end":          pause(900*ms, 100*ms),
		"a collection that went on":   collection(50*ms, -1),
		"a collection before":         collection(-1, 50*ms),
		"samples of the kernel":       moments(KernelMoment{At: -4, Thread: -1}, KernelMoment{At: 7, Sample: 2, Thread: 9}, KernelMoment{At: 7, Sample: 1}),
		"a P of an odd sum":           proc(func(p *Proc) { p.GC, p.GCIdle = 150*ms, 50*ms }),
		"a group that nobody is of":   func(m *Model) { m.Sched.Groups = append(m.Sched.Groups, Group{Name: "main.none"}) },
		"a trace without Ps":          func(m *Model) { m.Sched.Procs = nil },
		"a trace without a timeline":  func(m *Model) { m.Sched.Timeline = nil },
		"a timeline 800 ns over":      func(m *Model) { m.Sched.Timeline[1].Running += 1.6e-6 },
		"a timeline 800 ns under":     func(m *Model) { m.Sched.Timeline[1].Running -= 1.6e-6 },
		"bytes that were lost":        func(m *Model) { m.Run.Coverage.LostBytes = 1; m.Sched.Delay = Histogram{} },
		"states that were guessed":    func(m *Model) { m.Run.Coverage.Forced = 1; m.Sched.Delay = Histogram{} },
		"a process that counts":       later(40, 600, 8000),
		"a process that stood still":  later(30, 500, 7000),
	} {
		m := whole()
		fine(m)
		if err := m.Check(); err != nil {
			t.Errorf("Check() of %s = %v, want nil", name, err)
		}
	}
}

// An account of CPU time whose figures do not fit is said with these.
func TestCheckAccount(t *testing.T) {
	fine := CPUAccount{User: 70, System: 30, Known: true, Total: 100, Parts: []CPUEntry{
		{Application, 60, nil}, {InKernel, 40, []CPUName{{"read", 21}, {"write", 21}}}}}
	for _, tt := range []struct {
		name, want string
		spoil      func(a *CPUAccount)
	}{
		{"it fits but for rounding", "", func(*CPUAccount) {}},
		{"pieces of more than a part", "CPU account: system calls has 40ns, its pieces 43ns",
			func(a *CPUAccount) { a.Parts[1].By[0].Time = 22 }},
		{"a part of nothing", "CPU account: application has 0s, its pieces 0s", func(a *CPUAccount) { a.Parts[0].Time = 0 }},
		{"parts of less", "CPU account: the parts add up to 99ns of 100ns", func(a *CPUAccount) { a.Parts[0].Time = 59 }},
		{"counters of less", "CPU account: 100ns in all, 69ns in user mode and 30ns in the kernel", func(a *CPUAccount) { a.User = 69 }},
		{"counters that are not known", "", func(a *CPUAccount) { a.User, a.Known = 0, false }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			a := fine
			a.Parts = []CPUEntry{fine.Parts[0], {InKernel, 40, slices.Clone(fine.Parts[1].By)}}
			tt.spoil(&a)
			m := (&Model{}).Frozen()
			m.frozen.cpu.Do(func() { m.frozen.account = &a })
			got := ""
			if err := m.Check(); err != nil {
				got = err.Error()
			}
			if first, _, _ := strings.Cut(got, "\n"); first != tt.want {
				t.Errorf("Check() = %q, want %q", got, tt.want)
			}
		})
	}
}

// The difference that accounts may have is the uncertain time, on each P.
func TestCheckSlack(t *testing.T) {
	m := whole()
	m.Run.PID, m.Sched.Procs[1].Unknown = 99, 7000
	m.Run.Coverage = Coverage{Unknown: 10, Overlap: 200, Lost: 50000, MaxOverlap: 900000}
	for procs, want := range map[int]time.Duration{0: 58210, 1: 57210 + 1000, 2: 2*57210 + 1000} {
		m.Run.Procs = procs
		if got := (&check{m: m}).slack(); got != want {
			t.Errorf("slack() of %d Ps = %d, want %d", procs, got, want)
		}
	}
}

// A model that is wrong everywhere has an error of twenty lines.
func TestCheckSaysEnough(t *testing.T) {
	m := &Model{Heap: &Profile{Samples: make([]Sample, 30)}}
	for i := range m.Heap.Samples {
		m.Heap.Samples[i].Stack = 9
	}
	if got := strings.Count(m.Check().Error(), "\n") + 1; got != 20 {
		t.Errorf("Check() has %d lines, want 20", got)
	}
}
