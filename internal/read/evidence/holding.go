package evidence

import (
	"github.com/gowhy/gowhy/internal/know/model"
)

// A queue before a lock is the symptom of what its holder does. A trace has what goroutines wait for, a profile what they
// compute; which of it they do between Lock and Unlock, in a function that they have called or an early return away, the
// source says.

// holdingWaits is the part of the window that somebody waits for locks for it to matter who holds them, and
// holdingShare that of a wait which may be the holder's.
const (
	holdingWaits = 0.1
	holdingShare = 0.05
)

// joinHolding finds the locks that waiting and computing goroutines hold.
func (l *loader) joinHolding() {
	if l.m.Sched == nil || l.opts.NoSource || l.opts.Elsewhere || !l.queuesForLocks() {
		return
	}
	r := l.sourceReader()
	l.m.Sched.Holding = map[model.Stack][]model.HeldLine{}
	for i := range l.m.Sched.Waits {
		w := &l.m.Sched.Waits[i]
		if w.Total.Seconds() < holdingShare*l.m.Run.Duration.Seconds() {
			break // the longest come first
		}
		if w.Kind != model.SchedWait {
			l.addHolding(r, w.Stack)
		}
	}
	if l.m.CPU != nil {
		for i := range l.m.CPU.Samples {
			l.addHolding(r, l.m.CPU.Samples[i].Stack)
		}
	}
}

// queuesForLocks reports whether goroutines wait for mutexes for a good part of the window.
func (l *loader) queuesForLocks() bool {
	sum := 0.0
	for i := range l.m.Sched.Waits {
		if w := &l.m.Sched.Waits[i]; w.Reason == "sync" {
			sum += w.Total.Seconds()
		}
	}
	return sum >= holdingWaits*l.m.Run.Duration.Seconds()
}

func (l *loader) addHolding(r *sourceReader, s model.Stack) {
	if _, known := l.m.Sched.Holding[s]; known {
		return
	}
	frames := l.m.Stacks.Frames(s)
	if model.OfRecording(frames) {
		return
	}
	var held []model.HeldLine
	for _, h := range r.heldOn(frames) {
		held = append(held, model.HeldLine{At: frames[h.frame], Taken: h.taken})
	}
	l.m.Sched.Holding[s] = held
}
