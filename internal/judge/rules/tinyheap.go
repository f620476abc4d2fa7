package rules

import (
	_ "embed"
	"math"

	"github.com/gowhy/gowhy/internal/judge/diagnosis"
	"github.com/gowhy/gowhy/internal/judge/measure/memory"
	"github.com/gowhy/gowhy/internal/know/fact"
)

//go:embed tinyheap.md
var tinyheapPage string

var tinyheap = &diagnosis.Rule{
	Name:     "tinyheap",
	Title:    "The heap is so small that it is collected all the time",
	Doc:      tinyheapPage,
	Explains: []string{"gccost", "gcassist", "slowstop", "allocchurn"}, // the last two with conditions; see gcSymptoms
	Whole:    true,
	Check:    checkTinyheap,
}

const (
	// tinyheapLive is the live heap below which the memory that ends it is
	// less than what anybody would miss.
	tinyheapLive = 16 << 20
	// tinyheapGoal is the heap that the fix aims at.
	tinyheapGoal = 64 << 20
	// tinyheapLeast is the runtime's smallest goal at GOGC=100, whatever lives.
	tinyheapLeast = 4 << 20
	// tinyheapShare is the least it must cost: collections of a small heap are
	// cheap, and ten of them a second no problem by themselves. A web server
	// with 4 MiB alive was at 8 a second and 0.04 to 0.06, programs that do little
	// but allocate at 56 to 81 and 0.26 to 0.43.
	tinyheapShare = 0.10
	// tinyheapSick is the share from which it is more than a remark: of thirty-four
	// programs of the field that are well four in ten have the finding, at up to 0.35.
	tinyheapSick = 0.40
)

func checkTinyheap(p *diagnosis.Pass) {
	h, ok := memory.CollectorOf(p)
	switch {
	case !ok:
	case h.Rate.Value < gcOften || h.Most.Value >= tinyheapLive || h.Cycles.Value < habitCycles:
	case h.Share.Value < tinyheapShare:
		p.Fine(fact.Sentence("small heap: %s collections a second of %s take %s %s", h.Rate.Number(), h.Most, h.Share, h.WholeWords()))
	default:
		p.Report(tinyFinding(p, &h))
	}
}

func tinyFinding(p *diagnosis.Pass, h *memory.Collector) diagnosis.Finding {
	f := diagnosis.Finding{
		Evidence: append(h.Facts(), h.Most),
		Cost:     h.Cost(),
		RuledOut: []string{
			fact.Sentence("a heap that is large: the largest live one is %s", h.Most),
			fact.Sentence("collections that cost nothing: they take %s %s", h.Share, h.WholeWords()),
		},
	}
	f.Remark = h.Share.Value < tinyheapSick
	f.Say("%s collections a second take %s %s, though no more than %s is alive.", h.Rate.Number(), h.Share, h.WholeWords(), h.Most)
	factor := tinyGrowth(p, h)
	fixHeap(p, &f, h, factor)
	if factor.Value > 1 {
		peak := heapPeaks.Of("heap between collections", fact.Bytes, tinyLeast, h.Live, h.GOGC, factor)
		f.Remedy.Text = fact.Sentence("Try %s: the heap may then grow to about %s between collections. "+
			"In a container set GOMEMLIMIT too, to nine tenths of its limit, so that a larger live heap is safe. "+
			"A ballast, a large block held only to raise the goal, is no longer needed for this.", fact.Name(f.Remedy.Knob), peak)
		if h.GOGC.Value < 100 {
			f.Remedy.Text += fact.Sentence(" GOGC is %s, which was chosen for a smaller heap.", h.GOGC)
		}
	}
	return f
}

var (
	tinyLeast = fact.Figure("least heap goal", tinyheapLeast, fact.Bytes, "Go's own at its default GOGC")
	tinyGoal  = fact.Figure("heap to aim at", tinyheapGoal, fact.Bytes, "what nobody would miss")
	heapPeaks = &fact.Formula{Name: "heap's peak", Words: "the larger of {0} and {1} × {2} ÷ 100 × {3}",
		Value: func(x []float64) float64 { return max(x[0], x[1]) * x[2] / 100 * x[3] }}
	// toGoal is the multiple of GOGC that brings the heap to a goal, as a round
	// number of hundreds of percents.
	toGoal = &fact.Formula{Name: "to the goal", Words: "{0} ÷ the larger of {1} and {2}, rounded, × 100 ÷ {3}; 2 at least",
		Value: func(x []float64) float64 { return max(2, math.Round(x[0]/max(x[1], x[2]))*100/x[3]) }}
)

// tinyGrowth returns the multiple of GOGC that brings the heap to tinyheapGoal, or
// what there is memory for.
func tinyGrowth(p *diagnosis.Pass, h *memory.Collector) fact.Fact {
	if room, known := memoryRoom(p); h.Off || known && tinyheapGoal*gccostMemory > room {
		return gogcGrowth(p, h, gccostMost, gccostLeast)
	}
	return toGoal.Of("multiple of GOGC", fact.Factor, tinyGoal, tinyLeast, h.Live, h.GOGC)
}
