package rules

import (
	"cmp"
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

//go:embed needlesswork.md
var needlessworkPage string

// needlesswork is about what its source says to be unnecessary: a share of the CPU alone
// tells nothing of that.
var needlesswork = &diagnosis.Rule{
	Name:  "needlesswork",
	Title: "Work that has a cheaper equivalent",
	Doc:   needlessworkPage,
	// No Needs: either kind of CPU samples will do.
	Explains: []string{"hotfunction", "growingslices", "allocchurn", "gccost", "tinyheap"}, // only where it is most of their cost
	Check:    checkNeedlesswork,
}

const (
	// needlessCost is the share of the CPU, with its part of the collector's, from which
	// unnecessary work is worth a finding: what a reason is about is cold below, and a repair
	// of less than a twentieth of the CPU is hardly told from noise by ten pairs of runs.
	needlessCost = 0.10
	needlessGain = 0.05
	// needlessCores is the CPU below which it is a remark: a twentieth of a core, half of the least that a program
	// must use to be accused of what it goes into. In programs of the field with requests at a rate, what was
	// the problem took 0.07 cores and more, and eight lines of 0.02 to 0.054 were beside it.
	needlessCores = leastCores / 2
	// needlessSamples are the fewest: fifteen are eight at least, nineteen times in twenty.
	needlessSamples = 15
	// heapSample is how many bytes the runtime samples once.
	heapSample = 512 << 10
	// needlessBytesGain is the share of the CPU that allocating and collecting must take for
	// bytes that need not be: of a program that hardly allocates any share of the bytes is cold.
	needlessBytesGain = 0.02
)

// A patternFigure is how many times cheaper the equivalent of a pattern is, and of what
// that was measured.
type patternFigure struct {
	pattern model.Pattern
	input   string
	ratio   float64
	kept    float64 // part of the bytes that the equivalent allocates, too
}

// measuredAs returns the one of a pattern, false where it was not measured.
func measuredAs(pattern model.Pattern) (f patternFigure, ok bool) {
	i := slices.IndexFunc(patternFigures, func(f patternFigure) bool { return f.pattern == pattern })
	if i < 0 {
		return f, false
	}
	return patternFigures[i], true
}

// An equivalent is what to write in the place of a pattern.
type equivalent struct {
	pattern model.Pattern
	work    string // what is done needlessly, as in "goes into …"
	text    string
	code    string
	checked string // what makes it valid
}

// ofLength are the patterns whose equivalent is cheaper only for a list that is long, or a table that
// fits no cache. On lines of other people, hot or not, most lists that are searched are short.
var ofLength = []model.Pattern{
	model.SearchInLoop, model.SearchKept, model.SkipOffset, model.ColumnMajor, model.IndexPerCall, model.SortPerCall, model.TotalPerCall, model.LeastTaken, model.ShiftRest,
}

func checkNeedlesswork(p *diagnosis.Pass) {
	if len(p.Model.Reasons) == 0 {
		return
	}
	s, ok := cpu.RequireUse(p)
	if !ok {
		return
	}
	for _, group := range reasonGroups(p.Model.Reasons) {
		if i := slices.IndexFunc(equivalents, func(e equivalent) bool { return e.pattern == group[0].Pattern }); i >= 0 {
			reportNeedless(p, &s, &equivalents[i], group)
		}
	}
}

// reasonGroups puts the reasons of one kind in one function together.
func reasonGroups(reasons []model.Reason) (groups [][]model.Reason) {
	for _, r := range reasons {
		i := slices.IndexFunc(groups, func(g []model.Reason) bool { return g[0].Pattern == r.Pattern && g[0].Func == r.Func })
		if i < 0 {
			groups = append(groups, []model.Reason{r})
			continue
		}
		groups[i] = append(groups[i], r)
	}
	return groups
}

// needlessShare is a share of the CPU with its part of the collector's.
var needlessShare = &fact.Formula{Name: "with collecting", Words: "{0} + {1} × {2}",
	Value: func(x []float64) float64 { return min(1, x[0]+x[1]*x[2]) }}

// cheaperBy is what of some work an equivalent saves, by how many times it is cheaper.
var cheaperBy = &fact.Formula{Name: "cheaper", Words: "{0} × (1 − 1 ÷ {1})",
	Value: func(x []float64) float64 { return x[0] * (1 - 1/max(1, x[1])) }}

// A needless is work of one pattern in one function.
type needless struct {
	p       *diagnosis.Pass
	s       *cpu.Use
	e       *equivalent
	reasons []model.Reason
	figure  patternFigure
}

// factName names it in facts.
func (n *needless) factName() string {
	return string(n.e.pattern) + " in " + code.Short(n.reasons[0].Func)
}

// matchesCPU reports whether a stack of CPU samples is of it, and allocates whether one of a heap
// profile is.
func (n *needless) matchesCPU(frames []model.Frame) bool {
	return !startup(frames) && slices.ContainsFunc(n.reasons, func(r model.Reason) bool { return r.Does(frames) })
}

func (n *needless) allocates(frames []model.Frame) bool {
	return !startup(frames) && slices.ContainsFunc(n.reasons, func(r model.Reason) bool { return r.Allocates(frames) })
}

func reportNeedless(p *diagnosis.Pass, s *cpu.Use, e *equivalent, reasons []model.Reason) {
	figure, known := measuredAs(e.pattern)
	if !known {
		return
	}
	n := needless{p, s, e, reasons, figure}
	f, ok := n.byCPU()
	if !ok {
		f, ok = n.byBytes()
	}
	if ok && (e.pattern == model.MissedCache || e.pattern == model.KeyTooFine) && !n.lasts() {
		return
	}
	if ok { // what a cache misses may be wanted for the first time: of programs that are well some have half of their CPU in it
		f.Remark = f.Cost.Value < needlessCores || e.pattern == model.MissedCache
		if e.pattern == model.FindAllFirst && !n.keepsMatches() {
			f.Remark, f.Confidence = true, diagnosis.Medium
			f.Reasons = append(f.Reasons, "no sample shows that a match is kept: where nothing matches, looking for the first goes through as much")
		}
		p.Report(f)
	}
}

// keepsMatches reports whether a sample is in what package regexp calls for each match of FindAll, or allocates there: a text
// without any is gone through to its end by the equivalent, too.
func (n *needless) keepsMatches() bool {
	each := func(f model.Frame) bool {
		return strings.HasPrefix(f.Func, "regexp.(*Regexp).FindAll") && strings.Contains(f.Func, ".func")
	}
	keeps := func(profile *model.Profile, of func([]model.Frame) bool) bool {
		return profile != nil && slices.ContainsFunc(profile.Samples, func(s model.Sample) bool {
			frames := n.p.Model.Stacks.Frames(s.Stack)
			return slices.ContainsFunc(frames, each) && of(frames)
		})
	}
	return keeps(n.s.Profile, n.matchesCPU) || keeps(n.p.Model.Heap, n.allocates)
}

// lasts reports whether the last third of the recording has the work as the rest has: what fills has done so by then. Without the times of
// samples nobody knows.
func (n *needless) lasts() bool {
	k := n.p.Model.Kernel
	if k == nil || k.CPU == nil || len(k.Moments) == 0 {
		return false
	}
	from, to := k.Moments[0].At, k.Moments[len(k.Moments)-1].At
	late, all := 0.0, 0.0
	for _, m := range k.Moments {
		if !n.matchesCPU(n.p.Model.Stacks.Frames(k.CPU.Samples[m.Sample].Stack)) {
			continue
		}
		all++
		if m.At >= from+2*(to-from)/3 {
			late++
		}
	}
	return all >= needlessSamples && late >= model.SteadyGrowth*all/3
}

// byCPU returns the finding where the work is much of the CPU.
func (n *needless) byCPU() (f diagnosis.Finding, ok bool) {
	p, s, top := n.p, n.s, n.reasons[0]
	direct := s.ShareIn("CPU in "+n.factName(), n.matchesCPU)
	collecting := s.ShareIn("CPU in the garbage collector elsewhere", func(frames []model.Frame) bool { return cpu.Collects(frames) && !n.matchesCPU(frames) })
	share := needlessShare.Of("CPU in "+n.factName()+", with its part of the collector's", fact.Ratio, direct, s.Garbage(n.matchesCPU), collecting)
	times := fact.Figure("how many times cheaper the equivalent is", n.figure.ratio, fact.Factor, "bench/patterns, "+n.figure.input+", "+patternsMeasured)
	gain := cheaperBy.Of("CPU that the equivalent saves", fact.Ratio, share, times)
	seen := p.SampleCount("samples", s.Tree, p.Frames(n.matchesCPU))
	if share.Value < needlessCost || gain.Value < needlessGain || seen.Value < needlessSamples || saidAlready(p, top.Func, share) {
		return f, false
	}
	stacks := matchingStacks(p.Model, s.Profile, n.matchesCPU)
	f = n.finding(hottest(p, s.Profile, s.Profile.Column("cpu"), n.reasons, n.matchesCPU), stacks)
	f.Evidence = []fact.Fact{share, times, s.InUse()}
	f.Cost = s.Cost(share)
	f.Bound = s.ExtendBound(cpu.EstimateOf(gain, s.InUse(), cpu.WorkRepairs, "measured on "+n.figure.input+": with your data it is more or less"), top.Func)
	f.Reasons = slices.Insert(f.Reasons, 0, s.Witness())
	f.Experiment = codeChange(diagnosis.CPUPerOp, "", "A benchmark of the function with `go test -bench NAME -benchmem` shows it in one run.")
	f.Explains = n.symptoms(share)
	f.Stacks = append(f.Stacks, memory.AllocatingStacks(p.Model, n.allocates)...)
	f.Say("%s of the CPU in use goes into "+n.e.work+" in %s: %s.", share, code.Name(top.Func), fact.Name(top.What))
	return f, true
}

// finding has what does not depend on how the work is measured.
func (n *needless) finding(at diagnosis.Place, stacks []model.Stack) diagnosis.Finding {
	f := diagnosis.Finding{
		Title:      strings.ToUpper(n.e.work[:1]) + n.e.work[1:],
		Where:      code.WithProgram(n.p, at, stacks...),
		Stacks:     stacks,
		Confidence: diagnosis.High,
		Reasons:    []string{"the source of the line says that it has a cheaper equivalent"},
		RuledOut:   []string{"other source than the program's: the line has the call that its stacks show", n.e.checked},
		Remedy:     diagnosis.Remedy{Text: n.e.text, Code: cmp.Or(n.reasons[0].Instead, n.e.code)},
	}
	if m := n.reasons[0].Maker; m.Func != "" {
		f.Where = slices.Insert(f.Where, 0, diagnosis.Place{Function: m.Func, File: m.File, Line: m.Line})
		f.Reasons = append(f.Reasons, "the tables of what is used there are made below it, once in its life: it is a new one each time")
	}
	if n.e.pattern == model.MissedCache {
		f.Confidence, f.Reasons = diagnosis.Medium, append(f.Reasons, "whether each call wants something new its source does not tell: then there is nothing to keep")
	}
	if slices.Contains(ofLength, n.e.pattern) {
		f.Confidence, f.Reasons = diagnosis.Medium, append(f.Reasons, "how long the list is its source does not tell: of a dozen elements nothing is faster")
	}
	return f
}

// sparedBy is what of some bytes an equivalent does not allocate.
var sparedBy = &fact.Formula{Name: "spared", Words: "{0} × (1 − {1})",
	Value: func(x []float64) float64 { return x[0] * (1 - min(1, x[1])) }}

// byBytes returns the finding where the work is little of the CPU itself and makes many of the
// bytes that are allocated, which the equivalent does not.
func (n *needless) byBytes() (f diagnosis.Finding, ok bool) {
	p, top := n.p, n.reasons[0]
	if !p.Model.Has(model.Heap) {
		return f, false
	}
	a := memory.AllocationOf(p)
	counted := p.Frames(func(frames []model.Frame) bool { return !model.OfRecording(frames) })
	here := p.Frames(func(frames []model.Frame) bool { return !model.OfRecording(frames) && n.allocates(frames) })
	part := func(what, tree string) fact.Fact {
		return fact.Quotient.Of(what+" allocated by "+n.factName(), fact.Ratio, p.Samples(what+" allocated by it", tree, here), p.Samples("all "+what+" allocated", tree, counted))
	}
	objects, bytes := part("objects", memory.ObjectTree), part("bytes", "alloc_space")
	kept := fact.Figure("part that the equivalent allocates, too", n.figure.kept, fact.Ratio, "bench/patterns, "+n.figure.input+", "+patternsMeasured)
	spared := sparedBy.Of("bytes that the equivalent does not allocate", fact.Ratio, bytes, kept)
	price := a.Price("CPU in allocating and collecting them", objects, bytes)
	gain := sparedBy.Of("CPU that the equivalent saves", fact.Ratio, price, kept)
	made := bytes.Operands[0].Value
	if spared.Value < needlessCost || gain.Value < needlessBytesGain || made < needlessSamples*heapSample || saidAlready(p, top.Func, price) {
		return f, false
	}
	column := p.Model.Heap.Column("alloc_space")
	stacks := matchingStacks(p.Model, p.Model.Heap, n.allocates)
	f = n.finding(hottest(p, p.Model.Heap, column, n.reasons, n.allocates), stacks)
	f.Evidence = []fact.Fact{bytes, kept, price, a.Cores}
	f.Cost = a.CostOf(price)
	f.Bound = n.s.ExtendBound(allocationBound(&a, gain), top.Func)
	f.Reasons = slices.Insert(f.Reasons, 0, "the allocs profile counts the bytes")
	f.Experiment = allocationExperiment(p, &a, stacks, bytes.Value > objects.Value)
	f.Explains = []string{}
	if price.Value < needlessCost { // many bytes, and little CPU: two programs of the field that are well are at 0.05 and 0.06
		f.Remark = true
		f.Reasons = append(f.Reasons, "they are many of the bytes and little of the CPU")
	}
	if bytes.Value >= hotGarbage || hasFinding(p, allocchurn, func(o *diagnosis.Finding) bool { return o.Where[0].Function == f.Where[0].Function }) {
		f.Explains = []string{allocchurn.Name, gccost.Name, tinyheap.Name}
	}
	f.Say("%s of all bytes are allocated for "+n.e.work+" in %s: %s. Allocating and collecting them takes %s of the CPU in use.", bytes, code.Name(top.Func), fact.Name(top.What), price)
	return f, true
}

// saidAlready reports whether a rule that knows such work by its stacks alone accuses the same
// function of as much.
func saidAlready(p *diagnosis.Pass, function string, share fact.Fact) bool {
	return slices.ContainsFunc([]*diagnosis.Rule{hotfunction, stringbuilding, freshrand}, func(r *diagnosis.Rule) bool {
		return hasFinding(p, r, func(f *diagnosis.Finding) bool {
			return !f.Remark && f.Cost.Share >= needlessMost*share.Value &&
				slices.ContainsFunc(f.Where, func(at diagnosis.Place) bool { return at.Function == function })
		})
	})
}

// startup reports whether a stack is of what runs once in the life of a program. A sync.Once that the
// library has in what it makes runs once in the life of that.
func startup(frames []model.Frame) bool {
	own := max(0, slices.IndexFunc(frames, func(f model.Frame) bool { return !model.IsStd(f.Func) }))
	return slices.ContainsFunc(frames[own:], func(f model.Frame) bool { return code.RunsOnce(f.Func) })
}

// hottest returns the line of the reasons with most of a profile's samples, as the stacks have it.
func hottest(p *diagnosis.Pass, profile *model.Profile, column int, reasons []model.Reason, match func([]model.Frame) bool) diagnosis.Place {
	sums := map[diagnosis.Place]float64{}
	best, most := diagnosis.Place{Function: reasons[0].Func, File: reasons[0].File, Line: reasons[0].Line}, 0.0
	for i := range profile.Samples {
		sample := &profile.Samples[i]
		frames := p.Model.Stacks.Frames(sample.Stack)
		if !match(frames) {
			continue
		}
		at := slices.IndexFunc(frames, func(f model.Frame) bool {
			return slices.ContainsFunc(reasons, func(r model.Reason) bool { return r.At(&f) })
		})
		place := diagnosis.Place{Function: frames[at].Func, File: frames[at].File, Line: frames[at].Line}
		if sums[place] += sample.Value(column); sums[place] > most || sums[place] == most && place.Line < best.Line {
			best, most = place, sums[place]
		}
	}
	return best
}

// needlessMost is the part of another finding's cost that the work must be to explain it.
const needlessMost = 0.7

// symptoms returns the rules whose findings here are of this work, or mostly.
func (n *needless) symptoms(share fact.Fact) (list []string) {
	for _, r := range []*diagnosis.Rule{hotfunction, growingslices} {
		if hasFinding(n.p, r, func(f *diagnosis.Finding) bool { return share.Value >= needlessMost*f.Cost.Share }) {
			list = append(list, r.Name)
		}
	}
	switch {
	case n.s.Garbage(n.matchesCPU).Value >= hotGarbage:
		list = append(list, allocchurn.Name, gccost.Name, tinyheap.Name)
	case hasFinding(n.p, allocchurn, n.churns):
		list = append(list, allocchurn.Name)
	}
	return list
}

// churns reports whether most bytes that a finding is about are allocated for this work.
func (n *needless) churns(o *diagnosis.Finding) bool {
	if !n.p.Model.Has(model.Heap) {
		return false
	}
	ofWork := slices.DeleteFunc(slices.Clone(o.Stacks), func(s model.Stack) bool { return !n.allocates(n.p.Model.Stacks.Frames(s)) })
	bytes := func(stacks []model.Stack) float64 {
		return n.p.Samples("bytes allocated there", "alloc_space", code.MatchStacks(stacks)).Value
	}
	return len(ofWork) > 0 && bytes(ofWork) >= needlessMost*bytes(o.Stacks)
}
