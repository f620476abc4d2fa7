package rules

import (
	_ "embed"
	"slices"

	"github.com/gowhy/gowhy/internal/ground/statistics"
	"github.com/gowhy/gowhy/internal/judge/diagnosis"
	"github.com/gowhy/gowhy/internal/judge/measure/cpu"
	"github.com/gowhy/gowhy/internal/judge/measure/memory"
	"github.com/gowhy/gowhy/internal/know/fact"
	"github.com/gowhy/gowhy/internal/know/model"
)

//go:embed gccost.md
var gccostPage string

var gccost = &diagnosis.Rule{
	Name:  "gccost",
	Title: "Garbage collection takes much of the CPU",
	Doc:   gccostPage,
	// No Needs: what the collector costs is in any CPU profile and in a trace.
	Explains: []string{"gcassist", "slowstop", "allocchurn"}, // the last two with conditions; see gcSymptoms
	Whole:    true,
	Check:    checkGccost,
}

const (
	// gccostShare is the collector's share of the CPU from which four times GOGC, the largest
	// that the rule proposes, can save a worthwhile tenth: 0.12 × ¾. A peer's tool warns from
	// 10%. A web server is at 0.04 to 0.06; a kept tree of pointers with a little garbage
	// beside it at 0.27 to 0.38, a process monitor that kept 2,000 files open was at 0.35.
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
	// GOGC from 100 was to save half of the collector's CPU and saved 63%,
	// quadrupling it 84% for 75.
	gccostExcess = 1.26
	// gccostAgree is the factor between the collector's shares in the samples and in
	// the trace that allows for what one counts and the other does not: idle mark
	// workers, and Ps held without a CPU.
	gccostAgree = 1.5
)

func checkGccost(p *diagnosis.Pass) {
	share, cores, ok := memory.CollectorCPU(p)
	if !ok {
		if _, n, counted := memory.Collections(p); counted && n.Value > 0 {
			p.Unchecked("what garbage collection costs", "collections were counted, and no evidence tells their share of the CPU", p.HowToGet(model.CPU))
		}
		return
	}
	if share.Value < gccostShare || share.Value*cores.Value < gccostCores {
		return
	}
	h, ok := memory.CollectorOf(p)
	switch {
	case !ok:
		p.Unchecked("what a larger heap would save",
			fact.Sentence("garbage collection takes %s of the CPU, and nothing tells how large the live heap is and how often it is collected", share),
			p.HowToGet(model.MetricsLog))
	case h.Cycles.Value < habitCycles:
		p.Unchecked("whether garbage collection habitually takes much of the CPU", fact.Sentence("there were too few collections in the window: %s", h.Cycles), p.HowToGet(model.MetricsLog))
	default:
		p.Report(gccostFinding(p, &h))
	}
}

func gccostFinding(p *diagnosis.Pass, h *memory.Collector) diagnosis.Finding {
	f := diagnosis.Finding{
		Evidence: h.Facts(),
		Cost:     h.Cost(),
		RuledOut: []string{
			"the runtime's own estimate, /cpu/classes: it counts Ps that wait for a CPU and is not used",
			fact.Sentence("a single collection: there were %s", h.Cycles),
		},
	}
	setting := fact.Name("")
	if memory.PacedLow(p.Model) && oftenBySetting(p) {
		setting = fact.Name(fact.Sentence(", each when %s percent more is in use", h.GOGC))
	} else if oftenBySetting(p) {
		setting = fact.Name(fact.Sentence(", with GOGC at %s", h.GOGC))
	}
	f.Say("Garbage collection takes %s %s: %s collections a second of a live heap of %s%s.", h.Share, h.WholeWords(), h.Rate.Number(), h.Live, setting)
	most := float64(gccostMost)
	if oftenBySetting(p) {
		most = max(most, memory.DefaultGOGC/h.GOGC.Value)
	}
	fixHeap(p, &f, h, gogcGrowth(p, h, most, gccostLeast))
	if oftenBySetting(p) {
		f.Remedy.Text = f.Remedy.Text + settingWords(p, h.GOGC)
	}
	sayMarking(p, &f, h)
	if oftenBySetting(p) {
		sayWhoSets(p, &f, "GOGC")
		sayWhoSets(p, &f, "GOMEMLIMIT")
	}
	return f
}

// settingWords says what makes collections frequent, and where to look for it.
func settingWords(p *diagnosis.Pass, percent fact.Fact) string {
	usual := fact.Name(fact.Count.Format(memory.DefaultGOGC))
	if memory.PacedLow(p.Model) {
		return fact.Sentence(" The next collection begins when %s percent more is in use, and at %s unless somebody sets it: look for "+
			"GOGC and debug.SetGCPercent, "+
			"and for GOMEMLIMIT and debug.SetMemoryLimit, which no GOGC gets around: then raise that.", percent, usual)
	}
	return fact.Sentence(" GOGC is %s, and %s unless somebody sets it: look for debug.SetGCPercent and for the environment.", percent, usual)
}

// fixHeap proposes a multiple of GOGC, or less garbage where there is none.
func fixHeap(p *diagnosis.Pass, f *diagnosis.Finding, h *memory.Collector, factor fact.Fact) {
	f.Remedy, f.Bound = largerHeap(h, factor)
	f.Experiment = heapExperiment(h, f)
	f.Confidence, f.Reasons = collectorConfidence(p, h)
	f.Explains = gcSymptoms(p)
}

// gogcGrowth returns the largest multiple of GOGC between most and least that there is
// memory for; 1 when there is none.
func gogcGrowth(p *diagnosis.Pass, h *memory.Collector, most, least float64) fact.Fact {
	times := func(factor float64) fact.Fact {
		return fact.Figure("multiple of GOGC", factor, fact.Factor, "the largest to try that there is memory for")
	}
	if h.Off || h.Full {
		return times(1)
	}
	room, known := memoryRoom(p)
	if !known && oftenBySetting(p) {
		return times(max(least, memory.DefaultGOGC/h.GOGC.Value)) // Go's own
	}
	if !known {
		return times(least) // nobody says that there is memory for more
	}
	for factor := most; factor >= least; factor /= 2 {
		if gogcMemory(h, times(factor)).Value*gccostMemory <= room {
			return times(factor)
		}
	}
	return times(1)
}

// gogcMemory returns the memory that a multiple of GOGC costs by the formula of the pacer.
func gogcMemory(h *memory.Collector, factor fact.Fact) fact.Fact {
	return pacer.Of("memory for that", fact.Bytes, h.Live, h.GOGC, factor)
}

var pacer = &fact.Formula{Name: "pacer", Words: "{0} × {1} ÷ 100 × ({2} − 1)", Value: func(x []float64) float64 { return x[0] * x[1] / 100 * (x[2] - 1) }}

// largerHeap returns the fix that needs no code: fewer collections for more memory.
func largerHeap(h *memory.Collector, factor fact.Fact) (diagnosis.Remedy, diagnosis.Bound) {
	less := "Allocate less: an allocs profile names the lines that pay (`go tool pprof -sample_index=alloc_space`); " +
		"count and size of what is allocated set the pace of the collector, " +
		"and pointers in what is kept the price of each collection."
	if factor.Value <= 1 {
		return diagnosis.Remedy{Text: less + " " + noRoom(h)},
			noSaving(fact.Cores, diagnosis.CPUGoal, "how much less can be allocated is not known here, and a larger heap is no way out")
	}
	knob := memory.GOGCKnob(h.GOGC.Value * factor.Value)
	excess := fact.Figure("excess of the saving", gccostExcess, fact.Factor, "a program whose GOGC was doubled and quadrupled")
	saved := fact.CollectorSaving.Of("CPU in collecting", fact.Cores, h.Cores, h.Share, factor, excess)
	return diagnosis.Remedy{
		Text: fact.Sentence("Try %s. By the pacer's formula it costs %s more memory; "+
			"resident memory grew up to %s times as much where it was measured, so set GOMEMLIMIT below what there is. %s", fact.Name(knob), gogcMemory(h, factor), fact.Name(fact.Count.Format(gccostMemory)), fact.Name(less)),
		Knob: knob,
	}, h.Saving(saved, "collections become fewer as GOGC rises, and the saving was larger than that where it was measured")
}

// heapExperiment tries the knob of [largerHeap], or a change of code where
// there is none.
func heapExperiment(h *memory.Collector, f *diagnosis.Finding) *diagnosis.Experiment {
	const guard = "Do not compare the number of collections: it falls too when the heap merely got larger."
	if f.Remedy.Knob == "" {
		return codeChange(diagnosis.CPUPerOp, "", "Bytes allocated per operation are a count and tell at once whether less is allocated. "+guard)
	}
	return collectorTrial(h, f, "Resident memory is the price. "+guard)
}

func noRoom(h *memory.Collector) string {
	if h.Off {
		return "GOGC is off, so that only the memory limit sets the pace."
	}
	if h.Full {
		return "The goals of the collections leave the heap next to no room, which a higher GOGC does not change: look at GOMEMLIMIT."
	}
	return "There is no memory for a higher GOGC."
}

// memoryRoom returns how many bytes the process may still take, by the tightest of what is
// known: control group, GOMEMLIMIT, machine.
func memoryRoom(p *diagnosis.Pass) (room float64, known bool) {
	m := p.Model
	var rooms []float64
	resident, ok := m.Process.Resident().Last()
	if m.Limits != nil && m.Limits.Memory > 0 && ok {
		rooms = append(rooms, float64(m.Limits.Memory)-resident.Value)
	}
	if limit, set, _ := memory.Limit(p); set {
		used := limitUsed(m)
		if used == 0 { // no metrics; what is mapped and not given back is resident, for the most part
			used = resident.Value
		}
		rooms = append(rooms, limit.Value-used)
	}
	if _, last, ok := m.Machine.Window(); ok && last.Available > 0 {
		rooms = append(rooms, float64(last.Available))
	}
	if len(rooms) == 0 {
		return 0, false
	}
	return max(0, slices.Min(rooms)), true
}

// collectorConfidence is high where the samples and the Ps' time in the trace agree.
func collectorConfidence(p *diagnosis.Pass, h *memory.Collector) (diagnosis.Confidence, []string) {
	if h.Logged {
		return diagnosis.Medium, []string{fact.Sentence("the runtime's own sums of %s collections; what the program used beside is not in the lines", h.Cycles)}
	}
	s, sampled := cpu.UseOf(p)
	if !sampled {
		return diagnosis.Medium, []string{"the trace shows the collector's time on the Ps, which is CPU only as far as the system gave them one"}
	}
	var a memory.Allocation
	a.FromTrace(p)
	if part := statistics.Quotient(a.Collect.Value, h.Share.Value); part <= gccostAgree && part >= 1/gccostAgree {
		return diagnosis.High, []string{fact.Sentence("the samples agree with the trace, where the collector takes %s of the Ps' busy time", a.Collect)}
	}
	return diagnosis.Medium, []string{"one kind of evidence, the " + s.Source}
}
