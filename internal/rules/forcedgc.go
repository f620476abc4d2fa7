package rules

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"

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
	forced, all, source := forcedCollections(p)
	switch {
	case all == 0:
		return
	case forced < forcedLeast || div(forced, all) < forcedShare:
		p.Fine(fmt.Sprintf("collections: %s of %s were forced", num(forced), num(all)))
		return
	}
	share, cores, from, ok := collectorCPU(p)
	if !ok {
		p.Unchecked("what forced collections cost", fmt.Sprintf("%s of %s collections were forced, and no evidence tells the collector's share of the CPU", num(forced), num(all)), diagnosis.HowToGet(model.CPU))
		return
	}
	if share*forced/all < minShare {
		p.Fine(fmt.Sprintf("collections: %s of %s were forced, which took %s of the CPU", num(forced), num(all), pct(share*forced/all)))
		return
	}
	p.Report(forcedFinding(p, forced, all, source, share, cores, from))
}

// forcedCollections counts those that were forced and all, in the window.
func forcedCollections(p *diagnosis.Pass) (forced, all float64, source string) {
	m := p.Model
	by, _, ok := m.Metrics.Delta(metricForced)
	whole, _, known := m.Metrics.Delta(metricCycles)
	if ok && known {
		return by, whole, "metrics: " + metricForced
	}
	for i := range m.GCLog {
		if all++; m.GCLog[i].Forced {
			forced++
		}
	}
	return forced, all, "gctrace: (forced)"
}

func forcedFinding(p *diagnosis.Pass, forced, all float64, source string, share, cores float64, from string) diagnosis.Finding {
	part := min(1, forced/all)
	most := share * part
	if s, ok := spentCPU(p); ok {
		most = fact.AtMost(part*(share+s.part(model.Scheduling))+s.part(model.NotSampled, model.OtherCPU), s.Samples)
	}
	places, stacks := forcers(p.Model)
	f := diagnosis.Finding{
		Summary: fmt.Sprintf("%s of %s collections were forced by the program; collecting takes %s of the CPU in use.", num(forced), num(all), pct(share)),
		Where:   places,
		Stacks:  stacks,
		Evidence: []fact.Fact{
			{Name: "forced collections", Value: forced, Unit: fact.Count, Source: source},
			{Name: "collections", Value: all, Unit: fact.Count, Source: source},
			{Name: "CPU in the garbage collector", Value: share, Unit: fact.Ratio, Source: from},
		},
		Cost: diagnosis.Cost{Value: share * part * cores, Unit: fact.Cores, Share: share * part, What: "CPU in collecting, the forced collections' part"},
		Bound: diagnosis.Bound{
			Value: most * cores, Unit: fact.Cores, Goal: diagnosis.CPUGoal, Share: most,
			Method: "Amdahl: the CPU of the collector and of the scheduler, which stops and wakes threads for it, × forced ÷ all collections, as if all cost the same and none had to be made later in their place",
		},
		Confidence: diagnosis.Medium,
		Reasons:    []string{"the runtime counts forced collections exactly; that they cost as much as the others is assumed"},
		RuledOut: []string{
			fmt.Sprintf("the one that a heap profile asks for, and the runtime's own after two minutes without any: there are %s", num(forced)),
		},
		Remedy: diagnosis.Remedy{
			Text: "Delete the calls of runtime.GC and debug.FreeOSMemory, or keep them for the few moments after something large was let go. The collector runs when the heap has grown by GOGC, and gives memory back by itself; GOMEMLIMIT is the way to keep a process small.",
			Code: "grep -rnE 'runtime\\.GC\\(\\)|debug\\.FreeOSMemory\\(\\)' --include='*.go' .",
		},
		Experiment: changed(diagnosis.CPUPerOp, "", "Peak memory is guarded: if it rises more than it may, the forced collections did something, and GOMEMLIMIT does it for less."),
		Explains:   []string{},
	}
	if part >= forcedMost {
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
		if !slices.ContainsFunc(frames, func(f model.Frame) bool { return forces(f.Func) }) {
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

func forces(f string) bool {
	return f == "runtime.GC" || strings.HasPrefix(f, "runtime/debug.FreeOSMemory") || strings.HasPrefix(f, "runtime/debug.freeOSMemory")
}
