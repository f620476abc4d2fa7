package evidence

import (
	"time"

	"github.com/gowhy/gowhy/exectrace"
	"github.com/gowhy/gowhy/internal/know/model"
)

// An earlyReader adds up for how long goroutines waited for each other in the first tenth of
// the window. A thousand that start at once queue for whatever they start with: that is no lock
// which holds the program up.
type earlyReader struct {
	until   exectrace.Time
	last    exectrace.Time      // of the events that were read, which may end before
	waiting map[int64]earlyWait // by goroutine
	waited  map[earlyKey]*earlyStack
}

// An earlyKey is the inner part of a stack.
type earlyKey [16]uint64

func keyOf(frames []exectrace.Frame) (k earlyKey) {
	for i := range min(len(k), len(frames)) {
		k[i] = frames[i].PC
	}
	return k
}

type earlyWait struct {
	since exectrace.Time
	at    *earlyStack
}

// An earlyStack is where goroutines wait.
type earlyStack struct {
	frames []exectrace.Frame
	waited time.Duration
}

// earlyPart is the part of the window that counts as its beginning.
const earlyPart = 10

// next takes one transition of a goroutine, which may be a stop.
func (r *earlyReader) next(e *exectrace.Event, s *stop) {
	g, from, _ := e.GoTransition()
	r.last = e.Time
	if from == exectrace.Waiting {
		r.end(g, e.Time)
	}
	if s == nil || s.to != exectrace.Waiting || s.reason != "sync" || len(s.frames) == 0 || e.Time >= r.until {
		return
	}
	key := keyOf(s.frames)
	at := r.waited[key]
	if at == nil {
		at = &earlyStack{frames: s.frames}
		r.waited[key] = at
	}
	r.waiting[g] = earlyWait{e.Time, at}
}

// end adds a wait that ends, or goes on.
func (r *earlyReader) end(g int64, at exectrace.Time) {
	if w, ok := r.waiting[g]; ok {
		w.at.waited += min(at, r.until).Sub(w.since)
		delete(r.waiting, g)
	}
}

// add gives the waits of a model what of them was early, as far as events were read: what is not
// known to be early is not. Those of several groups at one place share it by their time.
func (r *earlyReader) add(m *model.Model) {
	for g := range r.waiting {
		r.end(g, r.last)
	}
	stacks, early, total := waitStacks(m), map[model.Stack]time.Duration{}, map[model.Stack]time.Duration{}
	for _, at := range r.waited {
		early[stacks[framesText(modelFrames(at.frames))]] += at.waited
	}
	for i := range m.Sched.Waits {
		if w := &m.Sched.Waits[i]; w.Kind == model.Sync {
			total[w.Stack] += w.Total
		}
	}
	for i := range m.Sched.Waits {
		if w := &m.Sched.Waits[i]; w.Kind == model.Sync && total[w.Stack] > 0 {
			part := float64(early[w.Stack]) / float64(total[w.Stack])
			w.Early = time.Duration(min(1, part) * float64(w.Total))
		}
	}
}
