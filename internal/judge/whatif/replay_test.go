package whatif

import (
	"math"
	"math/rand/v2"
	"testing"
)

// choices makes decisions of bytes, and of nothing when these are over.
type choices []byte

func (c *choices) below(n int) int {
	v := 0
	for n > 1<<(8*min(len(*c), 1)) && len(*c) > 1 {
		v = v<<8 | int((*c)[0])
		*c = (*c)[1:]
		n >>= 8
	}
	if len(*c) == 0 || n < 1 {
		return 0
	}
	v = v<<8 | int((*c)[0])%n
	*c = (*c)[1:]
	return v
}

// someProgram makes a program of choices: its goroutines do anything in any order, as a
// trace that lies can tell.
func someProgram(c *choices) *Program {
	const tokens, joins = 6, 2
	p := &Program{Procs: 1 + c.below(4), Cores: c.below(3), main: -1, goal: math.MaxFloat64, tokens: tokens, joins: joins,
		Groups: []Group{{Name: "main.work"}, {Name: markWorker, gc: true, System: true}}, costs: costs{500, 3000}}
	p.Locks = make([]Lock, 1+c.below(3))
	for range p.Locks {
		p.locks = append(p.locks, lockModel{traced: c.below(4) == 0})
	}
	for i := range 1 + c.below(60) {
		g := goroutine{start: 1e5 * float64(c.below(3)), group: int32(c.below(8) / 7), join: int32(c.below(2 * joins))}
		g.join = max(0, g.join-1)
		for range c.below(32) {
			g.ops = append(g.ops, someOps(c, tokens, joins, len(p.Locks))...)
		}
		if i > 0 && c.below(2) == 0 {
			g.start = -1
			by := &p.gs[c.below(i)]
			by.ops = append(by.ops, op{kind: opCreate, ref: int32(i), lock: noLock})
		}
		p.gs = append(p.gs, g)
		p.Work += 1
	}
	return p
}

func someOps(c *choices, tokens, joins, locks int) []op {
	dur := float64(int(1) << c.below(22))
	switch o := (op{lock: noLock}); c.below(11) {
	case 0, 1:
		o.kind, o.dur = opRun, dur
		return []op{o}
	case 2:
		o.kind, o.dur = opSleep, dur
		return []op{o}
	case 3:
		o.kind, o.dur = opDue, dur
		return []op{o}
	case 4:
		o.kind, o.ref = opWait, int32(c.below(tokens+1))
		return []op{o}
	case 5:
		o.kind, o.ref = opWake, int32(1+c.below(tokens))
		return []op{o}
	case 6:
		o.kind, o.ref = opSwitch, int32(1+c.below(tokens))
		return []op{o}
	case 7:
		o.kind = opYield
		return []op{o}
	case 8:
		o.kind, o.ref = opJoin, int32(c.below(joins))
		return []op{o}
	}
	take := op{kind: opLock, lock: int16(c.below(locks)), ref: int32(c.below(tokens))}
	list := []op{take}
	if c.below(2) == 0 {
		list = append(list, op{kind: opRun, dur: dur, lock: noLock})
	}
	if c.below(4) > 0 {
		list = append(list, op{kind: opUnlock, lock: take.lock, ref: int32(c.below(tokens))})
	}
	return list
}

// FuzzReplay replays programs of which waits may have no end: it goes through each, and
// nobody is at two places meanwhile.
func FuzzReplay(f *testing.F) {
	random := rand.NewChaCha8([32]byte{})
	for range 64 {
		data := make([]byte, 4096)
		_, _ = random.Read(data)
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		c := choices(data)
		p := someProgram(&c)
		e := edits{work: 1, gc: 1, procs: c.below(4)}
		if c.below(2) == 0 {
			for range p.Locks {
				e.locks = append(e.locks, lockEdits{hold: 0.5, shards: 1 + c.below(3), removed: c.below(5) == 0})
			}
		}
		p.traced = c.below(5) == 0
		r := newReplay(p, e)
		for n := 0; !r.over && r.next(); n++ {
			if n > 20_000 {
				t.Fatalf("a replay of %d goroutines does not end", len(p.gs))
			}
			onePlace(t, r)
		}
	})
}

// onePlace checks that each goroutine is ready once at most, and stands in the queue of a
// lock only while it waits.
func onePlace(t *testing.T, r *replay) {
	t.Helper()
	seen := map[int32]bool{}
	ready := append(append([]int32(nil), r.front...), r.ready.list[r.ready.head:]...)
	for i := range r.ps {
		if g := r.ps[i].next; g >= 0 {
			ready = append(ready, g)
		}
	}
	for _, g := range ready {
		if seen[g] {
			t.Fatalf("goroutine %d is ready twice", g)
		}
		seen[g] = true
	}
	for l := range r.locks {
		for _, g := range r.locks[l].waiters.list[r.locks[l].waiters.head:] {
			if s := r.gs[g].state; s != waiting {
				t.Fatalf("goroutine %d queues for a lock in state %d, want %d", g, s, waiting)
			}
		}
	}
}
