package rules

import (
	_ "embed"
	"slices"

	"github.com/gowhy/gowhy/internal/diagnosis"
	"github.com/gowhy/gowhy/internal/fact"
	"github.com/gowhy/gowhy/internal/model"
)

//go:embed forcedgc.md
var forcedgcPage string

var forcedgc = &diagnosis.Rule{
	Name:  "forcedgc",
	Title: "The program forces collections",
	Doc:   forcedgcPage,
	// No Needs: the runtime's metrics and the lines of gctrace both count them.
	Explains: []string{"gccost", "tinyheap", "slowstop", "futexstorm"}, // only where most collections are forced
	Check:    checkForcedgc,
}

const (
	// forcedLeast is how many forced collections are more than the few that a
	// profile at the end, a test or the runtime itself asks for: the runtime
	// forces one when there was none for two minutes, and who takes a heap
	// profile asks for one to have it up to date.
	forcedLeast = 5
	// forcedShare is the part of all collections from which forcing them decides
	// the collector's cost: the catalogue's figure. Programs that do not call
	// runtime.GC are at 0 but for the one or two above.
	forcedShare = 0.10
	// forcedMost is the part from which what the collector costs is a symptom.
	forcedMost = 0.5
)

// metricForced counts collections that the program asked for.
const metricForced = "/gc/cycles/forced:gc-cycles"

func checkForcedgc(p *diagnosis.Pass) {
	forced, all := forcedCollections(p)
	if all.Value == 0 {
		return
	}
	part := fact.Fraction.Of("part of collections that was forced", fact.Ratio, forced, all)
	if forced.Value < forcedLeast || part.Value < forcedShare {
		p.Fine(fact.Sentence("collections: %s of %s were forced", forced, all))
		return
	}
	share, cores, ok := collectorCPU(p)
	if !ok {
		p.Unchecked("what forced collections cost",
			fact.Sentence("%s of %s collections were forced, and no evidence tells the collector's share of the CPU", forced, all), diagnosis.HowToGet(model.CPU))
		return
	}
	cost := fact.Product.Of("CPU in collecting, the forced collections' part", fact.Ratio, share, part)
	if cost.Value < minShare {
		p.Fine(fact.Sentence("collections: %s of %s were forced, which took %s of the CPU", forced, all, cost))
		return
	}
	f := forcedFinding(p, forced, all, part)
	f.Evidence = append(f.Evidence, share)
	f.Cost = diagnosis.CostOf(fact.Product.Of(cost.Name, fact.Cores, cost, cores), cost.Value)
	f.Bound = cpuLimit(forcedSaving(p, cost, part), cores, "all collections are taken to cost the same, and none to be made later in place of these")
	f.Say("%s of %s collections were forced by the program; collecting takes %s of the CPU in use.", forced, all, share)
	p.Report(f)
}

// forcedCollections counts those that were forced and all, in the window.
func forcedCollections(p *diagnosis.Pass) (forced, all fact.Fact) {
	m := p.Model
	_, _, ok := m.Metrics.Delta(metricForced)
	_, _, known := m.Metrics.Delta(metricCycles)
	if ok && known {
		return p.Metric("forced collections", metricForced, fact.Change), p.Metric("collections", metricCycles, fact.Change)
	}
	n := 0
	for i := range m.GCLog {
		if m.GCLog[i].Forced {
			n++
		}
	}
	count := func(what, name string, n int) fact.Fact {
		return p.Statistic(fact.Collector, what, name, float64(n), fact.Count).From(model.GCTrace)
	}
	return count("forced lines", "forced collections", n), count("lines", "collections", len(m.GCLog))
}

// unforced is the most that goes with forced collections: their part of what the
// collector does and of the scheduler's work, which stops and wakes threads for it,
// what no sample shows, and what chance may have kept from the samples.
var unforced = &fact.Formula{Name: "unforced", Words: "Amdahl: {0} + {1} × {2} + {3} + what chance may have kept from the samples",
	Value: func(x []float64) float64 { return fact.AtMost(x[0]+x[1]*x[2]+x[3], int64(x[4])) }}

// forcedSaving is that where samples tell, else the cost.
func forcedSaving(p *diagnosis.Pass, cost, part fact.Fact) fact.Fact {
	s, ok := cpuUseOf(p)
	if !ok {
		return cost
	}
	return unforced.Of("CPU that goes with forced collections", fact.Ratio, cost, part, p.CPUPart("CPU in the scheduler", model.Scheduling), s.unseen(), s.samples())
}

func forcedFinding(p *diagnosis.Pass, forced, all, part fact.Fact) diagnosis.Finding {
	places, stacks := forcers(p.Model)
	f := diagnosis.Finding{
		Where:      places,
		Stacks:     stacks,
		Evidence:   []fact.Fact{forced, all},
		Confidence: diagnosis.Medium,
		Reasons:    []string{"the runtime counts forced collections exactly; that they cost as much as the others is assumed"},
		RuledOut: []string{
			fact.Sentence("the one that a heap profile asks for, and the runtime's own after two minutes without any: there are %s", forced),
		},
		Remedy: diagnosis.Remedy{
			Text: "Delete the calls of runtime.GC and debug.FreeOSMemory, or keep them for the few moments after something large was let " +
				"go. The collector runs when the heap has grown by GOGC, and gives memory back by itself; " +
				"GOMEMLIMIT is the way to keep a process small.",
			Code: "grep -rnE 'runtime\\.GC\\(\\)|debug\\.FreeOSMemory\\(\\)' --include='*.go' .",
		},
		Experiment: changed(diagnosis.CPUPerOp, "", "Peak memory is guarded: if it rises more than it may, the forced collections did something, "+
			"and GOMEMLIMIT does it for less."),
		Explains: []string{},
	}
	if part.Value >= forcedMost {
		f.Explains = p.Rule.Explains
	}
	if len(places) == 0 {
		f.Reasons = append(f.Reasons, "who forces them is not known: no sample and no wait was under runtime.GC")
	}
	return f
}

// forcers is who calls, from the waits for a collection's end, else from samples.
func forcers(m *model.Model) (places []diagnosis.Place, stacks []model.Stack) {
	add := func(s model.Stack) {
		frames := m.Stacks.Frames(s)
		if !throughOne(frames, forcingFunctions) {
			return
		}
		if place, ok := diagnosis.UserPlace(frames); ok && len(places) < 2 && !slices.Contains(places, place) {
			places = append(places, place)
			stacks = append(stacks, s)
		}
	}
	if m.Sched != nil {
		for i := range m.Sched.Waits {
			add(m.Sched.Waits[i].Stack)
		}
	}
	if m.CPU != nil && len(places) == 0 {
		for i := range m.CPU.Samples {
			add(m.CPU.Samples[i].Stack)
		}
	}
	return places, stacks
}

var forcingFunctions = []string{"runtime.GC", "runtime/debug.FreeOSMemory", "runtime/debug.freeOSMemory"}
