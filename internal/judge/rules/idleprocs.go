package rules

import (
	"cmp"
	_ "embed"
	"fmt"
	"slices"
	"time"

	"github.com/gowhy/gowhy/internal/ground/statistics"
	"github.com/gowhy/gowhy/internal/judge/diagnosis"
	"github.com/gowhy/gowhy/internal/judge/measure/code"
	"github.com/gowhy/gowhy/internal/judge/measure/cpu"
	"github.com/gowhy/gowhy/internal/judge/measure/queueing"
	"github.com/gowhy/gowhy/internal/know/fact"
	"github.com/gowhy/gowhy/internal/know/model"
)

//go:embed idleprocs.md
var idleprocsPage string

var idleprocs = &diagnosis.Rule{
	Name:  "idleprocs",
	Title: "Processors idle while work waits",
	Doc:   idleprocsPage,
	Needs: []model.Source{model.Trace},
	Check: checkIdleprocs,
}

const (
	// idleprocsUse is the share of the Ps below which they count as idle
	// beside waiting work. The catalogue's figure: above it, a fix of
	// everything brings less than 1.43 times.
	idleprocsUse = 0.7
	// idleprocsWaiters is how many goroutines must wait for something that
	// holds up their work, on average: a backlog that never goes away.
	idleprocsWaiters = 1
	// idleprocsSenders is the same for one place that sends. A single
	// goroutine that offers the next number of a series always stands at its
	// send, and nobody wants it sooner.
	idleprocsSenders = 2
	// idleprocsReady is the share of the window in which goroutines were
	// ready and Ps free at the same time. The scheduler hands a ready
	// goroutine to a free P within microseconds, so a tenth of the window
	// needs an outside cause.
	idleprocsReady = 0.1
	// idleprocsResolved is how many pieces of the timeline a typical wait
	// must span. A shorter one may lie beside the idle time of the same piece
	// and not within it.
	idleprocsResolved = 4
)

func checkIdleprocs(p *diagnosis.Pass) {
	used := psUsed(p)
	if used.Value >= idleprocsUse {
		p.Fine(fact.Sentence("processors: %s of the Ps' time is used", used))
		return
	}
	blockers, paced := backlog(p)
	if sumWaiting(p, blockers).Value >= idleprocsWaiters {
		if f, ok := heldUp(p, blockers, used); ok {
			p.Report(f)
			return
		}
	}
	if ready := leftReady(p); ready.Value >= idleprocsReady {
		if why := diagnosis.Disturbed(p.Model); why != "" { // then it is known who had the CPU
			p.Unchecked("why goroutines wait beside free Ps", why, p.HowToGet(model.Trace))
			return
		}
		p.Report(unservedFinding(p, ready, used))
		return
	}
	if why := cmp.Or(queueing.Unseen(p, queueing.Lock), queueing.Unseen(p, queueing.Send)); why != "" {
		p.Unchecked("whether work waits for Ps that are free", why, p.HowToGet(model.Trace))
		return
	}
	if paced {
		p.Fine(fact.Sentence("processors: %s of the Ps' time is used; who sends to full channels waits for goroutines that work, or for more to do", used))
		return
	}
	p.Fine(fact.Sentence("processors: %s of the Ps' time is used, and no work waits for the rest", used))
}

// psUsed returns the part of the Ps' time in which they did the program's work.
func psUsed(p *diagnosis.Pass) fact.Fact {
	return fact.Quotient.Of("Ps used", fact.Ratio, cpu.BusyPs(p), cpu.Procs(p))
}

// backlog returns the queues that hold up work, the longest first, but what those wait for who
// set the pace of a full channel before that. Such a channel holds up nothing when
// they have all they can do, or wait for more themselves: these are paced.
func backlog(p *diagnosis.Pass) (qs []queueing.Queue, paced bool) {
	all, first := queueing.AllQueues(p), map[model.Stack]bool{}
	for i := range all {
		q := &all[i]
		if !q.Busy() || q.Kind == queueing.Send && q.Waiting(p, "").Value < idleprocsSenders {
			continue
		}
		if of, ok := queueing.PaceOf(p, all, q); q.Kind == queueing.Send && ok {
			if !of.Delays(p) {
				paced = true
				continue
			}
			if len(of.Stacks) > 0 {
				first[of.Stacks[0]] = true
			}
		}
		qs = append(qs, *q)
	}
	rank := func(q queueing.Queue) int {
		if slices.ContainsFunc(q.Stacks, func(s model.Stack) bool { return first[s] }) {
			return 0
		}
		return 1
	}
	slices.SortStableFunc(qs, func(a, b queueing.Queue) int { return rank(a) - rank(b) })
	return qs, paced
}

// sumWaiting returns how many goroutines stand in some queues on average.
func sumWaiting(p *diagnosis.Pass, qs []queueing.Queue) fact.Fact {
	var waiting []fact.Fact
	for i := range qs {
		waiting = append(waiting, waitingHere(p, &qs[i]))
	}
	return fact.Sum.Of("goroutines held up, on average", fact.Count, waiting...)
}

// waitingHere names the place, for several queues side by side.
func waitingHere(p *diagnosis.Pass, q *queueing.Queue) fact.Fact {
	return q.Waiting(p, "goroutines waiting for "+q.Kind.String()+" in "+code.Short(q.Place(p).Function))
}

func heldUp(p *diagnosis.Pass, qs []queueing.Queue, used fact.Fact) (f diagnosis.Finding, ok bool) {
	var all queueing.Queue
	for i := range qs {
		all.Merge(qs[i])
	}
	slices.Sort(all.Groups)
	all.Groups = slices.Compact(all.Groups)
	if all.Kind = qs[0].Kind; all.Faster(p).Value < worthwhile {
		return f, false
	}
	first, waiting, idle := qs[0], sumWaiting(p, qs), cpu.IdlePs(p)
	place := first.Place(p)
	f = diagnosis.Finding{
		Where:      code.Places(append(slotPlaces(p, &first), place, first.Server(p))...),
		Evidence:   []fact.Fact{used, cpu.Procs(p), waiting},
		Cost:       diagnosis.CostOf(idle.Named("Ps idle while work waits"), fact.Rest.Of("", fact.Ratio, used).Value),
		Bound:      all.Limit(p, "if none of them waited"),
		Confidence: diagnosis.Medium,
		Reasons: []string{"idle time and waits from the same trace",
			"a wait for a lock, a full channel or a pool shows that work was there; waits for messages or requests were not counted"},
		RuledOut:   []string{"low load: goroutines with work in hand were blocked at any moment", "ready goroutines without a P: that is another cause, named when seen"},
		Groups:     all.Groups,
		Stacks:     all.Stacks,
		Remedy:     blockerRemedy(first.Kind),
		Experiment: blockerExperiment(p.Model, first.Kind),
	}
	which := "most of them (%s) wait for %s in %s"
	if first.Total < qs[len(qs)-1].Total {
		which = "those who set the pace of the others (%s) wait for %s in %s"
	}
	holds, parts := slotHolder(p, &first)
	f.Say("%s of %s Ps are idle on average while %s goroutines with work in hand are blocked; "+which+holds,
		append([]fact.Part{idle.Number(), cpu.Procs(p), waiting, waitingHere(p, &first), fact.Name(first.Kind.String()), code.Name(place.Function)}, parts...)...)
	if of, ok := queueing.PaceOf(p, queueing.AllQueues(p), &first); ok && first.Kind == queueing.Send {
		explainPace(p, &f, &of, &first, waiting)
	}
	if first.Kind == queueing.Slot || first.Kind == queueing.Pool {
		f.Confidence = diagnosis.Low
		f.Reasons = append(f.Reasons, "the limit is the program's own and may be wanted, to spare what lies behind it")
	}
	for i := range qs[:min(3, len(qs))] {
		f.Rest(waitingHere(p, &qs[i]))
	}
	return f, true
}

// explainPace makes a finding about a full channel one about who sets its pace.
func explainPace(p *diagnosis.Pass, f *diagnosis.Finding, of *queueing.Pace, q *queueing.Queue, waiting fact.Fact) {
	f.Groups, f.Stacks = append(f.Groups, of.Names()...), append(f.Stacks, of.Stacks...)
	blocked := "%s of %s Ps are idle on average while %s goroutines with work in hand are blocked: "
	if !of.WaitsItself() {
		last := of.Queue.Server(p)
		f.Where = code.Places(last, q.Place(p), q.Server(p))
		f.Remedy.Text = "Run more of the goroutines that take from the last full channel, up to one for each P that is idle. " +
			"The others only hand on: more of them change nothing. Where order matters, give each a key of its own. " +
			"Larger channels change nothing."
		f.Say(blocked+"%s takes from the last full channel and works %s of its time.",
			cpu.IdlePs(p).Number(), cpu.Procs(p), waiting, code.Name(last.Function), of.Busy())
		f.Rest(of.Count)
		return
	}
	share := fact.Fraction.Of("time of who takes from them in waits", fact.Ratio, of.Inner, of.Time)
	mean := fact.Quotient.Of("one such wait, mean", fact.Seconds, of.Inner, of.Waits)
	inner := code.UserPlace(p, of.Stacks...)
	f.Where = code.Places(inner, q.Place(p), of.Queue.Server(p))
	f.Remedy.Text = "Shorten what the receivers wait for, or let them wait less often: several pieces of work with one request, " +
		"one sync, one turn at a lock. The full channel is the consequence. More receivers help where " +
		" what they wait for serves several at once, as a service does and a lock does not."
	f.Say(blocked+"who takes from the last full channel waits %s of its time itself, %s each, in %s.",
		cpu.IdlePs(p).Number(), cpu.Procs(p), waiting, share, mean, code.Name(inner.Function))
}

// poolAtMoment returns the queue of a moment in which those stand who wait for a free slot of a
// pool; nil where nothing tells.
func poolAtMoment(p *diagnosis.Pass, q *queueing.Queue) *waitQueue {
	if q.Kind != queueing.Pool || p.Model.Moment == nil {
		return nil
	}
	for _, w := range waitQueues(p) {
		if slices.ContainsFunc(w.waiters, func(s *model.Standing) bool { return slices.Contains(q.Stacks, s.Stack) }) {
			return w
		}
	}
	return nil
}

// slotPlaces returns where the program waits for a slot, and where one stands who has one.
func slotPlaces(p *diagnosis.Pass, q *queueing.Queue) []diagnosis.Place {
	if w := poolAtMoment(p, q); w != nil {
		return w.places(p)
	}
	return nil
}

// slotHolder says who has one, behind a sentence.
func slotHolder(p *diagnosis.Pass, q *queueing.Queue) (format string, parts []fact.Part) {
	if w := poolAtMoment(p, q); w != nil && len(w.holders) > 0 {
		return w.holderSentence(p)
	}
	return ".", nil
}

func blockerRemedy(kind queueing.Demand) diagnosis.Remedy {
	text := map[queueing.Demand]string{
		queueing.Lock:       "Shorten what is done under the lock, or split it.",
		queueing.Descriptor: "Let one goroutine own the descriptor, or open more of them.",
		queueing.Send: "Let more goroutines take from the channel, or let the one that does take several at a time. If its " +
			"receivers wait for the network or a disk themselves, more of them is the fix.",
		queueing.Slot: "Raise the limit, which the program sets itself, step by step while throughput rises, if it protects " +
			"nothing that is at its own limit.",
		queueing.Pool: "Raise the size of the pool step by step: by Little's law it needs requests per second × time per request " +
			"slots. Where the database is the limit, a larger pool only moves the queue there.",
	}
	return diagnosis.Remedy{Text: text[kind]}
}

// blockerExperiment searches the limit where it is the program's own number,
// and tries a change of code else.
func blockerExperiment(m *model.Model, kind queueing.Demand) *diagnosis.Experiment {
	e := codeChange(diagnosis.ThroughputMetric(m), "", "If more of the Ps' time is used and throughput stays, the time went into something else: diagnose again.")
	if kind == queueing.Slot || kind == queueing.Pool {
		e.Tune = "limit=1..256"
	}
	return e
}

// leftReady returns the share of the window in which goroutines were ready to run
// and a P free, or 0 when the timeline is too coarse to tell or stops of the
// world account for it.
func leftReady(p *diagnosis.Pass) fact.Fact {
	free := float64(p.Procs()) * idleprocsUse
	free = min(free, float64(p.Procs()-1))
	var seen, all time.Duration
	for _, b := range p.Model.Sched.Timeline {
		all += b.Width
		if b.Runnable >= 1 && b.Held <= free {
			seen += b.Width
		}
	}
	width := all / time.Duration(max(1, len(p.Model.Sched.Timeline)))
	share := 0.0
	if typicalWait(&p.Model.Sched.Delay) >= idleprocsResolved*width {
		share = max(0, statistics.Quotient((seen-stopTime(p.Model)).Seconds(), all.Seconds()))
	}
	return p.Statistic(fact.Timeline, "ready beside free Ps", "time with ready goroutines beside free Ps", share, fact.Ratio)
}

// typicalWait returns the mean wait for a P as a moment of waiting sees it: long
// waits count by their length.
func typicalWait(h *model.Histogram) time.Duration {
	var sum, squares float64
	for i, n := range h.Counts {
		low, high := model.HistogramBounds(i)
		mid := min(float64(low+(high-low)/2), float64(h.Max))
		sum += float64(n) * mid
		squares += float64(n) * mid * mid
	}
	return time.Duration(statistics.Quotient(squares, sum))
}

func stopTime(m *model.Model) (d time.Duration) {
	if m.GC != nil {
		for _, p := range m.GC.Pauses {
			d += p.Duration
		}
	}
	return d
}

func unservedFinding(p *diagnosis.Pass, ready, used fact.Fact) diagnosis.Finding {
	wait := p.Statistic(fact.Timeline, "waits for a P, weighed by length", "typical wait for a P", typicalWait(&p.Model.Sched.Delay).Seconds(), fact.Seconds)
	half := fmt.Sprintf("GOMAXPROCS=%d", max(1, p.Procs()/2))
	f := diagnosis.Finding{
		Evidence:   []fact.Fact{used, cpu.Procs(p), ready, wait},
		Cost:       diagnosis.CostOf(cpu.IdlePs(p).Named("Ps idle while work waits"), fact.Rest.Of("", fact.Ratio, used).Value),
		Bound:      diagnosis.Limit(wait, diagnosis.Latency, ready.Value, "a free P would have ended it at once"),
		Confidence: diagnosis.Low,
		Reasons: []string{"the timeline shows averages over short pieces of time",
			"the trace does not see the operating system: that its threads had no CPU is inferred"},
		RuledOut: []string{"stops of the world: their time is taken off", "bursts beside idle time: a typical wait spans several pieces of the timeline"},
		Remedy: diagnosis.Remedy{
			Text: "Look outside the program first: the threads that run goroutines did not get a CPU (a CPU quota, " +
				"neighbours on the machine, " +
				"or GOMAXPROCS above the CPUs that are there), or the goroutines are bound to threads of their own by " +
				"runtime.LockOSThread.",
			Knob: half,
		},
		Experiment: settingTrial(latency(p.Model), half, "",
			"If it does not get worse with half of the Ps, the CPUs were not there. On a machine without neighbours "+
				"the waits for a P are gone too."),
	}
	f.Say("In %s of the window goroutines were ready to run and Ps free, yet they waited, typically %s: no thread came to run them.", ready, wait)
	return f
}
