package rules

import (
	_ "embed"
	"fmt"
	"math"

	"github.com/gowhy/gowhy/internal/diagnosis"
	"github.com/gowhy/gowhy/internal/fact"
	"github.com/gowhy/gowhy/internal/model"
)

//go:embed tinyheap.md
var tinyheapPage string

var tinyheap = &diagnosis.Rule{
	Name:     "tinyheap",
	Title:    "The heap is so small that it is collected all the time",
	Doc:      tinyheapPage,
	Explains: []string{"gccost", "gcassist", "slowstop", "allocchurn"}, // the last two with conditions; see gcSymptoms
	Check:    checkTinyheap,
}

const (
	// tinyheapRate is how many collections a second are all the time: one
	// begins as soon as the one before is swept.
	tinyheapRate = 10
	// tinyheapLive is the live heap below which the memory that ends it is
	// less than what anybody would miss.
	tinyheapLive = 16 << 20
	// tinyheapGoal is the heap that the cure aims at.
	tinyheapGoal = 64 << 20
	// tinyheapLeast is the runtime's smallest goal at GOGC=100, whatever lives.
	tinyheapLeast = 4 << 20
	// tinyheapShare is the least it must cost: collections of a small heap are
	// cheap, and ten of them a second no illness by themselves. A web server
	// with 4 MiB alive was at 8 a second and 0.04 to 0.06, programs that do little
	// but allocate at 56 to 81 and 0.26 to 0.43.
	tinyheapShare = 0.10
)

func checkTinyheap(p *diagnosis.Pass) {
	h, ok := measureHeap(p)
	switch {
	case !ok:
	case h.rate < tinyheapRate || h.most >= tinyheapLive || h.cycles < gcassistCycles:
	case h.share < tinyheapShare:
		p.Fine(fmt.Sprintf("small heap: %s collections a second of %s take %s of the CPU", num(math.Round(h.rate)), size(h.most), pct(h.share)))
	default:
		p.Report(tinyFinding(p, h))
	}
}

func tinyFinding(p *diagnosis.Pass, h heapCost) diagnosis.Finding {
	f := diagnosis.Finding{
		Summary: fmt.Sprintf("%s collections a second take %s of the CPU in use, though no more than %s is alive.",
			num(math.Round(h.rate)), pct(h.share), size(h.most)),
		Evidence: append(h.facts(),
			fact.Fact{Name: "largest live heap", Value: h.most, Unit: fact.Bytes, Source: "as collections found it"}),
		Cost: diagnosis.Cost{Value: h.share * h.cores, Unit: fact.Cores, Share: h.share, What: "CPU in garbage collection, assists included"},
		RuledOut: []string{
			fmt.Sprintf("a heap that is large: the largest live one is %s", size(h.most)),
			fmt.Sprintf("collections that cost nothing: they take %s of the CPU", pct(h.share)),
		},
	}
	factor := h.tinyGrowth(p.Model)
	f.Remedy, f.Bound = largerHeap(p, h, factor)
	f.Experiment = heapExperiment(f.Remedy.Knob)
	if factor > 1 {
		g := h.gogc * factor
		f.Remedy.Text = fmt.Sprintf("Try GOGC=%.0f: the heap may then grow to about %s between collections. In a container set GOMEMLIMIT too, to nine tenths of its limit, so that a larger live heap is safe. A ballast, a large block held only to raise the goal, is no longer needed for this.",
			g, size(max(tinyheapLeast, h.live)*g/100))
		if h.gogc < 100 {
			f.Remedy.Text = fmt.Sprintf("GOGC is %.0f, which was chosen for a smaller heap. ", h.gogc) + f.Remedy.Text
		}
	}
	f.Confidence, f.Reasons = h.confidence(p)
	f.Explains = gcSymptoms(p)
	return f
}

// tinyGrowth is the multiple of GOGC that brings the heap to tinyheapGoal, as
// a round number of percents, or what there is memory for.
func (h *heapCost) tinyGrowth(m *model.Model) float64 {
	if math.IsInf(h.gogc, 0) {
		return 1
	}
	goal := math.Round(tinyheapGoal / max(tinyheapLeast, h.live)) // in hundreds of percents
	factor := max(2, goal*100/h.gogc)
	if room, known := memoryRoom(m); known && tinyheapGoal*gccostMemory > room {
		return h.growth(m, gccostMost, gccostLeast)
	}
	return factor
}
