package rules

import (
	"slices"

	"github.com/gowhy/gowhy/internal/judge/diagnosis"
	"github.com/gowhy/gowhy/internal/know/fact"
	"github.com/gowhy/gowhy/internal/know/model"
)

// minBusy, in cores, keeps the factor of a program that hardly ran finite.
const minBusy = 0.1

// worthwhile is the smallest growth of throughput that a finding may
// promise. Less can hardly be told from noise: ten interleaved runs on two
// shared cores showed a true 10% in only one try of five.
const worthwhile = 1.1

// minShare is the smallest share of the CPU in use that a finding about CPU
// cost is made of. The catalogue calls 2% worth knowing.
const minShare = 0.02

// busyPs is the Ps that did the program's work on average: goroutines running, the
// collector, and system calls that hold their P. Threads that look for work are
// not working.
func busyPs(p *diagnosis.Pass) fact.Fact {
	return fact.Quotient.Of("busy Ps", fact.Cores, p.Processors("time of Ps at work", "user", "gc", "syscall"), p.WindowLength())
}

// gomaxprocs is the number of Ps.
func gomaxprocs(p *diagnosis.Pass) fact.Fact {
	return p.Setting("Ps", "GOMAXPROCS", float64(p.Procs()), fact.Count)
}

// usableCores is the cores that the program can use: its Ps, or what the machine
// and its limits allow, if that is less.
func usableCores(p *diagnosis.Pass) fact.Fact {
	ps := p.Setting("Ps", "GOMAXPROCS", float64(p.Procs()), fact.Cores)
	if u := p.Model.Usable(); u > 0 && u < ps.Value {
		return p.Setting("cores that the process may use", "affinity, quota and CPUs online", u, fact.Cores)
	}
	return ps
}

// fasterBy is the most by which throughput can grow when goroutines of the named
// groups no longer wait for the given time: see [fact.Bottleneck]. freed is the
// part of the wait that held a P, in cores. No next serial resource is known: a
// trace does not tell how long locks are held. In an open system below saturation
// the true gain is nothing.
//
// Goroutines that stood at something else for the whole window, like a server's
// connections at which nobody asks, are none of the customers: their time is left out.
// of is what the wait consists of. What they waited for before the trace
// began may have been the same, so it counts as that.
func fasterBy(p *diagnosis.Pass, names []string, wait fact.Fact, of func(*model.Wait) bool, freed ...fact.Fact) fact.Fact {
	whole := p.Goroutines("time of those goroutines", names, "total")
	if idle := bystanders(p, names, of); idle.Value > 0 {
		whole = fact.Difference.Of("time of those of them that got on", fact.Seconds, whole, idle)
	}
	if untold := p.Goroutines("their time in waits of which nothing tells for what", names, "blocked:", "unknown"); untold.Value > 0 {
		wait = fact.Smallest.Of(wait.Name, fact.Seconds, whole, fact.Sum.Of(wait.Name+", perhaps", fact.Seconds, wait, untold))
	}
	return fact.Bottleneck.Of("throughput", fact.Factor, usableCores(p), busyWithout(p, freed...), whole, wait)
}

// bystanders is the time of goroutines of some groups that waited through the whole window
// for something that comes from elsewhere, not for what of matches.
func bystanders(p *diagnosis.Pass, names []string, of func(*model.Wait) bool) fact.Fact {
	n := int64(0)
	for i := range p.Model.Sched.Waits {
		w := &p.Model.Sched.Waits[i]
		comes := w.Kind == model.Net || w.Reason == "chan receive" || w.Reason == "select" || w.Reason == "forever"
		if w.Parked > 0 && comes && slices.Contains(names, w.Group) && (of == nil || !of(w)) {
			n += w.Parked
		}
	}
	return fact.Product.Of("time of goroutines that had no work all the time", fact.Seconds,
		p.Statistic(fact.Timeline, "goroutines that made no step", "goroutines that had no work all the time", float64(n), fact.Count), p.WindowLength())
}

// busyWithout is the Ps that are busy beside those that something frees.
func busyWithout(p *diagnosis.Pass, freed ...fact.Fact) fact.Fact {
	busy := busyPs(p)
	for _, f := range freed {
		busy = fact.Difference.Of("busy Ps without it", fact.Cores, busy, f)
	}
	return busy
}

// endless is the factor from which a limit says nothing: what is left beside the wait is
// then a thousandth of the time, as little as a window's edges and the tracing itself leave.
// It is taken and not surveyed: a factor near it is as vague below as above.
const endless = 1000

// fasterLimit is a bound: throughput that grows by at most a factor.
func fasterLimit(factor fact.Fact, when string) diagnosis.Bound {
	if factor.Value >= endless && len(factor.Operands) > 3 {
		return diagnosis.NoLimit(factor.Operands[3], diagnosis.Throughput, 1, "beside it those goroutines did next to nothing; a factor "+when)
	}
	return diagnosis.Limit(factor, diagnosis.Throughput, fact.Gain.Of("time saved", fact.Ratio, factor).Value, "a factor "+when)
}

// idlePs is the Ps that did none of the program's work on average.
func idlePs(p *diagnosis.Pass) fact.Fact {
	return fact.Difference.Of("idle Ps", fact.Cores, gomaxprocs(p), busyPs(p))
}

// fullMachine is an explanation that was ruled out: that no P had time for more.
func fullMachine(p *diagnosis.Pass) string {
	return fact.Sentence("a full machine: %s of %s Ps are busy", busyPs(p).Number(), gomaxprocs(p))
}

// sumOf is the sum of those facts that are not nothing.
func sumOf(name string, u fact.Unit, facts ...fact.Fact) fact.Fact {
	facts = slices.DeleteFunc(facts, func(f fact.Fact) bool { return f.Value == 0 })
	if len(facts) == 1 {
		return facts[0].Named(name)
	}
	return fact.Sum.Of(name, u, facts...)
}
