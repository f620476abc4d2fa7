package rules

import (
	"github.com/gowhy/gowhy/internal/judge/diagnosis"
	"github.com/gowhy/gowhy/internal/judge/measure/code"
	"github.com/gowhy/gowhy/internal/know/fact"
	"github.com/gowhy/gowhy/internal/know/model"
)

// spawned reports whether the group is made of goroutines that come and go
// rather than of workers that stay: their number follows the load, and no
// worker count is there to be lowered.
func spawned(g *model.Group) bool { return g.Count > 2*g.Peak }

// spawnServed is the least share of the started that must have ended: below, they
// are connections or a leak, not work that queues.
const spawnServed = 0.10

// profileCount is the sum of a profile's first column; 0 without one.
func profileCount(p *model.Profile) (n int64) {
	if p == nil {
		return 0
	}
	for i := range p.Samples {
		if v := p.Samples[i].Values; len(v) > 0 {
			n += v[0]
		}
	}
	return n
}

// goroutinesAlive returns how many there were at the end, by the evidence that says it best.
func goroutinesAlive(p *diagnosis.Pass) fact.Fact {
	const name = "goroutines alive"
	switch alive := p.Metric(name, metricGoroutines, fact.Last); {
	case alive.Value > 0:
		return alive
	case p.Model.Goroutines.End != nil:
		return p.Samples(name, "goroutine", nil)
	}
	return p.Goroutines(name, code.AllGroups(p.Model), "alive")
}

// meanStack returns how large the stack of one is: on average by the runtime's metrics where
// they were recorded, else at least.
func meanStack(p *diagnosis.Pass) fact.Fact {
	stacks, alive := p.Metric("stacks", "/memory/classes/heap/stacks:bytes", fact.Last), p.Metric("goroutines", metricGoroutines, fact.Last)
	if stacks.Value > 0 && alive.Value > 0 {
		return fact.Quotient.Of("stack of one", fact.Bytes, stacks, alive)
	}
	return leastStack()
}

// memoryPart is bytes relative to the program's memory: what is resident where
// that was read, and at least the heap and the stacks of some goroutines.
func memoryPart(p *diagnosis.Pass, bytes, goroutines, each fact.Fact) fact.Fact {
	heap := p.Statistic(fact.Collector, "largest heap", "largest heap", largestHeap(p.Model), fact.Bytes).
		Larger(p.Metric("largest heap", "/memory/classes/heap/objects:bytes", fact.Most))
	stacks := fact.Product.Of("stacks", fact.Bytes, goroutines, each)
	memory := fact.Largest.Of("memory in use", fact.Bytes, p.Process("resident memory, at most", "rss", fact.Most),
		fact.Sum.Of("heap and stacks", fact.Bytes, heap, stacks))
	return fact.Fraction.Of("part of the memory", fact.Ratio, bytes, memory)
}

// moreAt is by how many the goroutines at the lines of some stacks have become more
// between the two goroutine profiles.
func moreAt(p *diagnosis.Pass, name string, stacks ...model.Stack) fact.Fact {
	there := code.SameText(p.Model, stacks...)
	return fact.Difference.Of(name, fact.Count, p.Samples("there at the end", "goroutine", there), p.SamplesAtStart("there at the start", "goroutine", there))
}

// snapshotWindow is the time between the two goroutine profiles.
func snapshotWindow(p *diagnosis.Pass) fact.Fact {
	return p.ProfileLength("goroutine").Named("time between the goroutine profiles")
}

// goroutineBytes is what the stack of a goroutine takes at least: one that ran more
// than a trivial chain of calls was doubled twice, from 2 KiB to 8 KiB.
const goroutineBytes = 8 << 10

func leastStack() fact.Fact {
	return fact.Figure("stack of one, at least", goroutineBytes, fact.Bytes, "the runtime's smallest stack, doubled twice")
}
