package rules

import (
	"time"

	"github.com/gowhy/gowhy/internal/judge/diagnosis"
	"github.com/gowhy/gowhy/internal/judge/measure/code"
	"github.com/gowhy/gowhy/internal/know/fact"
	"github.com/gowhy/gowhy/internal/know/model"
)

const (
	// startCalls is how many calls of one function the main goroutine makes from which they are alike, as in
	// an operation whose rounds nobody outside divides, twice over: a start asks each of its
	// stores for something, or one of them for its settings, table by table.
	startCalls = 12
	// startEarly is the part of the window before which the first of them begins, and startOver that before
	// which the last ends: what goes on is what the program does.
	startEarly = 0.1
	startOver  = 0.7
	// startPart is the part of the window that they last, and startLeast their least time: nobody waits for
	// less than that of a start.
	startPart  = 0.1
	startLeast = 250 * time.Millisecond
)

// checkStartCalls finds a start that waits for one answer after another.
func checkStartCalls(p *diagnosis.Pass) {
	if p.Model.Sched == nil {
		return
	}
	for i := range p.Model.Sched.Callers {
		if c := &p.Model.Sched.Callers[i]; startsBy(p, c) {
			p.Report(startCallsFinding(p, c))
			return
		}
	}
}

// startsBy reports whether the main goroutine waits for calls of one function before anything else goes on.
func startsBy(p *diagnosis.Pass, c *model.Caller) bool {
	window, took := p.Seconds(), (c.To - c.From).Seconds()
	switch {
	case !isMain(c.Root.Func), c.Most < startCalls:
		return false
	case c.From.Seconds() > startEarly*window, c.To.Seconds() > startOver*window:
		return false
	case took < startPart*window, c.To-c.From < startLeast:
		return false
	}
	return c.MostWaited.Seconds() >= serialCallsPart*took && c.MostWaited.Seconds() >= serialCallsWait*float64(c.Most)
}

func startCallsFinding(p *diagnosis.Pass, c *model.Caller) diagnosis.Finding {
	of := func(name string, v float64, u fact.Unit) fact.Fact {
		return p.Statistic(fact.Timeline, "calls of "+c.Root.Func+", from the first to the last of one function", name, v, u)
	}
	calls, waited := of("calls", float64(c.Most), fact.Count), of("time waited for these calls", c.MostWaited.Seconds(), fact.Seconds)
	took := of("time from the first to the last", (c.To - c.From).Seconds(), fact.Seconds)
	mean := fact.Quotient.Of("wait for one call, mean", fact.Seconds, waited, calls)
	share := fact.Fraction.Of("part of that time", fact.Ratio, waited, took)
	saved := sideBySide.Of("part of that time that goes when the calls take as long as one", fact.Ratio, share, calls)
	call := code.UserPlace(p, c.Stack)
	f := diagnosis.Finding{
		Title:      "Starting up waits for one call after another",
		Where:      code.Places(append(leadingTo(p, c.Stack), call)...),
		Stacks:     []model.Stack{c.Stack},
		Groups:     code.GroupsOfStacks(p.Model, []model.Stack{c.Stack}),
		Evidence:   []fact.Fact{calls, mean, share, took},
		Cost:       diagnosis.CostOf(waited, fact.Fraction.Of("part of the window", fact.Ratio, waited, p.WindowLength()).Value),
		Bound:      diagnosis.Direction(fact.Product.Of("time of the start", fact.Seconds, took, saved), diagnosis.Latency, saved.Value, "if they took as long as one; one request for all of them may save more"),
		Confidence: diagnosis.Medium,
		Reasons: []string{
			"one kind of evidence, the trace: each wait of the main goroutine, in their order",
			"whether a call needs the answer of the one before is not in the trace",
		},
		RuledOut: []string{
			"what the program does all the time: the calls begin when it does, and are over before its end",
			fact.Sentence("a call for each of several stores: %s are of one function", calls),
		},
		Remedy:     severalAtOnce,
		Experiment: codeChange(diagnosis.Elapsed, "", "Give both the same work, and look at when the first answer comes."),
	}
	f.Say("The main goroutine waits for %s calls of %s one after the other, %s each, before it goes on: %s of %s.",
		calls, code.Name(call.Function), mean, share, took)
	return f
}
