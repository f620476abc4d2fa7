package queueing

import (
	"time"

	"github.com/gowhy/gowhy/internal/ground/statistics"
	"github.com/gowhy/gowhy/internal/judge/diagnosis"
	"github.com/gowhy/gowhy/internal/judge/measure/cpu"
	"github.com/gowhy/gowhy/internal/know/fact"
	"github.com/gowhy/gowhy/internal/know/model"
)

// Behind a full channel is somebody who takes from it, and often another full channel
// before which he stands himself. The last of them sets the pace, and what he does with
// his time tells whether anything holds up those who wait: one who computes, on a machine
// without a core to spare, is not made faster by a second one.

const (
	// paceBusy is the part of their time that those who set the pace work when
	// only their number is the limit.
	paceBusy = ReceiverBusy
	// paceIdle is how many Ps must be idle for one more goroutine that computes: with
	// less than one it takes its time from those that are there.
	paceIdle = 1
	// paceCall is how long system calls of one place take on average when they wait for a
	// device: what the kernel only computes or copies takes microseconds, a sync of a file
	// two milliseconds and more.
	paceCall = 200 * time.Microsecond
)

// A Pace is what those do who take from the last of a row of full channels.
type Pace struct {
	Stage
	taking time.Duration // waiting to be given more
	work   fact.Fact     // not waiting: on a P, or ready for one
	Inner  fact.Fact     // waiting for anything outside: the network, a disk, a lock, a time
	Waits  fact.Fact     // that ended
	Stacks []model.Stack // of these, the longest total first
}

// PaceOf follows full channels from one to the last; ok is false where the trace does not
// tell who takes from them, or they are a ring.
func PaceOf(p *diagnosis.Pass, qs []Queue, q *Queue) (of Pace, ok bool) {
	for seen := map[*Queue]bool{}; q != nil && !seen[q]; {
		seen[q] = true
		s := stageOf(p, q)
		if s.Time.Value == 0 || q.feeds(p.Model, q) {
			return of, false
		}
		next, handing := s.handsOn(p.Model, qs)
		of = s.pace(p)
		if handing <= max(of.work.Duration(), of.Inner.Duration()) {
			return of, true
		}
		q = next
	}
	return of, false
}

// handsOn returns the full channel before which those who take from one stand longest
// themselves, and how long they stand before any.
func (s *Stage) handsOn(m *model.Model, qs []Queue) (next *Queue, total time.Duration) {
	longest := time.Duration(0)
	for i := range qs {
		if qs[i].Kind != Send {
			continue
		}
		here := time.Duration(0)
		for w := range qs[i].entries {
			if s.has(m, w.Stack) {
				here += w.Total
			}
		}
		if total += here; here > longest {
			next, longest = &qs[i], here
		}
	}
	return next, total
}

// pace accounts for the time of a stage.
func (s *Stage) pace(p *diagnosis.Pass) Pace {
	m, of := p.Model, Pace{Stage: *s}
	r, by := Trips(p, s), map[model.Stack]time.Duration{}
	kinds, asked := NewDemands(m), map[model.Stack]bool{}
	for _, stack := range r.Stacks {
		asked[stack] = true
	}
	outside := func(w *model.Wait) bool {
		return asked[w.Stack] || w.Kind == model.SyscallWait && w.Total >= time.Duration(w.Count)*paceCall || w.Reason == "sleep" || kinds.Kind(w) == Lock
	}
	mine := func(w *model.Wait) bool { return s.has(m, w.Stack) }
	inner := func(w *model.Wait) bool { return w.Count >= queueServed && mine(w) && outside(w) }
	for i := range m.Sched.Waits {
		w := &m.Sched.Waits[i]
		if w.Kind == model.SchedWait || !mine(w) {
			continue
		}
		if s.Queue.isTakenAt(m, w.Stack) {
			of.taking += w.Total
		}
		if inner(w) {
			by[w.Stack] += w.Total
		}
	}
	of.Stacks = statistics.Largest(by)
	var all, times, counts []fact.Fact
	for _, kind := range []model.WaitKind{model.Net, model.Sync, model.SyscallWait, model.OtherWait} {
		all = append(all, p.Waits("waits ("+string(kind)+")", kind, mine))
		times = append(times, p.Waits("waits for what is outside ("+string(kind)+")", kind, inner))
		counts = append(counts, p.WaitCount("their number ("+string(kind)+")", kind, inner))
	}
	of.work = fact.Difference.Of("time at work", fact.Seconds, s.Time, fact.SumOf("time in waits", fact.Seconds, all...))
	of.Inner, of.Waits = fact.SumOf("time that who takes from it waits", fact.Seconds, times...), fact.SumOf("such waits", fact.Count, counts...)
	return of
}

// Delays reports whether those who wait before the channels would go on sooner with
// more goroutines that take from them, or with a shorter wait of these.
func (of *Pace) Delays(p *diagnosis.Pass) bool {
	if of.WaitsItself() {
		return of.Inner.Duration() > of.taking
	}
	return of.Busy().Value >= paceBusy && cpu.IdlePs(p).Value >= paceIdle
}

// WaitsItself reports whether who sets the pace waits more than he works.
func (of *Pace) WaitsItself() bool { return of.Inner.Value > of.work.Value }

// Busy returns the part of their time that those who set the pace work.
func (of *Pace) Busy() fact.Fact {
	return fact.Fraction.Of("time at work of who takes from the last channel", fact.Ratio, of.work, of.Time)
}

// ReceiverBusy is the share of its time that the receiver works when it,
// and not the rhythm of the senders, is what holds them up.
const ReceiverBusy = 0.8
