package rules

import (
	_ "embed"
	"slices"
	"strings"

	"github.com/gowhy/gowhy/internal/judge/diagnosis"
	"github.com/gowhy/gowhy/internal/judge/measure/code"
	"github.com/gowhy/gowhy/internal/judge/measure/queueing"
	"github.com/gowhy/gowhy/internal/know/fact"
	"github.com/gowhy/gowhy/internal/know/model"
)

//go:embed blockedfinalizer.md
var blockedfinalizerPage string

// blockedfinalizer needs a moment, as stalled does.
var blockedfinalizer = &diagnosis.Rule{
	Name:     "blockedfinalizer",
	Title:    "A finalizer or cleanup blocks all behind it",
	Doc:      blockedfinalizerPage,
	Explains: whileBlocked,
	Check:    checkBlockedfinalizer,
}

// whileBlocked are the symptoms of a finalizer that stands, whatever waits behind it.
var whileBlocked = []string{"hotmutex", "goroutinegrowth", "idleprocs"}

func checkBlockedfinalizer(p *diagnosis.Pass) {
	if s := blockedCleaner(p); s != nil {
		p.Report(blockedFinding(p, s))
	} else if w, of := busyFinalizers(p); w != nil {
		p.Report(busyFinding(p, w, of))
	}
}

// blockedCleaner returns the goroutine that runs finalizers or cleanups, where it stands in one:
// who has stood longest, for several run cleanups; nil where it runs or was seen to move.
func blockedCleaner(p *diagnosis.Pass) (longest *model.Standing) {
	m := p.Model.Moment
	if m == nil {
		return nil
	}
	for i := range m.Goroutines {
		s := &m.Goroutines[i]
		frames := p.Model.Stacks.Frames(s.Stack)
		if _, user := model.UserFrame(frames); !user || !code.ContainsAny(frames, cleaners) || slices.Contains(queueing.AtWork, s.State) {
			continue
		}
		if moved := m.Watched >= stuckWatched && s.Still == 0 && s.Waited < stuckWatched; moved && !m.Dead {
			continue
		}
		if longest == nil || s.Waited > longest.Waited {
			longest = s
		}
	}
	return longest
}

// cleaners are the runtime's functions that run finalizers and cleanups. Since Go 1.25 cleanups
// have goroutines of their own, up to one for four Ps; before, both had one.
var cleaners = []string{"runtime.runfinq", runFinalizers, runCleanups}

const (
	runFinalizers = "runtime.runFinalizers"
	runCleanups   = "runtime.runCleanups"
)

// runs reports whether a goroutine is one that began in a function of the runtime.
func runs(p *diagnosis.Pass, s *model.Standing, function string) bool {
	return code.ContainsAny(p.Model.Stacks.Frames(s.Stack), []string{function})
}

// behindCleaner returns the holder of what waits for the goroutine that stands; nil where nobody
// looked at the heap, or nothing waits.
func behindCleaner(p *diagnosis.Pass, s *model.Standing) *model.Holder {
	look := lastLook(p.Model)
	if look == nil {
		return nil
	}
	of := "finalizers"
	if runs(p, s, runCleanups) {
		of = "cleanups"
	}
	for i := range look.Holders {
		if h := &look.Holders[i]; h.Kind == model.HeldByFinalizers && strings.HasPrefix(h.Name, of) {
			return h
		}
	}
	return nil
}

func blockedFinding(p *diagnosis.Pass, s *model.Standing) diagnosis.Finding {
	m := p.Model.Moment
	here := p.Standing("goroutines that run finalizers or cleanups and stand", "goroutines", queueing.MatchStandings(s))
	since := p.Standing("how long it stands there", "waited", queueing.MatchStandings(s))
	all := p.Standing("goroutines", "goroutines", nil)
	f := diagnosis.Finding{
		Stalls:     stuck(m, s) || m.Dead,
		Where:      code.Places(code.UserPlace(p, s.Stack)),
		Evidence:   []fact.Fact{here, all},
		Cost:       diagnosis.CostOf(here, fact.Fraction.Of("part of all", fact.Ratio, here, all).Value),
		Bound:      goOn(),
		Confidence: diagnosis.High,
		Reasons:    []string{"one goroutine runs all of them, one after the other, and it stands in this one"},
		RuledOut:   []string{"a runtime at rest: then it waits in the runtime's own code and not in the program's"},
		Stacks:     []model.Stack{s.Stack},
		Remedy: diagnosis.Remedy{Text: "Let the finalizer start a goroutine for what takes long, or close the thing explicitly: " +
			"until it returns nothing else is finalized, and what waits for that is never freed.",
			Code: "runtime.AddCleanup(c, func(fd int) { go closeSlowly(fd) }, c.fd)"},
		Prove: "A dump of the changed program has no goroutine in runtime.runFinalizers or runtime.runCleanups " +
			"below a function of the program.",
	}
	which, waits := "The goroutine that runs finalizers and cleanups", "nothing behind it is called or freed"
	switch {
	case runs(p, s, runFinalizers):
		which = "The goroutine that runs finalizers"
	case runs(p, s, runCleanups):
		which, waits, f.Confidence = "A goroutine that runs cleanups", "those that it has taken are not called", diagnosis.Medium
		f.Reasons = []string{"few goroutines run all cleanups, one for four Ps at most: what this one does not call, another may"}
	}
	if !f.Stalls {
		f.Confidence, f.Reasons = diagnosis.Low, append(f.Reasons, "one look does not show for how long: a second one would tell")
	}
	format, parts := which+" %s", []fact.Part{fact.Name(queueing.Activity(p, s))}
	if since.Value > 0 {
		format, parts = format+" for %s", append(parts, since)
	}
	format += ": " + waits
	if h := behindCleaner(p, s); h != nil {
		held, n := p.Held("held by "+h.Words(), "bytes", h), p.Held("objects held by "+h.Words(), "objects", h)
		format, parts = format+", and %s in %s wait for that", append(parts, held, n.Things("object"))
		f.Experiment = codeChange(diagnosis.LiveHeap, diagnosis.PeakRSS, f.Prove)
		if f.Stalls && (h == mostGrown(lastLook(p.Model)) || h == mainHolder(lastLook(p.Model))) {
			f.Explains = append(slices.Clone(whileBlocked), "heldmemory", "heapgrowth")
		}
	}
	f.Say(format+".", parts...)
	return f
}
