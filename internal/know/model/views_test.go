package model

import (
	"reflect"
	"testing"
	"time"
)

// The time of all goroutines is spread over states and places, and none of it is lost.
func TestStateTimes(t *testing.T) {
	times := Times{Running: 1, Runnable: 20, Syscall: 300, SyscallBlocked: 4000, Unknown: 50000, Blocked: map[string]time.Duration{"": 7, "select": 600000, "sleep": 90}}
	s := &Sched{
		Groups: []Group{{Name: "main.a", Times: times}, {Name: "main.b", Times: Times{Running: 5, Blocked: map[string]time.Duration{"select": 30}}}},
		Waits: []Wait{
			{Kind: Sync, Reason: "select", Group: "main.a", Stack: 3, Total: 400000, OpenTotal: 1},
			{Kind: Sync, Reason: "select", Group: "main.a", Stack: 4, Total: 700000}, // more than is left
			{Kind: Sync, Reason: "select", Group: "main.a", Stack: 5, Total: 9},      // and nothing is
			{Kind: SyscallWait, Group: "main.a", Stack: 6, Total: 1300},
			{Kind: SchedWait, Group: "main.a", Stack: 7, Total: 15}, // of the waker
			{Kind: OtherWait, Reason: "sleep", Group: "main.a", Total: 40},
			{Kind: Sync, Reason: "select", Group: "main.b", Stack: 8, Total: 10},
		},
	}
	type line struct {
		group, state string
		stack        Stack
		total        time.Duration
	}
	want := []line{
		{"main.a", "blocked: select", 3, 400000}, {"main.a", "blocked: select", 4, 200000}, {"main.a", "system call", 6, 1300},
		{"main.a", "blocked, reason not recorded", 0, 7}, {"main.a", "blocked: sleep", 0, 90}, {"main.a", "runnable", 0, 20},
		{"main.a", "running", 0, 1}, {"main.a", "system call", 0, 3000}, {"main.a", "unknown", 0, 50000},
		{"main.b", "blocked: select", 8, 10}, {"main.b", "blocked: select", 0, 20}, {"main.b", "running", 0, 5},
	}
	var got []line
	var sum time.Duration
	for st := range s.StateTimes() {
		got = append(got, line{st.Group.Name, st.State, st.Stack, st.Total})
		sum += st.Total
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("StateTimes() =\n%v, want\n%v", got, want)
	}
	if total := s.Total().Total(); sum != total || total != 654453 {
		t.Errorf("StateTimes() add up to %d of %d, want all of 654453", sum, total)
	}
	for stop := range want { // whoever ends the loop hears nothing more
		n := 0
		for range s.StateTimes() {
			if n++; n > stop {
				break
			}
		}
		if n != stop+1 {
			t.Errorf("StateTimes() ended after %d times, want %d", n, stop+1)
		}
	}
}

func TestTimes(t *testing.T) {
	var sum Times
	one := Times{Running: 1, Runnable: 20, Syscall: 300, SyscallBlocked: 4000, Unknown: 50000, Blocked: map[string]time.Duration{"select": 600000}}
	sum.Add(one)
	sum.Add(one)
	if want := (Times{2, 40, 600, 8000, 100000, map[string]time.Duration{"select": 1200000}}); !reflect.DeepEqual(sum, want) {
		t.Errorf("twice %+v is %+v, want %+v", one, sum, want)
	}
	if got := sum.Total(); got != 1308642 {
		t.Errorf("Total() = %d, want 1308642", got)
	}
	p := Proc{ID: 3, User: 1, GC: 20, GCIdle: 300, Syscall: 4000, Scheduler: 50000, Idle: 600000, Unknown: 7000000, Starts: 9}
	if got := p.Total(); got != 7654321 {
		t.Errorf("Total() of a P = %d, want 7654321", got)
	}
	s := Sched{Procs: []Proc{p, p}}
	if got, want := s.ProcSeconds(), (Proc{-1, 2, 40, 600, 8000, 100000, 1200000, 14000000, 18}); got != want {
		t.Errorf("ProcSeconds() = %+v, want %+v", got, want)
	}
	if got, want := s.Busy(), 21.0/654321; got != want {
		t.Errorf("Busy() = %v, want %v", got, want)
	}
	if got := (&Group{Count: 9, Created: 5, Ended: 4, Peak: 7}).Alive(); got != 5 {
		t.Errorf("Alive() = %d, want 5", got)
	}
	if got := (&Wait{Total: 90, OpenTotal: 20, Early: 3}).Ended(); got != 70 {
		t.Errorf("Ended() = %d, want 70", got)
	}
	c := Chain{Links: []ChainLink{{Kind: LinkRuns, Time: 1}, {Kind: LinkClock, Time: 20}, {Kind: LinkRuns, Time: 300}}}
	for kind, want := range map[LinkKind]time.Duration{LinkRuns: 301, LinkClock: 20, LinkReady: 0, "": 321} {
		if got := c.LinkTime(kind); got != want {
			t.Errorf("LinkTime(%q) = %d, want %d", kind, got, want)
		}
	}
}
