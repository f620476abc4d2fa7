package rules

import (
	_ "embed"
	"strings"

	"github.com/gowhy/gowhy/internal/judge/diagnosis"
	"github.com/gowhy/gowhy/internal/know/fact"
	"github.com/gowhy/gowhy/internal/know/model"
)

//go:embed retainedslice.md
var retainedslicePage string

var retainedslice = &diagnosis.Rule{
	Name:  "retainedslice",
	Title: "Small parts of strings and slices keep all of them",
	Doc:   retainedslicePage,
	// No Needs: nobody lacks a look who did not ask for one.
	Check: checkRetainedslice,
}

// retainedUse is the share of what strings and slices keep that is in use, below which most is
// kept for nothing. What append grows has half and more in use, 75% on average; the lab's parts of
// 64 KiB have 0.02%.
const retainedUse = 0.25

// retainedMany is the fewest slices that are parts: one that was made with room for what is to
// come, as an arena, has little in use, too.
const retainedMany = 16

func checkRetainedslice(p *diagnosis.Pass) {
	u, ok := lowestUse(p, retainedUse, func(h *model.Holder, s *model.HolderStep) bool {
		part := s.Type == "string" || strings.HasPrefix(s.Type, "[]") && s.Objects >= retainedMany
		return part && !leadsThrough(h, "sync.Pool", "sync.poolLocal", "sync.poolChain")
	})
	if ok {
		p.Report(retainedFinding(p, &u))
	}
}

func retainedFinding(p *diagnosis.Pass, u *heldUse) diagnosis.Finding {
	share := u.share(p)
	f := diagnosis.Finding{
		Where:      keepers(u.holder),
		Evidence:   []fact.Fact{u.use, u.bytes, p.HeldStep("objects there", "objects", u.holder, u.step)},
		Cost:       diagnosis.CostOf(u.unused, share.Value),
		Bound:      u.bound(p, share.Value),
		Confidence: diagnosis.Medium,
		Reasons:    []string{"the lengths are those of samples, evenly spread over all that lead there"},
		RuledOut:   []string{"what append makes room for: that is a quarter of a slice on average, and half at most"},
		Remedy: diagnosis.Remedy{
			Text: "Copy the part that is kept (`strings.Clone`, `bytes.Clone`, `slices.Clone`): a string or slice cut out of a " +
				"larger one keeps all of that, for as long as it lives. Where the part is the beginning of a buffer that was " +
				"made too large, make it as large as what is in it, or clone it when it is full. Do it where the part is stored, " +
				"not where it is cut: what is only looked at needs no copy.",
			Code: "sessions[id] = strings.Clone(line[from:to]) // without the line",
		},
		Experiment: codeChange(diagnosis.LiveHeap, diagnosis.PeakRSS, "A copy of each part is allocated, which is its price: it is small where the part is."),
	}
	if len(f.Where) == 0 {
		f.Scope = u.holder.Way()
	}
	if u.step.Type == "string" {
		f.RuledOut = append(f.RuledOut, "room for more, as a buffer has it: nobody appends to a string")
	} else {
		f.Reasons = append(f.Reasons, "buffers that are filled again and have little in them now look the same")
	}
	if look := lastLook(p.Model); mostGrown(look) == u.holder {
		f.Explains = []string{"heldmemory"}
		if f.Grows = fires(p, heldmemory); f.Grows {
			f.Bound = diagnosis.Direction(u.unused, diagnosis.MemoryGoal, share.Value, "what is kept for nothing by now; more comes all the time")
		}
	}
	format, parts := "Of %s that %s keeps in %s, %s are in use: each part keeps all of what it was cut from. %s could go.",
		[]fact.Part{u.bytes, fact.Name(u.holder.Words()), fact.Name(u.step.Type), u.use, u.unused}
	if f.Grows {
		format = strings.TrimSuffix(format, ".") + ", and what is kept grows by %s."
		parts = append(parts, fact.Quotient.Of("growth of what "+u.holder.Words()+" holds", fact.BytesPerSec,
			p.Held("more held by "+u.holder.Words(), "grew", u.holder), p.Look("time between the looks", "over")))
	}
	f.Say(format, parts...)
	return f
}
