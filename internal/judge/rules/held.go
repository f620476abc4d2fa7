package rules

import (
	"slices"
	"strings"

	"github.com/gowhy/gowhy/internal/judge/diagnosis"
	"github.com/gowhy/gowhy/internal/judge/measure/memory"
	"github.com/gowhy/gowhy/internal/know/fact"
	"github.com/gowhy/gowhy/internal/know/model"
)

const (
	// heldBytes is the least that what a holder keeps can matter: the runtime's smallest heap.
	heldBytes = 4 << 20
	// heldPart is the part of the heap, or of what it grew by, below which a holder is not
	// what the program is about.
	heldPart = 0.1
)

// lastLook returns the latest whole look at the heap; nil without one.
func lastLook(m *model.Model) *model.HeapLook {
	if n := len(m.Run.Holders); n > 0 && !m.Run.Holders[n-1].Partial {
		return m.Run.Holders[n-1]
	}
	return nil
}

// mostHeld returns the holder with most of a heap but the runtime's own; nil without one.
func mostHeld(l *model.HeapLook) (most *model.Holder) {
	for i := range l.Holders {
		if h := &l.Holders[i]; h.Kind != model.HeldByRuntime && (most == nil || h.Bytes > most.Bytes) {
			most = h
		}
	}
	return most
}

// mainHolder returns the holder with most of a heap, if that is half of it or more; else nil.
func mainHolder(l *model.HeapLook) *model.Holder {
	if h := mostHeld(l); h != nil && float64(h.Bytes) >= heldMost*float64(l.Reached.Bytes) {
		return h
	}
	return nil
}

// mostGrown returns the holder that grew most since the first look; nil where none did.
func mostGrown(l *model.HeapLook) (most *model.Holder) {
	for i := range l.Holders {
		if h := &l.Holders[i]; h.Kind != model.HeldByRuntime && h.Growth() > 0 && (most == nil || h.Growth() > most.Growth()) {
			most = h
		}
	}
	return most
}

// holderOf says in a piece of a sentence who holds what grows, or most of the heap; "" where
// nobody looked.
func holderOf(p *diagnosis.Pass) string {
	look := lastLook(p.Model)
	if look == nil {
		return ""
	}
	if h := mostGrown(look); h != nil {
		return fact.Sentence("%s of it are held by %s", p.Held("growth of "+h.Words(), "grew", h), fact.Name(h.Way()))
	}
	if h := mostHeld(look); h != nil {
		return fact.Sentence("%s of the heap are held by %s", p.Held("held by "+h.Words(), "bytes", h), fact.Name(h.Way()))
	}
	return ""
}

// keepers returns the lines of the program that put things where a holder has them, one of each function.
func keepers(h *model.Holder) (places []diagnosis.Place) {
	for _, f := range h.Keepers {
		if !slices.ContainsFunc(places, func(p diagnosis.Place) bool { return p.Function == f.Func }) {
			places = append(places, diagnosis.Place{Function: f.Func, File: f.File, Line: f.Line})
		}
	}
	return places
}

// A heldUse is a step of the way to what a holder keeps, of which a part is in use.
type heldUse struct {
	holder             *model.Holder
	step               *model.HolderStep
	bytes, use, unused fact.Fact
}

// lowestUse returns the step of all holders with most that is not in use, of those that match and
// have less than a share in use; false where none has enough of it.
func lowestUse(p *diagnosis.Pass, most float64, match func(*model.Holder, *model.HolderStep) bool) (u heldUse, ok bool) {
	look := lastLook(p.Model)
	if look == nil {
		return u, false
	}
	unused := 0.0
	for i := range look.Holders {
		h := &look.Holders[i]
		for j := range h.Path {
			s := &h.Path[j]
			if s.Use == nil || *s.Use >= most || s != h.Step(s.Field, s.Type) || !match(h, s) {
				continue
			}
			if v := float64(s.Bytes) * (1 - *s.Use); v > unused {
				u.holder, u.step, unused = h, s, v
			}
		}
	}
	if unused < heldBytes || unused < heldPart*float64(look.Reached.Bytes) || fills(p.Model.Run.Holders[0], &u) {
		return u, false
	}
	u.bytes = p.HeldStep("bytes of "+u.step.Type, "bytes", u.holder, u.step)
	u.use = p.HeldStep("part of them that is in use", "use", u.holder, u.step)
	u.unused = fact.Idle.Of("not in use", fact.Bytes, u.bytes, u.use)
	return u, true
}

// filled is how much more of what is kept must be in use at the last look than at the first for
// it to be filled, as what was made with room for all that comes: samples differ by some hundredths.
const filled = 1.1

// fills reports whether a step had less in use at the first look.
func fills(first *model.HeapLook, u *heldUse) bool {
	for i := range first.Holders {
		if h := &first.Holders[i]; h.Kind == u.holder.Kind && h.Name == u.holder.Name {
			s := h.Step(u.step.Field, u.step.Type)
			return s != nil && s != u.step && s.Use != nil && *u.step.Use > 0 && *u.step.Use >= filled*(*s.Use)
		}
	}
	return false
}

// spared is what memory that is not held any more saves: with it goes what the collector lets
// grow beside it.
var spared = &fact.Formula{Name: "spared memory", Words: "{0} × (1 + {1} ÷ 100), with what GOGC lets grow beside it",
	Value: func(x []float64) float64 { return x[0] * (1 + x[1]/100) }}

// bound returns what the fix saves at most; without a goal of the collector nothing limits what
// goes with it.
func (u *heldUse) bound(p *diagnosis.Pass, share float64) diagnosis.Bound {
	percent, off := memory.GOGC(p)
	if off {
		return diagnosis.Direction(u.unused, diagnosis.MemoryGoal, share, "GOGC is off")
	}
	return diagnosis.Limit(spared.Of("memory that is not in use", fact.Bytes, u.unused, percent), diagnosis.MemoryGoal, share, "by samples of the lengths")
}

// share returns the part of the heap that is not in use there.
func (u *heldUse) share(p *diagnosis.Pass) fact.Fact {
	return fact.Fraction.Of("part of the heap", fact.Ratio, u.unused, p.Look("what is reached on the heap", "reached"))
}

// leadsThrough reports whether the way to what a holder keeps leads through a type, by a part of its name.
func leadsThrough(h *model.Holder, names ...string) bool {
	for _, s := range h.Path {
		for _, n := range names {
			if strings.Contains(s.Type, n) || strings.Contains(s.Field, n) {
				return true
			}
		}
	}
	return false
}
