package rules

import (
	_ "embed"
	"slices"
	"strings"

	"github.com/gowhy/gowhy/internal/judge/diagnosis"
	"github.com/gowhy/gowhy/internal/judge/measure/code"
	"github.com/gowhy/gowhy/internal/judge/measure/cpu"
	"github.com/gowhy/gowhy/internal/judge/measure/memory"
	"github.com/gowhy/gowhy/internal/know/fact"
	"github.com/gowhy/gowhy/internal/know/model"
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
	who := forcersOf(p)
	switch {
	case forced.Value < forcedLeast:
	case who.others.Value > 0 && who.program.Value == 0:
		p.Fine(fact.Sentence("collections: %s of %s were forced, by package testing before its rounds or for the recording", forced, all))
		return
	case who.others.Value > 0:
		forced = fact.Product.Of("collections that the program forced", fact.Count, forced, who.part())
	case who.program.Value == 0 && ofTest(p.Model):
		p.Unchecked("who forces collections",
			fact.Sentence("%s of %s were forced; package testing forces one before each round of a benchmark, and no stack tells who did it here", forced, all),
			p.HowToGet(model.Trace))
		return
	}
	part := fact.Fraction.Of("part of collections that was forced", fact.Ratio, forced, all)
	if forced.Value < forcedLeast || part.Value < forcedShare {
		p.Fine(fact.Sentence("collections: %s of %s were forced", forced, all))
		return
	}
	share, cores, ok := memory.CollectorCPU(p)
	if !ok {
		p.Unchecked("what forced collections cost",
			fact.Sentence("%s of %s collections were forced, and no evidence tells the collector's share of the CPU", forced, all), p.HowToGet(model.CPU))
		return
	}
	cost := fact.Product.Of("CPU in collecting, the forced collections' part", fact.Ratio, share, part)
	if cost.Value < minShare {
		p.Fine(fact.Sentence("collections: %s of %s were forced, which took %s of the CPU", forced, all, cost))
		return
	}
	f := forcedFinding(p, &who, forced, all, part)
	f.Evidence = append(f.Evidence, share)
	f.Cost = diagnosis.CostOf(fact.Product.Of(cost.Name, fact.Cores, cost, cores), cost.Value)
	h := memory.Collector{Cores: cores, Logged: cores.Origin.Source == model.GCTrace}
	if h.Logged {
		f.Bound = h.Saving(f.Cost.Fact(), "")
	} else {
		f.Bound = cpu.LimitOf(forcedSaving(p, cost, part), cores, "all collections are taken to cost the same, and none to be made later in place of these")
	}
	f.Say("%s of %s collections were forced by the program; collecting takes %s %s.", forced, all, share, h.WholeWords())
	p.Report(f)
}

// forcedCollections counts those that were forced and all, in the window.
func forcedCollections(p *diagnosis.Pass) (forced, all fact.Fact) {
	m := p.Model
	_, _, ok := m.Metrics.Delta(metricForced)
	_, _, known := m.Metrics.Delta(memory.MetricCycles)
	if ok && known {
		return p.Metric("forced collections", metricForced, fact.Change), p.Metric("collections", memory.MetricCycles, fact.Change)
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

// unforced is an upper bound on what goes with forced collections: their part of what the
// collector does and of the scheduler's work, which stops and wakes threads for it, what no
// sample shows, and what chance may have kept from the samples.
var unforced = &fact.Formula{Name: "unforced", Words: "Amdahl: {0} + {1} × {2} + {3} + what chance may have kept from the samples",
	Value: func(x []float64) float64 { return fact.LargestShare(x[0]+x[1]*x[2]+x[3], int64(x[4])) }}

// forcedSaving returns that where samples tell, else the cost.
func forcedSaving(p *diagnosis.Pass, cost, part fact.Fact) fact.Fact {
	s, ok := cpu.UseOf(p)
	if !ok {
		return cost
	}
	return unforced.Of("CPU that goes with forced collections", fact.Ratio, cost, part, p.CPUPart("CPU in the scheduler", model.Scheduling), s.Unseen(), s.SampleCount())
}

func forcedFinding(p *diagnosis.Pass, who *forcers, forced, all, part fact.Fact) diagnosis.Finding {
	f := diagnosis.Finding{
		Where:      who.places,
		Stacks:     who.stacks,
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
		Experiment: codeChange(diagnosis.CPUPerOp, "", "Peak memory is guarded: if it rises more than it may, the forced collections did something, "+
			"and GOMEMLIMIT does it for less."),
		Explains: []string{},
	}
	if part.Value >= forcedMost {
		f.Explains = p.Rule.Explains
	}
	if len(who.places) == 0 {
		f.Reasons = append(f.Reasons, "who forces them is not known: no sample and no wait was under runtime.GC")
	}
	return f
}

// forcers is who calls, from the waits for a collection's end, which are counted,
// else from samples.
type forcers struct {
	places          []diagnosis.Place
	stacks          []model.Stack
	program, others fact.Fact // what the program's calls make of these, and those that are nobody's
}

// part returns the share of the program's calls in all that were seen.
func (f *forcers) part() fact.Fact {
	return fact.Fraction.Of("part of them that the program forced", fact.Ratio, f.program,
		fact.Sum.Of("all that were seen", fact.Count, f.program, f.others))
}

func forcersOf(p *diagnosis.Pass) (f forcers) {
	frames := p.Model.Stacks.Frames
	by := func(s model.Stack, nobody bool) bool {
		return code.ContainsAny(frames(s), forcingFunctions) && code.Foreign(frames(s)) == nobody
	}
	waits := func(name string, nobody bool) fact.Fact {
		return p.WaitCount(name, model.OtherWait, func(w *model.Wait) bool { return by(w.Stack, nobody) })
	}
	const ours, theirs = "seen in calls of the program", "seen in calls of package testing and the recording"
	f.program, f.others = waits(ours, false), waits(theirs, true)
	if m := p.Model; f.program.Value+f.others.Value > 0 {
		for i := range m.Sched.Waits {
			f.add(p, m.Sched.Waits[i].Stack)
		}
		return f
	}
	profile, tree := p.Model.CPU, "cpu"
	if profile == nil {
		profile, tree = fact.ProfileOf(p.Model, "kernel"), "kernel"
	}
	if profile == nil {
		return f
	}
	samples := func(name string, nobody bool) fact.Fact {
		return p.SampleCount(name, tree, func(s *model.Sample) bool { return by(s.Stack, nobody) })
	}
	f.program, f.others = samples(ours, false), samples(theirs, true)
	for i := range profile.Samples {
		f.add(p, profile.Samples[i].Stack)
	}
	return f
}

func (f *forcers) add(p *diagnosis.Pass, s model.Stack) {
	if !code.ContainsAny(p.Model.Stacks.Frames(s), forcingFunctions) {
		return
	}
	if place, ok := p.UserPlace(s); ok && len(f.places) < 2 && !slices.Contains(f.places, place) {
		f.places, f.stacks = append(f.places, place), append(f.stacks, s)
	}
}

// ofTest reports whether the program is a test binary, by its arguments or by
// package testing in any stack.
func ofTest(m *model.Model) bool {
	if slices.ContainsFunc(m.Run.Command, func(arg string) bool { return strings.HasPrefix(arg, "-test.") }) {
		return true
	}
	for s := range model.Stack(m.Stacks.Len()) {
		if code.ContainsPrefix(m.Stacks.Frames(s), []string{"testing.(*M)", "testing.(*B)", "testing.tRunner"}) {
			return true
		}
	}
	return false
}

var forcingFunctions = []string{"runtime.GC", "runtime/debug.FreeOSMemory", "runtime/debug.freeOSMemory"}
