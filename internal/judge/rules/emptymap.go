package rules

import (
	_ "embed"
	"strings"

	"github.com/gowhy/gowhy/internal/judge/diagnosis"
	"github.com/gowhy/gowhy/internal/know/fact"
	"github.com/gowhy/gowhy/internal/know/model"
)

//go:embed emptymap.md
var emptymapPage string

var emptymap = &diagnosis.Rule{
	Name:  "emptymap",
	Title: "A map keeps room for many more entries than it has",
	Doc:   emptymapPage,
	// No Needs: nobody lacks a look who did not ask for one.
	Explains: []string{"sparsemap"}, // what it costs to walk it
	Check:    checkEmptymap,
}

// emptyUse is the share of a map's slots with an entry below which it has been emptied, or was
// made too large. A map that grows has between 44 and 88%, one of a single entry an eighth; the
// lab's emptied one has 0.1%.
const emptyUse = 0.1

func checkEmptymap(p *diagnosis.Pass) {
	u, ok := lowestUse(p, emptyUse, func(_ *model.Holder, s *model.HolderStep) bool { return strings.HasPrefix(s.Type, "map[") })
	if ok {
		p.Report(emptyFinding(p, &u))
	}
}

func emptyFinding(p *diagnosis.Pass, u *heldUse) diagnosis.Finding {
	share := u.share(p)
	f := diagnosis.Finding{
		Scope:      u.holder.Way(),
		Evidence:   []fact.Fact{u.use, u.bytes},
		Cost:       diagnosis.CostOf(u.unused, share.Value),
		Bound:      u.bound(p, share.Value),
		Confidence: diagnosis.Medium,
		Reasons: []string{"the number of entries is of samples of the maps, and their slots are counted by what they take",
			"it may fill again soon: a map that is as full each minute as it once was needs its room"},
		RuledOut: []string{"a map that grows: it has room for as many entries again, and not for ten times as many"},
		Remedy: diagnosis.Remedy{
			Text: "Make a new map when the old one is empty or nearly so, and copy what is left in a loop: a Go map keeps its " +
				"slots whatever is deleted, and clear and maps.Clone keep them, too. Where it was made with a size, make it with " +
				"the number of entries that it comes to have.",
			Code: "if len(m) < peak/8 {\n\tfresh := make(map[K]V, len(m))\n\tfor k, v := range m {\n\t\tfresh[k] = v\n\t}\n\tm, " +
				"peak = fresh, len(m)\n}",
		},
		Experiment: codeChange(diagnosis.LiveHeap, diagnosis.PeakRSS, "Each run must go through the time in which the map was large."),
	}
	f.Say("%s keeps %s for the slots of %s, %s of them in use: a map never becomes smaller. %s could go.",
		fact.Name(u.holder.Words()), u.bytes, fact.Name(u.step.Type), u.use, u.unused)
	return f
}
