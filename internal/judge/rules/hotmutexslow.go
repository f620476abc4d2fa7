package rules

import (
	"slices"

	"github.com/gowhy/gowhy/internal/judge/diagnosis"
	"github.com/gowhy/gowhy/internal/judge/measure/code"
	"github.com/gowhy/gowhy/internal/judge/measure/queueing"
	"github.com/gowhy/gowhy/internal/know/fact"
	"github.com/gowhy/gowhy/internal/know/model"
)

const (
	// slowedShare is the part of the time of operations from which waiting for one lock is what makes them slow, however little
	// the program has to do: of a server that encoded a report under the lock of its readings it was 0.6, of the same
	// with a copy, and of nine others under load, 0.01 at most.
	slowedShare = 0.25
	// slowedWait is how long one wait must take: below that it is a hand-over.
	slowedWait = 100e-6
)

// A slowedOperation is one of a load test that waits for a lock.
type slowedOperation struct {
	mean     fact.Fact // of its time
	underWay fact.Fact // at once, on average
	part     fact.Fact // of that time, what is waiting for the lock
}

// slowed measures how much of the time of operations is waiting in a queue; ok is false where that is little, or others wait
// there than those who answer: who does waits for the network, too.
func slowed(p *diagnosis.Pass, q *queueing.Queue, waiting fact.Fact) (o slowedOperation, ok bool) {
	l := p.Model.Load
	if l == nil || l.Mean <= 0 || l.Rate <= 0 {
		return o, false
	}
	answers := func(w *model.Wait) bool { return w.Kind == model.Net && slices.Contains(q.Groups, w.Group) }
	if p.Model.Sched == nil || !slices.ContainsFunc(p.Model.Sched.Waits, func(w model.Wait) bool { return answers(&w) }) {
		return o, false
	}
	o.mean = p.Statistic(fact.LoadResults, "latency", "time of an operation, mean", l.Mean.Seconds(), fact.Seconds)
	rate := p.Statistic(fact.LoadResults, "operations", "operations finished", l.Rate, fact.PerSec)
	o.underWay = fact.Product.Of("operations under way, on average", fact.Count, rate, o.mean)
	o.part = fact.Fraction.Of("part of their time that is waiting for this lock", fact.Ratio, waiting, o.underWay)
	return o, o.part.Value >= slowedShare && q.MeanWait(p, "mean wait").Value >= slowedWait
}

// slowLock is about a lock that holds up operations, and not the program.
func slowLock(p *diagnosis.Pass, q *queueing.Queue, waiting fact.Fact, o *slowedOperation) diagnosis.Finding {
	f := hotLock(p, q, waiting)
	f.Title = "Operations wait for one lock"
	f.Evidence = append([]fact.Fact{o.part, o.underWay, o.mean}, f.Evidence...)
	f.RuledOut = []string{
		"wait groups, first uses and condition variables: only stacks inside Mutex or RWMutex are counted",
		"others than those who answer: who waits here waits for the network, too",
	}
	f.Say("Operations spend %s of their time waiting for the lock taken in %s, %s each time they wait: "+
		"%s of the %s that are under way on average.",
		o.part, code.Name(q.Place(p).Function), q.WaitWords(q.MeanWait(p, "mean wait")), waiting, o.underWay)
	if held, known := q.Holder(p); known {
		f.Summary += " " + held.Words
	}
	f.Cost = diagnosis.CostOf(waiting, o.part.Value)
	f.Bound = diagnosis.Direction(fact.Product.Of("time of one operation that is waiting for it", fact.Seconds, o.mean, o.part), diagnosis.Latency, o.part.Value,
		"if nobody waited for this lock, on average; the slowest gain most")
	f.Experiment = codeChange(diagnosis.P99, "", "Offer the same load to both. A new recording tells the number of waiters.")
	f.Explains = []string{}
	return f
}
