package rules

import (
	_ "embed"
	"fmt"
	"math"

	"github.com/gowhy/gowhy/internal/diagnosis"
	"github.com/gowhy/gowhy/internal/fact"
	"github.com/gowhy/gowhy/internal/model"
)

//go:embed gccost.md
var gccostPage string

var gccost = &diagnosis.Rule{
	Name:  "gccost",
	Title: "Garbage collection takes much of the CPU",
	Doc:   gccostPage,
	// No Needs: what the collector costs is in any CPU profile and in a trace.
	Explains: []string{"gcassist", "slowstop"}, // the latter only where stops are short and many; see gcSymptoms
	Check:    checkGccost,
}

const (
	// gccostShare is the collector's share of the CPU from which four times
	// GOGC, the most that is asked for here, can save a worthwhile tenth:
	// 0.12 × ¾. A peer's tool warns from 10 %. A web server is at 0.04 to 0.06;
	// a kept tree of pointers with a little garbage beside it at 0.27 to 0.38, a
	// process monitor that kept 2,000 files open was at 0.35.
	gccostShare = 0.12
	// gccostCores is the least that the collector must take, in cores. Beside
	// three sleepers the recording's own garbage is a third of all CPU in use,
	// 0.02 cores of it.
	gccostCores = 0.05
	// gccostFactors are the multiples of GOGC to try, the largest that there is
	// memory for. Beyond four the next doubling brings an eighth of the cost.
	gccostMost, gccostLeast = 4, 2
	// gccostMemory is how much more resident memory grew than the formula
	// says, live heap × GOGC's growth: 148 to 335 MB for 51, 148 to 646 MB for 153.
	gccostMemory = 3.7
	// gccostExcess is by how much the saving may exceed the formula: doubling
	// GOGC from 100 was to save half of the collector's CPU and saved 63 %,
	// quadrupling it 84 % for 75.
	gccostExcess = 1.26
)

func checkGccost(p *diagnosis.Pass) {
	share, cores, source, ok := collectorCPU(p)
	if !ok {
		if _, n, _, counted := collections(p); counted && n > 0 {
			p.Unchecked("what garbage collection costs", "collections were counted, and no evidence tells their share of the CPU", diagnosis.HowToGet(model.CPU))
		}
		return
	}
	if share < gccostShare || share*cores < gccostCores {
		return
	}
	h, ok := measureHeap(p)
	switch {
	case !ok:
		p.Unchecked("what a larger heap would save",
			fmt.Sprintf("garbage collection takes %s of the CPU (%s), and nothing tells how large the live heap is and how often it is collected", pct(share), source),
			diagnosis.HowToGet(model.MetricsLog))
	case h.cycles < gcassistCycles:
		p.Unchecked("whether garbage collection habitually takes much of the CPU", fmt.Sprintf("there were too few collections in the window: %d", h.cycles), diagnosis.HowToGet(model.MetricsLog))
	default:
		p.Report(gccostFinding(p, h))
	}
}

func gccostFinding(p *diagnosis.Pass, h heapCost) diagnosis.Finding {
	f := diagnosis.Finding{
		Summary: fmt.Sprintf("Garbage collection takes %s of the CPU in use: %s collections a second of a live heap of %s.",
			pct(h.share), num(h.rate), size(h.live)),
		Evidence: h.facts(),
		Cost:     diagnosis.Cost{Value: h.share * h.cores, Unit: fact.Cores, Share: h.share, What: "CPU in garbage collection, assists included"},
		RuledOut: []string{
			"the runtime's own estimate, /cpu/classes: it counts Ps that wait for a CPU and is not used",
			fmt.Sprintf("a single collection: there were %s", num(h.cycles)),
		},
	}
	f.Remedy, f.Bound = largerHeap(p, h, h.growth(p.Model, gccostMost, gccostLeast))
	f.Experiment = heapExperiment(f.Remedy.Knob)
	f.Confidence, f.Reasons = h.confidence(p)
	f.Explains = gcSymptoms(p)
	return f
}

// growth is the largest multiple of GOGC between most and least that there is
// memory for; 1 when there is none.
func (h *heapCost) growth(m *model.Model, most, least float64) float64 {
	if math.IsInf(h.gogc, 0) {
		return 1
	}
	room, known := memoryRoom(m)
	if !known {
		return least // nobody says that there is memory for more
	}
	for factor := most; factor >= least; factor /= 2 {
		if h.price(factor)*gccostMemory <= room {
			return factor
		}
	}
	return 1
}

// price is the memory that a multiple of GOGC costs by the formula of the pacer.
func (h *heapCost) price(factor float64) float64 { return h.live * h.gogc / 100 * (factor - 1) }

// largerHeap is the cure that needs no code: fewer collections for more memory.
func largerHeap(p *diagnosis.Pass, h heapCost, factor float64) (diagnosis.Remedy, diagnosis.Bound) {
	less := "Allocate less: an allocs profile names the lines that pay (`go tool pprof -sample_index=alloc_space`); count and size of what is allocated set the pace of the collector, and pointers in what is kept the price of each collection."
	if factor <= 1 {
		return diagnosis.Remedy{Text: less + " " + noRoom(h)}, diagnosis.Bound{
			Unit: fact.Cores, Goal: diagnosis.CPUGoal,
			Method: "how much less can be allocated is not known here, and a larger heap is no way out",
		}
	}
	g, saved := h.gogc*factor, fact.GCModel(h.share, factor, gccostExcess)
	return diagnosis.Remedy{
			Text: fmt.Sprintf("Try GOGC=%.0f. By the pacer's formula it costs %s more memory; resident memory grew up to %s times as much where it was measured, so set GOMEMLIMIT below what there is. %s",
				g, size(h.price(factor)), num(gccostMemory), less),
			Knob: fmt.Sprintf("GOGC=%.0f", g),
		}, diagnosis.Bound{
			Value: saved * h.cores, Unit: fact.Cores, Goal: diagnosis.CPUGoal, Share: saved,
			Method: fmt.Sprintf("GC model: collector's CPU × (1 - %.0f/%.0f), for collections become fewer as GOGC rises, × %s, by which the saving was larger where it was measured", h.gogc, g, num(gccostExcess)),
		}
}

// heapExperiment tries the knob of [largerHeap], or a change of code where
// there is none.
func heapExperiment(knob string) *diagnosis.Experiment {
	const guard = "Do not compare the number of collections: it falls too when the heap merely got larger."
	if knob == "" {
		return changed(diagnosis.CPUPerOp, "", "Bytes allocated per operation are a count and tell at once whether less is allocated. "+guard)
	}
	return tried(diagnosis.CPUPerOp, knob, "", "Resident memory is the price. "+guard)
}

func noRoom(h heapCost) string {
	if math.IsInf(h.gogc, 0) {
		return "GOGC is off, so that only the memory limit sets the pace."
	}
	return "There is no memory for a higher GOGC."
}

// memoryRoom is how many bytes the process may still take, by the tightest of
// what is known: control group, GOMEMLIMIT, machine.
func memoryRoom(m *model.Model) (room float64, known bool) {
	room = math.Inf(1)
	_, last, ok := m.Process.Window()
	if m.Limits != nil && m.Limits.Memory > 0 && ok {
		room = min(room, float64(m.Limits.Memory)-float64(last.RSS))
	}
	if limit, ok := memoryLimit(m); ok && !math.IsInf(limit, 0) {
		used := limitUsed(m)
		if used == 0 { // no metrics; what is mapped and not given back is resident, for the most part
			used = float64(last.RSS)
		}
		room = min(room, limit-used)
	}
	if _, last, ok := m.Machine.Window(); ok && last.Available > 0 {
		room = min(room, float64(last.Available))
	}
	return max(0, room), !math.IsInf(room, 0)
}

// confidence is high where the samples and the Ps' time in the trace agree.
func (h *heapCost) confidence(p *diagnosis.Pass) (diagnosis.Confidence, []string) {
	s, sampled := spentCPU(p)
	if !sampled {
		return diagnosis.Medium, []string{"the trace shows the collector's time on the Ps, which is CPU only as far as the system gave them one"}
	}
	var a allocation
	if a.fromTrace(p); a.cores > 0 && agree(a.collect, h.share) {
		return diagnosis.High, []string{fmt.Sprintf("the samples agree with the trace, where the collector takes %s of the Ps' busy time", pct(a.collect))}
	}
	return diagnosis.Medium, []string{fmt.Sprintf("one kind of evidence, the %s", s.source)}
}

// agree allows for what one source counts and the other does not: idle mark
// workers, and Ps held without a CPU.
func agree(a, b float64) bool { return a > 0 && b > 0 && max(a, b) <= 1.5*min(a, b) }
