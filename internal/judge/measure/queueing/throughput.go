package queueing

import (
	"slices"

	"github.com/gowhy/gowhy/internal/judge/diagnosis"
	"github.com/gowhy/gowhy/internal/judge/measure/code"
	"github.com/gowhy/gowhy/internal/judge/measure/cpu"
	"github.com/gowhy/gowhy/internal/know/fact"
	"github.com/gowhy/gowhy/internal/know/model"
)

// FasterBy returns the most by which throughput can grow when goroutines of the named
// groups no longer wait for the given time: see [fact.Bottleneck]. freed is the
// part of the wait that held a P, in cores. No next serial resource is known: a
// trace does not tell how long locks are held. In an open system below saturation
// the true gain is nothing.
//
// Goroutines that stood at something else for the whole window, like a server's
// connections at which nobody asks, are none of the customers: their time is left out.
// of is what the wait consists of. What they waited for before the trace
// began may have been the same, so it counts as that. Where goroutines of one group do
// different things at a time they are not told apart.
func FasterBy(p *diagnosis.Pass, names []string, wait fact.Fact, of func(*model.Wait) bool, freed ...fact.Fact) fact.Fact {
	return fasterBeside(p, cpu.BusyWithout(p, freed...), names, wait, of)
}

// fasterBeside returns that where other work keeps some Ps busy.
func fasterBeside(p *diagnosis.Pass, busy fact.Fact, names []string, wait fact.Fact, of func(*model.Wait) bool) fact.Fact {
	whole := p.Goroutines("time of those goroutines", names, "total")
	if idle := bystanders(p, names, of); idle.Value > 0 {
		whole = fact.Difference.Of("time of those of them that got on", fact.Seconds, whole, idle)
	}
	if untold := p.Goroutines("their time in waits of which nothing tells for what", names, "blocked:", "unknown"); untold.Value > 0 {
		wait = fact.Smallest.Of(wait.Name, fact.Seconds, whole, fact.Sum.Of(wait.Name+", perhaps", fact.Seconds, wait, untold))
	}
	return fact.Bottleneck.Of("throughput", fact.Factor, cpu.UsableCores(p), busy, whole, wait)
}

// WithEnds returns a wait of some groups for something outside with what goes with it, at most: who
// was answered need not get a P again, and what they waited for before the trace began may
// have been the same.
func WithEnds(p *diagnosis.Pass, wait, whole fact.Fact, names []string) fact.Fact {
	if len(names) == 0 {
		return wait
	}
	told := p.Waits("their time in calls that ended", model.SyscallWait, func(w *model.Wait) bool {
		return w.Stack != 0 && slices.Contains(names, w.Group)
	})
	calls := fact.Difference.Of("their time in calls that go on, or began before", fact.Seconds,
		p.Goroutines("their time in calls", names, "syscall", "syscall_blocked"), told)
	with := fact.SumOf(wait.Name+", and around it", fact.Seconds, wait, calls, p.Goroutines("their time waiting for a P", names, "runnable"),
		p.Goroutines("their time in waits of which nothing tells for what", names, "blocked:", "unknown"))
	return fact.Smallest.Of(with.Name, fact.Seconds, whole, with)
}

// bystanders returns the time of goroutines of some groups that waited through the whole window,
// and not for what of matches. The one that sleeps with a lock may be among them: then too
// little got on in the window for a limit; see [TurnsLimit].
func bystanders(p *diagnosis.Pass, names []string, of func(*model.Wait) bool) fact.Fact {
	n := int64(0)
	for i := range p.Model.Sched.Waits {
		if w := &p.Model.Sched.Waits[i]; w.Reason != "" && slices.Contains(names, w.Group) && (of == nil || !of(w)) {
			n += w.Parked
		}
	}
	return fact.Product.Of("time of goroutines that had no work all the time", fact.Seconds,
		p.Statistic(fact.Timeline, "goroutines that made no step", "goroutines that had no work all the time", float64(n), fact.Count), p.WindowLength())
}

// unrelatedPs returns the Ps that are busy with goroutines which those of the named groups have
// nothing to do with: no chain of wake-ups or of starts joins them, and they do not both
// wait for the network, through which they could meet. What the runtime does counts for
// all, and main, which starts everything, joins nobody.
func unrelatedPs(p *diagnosis.Pass, names []string) fact.Fact {
	related, edges := relations(p.Model, names)
	for todo := names; len(todo) > 0; todo = todo[1:] {
		for _, other := range edges[todo[0]] {
			if !related[other] {
				related[other] = true
				todo = append(todo, other)
			}
		}
	}
	var apart []string
	for i := range p.Model.Sched.Groups {
		if g := &p.Model.Sched.Groups[i]; !g.System && !related[g.Name] && g.Name != "" {
			apart = append(apart, g.Name)
		}
	}
	if len(apart) == 0 {
		return fact.Fact{}
	}
	return fact.Quotient.Of("Ps busy for goroutines that have nothing to do with them", fact.Cores,
		p.Goroutines("time that those run that have nothing to do with them", apart, "running", "syscall"), p.WindowLength())
}

// relations returns the named groups as a set, and for each group of goroutines those that
// it wakes or starts, that wake or start it, or that wait for the network as it does.
func relations(m *model.Model, names []string) (related map[string]bool, edges map[string][]string) {
	related, edges = map[string]bool{}, map[string][]string{}
	for _, n := range names {
		related[n] = true
	}
	join := func(a, b string) {
		if a != b && !slices.Contains(code.MainGroups, a) && !slices.Contains(code.MainGroups, b) && !slices.Contains(edges[a], b) {
			edges[a], edges[b] = append(edges[a], b), append(edges[b], a)
		}
	}
	for _, w := range m.Sched.Wakes {
		if w.Waker != 0 {
			join(code.Root(m, w.Waker), code.Root(m, w.Woken))
		}
	}
	const network = "\x00network"
	for i := range m.Sched.Groups {
		g := &m.Sched.Groups[i]
		if g.Creator != 0 {
			join(code.Root(m, g.Creator), g.Name)
		}
		if g.Blocked["network"] > 0 {
			join(g.Name, network)
		}
	}
	return related, edges
}

// Endless is the factor from which a limit says nothing: what is left beside the wait is
// then a thousandth of the time, as little as a window's edges and the tracing itself leave.
// It is taken and not surveyed: a factor near it is as vague below as above.
const Endless = 1000

// FasterLimit returns a bound: throughput that grows by at most a factor.
func FasterLimit(factor fact.Fact, when string) diagnosis.Bound {
	if factor.Value >= Endless && len(factor.Operands) > 3 {
		return diagnosis.NoLimit(factor.Operands[3], diagnosis.Throughput, 1, "beside it those goroutines did next to nothing; a factor "+when)
	}
	return diagnosis.Limit(factor, diagnosis.Throughput, fact.Gain.Of("time saved", fact.Ratio, factor).Value, "a factor "+when)
}

// A window of n turns has the work of one turn more at most, cut at its ends. Of fewer than
// minTurns that is more than a third of what is seen; from manyTurns on it is a thousandth.
const (
	minTurns  = 4
	manyTurns = 1000
)

// ofTurns is a factor that was seen over a number of turns, at most.
var ofTurns = &fact.Formula{Name: "asymptotic", Words: "{0} × {1} ÷ ({1} − 1), for the turn that the window's ends may have cut; " +
	"less when requests arrive slower than that",
	Value: func(x []float64) float64 { return x[0] * x[1] / (x[1] - 1) }}

// TurnsOfEach divides what some goroutines did by their number: what each does in turns of
// its own may have been cut at the same place for all.
func TurnsOfEach(p *diagnosis.Pass, count fact.Fact, names []string) fact.Fact {
	if len(names) == 0 {
		return count
	}
	return fact.Quotient.Of(count.Name+" by each", fact.Count, count, p.Goroutines("those goroutines", names, "peak"))
}

// TurnsLimit is FasterLimit of a factor that was seen over some turns, in each of which one
// of those who wait is let on or answered.
func TurnsLimit(factor, turns fact.Fact, when string) diagnosis.Bound {
	switch {
	case turns.Value < minTurns:
		removed, saved := turns, fact.Gain.Of("time saved", fact.Ratio, factor)
		if len(factor.Operands) > 3 {
			removed = factor.Operands[3]
		}
		return diagnosis.NoLimit(removed, diagnosis.Throughput, saved.Value, "too few turns ended in the window to tell what else each takes; a factor "+when)
	case turns.Value < manyTurns && factor.Value < Endless:
		return FasterLimit(ofTurns.Of(factor.Name, fact.Factor, factor.Named("asymptotic bound of a closed system"), turns), when)
	}
	return FasterLimit(factor, when)
}
