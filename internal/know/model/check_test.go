package model

import (
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
		t.Errorf("a group that is not there: %+v", g)
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
