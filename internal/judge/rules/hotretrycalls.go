package rules

import (
	"github.com/gowhy/gowhy/internal/judge/diagnosis"
	"github.com/gowhy/gowhy/internal/judge/measure/code"
	"github.com/gowhy/gowhy/internal/judge/measure/cpu"
	"github.com/gowhy/gowhy/internal/know/fact"
	"github.com/gowhy/gowhy/internal/know/model"
)

const (
	// retryAgain is the part of the calls that come at once behind one that failed, from which on they are most of what is
	// called: a client whose back-off had no limit and was therefore nothing is at 0.93, the same with its delays at 0.07.
	retryAgain = 0.5
	// retryCalls is how often a second that must be: ten milliseconds between two attempts let a client try a hundred times.
	retryCalls = 100
	// retryCost is the part of the CPU from which it is more than a remark, at any rate: a tenth is worth a change.
	retryCost = 0.1
)

// retriedCalls are calls that a loop makes until there is no error, as facts.
type retriedCalls struct {
	*model.Retry
	rate, share, between fact.Fact
}

// againAtOnce returns the calls that are made again most often without a pause; nil without any.
func againAtOnce(p *diagnosis.Pass) *retriedCalls {
	if p.Model.Sched == nil || len(p.Model.Sched.Retries) == 0 {
		return nil
	}
	r := retriedCalls{Retry: &p.Model.Sched.Retries[0]}
	of := func(name string, v float64, u fact.Unit) fact.Fact {
		return p.Statistic(fact.Timeline, "calls of "+r.Loop.Func+", one after the other", name, v, u)
	}
	again, calls := of("calls that come at once behind one of the same", float64(r.Again), fact.Count), of("calls", float64(r.Calls), fact.Count)
	r.rate = fact.Quotient.Of("calls that are made again at once", fact.PerSec, again, p.WindowLength())
	r.share = fact.Fraction.Of("part of the calls", fact.Ratio, again, calls)
	r.between = fact.Quotient.Of("time between an answer and the next call, mean", fact.Seconds, of("time between them", r.Between.Seconds(), fact.Seconds), again)
	if r.rate.Value < retryCalls || r.share.Value < retryAgain {
		return nil
	}
	return &r
}

func (r *retriedCalls) finding(p *diagnosis.Pass) diagnosis.Finding {
	loop := diagnosis.Place{Function: r.Loop.Func, File: r.Loop.File, Line: r.Loop.Line}
	at := code.UserPlace(p, r.Stack)
	stacks := []model.Stack{r.Stack}
	f := diagnosis.Finding{
		Title:      "Calls that fail are made again without a pause",
		Where:      code.Places(append([]diagnosis.Place{loop, at}, leadingTo(p, r.Stack)...)...),
		Evidence:   []fact.Fact{r.rate, r.share, r.between},
		Confidence: diagnosis.Medium,
		Reasons: []string{
			"the trace has each call with the wait behind it, and the source says that a loop makes it until there is no error",
			"the errors themselves are not in the evidence",
		},
		RuledOut: []string{
			"a loop over many things: this one ends with the first call that has no error",
			fact.Sentence("a pause between two attempts: it is %s", r.between),
		},
		Stacks:     stacks,
		Groups:     code.GroupsOfStacks(p.Model, stacks),
		Remedy:     backOff(""),
		Experiment: codeChange(diagnosis.CPUPerOp, "", "What the other side refuses should become less, too: it has to say so each time."),
		Explains:   []string{},
	}
	f.Say("%s makes a call of %s again at once, %s times a second: %s of all of them, %s behind the answer.",
		code.Name(loop.Function), code.Name(at.Function), r.rate.Number(), r.share, r.between)
	f.Cost, f.Bound = r.price(p, at)
	f.Remark = f.Cost.Share < retryCost && r.rate.Value < retryRate
	return f
}

// price measures what the calls take on this side: whoever answers them has work with each, in this process or another.
func (r *retriedCalls) price(p *diagnosis.Pass, at diagnosis.Place) (diagnosis.Cost, diagnosis.Bound) {
	const note = "in the function that calls; whoever answers has work with each, too"
	s, ok := cpu.UseOf(p)
	if !ok {
		return diagnosis.CostOf(r.rate, 0), noSaving(fact.Cores, diagnosis.CPUGoal, "no samples of CPU time were recorded")
	}
	share := s.ShareIn("CPU in trying", cpu.MatchFunctions(at))
	return s.Cost(share), diagnosis.Direction(s.CoresOf(share), diagnosis.CPUGoal, share.Value, note)
}
