package rules

import (
	"cmp"
	_ "embed"

	"github.com/gowhy/gowhy/internal/judge/diagnosis"
	"github.com/gowhy/gowhy/internal/judge/measure/code"
	"github.com/gowhy/gowhy/internal/know/fact"
	"github.com/gowhy/gowhy/internal/know/model"
)

//go:embed serialcalls.md
var serialcallsPage string

var serialcalls = &diagnosis.Rule{
	Name:     "serialcalls",
	Title:    "An operation waits for one call after another",
	Doc:      serialcallsPage,
	Needs:    []model.Source{model.Trace},
	Instead:  []model.Source{model.Wall},
	Explains: []string{"idleprocs"},
	Check:    checkSerialcalls,
}

const (
	// serialCallsEach is how many calls of one function an operation makes from which they are
	// alike: a page of six parts makes six, a list of twenty rows twenty. Two are often a
	// look-up and what is looked up.
	serialCallsEach = 3
	// serialRoundsEach is the same for the rounds of a loop, of which nobody outside says where one begins: fewer are a
	// remark. serialRoundsLong is the part of the window that a round may last: a report that asks for each of its eleven
	// rows is at 0.004, and a lane that reports passages all day, two hundred between two shifts, at 0.10.
	serialRoundsEach = 6
	serialRoundsLong = 0.02
	// serialSleepsOne is the same for sleeps: nearly each operation has one. serialSleepsEach is from how many on
	// they are more than one. A delay may be wanted, or stand for the work of others in programs that are made for
	// trying things: it accuses where its source says that it lies between two looks at the same.
	serialSleepsOne  = 0.9
	serialSleepsEach = 1.5
	// serialCallsLong is the part of the window that an operation may last on average: twenty
	// and a thousand clients that a program has for itself ask for all of it, one question
	// after the other, and each would be one operation.
	serialCallsLong = 0.2
)

// A callSeries is what operations of one kind wait for, as facts.
type callSeries struct {
	*model.Serial
	done, each, mean, share, took fact.Fact
}

func checkSerialcalls(p *diagnosis.Pass) {
	if p.Model.Sched == nil {
		checkSampledCalls(p)
		return
	}
	if held, alike := longestPutOff(p); held != nil {
		p.Report(putOffFinding(p, held, alike))
		return
	}
	seen, remark := false, (*callSeries)(nil)
	for i := range p.Model.Sched.Serial {
		s := &p.Model.Sched.Serial[i]
		long := serialCallsLong
		if s.Loops {
			long = serialRoundsLong
		}
		if s.Done < serialCallsDone || s.Took.Seconds() > long*float64(s.Done)*p.Seconds() {
			continue
		}
		c := measureSeries(p, s)
		switch {
		case !c.slow():
			seen = true
		case c.few():
			remark = cmp.Or(remark, &c)
		default:
			p.Report(seriesFinding(p, &c))
			return
		}
	}
	alone := theCaller(p)
	if remark != nil {
		p.Report(seriesFinding(p, remark))
	}
	if alone != nil {
		p.Report(aloneFinding(p, alone))
	}
	if remark == nil && alone == nil && seen {
		p.Fine("operations: none waits for most of its time for calls one after the other")
	}
}

func measureSeries(p *diagnosis.Pass, s *model.Serial) callSeries {
	of := func(name string, v float64, u fact.Unit) fact.Fact {
		return p.Statistic(fact.Timeline, "calls of "+s.Operation.Func+", operation by operation", name, v, u)
	}
	c := callSeries{Serial: s, done: of("operations seen from begin to end", float64(s.Done), fact.Count)}
	calls, waited, took := of("calls in them", float64(s.Calls), fact.Count), of("time waited for these calls", s.Waited.Seconds(), fact.Seconds),
		of("time that the operations lasted", s.Took.Seconds(), fact.Seconds)
	c.each = fact.Quotient.Of("calls of one operation, mean", fact.Count, calls, c.done)
	c.mean = fact.Quotient.Of("wait for one call, mean", fact.Seconds, waited, calls)
	c.share = fact.Fraction.Of("part of the operation's time", fact.Ratio, waited, took)
	c.took = fact.Quotient.Of("time of an operation, mean", fact.Seconds, took, c.done)
	return c
}

// slow reports whether the operation waits for most of its time, call after call.
func (c *callSeries) slow() bool {
	least := float64(serialCallsEach)
	if c.Sleeps {
		least = serialSleepsOne
	}
	return c.each.Value >= least && c.share.Value >= serialCallsPart && c.mean.Value >= serialCallsWait
}

// few reports whether it is a remark: its calls are few, or are sleeps of which its source does not say that they lie
// between two looks at the same.
func (c *callSeries) few() bool {
	return c.Sleeps && !c.Polls || c.Loops && c.each.Value < serialRoundsEach
}

func seriesFinding(p *diagnosis.Pass, c *callSeries) diagnosis.Finding {
	call, own := code.UserPlace(p, c.Stack), leadingTo(p, c.Stack)
	saved := sideBySide.Of("part of the operation's time that goes when the calls take as long as one", fact.Ratio, c.share, c.each)
	f := diagnosis.Finding{
		Where:      code.Places(append(own, call)...),
		Stacks:     []model.Stack{c.Stack},
		Groups:     code.GroupsOfStacks(p.Model, []model.Stack{c.Stack}),
		Evidence:   []fact.Fact{c.each, c.mean, c.share, c.took, c.done},
		Cost:       diagnosis.CostOf(fact.Product.Of("time that one operation waits for them", fact.Seconds, c.took, c.share), c.share.Value),
		Bound:      diagnosis.Direction(fact.Product.Of("time of one operation", fact.Seconds, c.took, saved), diagnosis.Latency, saved.Value, "if they took as long as one; one request for all of them may save more"),
		Confidence: diagnosis.Medium,
		Reasons: []string{
			"one kind of evidence, the trace: each wait of the operations, in their order",
			"whether a call needs the answer of the one before is not in the trace",
		},
		RuledOut: []string{
			"an answer that is read piece by piece: only the first read after a write counts, and round trips",
			fact.Sentence("a call for each of several goroutines: one goroutine makes %s of them for an operation", c.each),
		},
		Remedy:     seriesRemedy,
		Experiment: codeChange(diagnosis.P50, "", ""),
		Remark:     c.few(),
	}
	if c.Loops {
		f.Reasons = append(f.Reasons, "an operation is a round of its loop: it begins where the calls come back to an earlier line")
	}
	if c.Sleeps {
		c.sleeping(&f, call)
		return f
	}
	f.Say("%s waits for %s calls of %s one after the other, %s each: %s of its time.", code.Name(c.Operation.Func), c.each, code.Name(call.Function), c.mean, c.share)
	return f
}

// sleeping makes the finding one about sleeps, of which one in an operation is a remark.
func (c *callSeries) sleeping(f *diagnosis.Finding, call diagnosis.Place) {
	f.Title = "An operation sleeps for most of its time"
	f.Bound = diagnosis.Limit(f.Cost.Fact(), diagnosis.Latency, c.share.Value, "if what it waits for were there at once")
	f.Reasons[1] = "what it sleeps for is not in the trace: a pause between attempts that fail shows so, too, and a delay that is wanted"
	if c.Polls {
		f.Reasons[1] = "its source says that it sleeps between two looks at the same: a loop around it ends when that has happened"
	}
	f.RuledOut = []string{"a sleep now and then: nearly every operation has one"}
	f.Remedy = waking
	if c.each.Value < serialSleepsEach {
		f.Say("%s sleeps once in %s, for %s: %s of its time.", code.Name(c.Operation.Func), code.Name(call.Function), c.mean, c.share)
		return
	}
	f.Say("%s sleeps %s times in %s, %s each: %s of its time.", code.Name(c.Operation.Func), c.each, code.Name(call.Function), c.mean, c.share)
}

// waking ends a wait by whom it is for.
var waking = diagnosis.Remedy{
	Text: "Wait for what happens instead of looking whether it has: a channel that somebody closes, a sync.Cond, " +
		"a context's Done end the wait at once. Where the program can only look, let the first pause be short and " +
		"each next one longer.",
	Code: "select {\ncase <-job.done: // closed by whoever ends it\ncase <-ctx.Done():\n\treturn ctx.Err()\n}",
}
