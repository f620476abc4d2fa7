package whatif

import "testing"

// A wait that had to be ended leaves its goroutine noted at what it waited for. What comes
// there later wakes nobody: the goroutine queues for a lock by then.
func TestLateTokenWakesNobody(t *testing.T) {
	ops := func(list ...op) goroutine {
		for i := range list {
			if k := list[i].kind; k != opLock && k != opUnlock {
				list[i].lock = noLock
			}
		}
		return goroutine{ops: append(list, op{kind: opRun, dur: 10, lock: noLock})}
	}
	run := op{kind: opRun, dur: 1000}
	p := &Program{Procs: 1, Cores: 1, Groups: []Group{{Name: "main.main"}}, Locks: []Lock{{Site: "main.f:1"}}, locks: make([]lockModel, 1),
		tokens: 2, main: -1, goal: 1e9, gs: []goroutine{
			ops(op{kind: opWait, ref: 1}, run, op{kind: opLock}, op{kind: opUnlock}),
			ops(op{kind: opLock}, op{kind: opWait, ref: 2}, op{kind: opWake, ref: 1}, run, op{kind: opUnlock}, run, op{kind: opLock}, op{kind: opUnlock}),
		}}
	r := newReplay(p, edits{work: 1, gc: 1})
	for n := 0; !r.over && r.next(); n++ {
		if n > 1000 {
			t.Fatal("the replay does not end")
		}
		seen := map[int32]bool{}
		for _, g := range r.ready.list[r.ready.head:] {
			if seen[g] {
				t.Fatalf("goroutine %d is ready twice", g)
			}
			seen[g] = true
		}
		for _, g := range r.locks[0].waiters.list[r.locks[0].waiters.head:] {
			if s := r.gs[g].state; s != waiting {
				t.Fatalf("goroutine %d queues for the lock in state %d, want waiting", g, s)
			}
		}
	}
	for g := range r.gs {
		if r.gs[g].state != ended {
			t.Errorf("goroutine %d is left in state %d, want ended", g, r.gs[g].state)
		}
	}
	if r.forced != 2 {
		t.Errorf("waits that had to be ended = %d, want the 2 that nobody ends", r.forced)
	}
}
