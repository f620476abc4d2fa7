package rules

import (
	"slices"

	"github.com/gowhy/gowhy/internal/judge/diagnosis"
	"github.com/gowhy/gowhy/internal/judge/measure/code"
	"github.com/gowhy/gowhy/internal/judge/measure/cpu"
	"github.com/gowhy/gowhy/internal/judge/measure/queueing"
	"github.com/gowhy/gowhy/internal/know/fact"
	"github.com/gowhy/gowhy/internal/know/model"
)

const (
	// aloneCalls is how many calls one goroutine makes from which they are what it does: a
	// program that starts asks for some dozen things, one that imports or relays makes
	// hundreds in a second.
	aloneCalls = 100
	// aloneLife is the part of the window that it is seen: what lasts as long does not end soon.
	aloneLife = 0.8
	// alonePauses is how many waits for anything else there may be for each call, and alonePaused
	// the part of its time in them. Who is given work, serves or keeps a pace
	// waits once for each piece of it, most of which are a few calls.
	alonePauses = 0.1
	alonePaused = 0.1
	// aloneAsked is how many questions may come to others of the program for each call. A
	// store that the program brings along for itself gets one; a server in which
	// one goroutine looks after something has its own clients.
	aloneAsked = 1.5
	// alonePressed is how many goroutines stand before it on average with work in hand, from which it is what
	// the others wait for: half of the time somebody does.
	alonePressed = 0.5
)

// theCaller returns the one goroutine of a program that makes one call after the other all the
// time, and for whose calls the CPU idles; nil where there is none, or several: those are
// clients side by side, who load something.
func theCaller(p *diagnosis.Pass) *model.Caller {
	callers := p.Model.Sched.Callers
	first := slices.IndexFunc(callers, func(c model.Caller) bool { return onlyCalls(&c) })
	if first < 0 || slices.ContainsFunc(callers[first+1:], func(c model.Caller) bool { return onlyCalls(&c) }) {
		return nil
	}
	c := &callers[first]
	cores, of, known := diagnosis.Busy(p.Model)
	switch {
	case !code.StartsWith(c.Root.Func, code.ProgramPackages(p.Model)):
		// A library's own goroutine asks for what comes next, as a consumer of Kafka does, and
		// the answer waits until there is something.
	case c.Calls < aloneCalls, c.Took.Seconds() < aloneLife*p.Seconds():
	case float64(c.Asked) > aloneAsked*float64(c.Calls):
	case !known, cores >= diagnosis.LoadedShare*of:
	case c.Waited.Seconds() < serialCallsWait*float64(c.Calls):
	default:
		return c
	}
	return nil
}

// onlyCalls reports whether a goroutine waits for most of its time for its calls, and hardly
// for anything else.
func onlyCalls(c *model.Caller) bool {
	took := c.Took.Seconds()
	return c.Waited.Seconds() >= serialCallsPart*took && c.Paused.Seconds() <= alonePaused*took &&
		float64(c.Pauses) <= alonePauses*float64(c.Calls)
}

// pressure returns how many goroutines wait on average to hand more to a caller; nothing where it takes from no full
// channel.
func pressure(p *diagnosis.Pass, c *model.Caller) (waiting fact.Fact) {
	for _, q := range queueing.Queues(p) {
		if q.Kind != queueing.Send || code.CountRoots(p.Model, q.Servers)[c.Root.Func] == 0 {
			continue
		}
		if w := q.Waiting(p, "goroutines that wait to hand it more, on average"); w.Value >= alonePressed {
			return w
		}
	}
	return waiting
}

// aloneFinding returns a remark where nobody is seen to wait for the caller: whether its calls need each other's
// answers is not in the trace, and who measures how long answers take does the same.
func aloneFinding(p *diagnosis.Pass, c *model.Caller) diagnosis.Finding {
	of := func(name string, v float64, u fact.Unit) fact.Fact {
		return p.Statistic(fact.Timeline, "calls of "+c.Root.Func+", as long as it was seen", name, v, u)
	}
	calls, most := of("calls", float64(c.Calls), fact.Count), of("calls of the function that takes longest", float64(c.Most), fact.Count)
	waited, took := of("time waited for these calls", c.Waited.Seconds(), fact.Seconds), of("time that it was seen", c.Took.Seconds(), fact.Seconds)
	pauses := of("waits for anything else", float64(c.Pauses), fact.Count)
	mean := fact.Quotient.Of("wait for one call, mean", fact.Seconds, waited, calls)
	share := fact.Fraction.Of("part of its time", fact.Ratio, waited, took)
	throughput := fact.Bottleneck.Of("throughput", fact.Factor, cpu.UsableCores(p), cpu.BusyPs(p), took, waited)
	call := code.UserPlace(p, c.Stack)
	f := diagnosis.Finding{
		Title:    "One goroutine makes one call after another",
		Remark:   true,
		Waits:    true,
		Where:    code.Places(append(leadingTo(p, c.Stack), call)...),
		Stacks:   []model.Stack{c.Stack},
		Groups:   code.GroupsOfStacks(p.Model, []model.Stack{c.Stack}),
		Evidence: []fact.Fact{calls, most, mean, share, took, pauses, cpu.BusyPs(p)},
		Cost: diagnosis.CostOf(fact.Quotient.Of("goroutines that wait for such a call, on average", fact.Count, waited, p.WindowLength()),
			share.Value),
		Bound: diagnosis.Direction(throughput, diagnosis.Throughput, fact.Gain.Of("", fact.Ratio, throughput).Value,
			"if no call needed the answer before it; one request for many may save more"),
		Confidence: diagnosis.Low,
		Reasons: []string{
			"one kind of evidence, the trace: each wait of this goroutine, in their order",
			"whether a call needs the answer of the one before is not in the trace",
			"a program that only measures how long answers take waits just so",
			"so does one that asks for work, where the answer waits until there is some",
		},
		RuledOut: []string{
			fact.Sentence("waiting for work: %s waits for anything else beside %s calls", pauses, calls),
			"clients side by side: no other goroutine makes call after call",
			cpu.FullMachine(p),
		},
		Remedy:     severalAtOnce,
		Experiment: codeChange(diagnosis.ThroughputMetric(p.Model), "", "Give both the same work: it must end sooner."),
	}
	if before := pressure(p, c); before.Value > 0 {
		f.Remark, f.Confidence = false, diagnosis.Medium
		f.Evidence = append(f.Evidence, before)
		f.Reasons = append(f.Reasons[:2], fact.Sentence("work is there before it: %s wait on average to hand it more", before))
	}
	if c.Most == c.Calls {
		f.Say("%s waits for %s calls of %s one after the other, %s each: %s of its time, so that they set its pace, not the CPU.",
			code.Name(c.Root.Func), calls, code.Name(call.Function), mean, share)
		return f
	}
	f.Say("%s waits for %s calls one after the other, %s each, %s of them of %s: %s of its time, "+
		"so that they set its pace, not the CPU.",
		code.Name(c.Root.Func), calls, mean, most, code.Name(call.Function), share)
	return f
}

// severalAtOnce shortens a row of calls.
var severalAtOnce = diagnosis.Remedy{
	Text: "Let one request carry many (a statement for a hundred rows, a batch, a pipeline that sends the next question before the " +
		"last is answered), or give what does not need the answer before to several goroutines, with a bound on how many: one " +
		"for each key keeps the order of a key. Where each call needs the answer of the one before, only a shorter way helps.",
	Code: "g, ctx := errgroup.WithContext(ctx)\ng.SetLimit(8)\nfor batch := range slices.Chunk(rows, 100) {\n\tg.Go(func() error { return store(ctx, batch) })\n}\nerr := g.Wait()",
}
