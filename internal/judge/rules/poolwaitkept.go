package rules

import (
	"slices"

	"github.com/gowhy/gowhy/internal/judge/diagnosis"
	"github.com/gowhy/gowhy/internal/judge/measure/code"
	"github.com/gowhy/gowhy/internal/know/fact"
	"github.com/gowhy/gowhy/internal/know/model"
)

const (
	// poolKeptPart is the part of an operation's time in which it must wait for what others of its kind keep, for a pool to
	// hold it up: those that are too small, or kept for something else, are at 0.38 to 0.66. Given back behind the last
	// query one is at 0.17 and one at 0.26; three that are large enough are below 0.15.
	poolKeptPart = 0.25
	// poolKeptElsewhere is the part of that time in which who keeps it waits for something else, from which on it is kept for
	// that: connections kept over a call of another service are at 0.73 to 0.88, those given back behind the last query at 0.
	poolKeptElsewhere = 0.5
	// poolKeptUsed is the part in which it waits through the pool's own package, from which on the pool hands out something that
	// is used: 0.08 to 0.9. A semaphore has none, and what it guards is not known.
	poolKeptUsed = 0.05
)

// A keptSlot is a wait of operations for what others of their kind have and give back, as facts.
type keptSlot struct {
	*model.Chain
	done, took, share, mean fact.Fact
	elsewhere, used         fact.Fact
	at                      *model.ChainLink // where it is kept longest for something else; nil where there is none
}

// longestKept returns what operations wait for longest that is kept while its holder waits for something else,
// or belongs to a pool that is too small; nil without one.
func longestKept(p *diagnosis.Pass) *keptSlot {
	for i := range p.Model.Sched.Chains {
		c := &p.Model.Sched.Chains[i]
		if c.Done < serialCallsDone || c.Peers == 0 {
			continue
		}
		k := measureKept(p, c)
		if k.share.Value < poolKeptPart || k.mean.Value < chainMean {
			continue
		}
		if k.forElsewhere() || inConnectionPool(p.Model.Stacks.Frames(c.Stack)) && k.used.Value >= poolKeptElsewhere {
			return &k
		}
	}
	return nil
}

func measureKept(p *diagnosis.Pass, c *model.Chain) keptSlot {
	of := func(name string, v float64, u fact.Unit) fact.Fact {
		return p.Statistic(fact.Timeline, "waits of "+c.Operation.Func+", operation by operation", name, v, u)
	}
	k := keptSlot{Chain: c, done: of("operations seen from begin to end", float64(c.Done), fact.Count)}
	took := of("time that the operations lasted", c.Took.Seconds(), fact.Seconds)
	waited := of("time waited for one that others have", c.PeersTime.Seconds(), fact.Seconds)
	k.took = fact.Quotient.Of("time of an operation, mean", fact.Seconds, took, k.done)
	k.share = fact.Fraction.Of("part of the operation's time in which it waits for one", fact.Ratio, waited, took)
	k.mean = fact.Quotient.Of("wait for one, mean", fact.Seconds, waited, of("waits for one that others have", float64(c.Peers), fact.Count))
	takes, own := p.Model.Stacks.Frames(c.Stack), code.ProgramPackages(p.Model)
	pool := poolPackages(takes, own)
	var elsewhere, used float64
	for j := range c.Links {
		l := &c.Links[j]
		if l.Kind != model.LinkPeer && l.Kind != model.LinkAnswer && l.Kind != model.LinkClock || l.Stack == 0 {
			continue
		}
		has := p.Model.Stacks.Frames(l.Stack)
		if throughPackages(has[:meets(has, takes, own)], pool) {
			used += l.Time.Seconds()
			continue
		}
		if elsewhere += l.Time.Seconds(); k.at == nil {
			k.at = l
		}
	}
	all := of("time followed", c.LinkTime("").Seconds(), fact.Seconds)
	k.elsewhere = fact.Fraction.Of("part of it in which who has it waits for something else", fact.Ratio,
		of("time in which who has it waits for something else", elsewhere, fact.Seconds), all)
	k.used = fact.Fraction.Of("part of it in which who has it waits for its answer", fact.Ratio,
		of("time in which who has it waits for its answer", used, fact.Seconds), all)
	return k
}

// forElsewhere reports whether it is kept for something else: it is used, and for most of the time it is not.
func (k *keptSlot) forElsewhere() bool {
	return k.at != nil && k.elsewhere.Value >= poolKeptElsewhere && k.used.Value >= poolKeptUsed
}

// poolPackages returns the packages through which a goroutine waits for one of a pool: the innermost beside the
// runtime and package sync, and libraries around it.
func poolPackages(takes []model.Frame, own []string) (list []string) {
	for _, f := range takes {
		pkg, _ := model.SplitSymbol(f.Func)
		if pkg == "runtime" || pkg == "sync" {
			continue
		}
		ours := code.StartsWith(f.Func, own)
		if len(list) > 0 && ours {
			break
		}
		if list = append(list, pkg); ours {
			break
		}
	}
	return list
}

func throughPackages(frames []model.Frame, list []string) bool {
	return slices.ContainsFunc(frames, func(f model.Frame) bool {
		pkg, _ := model.SplitSymbol(f.Func)
		return slices.Contains(list, pkg)
	})
}

// meets returns the index of the innermost frame whose function is the program's own and one that another stack goes
// through, too; that of none is the number of frames.
func meets(frames, other []model.Frame, own []string) int {
	i := slices.IndexFunc(frames, func(f model.Frame) bool {
		return code.StartsWith(f.Func, own) && slices.ContainsFunc(other, func(o model.Frame) bool { return o.Func == f.Func })
	})
	if i < 0 {
		return len(frames)
	}
	return i
}

// keeper returns the function that takes one of the pool and waits for something else before it gives it
// back, at the line of that wait: where both stacks meet, or what the pool calls there.
func (k *keptSlot) keeper(p *diagnosis.Pass) diagnosis.Place {
	takes, has, own := p.Model.Stacks.Frames(k.Stack), p.Model.Stacks.Frames(k.at.Stack), code.ProgramPackages(p.Model)
	i := meets(has, takes, own)
	if i > 0 && i < len(has) && throughPackages(has[i:i+1], poolPackages(takes, own)) {
		i--
	}
	if i == len(has) {
		return diagnosis.Place{}
	}
	return diagnosis.Place{Function: has[i].Func, File: has[i].File, Line: has[i].Line}
}

func (k *keptSlot) finding(p *diagnosis.Pass) diagnosis.Finding {
	takes, op := code.UserPlace(p, k.Stack), code.Name(k.Operation.Func)
	where := fact.Name("")
	if takes.Function != k.Operation.Func {
		where = " in " + code.Name(takes.Function)
	}
	f := diagnosis.Finding{
		Where:      code.Places(append([]diagnosis.Place{takes}, leadingTo(p, k.Stack)...)...),
		Stacks:     []model.Stack{k.Stack},
		Groups:     code.GroupsOfStacks(p.Model, []model.Stack{k.Stack}),
		Evidence:   []fact.Fact{k.share, k.mean, k.took, k.elsewhere, k.used, k.done},
		Cost:       diagnosis.CostOf(fact.Product.Of("time of an operation in which it waits for one", fact.Seconds, k.took, k.share), k.share.Value),
		Bound:      diagnosis.Direction(fact.Product.Of("time of one operation", fact.Seconds, k.took, k.share), diagnosis.Latency, k.share.Value, "if it never waited for one"),
		Confidence: diagnosis.Medium,
		RuledOut: []string{
			"waits for work: each ends because another of these operations gives one back",
			fact.Sentence("a wait now and then: %s of the operation's time in all", k.share),
		},
		Experiment: codeChange(latency(p.Model), diagnosis.P50, ""),
	}
	if !k.forElsewhere() {
		f.Confidence = diagnosis.Low
		f.Reasons = []string{"the waits are named by the pool's own functions", poolLimitUnknown}
		f.Remedy = poolRemedy
		f.Experiment.Tune = "pool=1..256"
		f.Say("%s waits for a free connection of a pool%s for %s of its time, %s each time; who has one waits for its answer meanwhile.", op, where, k.share, k.mean)
		return f
	}
	keeps, waits := k.keeper(p), code.UserPlace(p, k.at.Stack)
	f.Where = code.Places(append([]diagnosis.Place{keeps, takes, waits}, leadingTo(p, k.Stack)...)...)
	f.Stacks = append(f.Stacks, k.at.Stack)
	f.Title = "Operations wait for what others keep while they wait for something else"
	f.Reasons = []string{
		"one kind of evidence, the trace: who ended each wait, and what that one did until then",
		"whether it must be kept until then, as by a transaction, is not in the trace",
	}
	f.Remedy = keptRemedy
	f.Say("%s waits%s for %s of its time, %s each time, until another "+
		"gives one back, which for %s of that time waits in %s for something else.",
		op, where, k.share, k.mean, k.elsewhere, code.Name(waits.Function))
	return f
}

// poolLimitUnknown is why a larger pool may bring nothing.
const poolLimitUnknown = "whether the other side bears more connections at once is not in the evidence: " +
	"where it is the limit, a larger pool moves the queue there"

var keptRemedy = diagnosis.Remedy{
	Text: "Give it back as soon as its last use is over, and call the other service behind that: " +
		"what a deferred call gives back is kept until the function returns. " +
		"Where both must be one transaction, note what is to be sent in it and send it " +
		"afterwards. A larger pool only lets more of them be kept.",
	Code: "rows, err := read(ctx, tx)\nif err := tx.Commit(); err != nil { // gives the connection back\n\treturn err\n}\nreturn notify(ctx, rows)",
}
