package model

import (
	"iter"
	"maps"
	"slices"
	"time"
)

// Group returns the group with a start function, nil when there is none.
func (s *Sched) Group(name string) *Group {
	for i := range s.Groups {
		if s.Groups[i].Name == name {
			return &s.Groups[i]
		}
	}
	return nil
}

// Total returns the time of all goroutines of all groups.
func (s *Sched) Total() (t Times) {
	for i := range s.Groups {
		t.Add(s.Groups[i].Times)
	}
	return t
}

// Total returns the time for which the P is accounted.
func (p Proc) Total() time.Duration {
	return p.User + p.GC + p.GCIdle + p.Syscall + p.Scheduler + p.Idle + p.Unknown
}

// ProcSeconds returns the sum over all Ps: where the time went that GOMAXPROCS
// allowed. Its ID is -1.
func (s *Sched) ProcSeconds() Proc {
	sum := Proc{ID: -1}
	for _, p := range s.Procs {
		sum.User += p.User
		sum.GC += p.GC
		sum.GCIdle += p.GCIdle
		sum.Syscall += p.Syscall
		sum.Scheduler += p.Scheduler
		sum.Idle += p.Idle
		sum.Unknown += p.Unknown
		sum.Starts += p.Starts
	}
	return sum
}

// Busy returns the share of known P time, 0 to 1, in which goroutines of the
// program or mark workers that the collector needs ran. Mark workers of idle
// priority do not count: they yield to anything. 0 without known P time.
func (s *Sched) Busy() float64 {
	p := s.ProcSeconds()
	known := p.Total() - p.Unknown
	if known <= 0 {
		return 0
	}
	return float64(p.User+p.GC) / float64(known)
}

// A WaitFilter chooses waits; what is left empty matches everything. Group is
// a pointer because "" is the group without a name.
type WaitFilter struct {
	Kind   WaitKind
	Reason string
	Group  *string
}

// WaitsBy iterates over the waits that match, largest Total first.
func (s *Sched) WaitsBy(f WaitFilter) iter.Seq[Wait] {
	return func(yield func(Wait) bool) {
		for _, w := range s.Waits {
			if f.Kind != "" && w.Kind != f.Kind || f.Reason != "" && w.Reason != f.Reason ||
				f.Group != nil && w.Group != *f.Group {
				continue
			}
			if !yield(w) {
				return
			}
		}
	}
}

// WaitTime adds up the waits that match.
func (s *Sched) WaitTime(f WaitFilter) (count int64, total time.Duration) {
	for w := range s.WaitsBy(f) {
		count += w.Count
		total += w.Total
	}
	return count, total
}

// A StateTime is time that goroutines of one group spent in one state, and
// where, as far as that is known.
type StateTime struct {
	Group *Group
	State string // running, runnable, system call, unknown, or "blocked: " and the runtime's word
	Stack Stack  // where they were blocked or called the system; 0 when not known
	Total time.Duration
}

const stateSyscall = "system call"

// StateTimes spreads the time of all goroutines over groups, states and
// places: group by group in the order of Groups, and they add up to
// [Sched.Total]. Time blocked or in system calls is at the stacks that Waits
// knows, the rest of each state is at none.
func (s *Sched) StateTimes() iter.Seq[StateTime] {
	return func(yield func(StateTime) bool) {
		waits := map[string][]Wait{}
		for _, w := range s.Waits {
			// Of a wait for a P the stack is the waker's, not the goroutine's.
			if w.Kind != SchedWait && w.Stack != 0 {
				waits[w.Group] = append(waits[w.Group], w)
			}
		}
		for i := range s.Groups {
			g := &s.Groups[i]
			rest := g.states()
			for _, w := range waits[g.Name] {
				state := StateBlocked(w.Reason)
				if w.Kind == SyscallWait {
					state = stateSyscall
				}
				d := min(w.Total, rest[state])
				rest[state] -= d
				if d > 0 && !yield(StateTime{g, state, w.Stack, d}) {
					return
				}
			}
			for _, state := range slices.Sorted(maps.Keys(rest)) {
				if d := rest[state]; d > 0 && !yield(StateTime{g, state, 0, d}) {
					return
				}
			}
		}
	}
}

// states returns a group's time by the names of states.
func (g *Group) states() map[string]time.Duration {
	t := map[string]time.Duration{
		"running": g.Running, "runnable": g.Runnable, stateSyscall: g.Syscall + g.SyscallBlocked, "unknown": g.Unknown,
	}
	for reason, d := range g.Blocked {
		t[StateBlocked(reason)] += d
	}
	return t
}

// StateBlocked names a wait. A goroutine that was parked before the recording
// began has told nobody why.
func StateBlocked(reason string) string {
	if reason == "" {
		return "blocked, reason not recorded"
	}
	return "blocked: " + reason
}

// PauseTime adds up the stop-the-worlds of a kind, "" for all of them.
func (g *GC) PauseTime(kind string) (count int, total time.Duration) {
	for _, p := range g.Pauses {
		if kind == "" || p.Kind == kind {
			count++
			total += p.Duration
		}
	}
	return count, total
}
