// Package cpu says where the CPU of a run went and how much there was: of the process by the
// kernel's count, on the Ps, in code by samples, and inside system calls.
//
// It hides which evidence is believed: samples miss some of the CPU, so that shares are of the
// account that was brought to the kernel's count ([UseOf]), and where no sample tells what a system
// call costs there are bounds ([CallPrice]). It hides what goes with code that is not run any more
// ([Use.Limit], [Use.Estimate]), and how the counters of a quota become the longest stop.
//
// cpu knows no rule: from which share on something is a problem stands with each.
package cpu

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

// Use is where the CPU time of the run went.
type Use struct {
	*model.CPUAccount
	Pass    *diagnosis.Pass
	Tree    string         // the samples' name as a tree of stacks
	Profile *model.Profile // whose samples the account was made of
	Source  string         // its name in sentences
}

// UseOf returns the account, when there is one with enough samples to take
// shares from.
func UseOf(p *diagnosis.Pass) (s Use, ok bool) {
	m := p.Model
	s.CPUAccount, s.Pass, s.Tree = m.CPUAccount(), p, "cpu"
	if s.CPUAccount == nil || s.Total <= 0 || s.Window <= 0 {
		return s, false
	}
	s.Profile, s.Source = m.CPU, "CPU profile"
	if s.Believed == model.KernelCPU {
		s.Profile, s.Source, s.Tree = m.Kernel.CPU, "kernel's samples", "kernel"
	}
	if s.Profile == nil {
		return s, false
	}
	return s, s.Samples >= diagnosis.ThinSamples
}

// RequireUse is UseOf for a rule that cannot look without it, and says so.
func RequireUse(p *diagnosis.Pass) (s Use, ok bool) {
	if s, ok = UseOf(p); !ok {
		p.Lacks("the CPU samples are too few to take shares from", p.RecordAgain(60, "longer.gowhy"))
	}
	return s, ok
}

// sampledShare returns the part of the CPU that the samples are of. Shares are of all of
// it: what no sample shows is not taken to be like the rest.
func (s *Use) sampledShare() float64 { return 1 - s.Share(model.NotSampled) }

// A Line is a line of the user's code and the CPU that goes with it.
type Line struct {
	diagnosis.Place
	Share  float64 // of the CPU
	Stacks []model.Stack
}

// Places sums the samples that match by the user's line nearest to the leaf,
// the largest first. Samples without one are left out.
func (s *Use) Places(m *model.Model, match func([]model.Frame) bool) []Line {
	return s.groupLines(m, whole(match), func(p diagnosis.Place) diagnosis.Place { return p })
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

// Functions is places by function; the line is that with most samples.
func (s *Use) Functions(m *model.Model, match func([]model.Frame) bool) []Line {
	return s.Callers(m, whole(match))
}

// Callers is functions, of those frames of a stack that cut returns: none
// leaves the sample out.
func (s *Use) Callers(m *model.Model, cut func([]model.Frame) []model.Frame) []Line {
	out := s.groupLines(m, cut, func(p diagnosis.Place) diagnosis.Place { return diagnosis.Place{Function: p.Function} })
	if len(out) == 0 {
		return nil
	}
	lines := s.groupLines(m, cut, func(p diagnosis.Place) diagnosis.Place { return p })
	for i := range out {
		at := slices.IndexFunc(lines, func(l Line) bool { return l.Function == out[i].Function })
		out[i].Place = lines[at].Place
	}
	return out
}

func (s *Use) groupLines(m *model.Model, cut func([]model.Frame) []model.Frame, key func(diagnosis.Place) diagnosis.Place) []Line {
	nanos := s.Profile.Column("cpu")
	byPlace, all := map[diagnosis.Place]*Line{}, 0.0
	sum := map[diagnosis.Place]float64{}
	for i := range s.Profile.Samples {
		sample := &s.Profile.Samples[i]
		all += sample.Value(nanos)
		place, ok := diagnosis.UserPlace(cut(m.Stacks.Frames(sample.Stack)))
		if !ok {
			continue
		}
		k := key(place)
		if byPlace[k] == nil {
			byPlace[k] = &Line{Place: k}
		}
		byPlace[k].Stacks = append(byPlace[k].Stacks, sample.Stack)
		sum[k] += sample.Value(nanos)
	}
	var out []Line
	for _, p := range byPlace {
		p.Share = s.sampledShare() * statistics.Quotient(sum[p.Place], all)
		out = append(out, *p)
	}
	slices.SortFunc(out, compareLines)
	return out
}

func compareLines(a, b Line) int {
	return cmp.Or(cmp.Compare(b.Share, a.Share), strings.Compare(a.Function, b.Function), strings.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line))
}

// MostNamed is how many functions a finding names.
const MostNamed = 3

// Places returns the places of the first n.
func Places(ps []Line, n int) (out []diagnosis.Place) {
	for _, p := range ps[:min(n, len(ps))] {
		out = append(out, p.Place)
	}
	return out
}

// Stacks returns the stacks of the first n lines.
func Stacks(ps []Line, n int) (out []model.Stack) {
	for _, p := range ps[:min(n, len(ps))] {
		out = append(out, p.Stacks...)
	}
	return out
}

// Allocates reports whether a stack is in the allocator.
func Allocates(frames []model.Frame) bool {
	return code.ContainsFunc(frames, IsMalloc)
}

// Collects reports whether a stack is of the collector's own work.
func Collects(frames []model.Frame) bool {
	return code.ContainsFunc(frames, isCollect)
}

// What the CPU went into, as facts.

// InUse returns the CPU in use.
func (s *Use) InUse() fact.Fact { return s.Pass.CPUInUse() }

// ProfiledCPU returns the CPU in use by the CPU profile alone.
func ProfiledCPU(p *diagnosis.Pass) fact.Fact {
	return fact.Quotient.Of("CPU in use", fact.Cores, p.Samples("CPU time", "cpu", nil), p.ProfileLength("cpu"))
}

// ShareIn returns the share of the CPU in samples whose stacks match: the samples' part of
// them all, of what the samples are of.
func (s *Use) ShareIn(name string, match func([]model.Frame) bool) fact.Fact {
	return s.ShareOf(name, s.Pass.Frames(match))
}

// PartOf returns a part of the account. What recording does in the program is left out, and
// then it is called so: the part is one number wherever it is shown.
func (s *Use) PartOf(name string, part model.CPUPart) fact.Fact {
	own := s.ShareIn(name+", the recording left out", func(frames []model.Frame) bool {
		return model.CPUPartOf(frames) == part && !model.OfRecording(frames)
	})
	recording := s.Pass.SampleCount("samples of the recording", s.Tree, s.Pass.Frames(func(frames []model.Frame) bool {
		return model.CPUPartOf(frames) == part && model.OfRecording(frames)
	}))
	if recording.Value > 0 {
		return own
	}
	return s.Pass.CPUPart(name, part)
}

// ShareAt returns the share of the CPU at some places.
func (s *Use) ShareAt(name string, places ...Line) fact.Fact {
	return s.ShareOf(name, MatchLines(places))
}

// SamplesAt returns how many samples they have.
func (s *Use) SamplesAt(places []Line) fact.Fact {
	return s.Pass.SampleCount("samples", s.Tree, MatchLines(places))
}

// MatchLines matches the samples whose stacks the lines are made of.
func MatchLines(places []Line) fact.Where {
	stacks := map[model.Stack]bool{}
	for i := range places {
		for _, stack := range places[i].Stacks {
			stacks[stack] = true
		}
	}
	return func(sample *model.Sample) bool { return stacks[sample.Stack] }
}

// ShareOf returns the share of the CPU in samples that match, of all CPU: what no sample shows is not like the rest.
func (s *Use) ShareOf(name string, match fact.Where) fact.Fact {
	share := s.Pass.SampleShare(name, s.Tree, match)
	if missed := s.Pass.CPUPart("CPU that no sample shows", model.NotSampled); missed.Value > 0 {
		return fact.Sampled.Of(name, fact.Ratio, share, missed)
	}
	return share
}

// FirstPart returns the part of a share that the first place has.
func (s *Use) FirstPart(places []Line, share fact.Fact) fact.Fact {
	function := code.Short(places[0].Function)
	return fact.Fraction.Of("part of that in "+function, fact.Ratio, s.ShareAt("CPU in it under "+function, places[0]), share)
}

// CoresOf returns a share of the CPU in use.
func (s *Use) CoresOf(share fact.Fact) fact.Fact {
	return fact.Product.Of(share.Name, fact.Cores, share, s.InUse())
}

// Cost returns a share of the CPU in use as a cost.
func (s *Use) Cost(share fact.Fact) diagnosis.Cost {
	return diagnosis.CostOf(s.CoresOf(share), share.Value)
}

// Limit returns a bound: what is saved at most when a share of the CPU is not used. It is for
// shares that have in them all that goes with what they are of; see [Use.LimitWithout].
func (s *Use) Limit(share fact.Fact, note string) diagnosis.Bound {
	return LimitOf(share, s.InUse(), note)
}

// LimitWithout returns a bound: what is saved at most when what matches is not done any more, with
// what others do for it and what the samples may not show, as [Use.MaxSaving] has it.
func (s *Use) LimitWithout(what string, match func([]model.Frame) bool, note string) diagnosis.Bound {
	return s.Limit(s.MaxSaving(what, match), note)
}

// Direction returns what is saved when a share of the CPU is not used, by repairs that take along what cannot
// be told apart from the rest: no limit, for some repairs of the field saved more.
func (s *Use) Direction(share fact.Fact, note string) diagnosis.Bound {
	b := s.Limit(share, note)
	b.Kind = diagnosis.IsDirection
	return b
}

// MatchFunctions returns what reports whether the program's innermost function on a stack is that
// of one of some places.
func MatchFunctions(places ...diagnosis.Place) func([]model.Frame) bool {
	return func(frames []model.Frame) bool {
		at, ok := diagnosis.UserPlace(frames)
		return ok && slices.ContainsFunc(places, func(p diagnosis.Place) bool { return p.Function == at.Function })
	}
}

// LimitOf returns that of a share of some CPU.
func LimitOf(share, used fact.Fact, note string) diagnosis.Bound {
	saving := *fact.Saving
	if share.Origin.Kind == fact.Computed && share.Origin.Name != fact.Sampled.Name {
		saving.Words = share.Origin.Sentence
	}
	return diagnosis.Limit(saving.Of(share.Name, fact.Cores, share, used), diagnosis.CPUGoal, share.Value, note)
}

// Repairs are how many times the cost that a rule knows a repair was seen to save, least
// and most: what is built only to be thrown away goes with the building of it.
type Repairs struct{ Least, Most float64 }

// WorkRepairs is what repairs saved, by all that was measured to go: eight pairs of the field
// in which work is done again saved 1.0 to 1.8 times as much, and three in which something is
// called for each item 0.95 to 1.2, for the code around the work went along.
var WorkRepairs = Repairs{0.5, 1.8}

// Estimate returns a bound for work that is no longer done, or for calls that are no longer made.
func (s *Use) Estimate(share fact.Fact, note string) diagnosis.Bound {
	return s.EstimateAlong(share, WorkRepairs, "the code around it, and its part of the collector's and the scheduler's work", note)
}

// EstimateAlong returns a bound for what a share of the CPU is measured to go into, by what repairs
// saved of it: least of what is measured, and at most of that with its part of what others do
// for it, see [Use.MaxSaving]. 5.5% that saves 5.7% to 20.4% is believed only by who learns
// what comes along.
func (s *Use) EstimateAlong(share fact.Fact, r Repairs, along, note string) diagnosis.Bound {
	b := EstimateOf(share, s.InUse(), r, note)
	measured := share
	if share.Origin.Name == fact.Without.Name && len(share.Operands) > 0 {
		measured = share.Operands[0]
	}
	b.Low = min(b.Low, r.Least*measured.Value*s.InUse().Value)
	if b.High > measured.Value*s.InUse().Value {
		b.Along = fact.Sentence("%s is measured there; more comes along: "+along+".", measured)
		b.Method = strings.TrimSuffix(b.Along, ".") + "; " + b.Method
	}
	return b
}

// EstimateOf returns a bound with the interval that repairs were seen in.
func EstimateOf(share, used fact.Fact, r Repairs, note string) diagnosis.Bound {
	b := LimitOf(share, used, note)
	low, high := r.Least*b.Value, min(r.Most*b.Value, used.Value)
	b.Kind, b.Low, b.High = diagnosis.IsEstimate, low, high
	b.Method += fact.Sentence("; past fixes saved %s× to %s× the estimate",
		fact.Name(strconv.FormatFloat(r.Least, 'g', 2, 64)), fact.Name(strconv.FormatFloat(r.Most, 'g', 2, 64)))
	return b
}

// ExtendBound adds to an estimate what is known of more than it: all that a function does, with what
// it calls. Of eleven repairs of the field that saved more than was promised for the work itself
// nine no longer called the function, or let it do its work in another way. Where a program or a
// goroutine begins is no function that one can leave out.
func (s *Use) ExtendBound(b diagnosis.Bound, function string) diagnosis.Bound {
	under := s.ShareIn("CPU under "+code.Short(function), func(frames []model.Frame) bool {
		return slices.ContainsFunc(frames, func(f model.Frame) bool { return f.Func == function })
	})
	if under.Value*s.InUse().Value <= b.High || code.Begins(s.Pass.Model, function) {
		return b
	}
	more := fact.Sentence("By this alone; %s of the CPU is under %s, and more goes where it is called less.", under, code.Name(function))
	b.Along = strings.TrimSpace(b.Along + " " + more)
	b.Method = strings.TrimSuffix(more, ".") + "; " + b.Method
	return b
}

// MaxSaving returns the most of the CPU, as a share, that is saved when what matches is not
// done any more: see [fact.Without].
func (s *Use) MaxSaving(name string, match func([]model.Frame) bool) fact.Fact {
	outside := func(part func([]model.Frame) bool) func([]model.Frame) bool {
		return func(frames []model.Frame) bool { return part(frames) && !match(frames) }
	}
	return fact.Without.Of(name, fact.Ratio,
		s.ShareIn("CPU in "+name, match),
		s.Garbage(match),
		s.ShareIn("CPU in the garbage collector elsewhere", outside(Collects)),
		s.ShareIn("CPU in the scheduler elsewhere", outside(func(frames []model.Frame) bool { return model.CPUPartOf(frames) == model.Scheduling })),
		s.Unseen(), s.SampleCount())
}

// Garbage returns the part of the allocator's time that is spent under what matches.
func (s *Use) Garbage(match func([]model.Frame) bool) fact.Fact {
	return fact.Quotient.Of("its part of allocating", fact.Ratio,
		s.ShareIn("CPU in allocating for it", func(frames []model.Frame) bool { return Allocates(frames) && match(frames) }),
		s.ShareIn("CPU in allocating", Allocates))
}

// Unseen returns the part of the CPU that samples may not show, and samples how many
// there were.
func (s *Use) Unseen() fact.Fact {
	return s.Pass.CPUPart("CPU that samples may not show", model.NotSampled, model.OtherCPU)
}

// SampleCount returns how many samples there are.
func (s *Use) SampleCount() fact.Fact { return s.Pass.CPUSamples() }

// Witness says how sure the samples are.
func (s *Use) Witness() string {
	return fact.Sentence("one kind of evidence, the "+s.Source+", with %s samples", s.SampleCount())
}

// Benchmarks reports whether the program is benchmarks: by their results, or where these
// were not kept by what most of its CPU is under.
func Benchmarks(p *diagnosis.Pass) bool {
	if p.Model.Load != nil && len(p.Model.Load.Benchmarks) > 0 {
		return true
	}
	s, ok := UseOf(p)
	return ok && s.ShareIn("CPU in benchmarks", func(frames []model.Frame) bool { return code.ContainsPrefix(frames, []string{"testing.(*B)."}) }).Value > 0.5
}

// IsMalloc holds for the entrance of the allocator, which since Go 1.24 has
// variants by size ("mallocgcSmallNoscan"). Assists are part of it.
func IsMalloc(f string) bool { return strings.HasPrefix(f, "runtime.mallocgc") }

func isCollect(f string) bool {
	switch f {
	case "runtime.gcBgMarkWorker", "runtime.bgsweep", "runtime.bgscavenge":
		return true
	}
	return false
}
