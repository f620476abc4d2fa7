package rules

import (
	"cmp"
	_ "embed"
	"slices"
	"strings"

	"github.com/gowhy/gowhy/internal/judge/diagnosis"
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
	// needlessSamples are the fewest: fifteen are eight at least, nineteen times in twenty.
	needlessSamples = 15
)

// A patternFigure is how many times cheaper the equivalent of a pattern is, and of what
// that was measured.
type patternFigure struct {
	pattern model.Pattern
	input   string
	ratio   float64
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

func checkNeedlesswork(p *diagnosis.Pass) {
	if len(p.Model.Reasons) == 0 {
		return
	}
	s, ok := neededCPU(p)
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

func reportNeedless(p *diagnosis.Pass, s *cpuUse, e *equivalent, reasons []model.Reason) {
	match := func(frames []model.Frame) bool {
		return !startup(frames) && slices.ContainsFunc(reasons, func(r model.Reason) bool { return r.Does(frames) })
	}
	top := reasons[0]
	what := string(e.pattern) + " in " + short(top.Func)
	direct := s.in("CPU in "+what, match)
	collecting := s.in("CPU in the garbage collector elsewhere", func(frames []model.Frame) bool { return collects(frames) && !match(frames) })
	share := needlessShare.Of("CPU in "+what+", with its part of the collector's", fact.Ratio, direct, s.garbage(match), collecting)
	figure, known := measuredAs(e.pattern)
	if !known {
		return
	}
	times := fact.Figure("how many times cheaper the equivalent is", figure.ratio, fact.Factor, "bench/patterns, "+figure.input+", "+patternsMeasured)
	gain := cheaperBy.Of("CPU that the equivalent saves", fact.Ratio, share, times)
	seen := p.SampleCount("samples", s.tree, p.Frames(match))
	if share.Value < needlessCost || gain.Value < needlessGain || seen.Value < needlessSamples {
		return
	}
	if saidAlready(p, top.Func, share) {
		return
	}
	stacks := matchingStacks(p.Model, s.profile, match)
	f := diagnosis.Finding{
		Title:      strings.ToUpper(e.work[:1]) + e.work[1:],
		Where:      withProgram(p, hottest(p, s, reasons, match), stacks...),
		Stacks:     stacks,
		Evidence:   []fact.Fact{share, times, s.used()},
		Cost:       s.cost(share),
		Bound:      cpuEstimate(gain, s.used(), workRepairs, "measured on "+figure.input+": with your data it is more or less"),
		Confidence: diagnosis.High,
		Reasons:    []string{s.witness(), "the source of the line says that it has a cheaper equivalent"},
		RuledOut:   []string{"other source than the program's: the line has the call that its stacks show", e.checked},
		Remedy:     diagnosis.Remedy{Text: e.text, Code: cmp.Or(top.Instead, e.code)},
		Explains:   []string{},
		Experiment: changed(diagnosis.CPUPerOp, "", "A benchmark of the function with `go test -bench NAME -benchmem` shows it in one run."),
	}
	f.Say("%s of the CPU in use goes into "+e.work+" in %s: %s.", share, name(top.Func), fact.Name(top.What))
	f.Explains = needlessSymptoms(p, s, share, match)
	f.Stacks = append(f.Stacks, allocating(p.Model, func(frames []model.Frame) bool {
		return match(frames) || len(frames) > 0 && slices.ContainsFunc(reasons, func(r model.Reason) bool { return r.At(&frames[0]) })
	})...) // an allocs profile leaves out what the runtime does for an operator
	p.Report(f)
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

// startup reports whether a stack is of what runs once in the life of a program.
func startup(frames []model.Frame) bool {
	return slices.ContainsFunc(frames, func(f model.Frame) bool { return atStart(f.Func) })
}

// hottest is the line of the reasons with most of the samples, as the stacks have it.
func hottest(p *diagnosis.Pass, s *cpuUse, reasons []model.Reason, match func([]model.Frame) bool) diagnosis.Place {
	sums := map[diagnosis.Place]float64{}
	best, most := diagnosis.Place{Function: reasons[0].Func, File: reasons[0].File, Line: reasons[0].Line}, 0.0
	nanos := s.profile.Column("cpu")
	for i := range s.profile.Samples {
		sample := &s.profile.Samples[i]
		frames := p.Model.Stacks.Frames(sample.Stack)
		if !match(frames) {
			continue
		}
		at := slices.IndexFunc(frames, func(f model.Frame) bool {
			return slices.ContainsFunc(reasons, func(r model.Reason) bool { return r.At(&f) })
		})
		place := diagnosis.Place{Function: frames[at].Func, File: frames[at].File, Line: frames[at].Line}
		if sums[place] += sample.Value(nanos); sums[place] > most || sums[place] == most && place.Line < best.Line {
			best, most = place, sums[place]
		}
	}
	return best
}

// needlessMost is the part of another finding's cost that the work must be to explain it.
const needlessMost = 0.7

// needlessSymptoms are the rules whose findings here are of this work, or mostly.
func needlessSymptoms(p *diagnosis.Pass, s *cpuUse, share fact.Fact, match func([]model.Frame) bool) (list []string) {
	for _, r := range []*diagnosis.Rule{hotfunction, growingslices} {
		if hasFinding(p, r, func(f *diagnosis.Finding) bool { return share.Value >= needlessMost*f.Cost.Share }) {
			list = append(list, r.Name)
		}
	}
	if s.garbage(match).Value >= hotGarbage {
		list = append(list, allocchurn.Name, gccost.Name, tinyheap.Name)
	}
	return list
}
