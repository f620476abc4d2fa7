package rules

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/gowhy/gowhy/internal/ground/statistics"
	"github.com/gowhy/gowhy/internal/judge/diagnosis"
	"github.com/gowhy/gowhy/internal/judge/measure/code"
	"github.com/gowhy/gowhy/internal/know/fact"
	"github.com/gowhy/gowhy/internal/know/model"
)

// Shares of CPU mislead when the samples are a part of what was used: rules
// about CPU therefore begin with the account that has been brought to rusage,
// and with the samples it was taken from.

// cpuUse is where the CPU time of the run went.
type cpuUse struct {
	*model.CPUAccount
	pass    *diagnosis.Pass
	tree    string         // the samples' name as a tree of stacks
	profile *model.Profile // whose samples the account was made of
	source  string         // its name in sentences
}

// cpuUseOf returns the account, when there is one with enough samples to take
// shares from.
func cpuUseOf(p *diagnosis.Pass) (s cpuUse, ok bool) {
	m := p.Model
	s.CPUAccount, s.pass, s.tree = m.CPUAccount(), p, "cpu"
	if s.CPUAccount == nil || s.Total <= 0 || s.Window <= 0 {
		return s, false
	}
	s.profile, s.source = m.CPU, "CPU profile"
	if s.Believed == model.KernelCPU {
		s.profile, s.source, s.tree = m.Kernel.CPU, "kernel's samples", "kernel"
	}
	if s.profile == nil {
		return s, false
	}
	return s, s.Samples >= diagnosis.ThinSamples
}

// neededCPU is cpuUseOf for a rule that cannot look without it, and says so.
func neededCPU(p *diagnosis.Pass) (s cpuUse, ok bool) {
	if s, ok = cpuUseOf(p); !ok {
		p.Lacks("the CPU samples are too few to take shares from", p.RecordAgain(60, "longer.gowhy"))
	}
	return s, ok
}

// sampled is the part of the CPU that the samples are of. Shares are of all of
// it: what no sample shows is not taken to be like the rest.
func (s *cpuUse) sampled() float64 { return 1 - s.Share(model.NotSampled) }

// A cpuPlace is a line of the user's code and the CPU that goes with it.
type cpuPlace struct {
	diagnosis.Place
	share  float64 // of the CPU
	stacks []model.Stack
}

// places sums the samples that match by the user's line nearest to the leaf,
// the largest first. Samples without one are left out.
func (s *cpuUse) places(m *model.Model, match func([]model.Frame) bool) []cpuPlace {
	return s.grouped(m, whole(match), func(p diagnosis.Place) diagnosis.Place { return p })
}

// whole is for stacks whose place is to be found anywhere in them.
func whole(match func([]model.Frame) bool) func([]model.Frame) []model.Frame {
	return func(frames []model.Frame) []model.Frame {
		if match(frames) {
			return frames
		}
		return nil
	}
}

// functions is places by function; the line is that with most samples.
func (s *cpuUse) functions(m *model.Model, match func([]model.Frame) bool) []cpuPlace {
	return s.callers(m, whole(match))
}

// callers is functions, of those frames of a stack that cut returns: none
// leaves the sample out.
func (s *cpuUse) callers(m *model.Model, cut func([]model.Frame) []model.Frame) []cpuPlace {
	out := s.grouped(m, cut, func(p diagnosis.Place) diagnosis.Place { return diagnosis.Place{Function: p.Function} })
	if len(out) == 0 {
		return nil
	}
	lines := s.grouped(m, cut, func(p diagnosis.Place) diagnosis.Place { return p })
	for i := range out {
		at := slices.IndexFunc(lines, func(l cpuPlace) bool { return l.Function == out[i].Function })
		out[i].Place = lines[at].Place
	}
	return out
}

func (s *cpuUse) grouped(m *model.Model, cut func([]model.Frame) []model.Frame, key func(diagnosis.Place) diagnosis.Place) []cpuPlace {
	nanos := s.profile.Column("cpu")
	byPlace, all := map[diagnosis.Place]*cpuPlace{}, 0.0
	sum := map[diagnosis.Place]float64{}
	for i := range s.profile.Samples {
		sample := &s.profile.Samples[i]
		all += sample.Value(nanos)
		place, ok := diagnosis.UserPlace(cut(m.Stacks.Frames(sample.Stack)))
		if !ok {
			continue
		}
		k := key(place)
		if byPlace[k] == nil {
			byPlace[k] = &cpuPlace{Place: k}
		}
		byPlace[k].stacks = append(byPlace[k].stacks, sample.Stack)
		sum[k] += sample.Value(nanos)
	}
	var out []cpuPlace
	for _, p := range byPlace {
		p.share = s.sampled() * statistics.Quotient(sum[p.Place], all)
		out = append(out, *p)
	}
	slices.SortFunc(out, comparePlaces)
	return out
}

func comparePlaces(a, b cpuPlace) int {
	return cmp.Or(cmp.Compare(b.share, a.share), strings.Compare(a.Function, b.Function), strings.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line))
}

// hotNamed is how many functions a finding names.
const hotNamed = 3

// topPlaces is the places of the first n.
func topPlaces(ps []cpuPlace, n int) (out []diagnosis.Place) {
	for _, p := range ps[:min(n, len(ps))] {
		out = append(out, p.Place)
	}
	return out
}

func topStacks(ps []cpuPlace, n int) (out []model.Stack) {
	for _, p := range ps[:min(n, len(ps))] {
		out = append(out, p.stacks...)
	}
	return out
}

// allocates reports whether a stack is in the allocator.
func allocates(frames []model.Frame) bool {
	return code.ThroughFunc(frames, isMalloc)
}

// collects reports whether a stack is of the collector's own work.
func collects(frames []model.Frame) bool {
	return code.ThroughFunc(frames, isCollect)
}

// What the CPU went into, as facts.

// used is the CPU in use.
func (s *cpuUse) used() fact.Fact { return s.pass.CPUInUse() }

// profiledCPU is the CPU in use by the CPU profile alone.
func profiledCPU(p *diagnosis.Pass) fact.Fact {
	return fact.Quotient.Of("CPU in use", fact.Cores, p.Samples("CPU time", "cpu", nil), p.ProfileLength("cpu"))
}

// in is the share of the CPU in samples whose stacks match: the samples' part of
// them all, of what the samples are of.
func (s *cpuUse) in(name string, match func([]model.Frame) bool) fact.Fact {
	return s.of(name, s.pass.Frames(match))
}

// part is a part of the account. What recording does in the program is left out, and
// then it is called so: the part is one number wherever it is shown.
func (s *cpuUse) part(name string, part model.CPUPart) fact.Fact {
	own := s.in(name+", the recording left out", func(frames []model.Frame) bool {
		return model.CPUPartOf(frames) == part && !model.OfRecording(frames)
	})
	recording := s.pass.SampleCount("samples of the recording", s.tree, s.pass.Frames(func(frames []model.Frame) bool {
		return model.CPUPartOf(frames) == part && model.OfRecording(frames)
	}))
	if recording.Value > 0 {
		return own
	}
	return s.pass.CPUPart(name, part)
}

// at is the share of the CPU at some places.
func (s *cpuUse) at(name string, places ...cpuPlace) fact.Fact {
	return s.of(name, atPlaces(places))
}

// samplesAt returns how many samples they have.
func (s *cpuUse) samplesAt(places []cpuPlace) fact.Fact {
	return s.pass.SampleCount("samples", s.tree, atPlaces(places))
}

func atPlaces(places []cpuPlace) fact.Where {
	stacks := map[model.Stack]bool{}
	for i := range places {
		for _, stack := range places[i].stacks {
			stacks[stack] = true
		}
	}
	return func(sample *model.Sample) bool { return stacks[sample.Stack] }
}

func (s *cpuUse) of(name string, match fact.Where) fact.Fact {
	share := s.pass.SampleShare(name, s.tree, match)
	if missed := s.pass.CPUPart("CPU that no sample shows", model.NotSampled); missed.Value > 0 {
		return fact.Sampled.Of(name, fact.Ratio, share, missed)
	}
	return share
}

// first is the part of a share that the first place has.
func (s *cpuUse) first(places []cpuPlace, share fact.Fact) fact.Fact {
	function := code.Short(places[0].Function)
	return fact.Fraction.Of("part of that in "+function, fact.Ratio, s.at("CPU in it under "+function, places[0]), share)
}

// cores is a share of the CPU in use.
func (s *cpuUse) cores(share fact.Fact) fact.Fact {
	return fact.Product.Of(share.Name, fact.Cores, share, s.used())
}

// cost is a share of the CPU in use as a cost.
func (s *cpuUse) cost(share fact.Fact) diagnosis.Cost {
	return diagnosis.CostOf(s.cores(share), share.Value)
}

// limit is a bound: what is saved at most when a share of the CPU is not used. It is for
// shares that have in them all that goes with what they are of; see [cpuUse.limitWithout].
func (s *cpuUse) limit(share fact.Fact, note string) diagnosis.Bound {
	return cpuLimit(share, s.used(), note)
}

// limitWithout is a bound: what is saved at most when what matches is not done any more, with
// what others do for it and what the samples may not show, as [cpuUse.saved] has it.
func (s *cpuUse) limitWithout(what string, match func([]model.Frame) bool, note string) diagnosis.Bound {
	return s.limit(s.saved(what, match), note)
}

// inFunctions returns what reports whether the program's innermost function on a stack is that
// of one of some places.
func inFunctions(places ...diagnosis.Place) func([]model.Frame) bool {
	return func(frames []model.Frame) bool {
		at, ok := diagnosis.UserPlace(frames)
		return ok && slices.ContainsFunc(places, func(p diagnosis.Place) bool { return p.Function == at.Function })
	}
}

// cpuLimit is that of a share of some CPU.
func cpuLimit(share, used fact.Fact, note string) diagnosis.Bound {
	saving := *fact.Saving
	if share.Origin.Kind == fact.Computed && share.Origin.Name != fact.Sampled.Name {
		saving.Words = share.Origin.Sentence
	}
	return diagnosis.Limit(saving.Of(share.Name, fact.Cores, share, used), diagnosis.CPUGoal, share.Value, note)
}

// repairs are how many times the cost that a rule knows a repair was seen to save, least
// and most: what is built only to be thrown away goes with the building of it.
type repairs struct{ least, most float64 }

// workRepairs is what repairs saved, by all that was measured to go: eight pairs of the field
// in which work is done again saved 1.0 to 1.8 times as much, and three in which something is
// called for each item 0.95 to 1.2, for the code around the work went along.
var workRepairs = repairs{0.5, 1.8}

// estimate is a bound for work that is no longer done, or for calls that are no longer made.
func (s *cpuUse) estimate(share fact.Fact, note string) diagnosis.Bound {
	return s.estimateOf(share, workRepairs, "the code around it, and its part of the collector's and the scheduler's work", note)
}

// estimateOf is a bound for what a share of the CPU is measured to go into, by what repairs
// saved of it: least of what is measured, and at most of that with its part of what others do
// for it, see [cpuUse.saved]. 5.5% that saves 5.7% to 20.4% is believed only by who learns
// what comes along.
func (s *cpuUse) estimateOf(share fact.Fact, r repairs, along, note string) diagnosis.Bound {
	b := cpuEstimate(share, s.used(), r, note)
	measured := share
	if share.Origin.Name == fact.Without.Name && len(share.Operands) > 0 {
		measured = share.Operands[0]
	}
	b.Low = min(b.Low, r.least*measured.Value*s.used().Value)
	if b.High > measured.Value*s.used().Value {
		b.Along = fact.Sentence("%s is measured there; more comes along: "+along+".", measured)
		b.Method = strings.TrimSuffix(b.Along, ".") + "; " + b.Method
	}
	return b
}

// cpuEstimate is a bound with the interval that repairs were seen in.
func cpuEstimate(share, used fact.Fact, r repairs, note string) diagnosis.Bound {
	b := cpuLimit(share, used, note)
	low, high := r.least*b.Value, min(r.most*b.Value, used.Value)
	b.Kind, b.Low, b.High = diagnosis.IsEstimate, low, high
	b.Method += fact.Sentence("; past fixes saved %s× to %s× the estimate",
		fact.Name(strconv.FormatFloat(r.least, 'g', 2, 64)), fact.Name(strconv.FormatFloat(r.most, 'g', 2, 64)))
	return b
}

// saved is the most of the CPU, as a share, that is saved when what matches is not
// done any more: see [fact.Without].
func (s *cpuUse) saved(name string, match func([]model.Frame) bool) fact.Fact {
	outside := func(part func([]model.Frame) bool) func([]model.Frame) bool {
		return func(frames []model.Frame) bool { return part(frames) && !match(frames) }
	}
	return fact.Without.Of(name, fact.Ratio,
		s.in("CPU in "+name, match),
		s.garbage(match),
		s.in("CPU in the garbage collector elsewhere", outside(collects)),
		s.in("CPU in the scheduler elsewhere", outside(func(frames []model.Frame) bool { return model.CPUPartOf(frames) == model.Scheduling })),
		s.unseen(), s.samples())
}

// garbage is the part of the allocator's time that is spent under what matches.
func (s *cpuUse) garbage(match func([]model.Frame) bool) fact.Fact {
	return fact.Quotient.Of("its part of allocating", fact.Ratio,
		s.in("CPU in allocating for it", func(frames []model.Frame) bool { return allocates(frames) && match(frames) }),
		s.in("CPU in allocating", allocates))
}

// unseen is the part of the CPU that samples may not show, and samples how many
// there were.
func (s *cpuUse) unseen() fact.Fact {
	return s.pass.CPUPart("CPU that samples may not show", model.NotSampled, model.OtherCPU)
}

func (s *cpuUse) samples() fact.Fact { return s.pass.CPUSamples() }

// witness says how sure the samples are.
func (s *cpuUse) witness() string {
	return fact.Sentence("one kind of evidence, the "+s.source+", with %s samples", s.samples())
}

// benchmarked reports whether the program is benchmarks: by their results, or where these
// were not kept by what most of its CPU is under.
func benchmarked(p *diagnosis.Pass) bool {
	if p.Model.Load != nil && len(p.Model.Load.Benchmarks) > 0 {
		return true
	}
	s, ok := cpuUseOf(p)
	return ok && s.in("CPU in benchmarks", func(frames []model.Frame) bool { return code.Through(frames, []string{"testing.(*B)."}) }).Value > 0.5
}

// isMalloc holds for the entrance of the allocator, which since Go 1.24 has
// variants by size ("mallocgcSmallNoscan"). Assists are part of it.
func isMalloc(f string) bool { return strings.HasPrefix(f, "runtime.mallocgc") }

func isCollect(f string) bool {
	switch f {
	case "runtime.gcBgMarkWorker", "runtime.bgsweep", "runtime.bgscavenge":
		return true
	}
	return false
}
