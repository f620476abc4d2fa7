package model

import (
	"reflect"
	"testing"
	"time"
)

// gcLog returns four lines of gctrace, a second apart but for the last, with numbers that
// are all different.
func gcLog() []GCLine {
	us := time.Microsecond
	return []GCLine{
		{Cycle: 5, At: 10 * time.Second, Live: 40, Goal: 120, Procs: 2, SweepTerm: 900 * us, MarkTerm: 900 * us, CPUAssist: time.Hour,
			CPUBackground: time.Hour, CPUIdle: time.Hour, CPUSweepTerm: time.Hour, CPUMarkTerm: time.Hour},
		{Cycle: 6, At: 11 * time.Second, Live: 70, Goal: 50, Procs: 2, SweepTerm: 1 * us, MarkTerm: 20 * us, CPUAssist: 300 * us,
			CPUBackground: 4000 * us, CPUIdle: 50000 * us, CPUSweepTerm: 3 * us, CPUMarkTerm: 60 * us, Forced: true},
		{Cycle: 7, At: 12 * time.Second, Live: 60, Goal: 80, Procs: 2, SweepTerm: 5 * us, MarkTerm: 10 * us, CPUAssist: 10 * us,
			CPUBackground: 100 * us, CPUIdle: 1000 * us, CPUSweepTerm: 7 * us, CPUMarkTerm: 20 * us},
		{Cycle: 8, At: 14 * time.Second, Live: 50, Procs: 4, SweepTerm: 2 * us, MarkTerm: 5 * us},
	}
}

// What the first collection cost came before the time that the account is of.
func TestGCLogAccount(t *testing.T) {
	us := time.Microsecond
	lines := gcLog()
	want := GCLogAccount{
		Over: 4 * time.Second, Collections: 3, Forced: 1, Procs: 4, Costs: true,
		Assist: 310 * us, Background: 4100 * us, Idle: 51000 * us, Stop: 90 * us, Stopped: 43 * us, LongestStop: 21 * us,
		First: lines[0], Middle: lines[2], Last: lines[3], Most: 70, LeastGoal: 50, MostGoal: 120,
	}
	elided := want
	elided.Costs, elided.Assist, elided.Background, elided.Idle, elided.Stop, elided.Stopped, elided.LongestStop = false, 0, 0, 0, 0, 0, 0
	for _, tt := range []struct {
		name   string
		change func(*Model)
		want   func(*GCLogAccount)
	}{
		{"all lines", func(*Model) {}, func(*GCLogAccount) {}},
		{"the last line does not tell of Ps", func(m *Model) { m.GCLog[3].Procs = 0 }, func(a *GCLogAccount) { a.Procs, a.Last.Procs = 3, 0 }},
		{"a line without its CPU", func(m *Model) { m.GCLog[1].Elided = true }, func(a *GCLogAccount) { *a = elided }},
		{"the middle is a line", func(m *Model) { m.GCLog[1].At = 12 * time.Second }, func(a *GCLogAccount) {
			a.Middle = lines[1]
			a.Middle.At = 12 * time.Second
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m := &Model{GCLog: gcLog()}
			m.Run.Procs = 3
			tt.change(m)
			expected := want
			tt.want(&expected)
			if got := m.GCLogAccount(); got == nil || !reflect.DeepEqual(*got, expected) {
				t.Errorf("GCLogAccount() =\n%+v, want\n%+v", got, expected)
			}
		})
	}
	if got := want.CPU(); got != 4500*us {
		t.Errorf("CPU() = %v, want 4.5ms: that of assists, workers and stops", got)
	}
	if got := want.Ps(); got != 16*time.Second {
		t.Errorf("Ps() = %v, want 16s: four Ps for 4s", got)
	}
	for name, log := range map[string][]GCLine{"no line": nil, "one line": gcLog()[:1], "lines of one moment": {{At: 5}, {At: 5}}, "lines in no order": {{At: 9}, {At: 5}}} {
		if got := (&Model{GCLog: log}).GCLogAccount(); got != nil {
			t.Errorf("GCLogAccount() of %s = %+v, want nil", name, got)
		}
	}
	if got := (&Model{GCLog: []GCLine{{At: 3}, {At: 5}}}).GCLogAccount(); got == nil || got.Over != 2 || got.Collections != 1 {
		t.Errorf("GCLogAccount() of two lines = %+v, want one collection after the first, over 2ns", got)
	}
}

// A line of schedtrace shows a queue that is uneven, and Ps that are idle beside those who wait.
func TestSchedLogAccount(t *testing.T) {
	type counts struct{ told, full, uneven, longest, beside int }
	for _, tt := range []struct {
		name   string
		line   SchedLine
		queued float64
		want   counts
	}{
		{"nothing to do", SchedLine{IdleProcs: 4, Local: []int{0, 0, 0, 0}}, 0, counts{told: 1}},
		{"all busy", SchedLine{RunQueue: 3, Local: []int{9, 0}}, 12, counts{told: 1, full: 1, longest: 9}},
		{"says nothing of idle Ps", SchedLine{IdleProcs: -1, RunQueue: 20, Local: []int{2, 1}}, 23, counts{longest: 2}},
		{"one queue beside an empty one", SchedLine{IdleProcs: 1, Local: []int{8, 0}}, 8, counts{told: 1, uneven: 1, longest: 8, beside: 1}},
		{"an empty one first", SchedLine{IdleProcs: -1, Local: []int{0, 16, 1}}, 17, counts{uneven: 1, longest: 16}},
		{"a queue that is too short", SchedLine{IdleProcs: 1, Local: []int{7, 0}}, 7, counts{told: 1, longest: 7}},
		{"no queue is empty", SchedLine{IdleProcs: 1, Local: []int{8, 1}}, 9, counts{told: 1, longest: 8, beside: 1}},
		{"fewer ready than idle", SchedLine{IdleProcs: 12, RunQueue: 11, Local: []int{0}}, 11, counts{told: 1}},
		{"as many ready as idle", SchedLine{IdleProcs: 12, RunQueue: 12, Local: []int{0}}, 12, counts{told: 1, beside: 1}},
		{"no global queue told", SchedLine{IdleProcs: 0, RunQueue: -1, Local: []int{2, 1}}, 3, counts{told: 1, full: 1, longest: 2}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tt.line.At, tt.line.Procs, tt.line.Threads = 7, 4, 11
			a := (&Model{SchedLog: []SchedLine{tt.line}}).SchedLogAccount()
			if got := (counts{a.Told, a.Full, a.Uneven, a.Longest, a.Beside}); got != tt.want {
				t.Errorf("SchedLogAccount() = %+v, want %+v", got, tt.want)
			}
			if want := (Series{{7, tt.queued}}); !reflect.DeepEqual(a.Queued, want) {
				t.Errorf("SchedLogAccount() has queues %v, want %v", a.Queued, want)
			}
			if got := tt.line.Queued(); got != int(tt.queued) {
				t.Errorf("Queued() = %d, want %v", got, tt.queued)
			}
		})
	}
	m := &Model{SchedLog: []SchedLine{
		{At: 3, Procs: 2, Threads: 0, Local: []int{9, 1}}, {At: 5, Procs: 8, Threads: -1, IdleProcs: 2, Local: []int{4}},
		{At: 10, Procs: 4, Threads: 7, RunQueue: 2},
	}}
	want := &SchedLogAccount{Lines: 3, Over: 7, Procs: 4, Told: 3, Full: 2, Longest: 9,
		Queued: Series{{3, 10}, {5, 4}, {10, 2}}, Threads: Series{{3, 0}, {10, 7}}}
	if got := m.SchedLogAccount(); !reflect.DeepEqual(got, want) {
		t.Errorf("SchedLogAccount() =\n%+v, want\n%+v", got, want)
	}
	if got := new(Model).SchedLogAccount(); got != nil {
		t.Errorf("SchedLogAccount() without lines = %+v, want nil", got)
	}
}
