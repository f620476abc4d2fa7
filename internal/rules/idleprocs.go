package rules

import (
	_ "embed"
	"fmt"
	"slices"
	"time"

	"github.com/gowhy/gowhy/internal/diagnosis"
	"github.com/gowhy/gowhy/internal/fact"
	"github.com/gowhy/gowhy/internal/model"
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
	// beside waiting work. The catalogue's figure: above it, a cure of
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
	used := working(p) / float64(p.Procs())
	if used >= idleprocsUse {
		p.Fine(fmt.Sprintf("processors: %s of the Ps' time is used", pct(used)))
		return
	}
	blockers, waiters := backlog(p)
	if waiters >= idleprocsWaiters {
		if f, ok := heldUp(p, blockers, waiters, used); ok {
			p.Report(f)
			return
		}
	}
	if share := leftReady(p); share >= idleprocsReady {
		if why := diagnosis.Disturbed(p.Model); why != "" { // then it is known who had the CPU
			p.Unchecked("why goroutines wait beside free Ps", why, diagnosis.HowToGet(model.Trace))
			return
		}
		p.Report(unserved(p, share, used))
		return
	}
	p.Fine(fmt.Sprintf("processors: %s of the Ps' time is used, and no work waits for the rest", pct(used)))
}

// backlog is the queues that hold up work, the longest first, and how many
// goroutines stand in them on average.
func backlog(p *diagnosis.Pass) (qs []queue, waiters float64) {
	for _, q := range queues(p) {
		if n := q.waiters(p); q.kind != sendDemand || n >= idleprocsSenders {
			qs, waiters = append(qs, q), waiters+n
		}
	}
	return qs, waiters
}

func heldUp(p *diagnosis.Pass, qs []queue, waiters, used float64) (f diagnosis.Finding, ok bool) {
	var all queue
	for _, q := range qs {
		all.merge(q)
	}
	slices.Sort(all.groups)
	all.groups = slices.Compact(all.groups)
	factor, method := speedup(p, all.groups, all.total, 0)
	if factor < worthwhile {
		return f, false
	}
	first := qs[0]
	place := first.place(p)
	idle := (1 - used) * float64(p.Procs())
	f = diagnosis.Finding{
		Summary: fmt.Sprintf("%s of %d Ps are idle on average while %s goroutines with work in hand are blocked; most of them (%s) wait for %s in %s.",
			num(idle), p.Procs(), num(waiters), num(first.waiters(p)), first.kind, short(place.Function)),
		Where:    where(place, first.server(p)),
		Evidence: idleFacts(p, used, fact.Fact{Name: "goroutines held up on average", Value: waiters, Unit: fact.Count, Source: "trace: sync waits ÷ window, those without work left out"}),
		Cost:     idleCost(p, used),
		Bound: diagnosis.Bound{
			Value: factor, Unit: fact.Ratio, Goal: diagnosis.Throughput, Share: gain(factor),
			Method: "throughput factor if none of them waited: " + method,
		},
		Confidence: diagnosis.Medium,
		Reasons:    []string{"idle time and waits from the same trace", "a wait for a lock, a full channel or a pool shows that work was there; waits for messages or requests were not counted"},
		RuledOut:   []string{"low load: goroutines with work in hand were blocked at any moment", "ready goroutines without a P: that is another cause, named when seen"},
		Groups:     all.groups,
		Stacks:     all.stacks,
		Remedy:     blockerRemedy(first.kind),
		Experiment: blockerExperiment(p.Model, first.kind),
	}
	if first.kind == slotDemand || first.kind == poolDemand {
		f.Confidence = diagnosis.Low
		f.Reasons = append(f.Reasons, "the limit is the program's own and may be wanted, to spare what lies behind it")
	}
	for _, q := range qs[:min(3, len(qs))] {
		f.Evidence = append(f.Evidence, fact.Fact{
			Name:  fmt.Sprintf("of those, for %s in %s", q.kind, short(q.place(p).Function)),
			Value: q.waiters(p), Unit: fact.Count, Source: "trace: sync waits",
		})
	}
	return f, true
}

func idleFacts(p *diagnosis.Pass, used float64, more ...fact.Fact) []fact.Fact {
	return append([]fact.Fact{
		{Name: "Ps used", Value: used, Unit: fact.Ratio, Source: "trace: Ps, running, collecting or in a system call"},
		{Name: "Ps", Value: float64(p.Procs()), Unit: fact.Count, Source: "trace: GOMAXPROCS"},
	}, more...)
}

func idleCost(p *diagnosis.Pass, used float64) diagnosis.Cost {
	return diagnosis.Cost{Value: (1 - used) * float64(p.Procs()), Unit: fact.Cores, Share: 1 - used, What: "Ps idle while work waits"}
}

func blockerRemedy(kind demand) diagnosis.Remedy {
	text := map[demand]string{
		lockDemand: "Shorten what is done under the lock, or split it.",
		fdDemand:   "Let one goroutine own the descriptor, or open more of them.",
		sendDemand: "Let more goroutines take from the channel, or let the one that does take several at a time. If its receivers wait for the network or a disk themselves, more of them is the cure.",
		slotDemand: "The limit is one that the program sets itself. If it protects nothing that is at its own limit, raise it step by step while throughput rises.",
		poolDemand: "The pool is smaller than the demand: by Little's law it needs requests per second × time per request slots. Raise it step by step; where the database is the limit, a larger pool only moves the queue there.",
	}
	return diagnosis.Remedy{Text: text[kind]}
}

// blockerExperiment searches the limit where it is the program's own number,
// and tries a change of code else.
func blockerExperiment(m *model.Model, kind demand) *diagnosis.Experiment {
	e := changed(diagnosis.ThroughputMetric(m), "", "If more of the Ps' time is used and throughput stays, the time went into something else: diagnose again.")
	if kind == slotDemand || kind == poolDemand {
		e.Tune = "limit=1..256"
	}
	return e
}

// leftReady is the share of the window in which goroutines were ready to run
// and a P free, or 0 when the timeline is too coarse to tell or stops of the
// world account for it.
func leftReady(p *diagnosis.Pass) float64 {
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
	if typicalWait(&p.Model.Sched.Delay) < idleprocsResolved*width {
		return 0
	}
	return max(0, div((seen-stopped(p.Model)).Seconds(), all.Seconds()))
}

// typicalWait is the mean wait for a P as a moment of waiting sees it: long
// waits count by their length.
func typicalWait(h *model.Histogram) time.Duration {
	var sum, squares float64
	for i, n := range h.Counts {
		low, high := model.HistogramBounds(i)
		mid := min(float64(low+(high-low)/2), float64(h.Max))
		sum += float64(n) * mid
		squares += float64(n) * mid * mid
	}
	return time.Duration(div(squares, sum))
}

func stopped(m *model.Model) (d time.Duration) {
	if m.GC != nil {
		for _, p := range m.GC.Pauses {
			d += p.Duration
		}
	}
	return d
}

func unserved(p *diagnosis.Pass, share, used float64) diagnosis.Finding {
	typical := typicalWait(&p.Model.Sched.Delay)
	return diagnosis.Finding{
		Summary: fmt.Sprintf("In %s of the window goroutines were ready to run and Ps free, yet they waited, typically %s: no thread came to run them.", pct(share), dur(typical)),
		Evidence: idleFacts(p, used,
			fact.Fact{Name: "ready goroutines beside free Ps", Value: share, Unit: fact.Ratio, Source: "trace: timeline"},
			fact.Fact{Name: "typical wait for a P", Value: typical.Seconds(), Unit: fact.Seconds, Source: "trace: waits for a P, weighed by length"},
		),
		Cost: idleCost(p, used),
		Bound: diagnosis.Bound{
			Value: typical.Seconds(), Unit: fact.Seconds, Goal: diagnosis.Latency, Share: share,
			Method: "the typical wait for a P, which a free P would have ended at once",
		},
		Confidence: diagnosis.Low,
		Reasons:    []string{"the timeline shows averages over short pieces of time", "the trace does not see the operating system: that its threads had no CPU is inferred"},
		RuledOut:   []string{"stops of the world: their time is taken off", fmt.Sprintf("bursts beside idle time: waits span more than %d pieces of the timeline", idleprocsResolved)},
		Remedy: diagnosis.Remedy{
			Text: "Look outside the program first: the threads that run goroutines did not get a CPU (a CPU quota, neighbours on the machine, or GOMAXPROCS above the CPUs that are there), or the goroutines are bound to threads of their own by runtime.LockOSThread.",
			Knob: fmt.Sprintf("GOMAXPROCS=%d", max(1, p.Procs()/2)),
		},
		Experiment: tried(latency(p.Model), fmt.Sprintf("GOMAXPROCS=%d", max(1, p.Procs()/2)), "", "If it does not get worse with half of the Ps, the CPUs were not there. On a machine without neighbours the waits for a P are gone too."),
	}
}
