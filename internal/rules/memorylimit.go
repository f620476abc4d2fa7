package rules

import (
	_ "embed"
	"fmt"
	"math"

	"github.com/gowhy/gowhy/internal/diagnosis"
	"github.com/gowhy/gowhy/internal/fact"
	"github.com/gowhy/gowhy/internal/model"
)

//go:embed memorylimit.md
var memorylimitPage string

var memorylimit = &diagnosis.Rule{
	Name:     "memorylimit",
	Title:    "The memory limit makes the collector run without end",
	Doc:      memorylimitPage,
	Needs:    []model.Source{model.MetricsLog},
	Explains: []string{"gccost", "tinyheap", "gcassist", "slowstop", "allocchurn"}, // the last two with conditions; see gcSymptoms
	Check:    checkMemorylimit,
}

const (
	// limitFull is the part of GOMEMLIMIT that the live heap takes from which
	// what may be allocated between two collections is next to nothing.
	limitFull = 0.85
	// limitShare is the collector's share of the CPU that shows it to be so.
	// A program whose heap was three times its limit used 3.7 times the CPU.
	limitShare = 0.15
	// limitFree is the part of a limit that the live heap should leave free:
	// at half of it the limit paces no worse than GOGC=100 does.
	limitFree = 0.5
)

func checkMemorylimit(p *diagnosis.Pass) {
	l := measureLimit(p)
	switch {
	case l.engaged:
		p.Report(limitFinding(p, l))
	case math.IsInf(l.limit, 0) || !l.known:
	case l.live < limitFull*l.limit:
		p.Fine(fmt.Sprintf("memory limit: the live heap takes %s of it", pct(l.live/l.limit)))
	case !l.priced:
		p.Unchecked("what the memory limit costs", fmt.Sprintf("the live heap takes %s of it, and no evidence tells the collector's share of the CPU", pct(l.live/l.limit)), diagnosis.HowToGet(model.CPU))
	case l.share < limitShare:
		p.Fine(fmt.Sprintf("memory limit: the live heap takes %s of it, and the collector %s of the CPU", pct(l.live/l.limit), pct(l.share)))
	default:
		p.Report(limitFinding(p, l))
	}
}

// A limited is what the rule measures.
type limited struct {
	heapCost
	limit   float64 // GOMEMLIMIT; infinite when off
	known   bool
	priced  bool    // the collector's share of the CPU is known
	engaged bool    // the limiter held the collector back in the window
	needed  float64 // collections a second that GOGC=100 would make; 0 when not known
}

func measureLimit(p *diagnosis.Pass) (l limited) {
	m := p.Model
	l.heapCost, l.priced = measureHeap(p)
	if !l.priced {
		live, _ := liveHeap(m)
		for _, point := range live {
			l.live = point.Value
		}
		l.rate, l.cycles, _, _ = collections(p)
	}
	l.limit, l.known = memoryLimit(m)
	l.engaged = limiterEngaged(m)
	if allocated, ok := m.Metrics.Rate(metricAllocBytes); ok {
		l.needed = div(allocated, l.live)
	}
	return l
}

// limiterEngaged reports whether the limiter of the collector's CPU was on in
// the window. The metric is the number of the last collection for which it was.
func limiterEngaged(m *model.Model) bool {
	last := m.Metrics.Series[metricLimiter]
	if len(last) == 0 || last[len(last)-1].Value <= 0 {
		return false
	}
	before := 0.0
	if cycles := m.Metrics.Series[metricCycles]; len(cycles) > 0 {
		before = cycles[0].Value
	}
	end := last[len(last)-1].Value
	return end > last[0].Value || before > 0 && end > before
}

// limitUsed is what counts against GOMEMLIMIT.
func limitUsed(m *model.Model) float64 {
	return max(0, metricNow(m, metricTotal)-metricNow(m, metricReleased))
}

func (l *limited) set() bool { return l.known && !math.IsInf(l.limit, 0) }

func limitFinding(p *diagnosis.Pass, l limited) diagnosis.Finding {
	f := diagnosis.Finding{
		Summary:  l.summary(),
		Evidence: l.evidence(),
		Remedy:   l.remedy(),
		RuledOut: []string{"a limit that is near and does no harm: either the runtime's limiter was on, or the collector takes much of the CPU"},
	}
	f.Cost, f.Bound = l.costs()
	f.Experiment = tried(diagnosis.CPUPerOp, f.Remedy.Knob, "", "The runtime's limiter must stay off. If CPU time does not fall, the limit is not to blame.")
	f.Confidence, f.Reasons = l.certainty()
	f.Explains = gcSymptoms(p)
	return f
}

func (l *limited) summary() string {
	cost := fmt.Sprintf("%s collections a second", num(l.rate))
	if l.priced {
		cost += fmt.Sprintf(" take %s of the CPU in use", pct(l.share))
	}
	held := ""
	if l.engaged {
		held = ", until the runtime held its collector back"
	}
	if !l.set() {
		return fmt.Sprintf("%s%s, though no memory limit is set: the live heap is %s at GOGC=%s.", cost, held, size(l.live), l.percent())
	}
	return fmt.Sprintf("The live heap is %s and GOMEMLIMIT %s: %s%s.", size(l.live), size(l.limit), cost, held)
}

func (l *limited) percent() string {
	if math.IsInf(l.gogc, 0) {
		return "off"
	}
	return fmt.Sprintf("%.0f", l.gogc)
}

func (l *limited) evidence() (out []fact.Fact) {
	if l.priced {
		out = l.facts()
	} else {
		out = []fact.Fact{
			{Name: "collections", Value: l.rate, Unit: fact.PerSec, Source: "collections ÷ window"},
			{Name: "live heap", Value: l.live, Unit: fact.Bytes, Source: "as the last collection found it"},
		}
	}
	if l.set() {
		out = append(out, fact.Fact{Name: "GOMEMLIMIT", Value: l.limit, Unit: fact.Bytes, Source: "metrics: " + metricLimit})
	}
	if l.needed > 0 {
		out = append(out, fact.Fact{Name: "collections that GOGC=100 would need", Value: l.needed, Unit: fact.PerSec, Source: "metrics: bytes allocated a second ÷ live heap"})
	}
	return out
}

func (l *limited) remedy() diagnosis.Remedy {
	if !l.set() {
		return diagnosis.Remedy{
			Text: "GOGC leaves too little room between collections for what is allocated. Raise it, and allocate less.",
			Knob: "GOGC=200",
		}
	}
	return diagnosis.Remedy{
		Text: "Raise GOMEMLIMIT to twice the live heap, if there is that much: nine tenths of a container's limit leave room for stacks and for what is not the heap. If there is no more memory, let less stay alive; no GOGC helps where the live heap fills the limit. The limit does not keep the process small either: the runtime goes beyond it rather than spend more than half of the CPU on collecting.",
		Knob: fmt.Sprintf("GOMEMLIMIT=%.0fMiB", math.Ceil(l.live/limitFree/(1<<20))),
	}
}

// costs promises what collections cost that GOGC=100 would not make. Without
// a price there is a cost in collections and no promise.
func (l *limited) costs() (diagnosis.Cost, diagnosis.Bound) {
	if !l.priced {
		return diagnosis.Cost{Value: l.rate, Unit: fact.PerSec, What: "collections"},
			diagnosis.Bound{Unit: fact.Cores, Goal: diagnosis.CPUGoal, Method: "no evidence tells the collector's share of the CPU"}
	}
	spared := 1.0
	if l.needed > 0 {
		spared = 1 - min(1, div(l.needed, l.rate))
	}
	return diagnosis.Cost{Value: l.share * l.cores, Unit: fact.Cores, Share: l.share, What: "CPU in garbage collection, assists included"},
		diagnosis.Bound{
			Value: l.share * l.cores * spared, Unit: fact.Cores, Goal: diagnosis.CPUGoal, Share: l.share * spared,
			Method: "GC model: collector's CPU × the part of its collections that GOGC=100 without a limit would not make (bytes allocated ÷ live heap)",
		}
}

// certainty is high where the runtime itself says that it came to the end of
// what it may spend.
func (l *limited) certainty() (diagnosis.Confidence, []string) {
	if l.engaged {
		return diagnosis.High, []string{"the runtime's limiter was on, which happens only when collecting takes half of the CPU"}
	}
	return diagnosis.Medium, []string{"the live heap is near the limit and the collector busy; that the one is the cause of the other shows when the limit is raised"}
}
