package rules

import (
	_ "embed"

	"github.com/gowhy/gowhy/internal/judge/diagnosis"
	"github.com/gowhy/gowhy/internal/judge/measure/code"
	"github.com/gowhy/gowhy/internal/judge/measure/cpu"
	"github.com/gowhy/gowhy/internal/know/fact"
	"github.com/gowhy/gowhy/internal/know/model"
)

//go:embed sparsemap.md
var sparsemapPage string

var sparsemap = &diagnosis.Rule{
	Name:  "sparsemap",
	Title: "A map that is nearly empty is as large as it once was",
	Doc:   sparsemapPage,
	// No Needs: either kind of CPU samples will do.
	Explains: []string{"hotfunction", "emptymap"},
	Check:    checkSparsemap,
}

const (
	// sparseShare is the part of the CPU in walking or clearing maps from which it matters.
	sparseShare = 0.10
	// sparseLooking is the part of the walk that looks for slots that are in use from which
	// most are not: of maps of a million and of 600,000 slots with a hundred entries it was
	// 0.83 and 0.52, of clearing one for twenty entries 0.41, of full ones of 2,000 and a million 0
	// to 0.16.
	sparseLooking = 0.35
	// sparseSamples are the fewest of a walk: of 40 samples 0.35 is 0.2 at least.
	sparseSamples = 40
)

// A mapWalk is how the runtime goes through all slots of a map.
type mapWalk struct {
	verb    string
	through string   // the function that walks
	looks   []string // those in it that look at eight slots at once, whether one is in use
}

// Since Go 1.24 a map has a word for each eight slots, and who walks looks at that first.
var mapWalks = []mapWalk{
	{"walking", "internal/runtime/maps.(*Iter).Next", []string{"internal/runtime/maps.ctrlGroup.matchFull"}},
	{"clearing", "internal/runtime/maps.(*table).Clear", []string{"internal/runtime/maps.ctrlGroup.anyFull", "internal/runtime/maps.ctrlGroup.matchFull"}},
}

func (w *mapWalk) walks(frames []model.Frame) bool {
	return code.ContainsAny(frames, []string{w.through})
}

func (w *mapWalk) lookup(frames []model.Frame) bool {
	return w.walks(frames) && code.ContainsAny(frames[:1], w.looks)
}

func checkSparsemap(p *diagnosis.Pass) {
	s, ok := cpu.RequireUse(p)
	if !ok {
		return
	}
	for i := range mapWalks {
		w := &mapWalks[i]
		sites := s.Functions(p.Model, w.walks)
		if len(sites) == 0 {
			continue
		}
		sites = sites[:1] // the map of another function may be full
		share := s.ShareAt("CPU in "+w.verb+" maps in "+sites[0].Function, sites...)
		if share.Value < sparseShare || s.SamplesAt(sites).Value < sparseSamples {
			continue
		}
		here := code.MatchStacks(sites[0].Stacks)
		looking := fact.Quotient.Of("part of that in looking for slots in use", fact.Ratio,
			s.ShareOf("CPU in looking for slots in use", func(sample *model.Sample) bool { return here(sample) && w.lookup(p.Model.Stacks.Frames(sample.Stack)) }), share)
		if looking.Value < sparseLooking {
			p.Fine(fact.Sentence("maps: %s them takes %s of the CPU, %s of that to look for slots in use", fact.Name(w.verb), share, looking))
			continue
		}
		p.Report(sparseFinding(p, &s, w, sites, share, looking))
	}
}

func sparseFinding(p *diagnosis.Pass, s *cpu.Use, w *mapWalk, sites []cpu.Line, share, looking fact.Fact) diagnosis.Finding {
	f := diagnosis.Finding{
		Where:    cpu.Places(sites, 1),
		Stacks:   cpu.Stacks(sites, 1),
		Evidence: []fact.Fact{share, looking, s.SamplesAt(sites), s.InUse()},
		Cost:     s.Cost(share),
		Bound: s.Direction(s.MaxSaving(w.verb+" maps in "+sites[0].Function, func(frames []model.Frame) bool {
			return w.walks(frames) && cpu.MatchFunctions(sites[0].Place)(frames)
		}), "as if the map had room for what is in it, and that were nothing to walk; what the loop does beside is not in it"),
		Confidence: diagnosis.High,
		Reasons: []string{s.Witness(), "the runtime's own functions tell looking at slots, eight at once, from reading entries: " +
			"in a map that is full the latter is most"},
		RuledOut: []string{fact.Sentence("a map of many entries: these would take more than the %s of the walk that look for them", looking)},
		Remedy: diagnosis.Remedy{
			Text: "Make a new map when the old one has been emptied, or is a small part of what it was: a Go map keeps its " +
				"slots, whatever is deleted, and clear keeps them too. maps.Clone keeps them as well; " +
				"a loop that copies the entries does not. " +
				"Where few entries are wanted at a time (what has expired, what changed), keep those in a list or a heap of their own.",
			Code: "if len(m) < peak/8 {\n\tfresh := make(map[K]V, len(m))\n\tfor k, v := range m {\n\t\tfresh[k] = v\n\t}\n\tm, peak = fresh, len(m)\n}",
		},
		Experiment: codeChange(diagnosis.CPUPerOp, "", "The walk's share in a recording of the changed program must fall, too."),
	}
	f.Say("%s takes %s of the CPU in use for "+w.verb+" a map, %s of that to look for slots in use: it once had many more entries than now.",
		code.Name(sites[0].Function), share, looking)
	return f
}
