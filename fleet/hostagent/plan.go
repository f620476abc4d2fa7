package hostagent

import (
	"cmp"
	"slices"
	"sync"
	"time"
)

// leastCores is what a program counts for when it uses less: one that idles has its turn
// too, only later.
const leastCores = 0.02

// Of a program that uses less than idleCores no sample is to be expected in ten seconds:
// its windows are longer.
const idleCores, idleWindows = 0.001, 5

// A plan is which program is sampled when: each once in a window of its own, those first
// that wait longest, by what they use.
type plan struct {
	window time.Duration
	most   int // at once

	mu      sync.Mutex
	running int
}

// A turnOf is a program's place in the plan. The plan's lock guards it.
type turnOf struct {
	busy    bool
	last    time.Time // when it was begun last; zero before
	since   time.Time // when it was found
	late    time.Time // when it was last counted as late
	refused bool      // the kernel does not let us
}

// next returns the programs to begin now. Late is how many were due for a whole window more
// and are not begun, each once in a window.
func (p *plan) next(now time.Time, all []*program, over bool) (begin []*program, late int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	var due []*program
	for _, one := range all {
		t := &one.turn
		if t.since.IsZero() {
			t.since = now
		}
		if !t.busy && (t.last.IsZero() || now.Sub(t.last) >= p.windowOf(one)) {
			due = append(due, one)
		}
	}
	weight := func(one *program) float64 {
		return now.Sub(cmp.Or(one.turn.last, one.turn.since.Add(-p.window))).Seconds() * max(leastCores, one.cores)
	}
	slices.SortStableFunc(due, func(a, b *program) int { return cmp.Compare(weight(b), weight(a)) })
	for _, one := range due {
		t := &one.turn
		if !over && p.running < p.most {
			p.running++
			t.busy, t.last, t.late = true, now, time.Time{}
			begin = append(begin, one)
			continue
		}
		waited := cmp.Or(t.late, t.since)
		if t.late.IsZero() && !t.last.IsZero() {
			waited = t.last.Add(p.windowOf(one))
		}
		if now.Sub(waited) >= p.window {
			t.late = now
			late++
		}
	}
	return begin, late
}

// windowOf returns how often a program is sampled.
func (p *plan) windowOf(one *program) time.Duration {
	if one.cores < idleCores {
		return idleWindows * p.window
	}
	return p.window
}

// noteEnd notes that a program's session is over.
func (p *plan) noteEnd(one *program, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.running--
	one.turn.busy, one.turn.refused = false, err != nil
}

// refused reports whether the kernel did not let a program be sampled when it was last tried.
func (p *plan) refused(one *program) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return one.turn.refused
}
