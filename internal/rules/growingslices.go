package rules

import (
	_ "embed"

	"github.com/gowhy/gowhy/internal/diagnosis"
	"github.com/gowhy/gowhy/internal/fact"
	"github.com/gowhy/gowhy/internal/model"
)

//go:embed growingslices.md
var growingslicesPage string

var growingslices = &diagnosis.Rule{
	Name:  "growingslices",
	Title: "Slices and maps grow step by step, and are copied at each",
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
	// growingSamples are the fewest: fifteen are eight at least, nineteen times
	// in twenty.
	growingSamples = 15
	// growingNamed is how many lines a finding names.
	growingNamed = 3
)

func checkGrowingslices(p *diagnosis.Pass) {
	s, ok := cpuUseOf(p)
	if !ok {
		return
	}
	sites := s.places(p.Model, growsData)
	share := s.at("CPU in growing slices and maps", sites...)
	if share.Value < growingShare || s.samplesAt(sites).Value < growingSamples {
		p.Fine(fact.Sentence("slices and maps: growing them takes %s of the CPU", share))
		return
	}
	p.Report(growingFinding(p, &s, sites, share))
}

// growsData reports whether a stack makes a slice or a map larger: with the
// allocation of the new one, the copying of the old, and the collector's help
// that the allocation was asked for.
func growsData(frames []model.Frame) bool { return through(frames, growingFunctions) }

var growingFunctions = []string{
	"runtime.growslice", "runtime.hashGrow", "runtime.growWork", "runtime.evacuate",
	"internal/runtime/maps.(*table).rehash", "internal/runtime/maps.(*table).grow", "internal/runtime/maps.(*Map).growTo",
}

func growingFinding(p *diagnosis.Pass, s *cpuUse, sites []cpuPlace, share fact.Fact) diagnosis.Finding {
	f := diagnosis.Finding{
		Where:    topPlaces(sites, growingNamed),
		Stacks:   topStacks(sites, growingNamed),
		Evidence: []fact.Fact{share, s.used()},
		Cost:     s.cost(share),
		Bound: s.limit(s.saved("growing slices and maps", growsData),
			"made at its final size, each is still allocated once, and what is kept and emptied is not"),
		Confidence: diagnosis.Medium,
		Reasons:    []string{s.witness(), "whether the final size can be known beforehand is yours to tell"},
		RuledOut:   []string{"appending where there is room: only what runs under the runtime's own growing is counted"},
		Remedy: diagnosis.Remedy{
			Text: "Give make the final size, or a good guess at it: a slice that is appended to from nothing is copied once for " +
				"each doubling, " +
				"and twice the memory it needs is garbage in the end. Where the same is built again and again, keep one and empty it.",
			Code: "out := make([]T, 0, len(in)) // or, kept over rounds: out = out[:0]",
		},
		Experiment: changed(diagnosis.BytesOp, diagnosis.CPUPerOp, "Bytes per operation are a count: about half of those that the lines make go."),
		Explains:   []string{},
	}
	f.Say("%s of the CPU in use goes into making slices and maps larger, %s of that in %s.",
		share, s.first(sites, share), name(sites[0].Function))
	if s.garbage(growsData).Value >= hotGarbage {
		f.Explains = p.Rule.Explains
	}
	f.Groups = groupsOfStacks(p.Model, f.Stacks)
	return f
}
