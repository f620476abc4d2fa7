package rules

import (
	"strings"
	"time"

	"github.com/gowhy/gowhy/internal/judge/diagnosis"
	"github.com/gowhy/gowhy/internal/judge/measure/code"
	"github.com/gowhy/gowhy/internal/know/fact"
	"github.com/gowhy/gowhy/internal/know/model"
)

const (
	// finalizersBusy is the part of the window from which the one goroutine that calls finalizers is taken to have no
	// time left: as a single server at 0.8 it has four waiting for it on average. One whose finalizers each wait 12 ms
	// for a reader is at 0.87; with a reader that takes all that wait it is below 0.38.
	finalizersBusy = 0.8
	// finalizersMany is the fewest waits that show a pace.
	finalizersMany = 20
)

// busyFinalizers returns the longest of the waits below the goroutine that calls finalizers, where they fill its time;
// nil where they do not. It goes on, and everything behind it queues all the same.
func busyFinalizers(p *diagnosis.Pass) (longest *model.Wait, of func(*model.Wait) bool) {
	if p.Model.Sched == nil {
		return nil, nil
	}
	of = func(w *model.Wait) bool {
		frames := p.Model.Stacks.Frames(w.Stack)
		_, user := model.UserFrame(frames)
		return user && code.ContainsAny(frames, cleaners[:2])
	}
	all := time.Duration(0)
	for i := range p.Model.Sched.Waits {
		w := &p.Model.Sched.Waits[i]
		if !of(w) {
			continue
		}
		if all += w.Total; longest == nil || w.Total > longest.Total {
			longest = w
		}
	}
	if longest == nil || longest.Count < finalizersMany || all.Seconds() < finalizersBusy*p.Seconds() {
		return nil, nil
	}
	return longest, of
}

func busyFinding(p *diagnosis.Pass, w *model.Wait, of func(*model.Wait) bool) diagnosis.Finding {
	waited := p.Waits("time that the goroutine which calls finalizers waits in them", w.Kind, of)
	part := fact.Quotient.Of("part of its time", fact.Ratio, waited, p.WindowLength())
	count := p.WaitCount("such waits", w.Kind, of)
	rate := fact.Quotient.Of("waits of finalizers", fact.PerSec, count, p.WindowLength())
	f := diagnosis.Finding{
		Title:      "Finalizers wait, and all behind them",
		Where:      code.Places(code.UserPlace(p, w.Stack)),
		Evidence:   []fact.Fact{part, rate, waited},
		Cost:       diagnosis.CostOf(part, part.Value),
		Bound:      noSaving(fact.Bytes, diagnosis.MemoryGoal, "what waits behind them was not measured"),
		Confidence: diagnosis.Medium,
		Reasons:    []string{"the trace has each of its waits; how many objects are behind it, it does not have"},
		RuledOut:   []string{"a finalizer that waits now and then: they fill the time of the one goroutine that calls them"},
		Stacks:     []model.Stack{w.Stack},
		Explains:   []string{"heapgrowth", "heldmemory"},
		Remedy: diagnosis.Remedy{Text: "Let a finalizer wait for nobody: hand what it has to say to a goroutine of your own by a select with a default, " +
			"or a list under a lock, and let that one send many at once. Better, close the thing where it ends, and keep the " +
			"finalizer for what was forgotten.",
			Code: "func (c *Codec) Close() { c.ledger.Add(c.use()) } // and defer c.Close()"},
		Prove: "A recording of the changed program has hardly a wait below runtime.runFinalizers, and its live heap stays level.",
	}
	f.Stacks = append(f.Stacks, behindFinalizer(p, w)...)
	f.Say("The one goroutine that calls finalizers waits in them for %s of its time, %s: "+
		"what is dropped beyond that queues, and is not freed.", part, rate)
	return f
}

// behindFinalizer returns the stacks that made what became more on the heap in a function which has the
// finalizer as a literal: these objects wait for it.
func behindFinalizer(p *diagnosis.Pass, w *model.Wait) (stacks []model.Stack) {
	for _, c := range keptLines(p) {
		if code.ContainsFunc(p.Model.Stacks.Frames(w.Stack), func(f string) bool { return strings.HasPrefix(f, c.Place.Function+".func") }) {
			stacks = append(stacks, c.Stacks...)
		}
	}
	return stacks
}
