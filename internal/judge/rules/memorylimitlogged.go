package rules

import (
	"github.com/gowhy/gowhy/internal/judge/diagnosis"
	"github.com/gowhy/gowhy/internal/judge/measure/memory"
	"github.com/gowhy/gowhy/internal/know/fact"
)

// A fullHeap is one that is collected again as soon as it was, by the lines of gctrace.
type fullHeap struct {
	memory.Collector
	room   fact.Fact // that the goal leaves, of what is alive
	needed fact.Fact // collections a second that Go's default would make
}

// measureFull tells a heap without room from the lines. Shares of what the Ps can do are
// less than those of the CPU in use, so that the least that counts is that of a small heap.
func measureFull(p *diagnosis.Pass) (f fullHeap, ok bool) {
	percent, _, told := memory.LoggedGOGC(p.Model)
	h, priced := memory.CollectorOf(p)
	if !told || !priced || percent > memory.LimitGOGC || h.Rate.Value < gcOften || h.Share.Value < tinyheapShare {
		return f, false
	}
	f.Collector = h
	f.room = memory.LogFact(p, "goals", "room that the goal leaves, of what is alive", percent/100, fact.Ratio)
	f.needed = fact.Quotient.Of("collections that GOGC=100 would need", fact.PerSec, memory.LoggedAllocation(p), h.Live)
	return f, true
}

// finding is about a heap whose limit nobody knows: that it has no room is seen.
func (h *fullHeap) finding(p *diagnosis.Pass) diagnosis.Finding {
	spared := sparedCollecting.Of("CPU in collecting", fact.Cores, h.Share, h.Cores, h.needed, h.Rate)
	knob := memory.LimitKnob(memory.MiB(2 * h.Live.Value))
	f := diagnosis.Finding{
		Title:    "The heap has no room: it is collected all the time",
		Evidence: append(h.Facts(), h.room, h.needed, memory.LoggedGoal(p)),
		Cost:     h.Cost(),
		Bound:    h.Saving(spared, ""),
		RuledOut: []string{
			fact.Sentence("Go's default, which lets the heap grow by as much as is alive: the goals leave %s", h.room),
			fact.Sentence("collections that cost nothing: they take %s %s", h.Share, h.WholeWords()),
		},
		Confidence: diagnosis.Medium,
		Reasons:    []string{fact.Sentence("the goals of %s collections; whether GOMEMLIMIT or a GOGC below %s sets them is not in the lines", h.Cycles, fact.Name(fact.Count.Format(memory.LimitGOGC)))},
		Remedy: diagnosis.Remedy{
			Text: "Raise the limit to twice the live heap, if there is that much: GOMEMLIMIT is full, or GOGC next to nothing; " +
				"look at both, and for debug.SetMemoryLimit. " +
				"If there is no more memory, let less stay alive; a heap profile has what holds it.",
			Knob: knob,
		},
		Explains: gcSymptoms(p),
	}
	f.Say("%s collections a second take %s %s: %s are alive, and the next collection is due at %s, "+
		"where Go's default waits for twice what is alive.",
		h.Rate.Number(), h.Share, h.WholeWords(), h.Live, memory.LoggedGoal(p))
	f.Experiment = collectorTrial(&h.Collector, &f, "If CPU time does not fall, it is not the limit: try GOGC=100.")
	return f
}
