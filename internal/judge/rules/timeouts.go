package rules

import (
	_ "embed"

	"github.com/gowhy/gowhy/internal/judge/diagnosis"
	"github.com/gowhy/gowhy/internal/judge/measure/code"
	"github.com/gowhy/gowhy/internal/know/fact"
	"github.com/gowhy/gowhy/internal/know/model"
)

//go:embed timeouts.md
var timeoutsPage string

var timeouts = &diagnosis.Rule{
	Name:     "timeouts",
	Title:    "Operations wait until their time-out for answers that do not come",
	Doc:      timeoutsPage,
	Needs:    []model.Source{model.Trace},
	Explains: []string{"idleprocs", "serialcalls", "connectionchurn"},
	Check:    checkTimeouts,
}

const (
	// timeoutsSeen is the fewest calls that ended so: one at times is what a time-out is for.
	timeoutsSeen = 20
	// timeoutsPart is the part of the time of operations that such calls take from which
	// something is to be done about it. Of look-ups whose first site never answers it is 62 %. Those
	// that ask such a site again every two seconds have less than twenty in five seconds.
	timeoutsPart = 0.2
)

func checkTimeouts(p *diagnosis.Pass) {
	var all, expired int64
	var worst *model.Serial
	for i := range p.Model.Sched.Serial {
		s := &p.Model.Sched.Serial[i]
		if s.Sleeps || s.Done < serialCallsDone || s.Took.Seconds() > serialCallsLong*float64(s.Done)*p.Seconds() {
			continue
		}
		all, expired = all+s.Calls, expired+s.Expired
		if s.Expired >= timeoutsSeen && s.Lost.Seconds() >= timeoutsPart*s.Took.Seconds() && (worst == nil || s.Lost > worst.Lost) {
			worst = s
		}
	}
	switch {
	case worst != nil:
		c := measureSeries(p, worst)
		p.Report(timeoutFinding(p, &c))
	case all > 0:
		of := func(name string, v int64) fact.Fact {
			return p.Statistic(fact.Timeline, "calls of operations", name, float64(v), fact.Count)
		}
		p.Fine(fact.Sentence("time-outs: %s of the calls that operations wait for ended at their deadline",
			fact.Fraction.Of("part of the calls", fact.Ratio, of("calls that their deadline ended", expired), of("calls in them", all))))
	}
}

func timeoutFinding(p *diagnosis.Pass, c *callSeries) diagnosis.Finding {
	of := func(name string, v float64, u fact.Unit) fact.Fact {
		return p.Statistic(fact.Timeline, "calls of "+c.Operation.Func+", operation by operation", name, v, u)
	}
	expired, lost := of("calls that their deadline ended", float64(c.Expired), fact.Count), of("time waited for these", c.Lost.Seconds(), fact.Seconds)
	took := of("time that the operations lasted", c.Took.Seconds(), fact.Seconds)
	each := fact.Quotient.Of("wait until the deadline, mean", fact.Seconds, lost, expired)
	part := fact.Fraction.Of("part of the operations' time", fact.Ratio, lost, took)
	calls := fact.Fraction.Of("part of the calls", fact.Ratio, expired, of("calls in them", float64(c.Calls), fact.Count))
	call, own := code.UserPlace(p, c.Stack), leadingTo(p, c.Stack)
	f := diagnosis.Finding{
		Where:      code.Places(append(own, call)...),
		Stacks:     []model.Stack{c.Stack},
		Groups:     code.GroupsOfStacks(p.Model, []model.Stack{c.Stack}),
		Evidence:   []fact.Fact{expired, each, calls, part, c.took},
		Cost:       diagnosis.CostOf(fact.Product.Of("time that one operation waits so", fact.Seconds, c.took, part), part.Value),
		Bound:      diagnosis.Limit(fact.Product.Of("time that one operation waits so", fact.Seconds, c.took, part), diagnosis.Latency, part.Value, "if nobody waited for them; an answer from elsewhere takes a while, too"),
		Confidence: diagnosis.High,
		Reasons:    []string{"the trace has what ended each wait: nothing was read after it, or the deadline of a context was over"},
		RuledOut: []string{
			fact.Sentence("answers that are slow: %s of the calls ended without any", calls),
			"a look whether something has come, with a short deadline: each of these is behind a question",
		},
		Remedy:     timeoutsRemedy,
		Experiment: codeChange(diagnosis.P50, "", ""),
	}
	f.Say("%s of the calls of %s end without an answer, after %s each: %s of the time of %s.", calls, code.Name(call.Function), each, part, code.Name(c.Operation.Func))
	return f
}

var timeoutsRemedy = diagnosis.Remedy{
	Text: "Find out who does not answer, and why: an address that is out of use, a service that is down or overloaded, a " +
		"packet that is lost. Remember it: leave out for a while whoever has not answered several times in a row (a circuit " +
		"breaker), and try again with one call at a time. Where several can answer, begin with the one that answered last, or " +
		"call the next one too after the time that nearly all answers take, and take the first that comes. A time-out " +
		"should be little more than that.",
	Code: "if time.Now().Before(site.closedUntil) {\n\tcontinue // it has not answered lately: ask the next\n}\nanswer, err := site.ask(ctx)\n" +
		"if errors.Is(err, os.ErrDeadlineExceeded) {\n\tsite.closedUntil = time.Now().Add(5 * time.Second)\n}",
}
