package rules

import (
	_ "embed"
	"slices"

	"github.com/gowhy/gowhy/internal/judge/diagnosis"
	"github.com/gowhy/gowhy/internal/judge/measure/code"
	"github.com/gowhy/gowhy/internal/judge/measure/cpu"
	"github.com/gowhy/gowhy/internal/know/fact"
	"github.com/gowhy/gowhy/internal/know/model"
)

//go:embed growingslices.md
var growingslicesPage string

var growingslices = &diagnosis.Rule{
	Name:  "growingslices",
	Title: "Slices and maps grow step by step and are copied each time",
	Doc:   growingslicesPage,
	// No Needs: either kind of CPU samples will do.
	Explains: []string{"allocchurn", "gccost", "tinyheap"}, // only where it makes most of the garbage
	Check:    checkGrowingslices,
}

const (
	// growingShare is the share of the CPU in growing from which a length that
	// is known beforehand is worth writing down. A program that appends a
	// million numbers to a nil slice again and again is at 0.5 to 0.9; the
	// encoders of the standard library, which append to what they keep, at 0.01
	// to 0.03.
	growingShare = 0.05
	// growingCost is the share from which it accuses. Three programs of the field that are
	// well are at 0.06 to 0.09, where lists of a length that nobody knows are read, and
	// those that have the problem at 0.13 and more.
	growingCost = 0.10
	// growingSamples are the fewest: fifteen are eight at least, nineteen times
	// in twenty.
	growingSamples = 15
	// growingNamed is how many lines a finding names.
	growingNamed = 3
)

func checkGrowingslices(p *diagnosis.Pass) {
	s, ok := cpu.RequireUse(p)
	if !ok {
		return
	}
	worth := func(sites []cpu.Line, share fact.Fact) bool {
		return share.Value >= growingShare && s.SamplesAt(sites).Value >= growingSamples
	}
	const what = "CPU in growing slices and maps"
	if sites := s.Places(p.Model, growsHere(p.Model)); worth(sites, s.ShareAt(what, sites...)) {
		p.Report(growingFinding(p, &s, sites, s.ShareAt(what, sites...)))
		return
	}
	elsewhere := s.Places(p.Model, growsElsewhere(p.Model))
	if inside := s.ShareAt("CPU in growing slices and maps of libraries", elsewhere...); worth(elsewhere, inside) {
		if asks := code.ProgramPlace(p, elsewhere[0].Stacks...); asks != (diagnosis.Place{}) {
			p.Report(libraryGrowth(p, &s, elsewhere, asks, inside))
			return
		}
	}
	p.Fine(fact.Sentence("slices and maps: growing them takes %s of the CPU", s.ShareAt(what, s.Places(p.Model, growsData)...)))
}

// growsHere matches stacks that do so at a line that the reader can change: what
// appends is of the program itself, or of any module where nobody knows which is its
// own. growsElsewhere matches the others.
func growsHere(m *model.Model) func([]model.Frame) bool {
	own := code.ProgramPackages(m)
	known := m.Build != nil && m.Build.Module != ""
	return func(frames []model.Frame) bool {
		f, ok := grower(frames)
		return ok && !model.IsStd(f.Func) && (!known || code.StartsWith(f.Func, own))
	}
}

func growsElsewhere(m *model.Model) func([]model.Frame) bool {
	here := growsHere(m)
	return func(frames []model.Frame) bool { return growsData(frames) && !here(frames) }
}

// grower returns the frame that appends: above the runtime, and above the library's own
// containers, which are as large as who fills them wants.
func grower(frames []model.Frame) (f model.Frame, ok bool) {
	if !growsData(frames) {
		return f, false
	}
	i := slices.IndexFunc(frames, func(f model.Frame) bool {
		return !code.IsMachinery(f.Func) && !code.StartsWith(f.Func, growingPackages)
	})
	if i < 0 {
		return f, false
	}
	return frames[i], true
}

var growingPackages = []string{"bytes.", "strings.", "slices.", "maps.", "container/"}

// growingRepairs is what a known size saves: about half of the bytes, and never more than
// growing takes, the copying in it, with the collector's part.
var growingRepairs = cpu.Repairs{Least: 0.5, Most: 1}

const growingAlong = "the collector's work for what was grown out of, and what samples may have missed"

func growingFinding(p *diagnosis.Pass, s *cpu.Use, sites []cpu.Line, share fact.Fact) diagnosis.Finding {
	f := diagnosis.Finding{
		Where:    cpu.Places(sites, growingNamed),
		Stacks:   cpu.Stacks(sites, growingNamed),
		Evidence: []fact.Fact{share, s.InUse()},
		Cost:     s.Cost(share),
		Bound: s.EstimateAlong(s.MaxSaving("growing slices and maps", growsHere(p.Model)), growingRepairs, growingAlong,
			"made at its final size, each is still allocated once, and what is kept and emptied is not"),
		Confidence: diagnosis.Medium,
		Reasons:    []string{s.Witness(), "whether the final size can be known beforehand is yours to tell"},
		RuledOut:   []string{"appending where there is room: only what runs under the runtime's own growing is counted"},
		Remedy: diagnosis.Remedy{
			Text: "Give make the final size, or a good guess at it: a slice that is appended to from nothing is copied once for " +
				"each doubling, " +
				"and twice the memory it needs is garbage in the end. Where the same is built again and again, keep one and empty it.",
			Code: "out := make([]T, 0, len(in)) // or, kept over rounds: out = out[:0]",
		},
		Experiment: codeChange(diagnosis.BytesOp, diagnosis.CPUPerOp, "Bytes per operation are a count: about half of the bytes that the lines allocate go."),
		Explains:   []string{},
	}
	f.Remark = share.Value < growingCost
	f.Say("%s of the CPU in use goes into growing slices and maps, %s of that in %s.",
		share, s.FirstPart(sites, share), code.Name(sites[0].Function))
	if s.Garbage(growsHere(p.Model)).Value >= hotGarbage {
		f.Explains = p.Rule.Explains
	}
	f.Bound = s.ExtendBound(f.Bound, sites[0].Function)
	f.Groups = code.GroupsOfStacks(p.Model, f.Stacks)
	return f
}

// libraryGrowth only says where to look: at the line that leads into the library. What
// it appends to is not the reader's to make.
func libraryGrowth(p *diagnosis.Pass, s *cpu.Use, sites []cpu.Line, asks diagnosis.Place, share fact.Fact) diagnosis.Finding {
	f := growingFinding(p, s, sites, share)
	top, _ := grower(p.Model.Stacks.Frames(sites[0].Stacks[0]))
	f.Remark, f.Confidence, f.Where, f.Explains = true, diagnosis.Low, code.Places(asks), []string{}
	f.Bound = s.EstimateAlong(s.MaxSaving("growing slices and maps of libraries", growsElsewhere(p.Model)), growingRepairs, growingAlong, "as if the library were not called at all")
	f.Reasons = []string{s.Witness(), "what grows is the library's: only how often and for what it is called is yours to tell"}
	f.Remedy = diagnosis.Remedy{
		Text: "Look at the line that leads into the library: whether it makes the same thing again, and whether " +
			"it takes a buffer that you keep (functions named Append, a Reset, a size to begin with).",
	}
	f.Evidence = []fact.Fact{share, s.InUse()}
	f.Say("%s of the CPU in use goes into growing slices and maps of libraries, %s of that where %s leads to %s.",
		share, s.FirstPart(sites, share), code.Name(asks.Function), code.Name(top.Func))
	return f
}
