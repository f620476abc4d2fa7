package memory

import (
	"github.com/gowhy/gowhy/internal/judge/diagnosis"
	"github.com/gowhy/gowhy/internal/know/fact"
)

// GoroutineBytes is what the stack of a goroutine takes at least: one that ran more
// than a trivial chain of calls was doubled twice, from 2 KiB to 8 KiB.
const GoroutineBytes = 8 << 10

// MinStack returns what the stack of a goroutine takes at least.
func MinStack() fact.Fact {
	return fact.Figure("stack of one, at least", GoroutineBytes, fact.Bytes, "the runtime's smallest stack, doubled twice")
}

// MeanStack returns how large the stack of one is: on average by the runtime's metrics where
// they were recorded, else at least.
func MeanStack(p *diagnosis.Pass) fact.Fact {
	stacks, alive := p.Metric("stacks", "/memory/classes/heap/stacks:bytes", fact.Last), p.Metric("goroutines", MetricGoroutines, fact.Last)
	if stacks.Value > 0 && alive.Value > 0 {
		return fact.Quotient.Of("stack of one", fact.Bytes, stacks, alive)
	}
	return MinStack()
}

// PartOf is bytes relative to the program's memory: what is resident where
// that was read, and at least the heap and the stacks of some goroutines.
func PartOf(p *diagnosis.Pass, bytes, goroutines, each fact.Fact) fact.Fact {
	heap := p.Statistic(fact.Collector, "largest heap", "largest heap", LargestHeap(p.Model), fact.Bytes).
		Larger(p.Metric("largest heap", "/memory/classes/heap/objects:bytes", fact.Most))
	stacks := fact.Product.Of("stacks", fact.Bytes, goroutines, each)
	memory := fact.Largest.Of("memory in use", fact.Bytes, p.Process("resident memory, at most", "rss", fact.Most),
		fact.Sum.Of("heap and stacks", fact.Bytes, heap, stacks))
	return fact.Fraction.Of("part of the memory", fact.Ratio, bytes, memory)
}
