package rules

import (
	"github.com/gowhy/gowhy/internal/judge/diagnosis"
	"github.com/gowhy/gowhy/internal/judge/measure/code"
	"github.com/gowhy/gowhy/internal/know/fact"
	"github.com/gowhy/gowhy/internal/know/model"
)

const (
	// putOffCalls is the least number of answers that come when an acknowledgement must, and putOffPart
	// the part of its time that the goroutine waits for these. Clients whose questions go out in two writes, and
	// whose answers come in two, have 49% on each side, and none with one write each.
	putOffCalls = 20
	putOffPart  = 0.4
)

// longestPutOff returns the goroutine that waits longest for answers which only come when the other side
// acknowledges a piece of the question, and how many wait so; nil where there is none.
func longestPutOff(p *diagnosis.Pass) (most *model.Caller, alike int) {
	for i := range p.Model.Sched.Callers {
		c := &p.Model.Sched.Callers[i]
		if c.Held < putOffCalls || c.Wrote == 0 || c.HeldTime.Seconds() < putOffPart*c.Took.Seconds() {
			continue
		}
		if alike++; most == nil || c.HeldTime > most.HeldTime {
			most = c
		}
	}
	return most, alike
}

func putOffFinding(p *diagnosis.Pass, c *model.Caller, alike int) diagnosis.Finding {
	of := func(name string, v float64, u fact.Unit) fact.Fact {
		return p.Statistic(fact.Timeline, "calls of "+c.Root.Func+", as long as it was seen", name, v, u)
	}
	held := of("answers that come as late as an acknowledgement does", float64(c.Held), fact.Count)
	calls, waited := of("calls", float64(c.Calls), fact.Count), of("time waited for them", c.HeldTime.Seconds(), fact.Seconds)
	mean := fact.Quotient.Of("wait for one of them, mean", fact.Seconds, waited, held)
	share := fact.Fraction.Of("part of its time", fact.Ratio, waited, of("time that it was seen", c.Took.Seconds(), fact.Seconds))
	several := of("goroutines that wait so", float64(alike), fact.Count)
	stacks := []model.Stack{c.Wrote, c.Stack}
	writes := code.UserPlace(p, c.Wrote)
	f := diagnosis.Finding{
		Title:      "A question in several small writes waits for an acknowledgement",
		Where:      code.Places(writes, code.ProgramPlace(p, c.Wrote), code.UserPlace(p, c.Stack), code.ProgramPlace(p, c.Stack)),
		Stacks:     stacks,
		Groups:     code.GroupsOfStacks(p.Model, stacks),
		Evidence:   []fact.Fact{held, calls, mean, share, several},
		Cost:       diagnosis.CostOf(share, share.Value),
		Bound:      diagnosis.Direction(mean, diagnosis.Latency, share.Value, "what an answer comes sooner by"),
		Confidence: diagnosis.Medium,
		Reasons: []string{
			"each of these waits follows two writes and more in a row, and takes the 40 ms by which Linux puts acknowledgements off",
			"an other side that works as long for each answer looks the same",
		},
		RuledOut: []string{
			fact.Sentence("answers that are late now and then: of %s, %s take just that long", calls, held),
		},
		Remedy: diagnosis.Remedy{
			Text: "Write a question with one call: put its parts into one buffer, a bufio.Writer that is flushed " +
				"at its end, or net.Buffers. " +
				"And leave TCP_NODELAY as Go sets it: after SetNoDelay(false) the kernel keeps a small piece back until the one before " +
				"is acknowledged. It may be the other side that does so with its answer.",
			Code: "w := bufio.NewWriter(conn)\nw.Write(header)\nw.Write(body)\nif err := w.Flush(); err != nil { // one write for both\n\treturn err\n}",
		},
		Experiment: codeChange(diagnosis.P50, "", ""),
	}
	f.Say("%s of %s answers that %s waits for come %s after a question that %s writes in several pieces: "+
		"as late as the other side's acknowledgement of the first. That is %s of its time.",
		held, calls, code.Name(c.Root.Func), mean, code.Name(writes.Function), share)
	return f
}
