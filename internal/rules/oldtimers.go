package rules

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"

	"github.com/gowhy/gowhy/internal/diagnosis"
	"github.com/gowhy/gowhy/internal/fact"
	"github.com/gowhy/gowhy/internal/model"
)

//go:embed oldtimers.md
var oldtimersPage string

var oldtimers = &diagnosis.Rule{
	Name:     "oldtimers",
	Title:    "Timers that nobody waits for stay in memory until they fire",
	Doc:      oldtimersPage,
	Needs:    []model.Source{model.Heap},
	Untimed:  true,
	Explains: []string{"heapgrowth", "gccost"}, // only where they are most of the live heap
	Check:    checkOldtimers,
}

const (
	// timersLive and timersBytes are the part of the live heap, and the least
	// memory, that timers must hold: a loop with time.After in it held 12.2 MB
	// with the old timers and 0.1 with the new.
	timersLive  = 0.10
	timersBytes = 1 << 20
	// timersMost is the part of the live heap from which its growth and its
	// cost are the timers'.
	timersMost = 0.5
	// timersMade is the share of all objects from which timers made in a loop
	// are worth the word that they are harmless.
	timersMade = 0.01
)

// timerMakers make a timer with a channel; one by time.AfterFunc is held by the
// runtime until it fires or is stopped, in every version.
var timerMakers = []string{"time.After", "time.Tick", "time.NewTimer", "time.NewTicker", "time.newTimer"}

// makesTimer reports whether an object was made for a timer with a channel.
func makesTimer(frames []model.Frame) bool {
	return slices.ContainsFunc(frames, func(f model.Frame) bool {
		return slices.Contains(timerMakers, f.Func)
	})
}

func checkOldtimers(p *diagnosis.Pass) {
	t := timersOf(p)
	made, held := div(t.made, t.allMade), div(t.live, t.allLive)
	s, why := collectedTimers.standing(p.Model)
	switch {
	case s == inForce && made >= timersMade:
		collectedTimers.harmless(p, fmt.Sprintf("timers made again and again in %s, %s of all objects", short(t.places[0].Function), pct(made)))
	case s == inForce, s == unsure:
	case t.live >= timersBytes && held >= timersLive:
		p.Report(oldtimersFinding(p, &t, held, s, why))
	case made >= timersMade:
		p.Fine(fmt.Sprintf("timers: those that are made hold %s until they fire", size(t.live)))
	}
}

// A timerUse is the memory that timers with channels take.
type timerUse struct {
	made, allMade float64 // objects
	live, allLive float64 // bytes in use at the end
	places        []diagnosis.Place
	stacks        []model.Stack
}

func timersOf(p *diagnosis.Pass) (t timerUse) {
	objects, live := p.Model.Heap.Column("alloc_objects"), p.Model.Heap.Column("inuse_space")
	at1 := p.Model.Heap
	if p.Model.LiveHeap.End != nil {
		at1, live = p.Model.LiveHeap.End, p.Model.LiveHeap.End.Column("inuse_space")
	}
	sum := map[model.Stack]float64{}
	for i := range p.Model.Heap.Samples {
		s := &p.Model.Heap.Samples[i]
		t.allMade += s.Value(objects)
		if makesTimer(p.Model.Stacks.Frames(s.Stack)) {
			t.made += s.Value(objects)
			sum[s.Stack] += s.Value(objects)
		}
	}
	for i := range at1.Samples {
		s := &at1.Samples[i]
		t.allLive += s.Value(live)
		if makesTimer(p.Model.Stacks.Frames(s.Stack)) {
			t.live += s.Value(live)
			sum[s.Stack] += s.Value(live)
		}
	}
	t.stacks = largest(sum)
	for _, s := range t.stacks[:min(len(t.stacks), mostSites)] {
		if place, ok := p.UserPlace(s); ok {
			t.places = where(append(t.places, place)...)
		}
	}
	if len(t.places) == 0 {
		t.places = []diagnosis.Place{{Function: "the program's libraries"}}
	}
	return t
}

func oldtimersFinding(p *diagnosis.Pass, t *timerUse, held float64, s standing, why string) diagnosis.Finding {
	f := diagnosis.Finding{
		Summary: fmt.Sprintf("Timers made in %s hold %s, %s of the live heap, until they fire, though nobody waits for most of them.",
			short(t.places[0].Function), size(t.live), pct(held)),
		Where: t.places,
		Evidence: []fact.Fact{
			{Name: "memory in timers", Value: t.live, Unit: fact.Bytes, Source: "heap profile: in use, under time.After, Tick, NewTimer and NewTicker"},
			{Name: "share of the live heap", Value: held, Unit: fact.Ratio, Source: "heap profile: in use"},
			{Name: "share of objects made", Value: div(t.made, t.allMade), Unit: fact.Ratio, Source: "allocs profile"},
		},
		Cost: diagnosis.Cost{Value: t.live, Unit: fact.Bytes, Share: held, What: "live heap in timers"},
		Bound: diagnosis.Bound{Value: t.live, Unit: fact.Bytes, Goal: diagnosis.MemoryGoal, Share: held,
			Method:  "all timers in use, as if none were waited for. The process may give back more than that, since the heap grows by GOGC percent of what lives",
			Partial: true},
		Confidence: diagnosis.High,
		Reasons:    []string{"two kinds of evidence agree: the heap profile has the timers, and " + why},
		RuledOut: []string{
			"timers of " + collectedTimers.version() + " and later: " + collectedTimers.what + ", and here that is not in force",
			"time.AfterFunc: its timers are not counted, for they stay until they fire in every version",
		},
		Stacks: t.stacks,
		Remedy: diagnosis.Remedy{
			Text: "Stop the timer when what it was for has come, or keep one for the loop and Reset it. ",
			Code: "timer := time.NewTimer(wait)\ndefer timer.Stop()\nfor {\n\ttimer.Reset(wait)\n\tselect {\n\tcase v := <-in:\n\t\thandle(v)\n\tcase <-timer.C:\n\t\treturn errTimeout\n\t}\n}",
		},
		Experiment: changed(diagnosis.LiveHeap, diagnosis.PeakRSS, "A heap profile of a new recording must have next to nothing in use under time.NewTimer."),
	}
	if s == undone {
		f.Remedy.Text += "Or take the setting away: with go 1.23 or later in go.mod, and without asynctimerchan=1 in GODEBUG, the collector takes them. Channels of timers then have no buffer, and no old value after Stop or Reset."
		f.Remedy.Knob = withGODEBUG(p.Model, collectedTimers.undo.key, "0")
		f.Experiment = tried(diagnosis.LiveHeap, f.Remedy.Knob, "", f.Experiment.Note)
		f.Experiment.Else = diagnosis.PeakRSS
	} else {
		f.Remedy.Text += "Or build with " + collectedTimers.version() + " or later, and with that version in go.mod: " + collectedTimers.what + "."
	}
	f.Remedy.Text = strings.TrimSpace(f.Remedy.Text)
	f.Experiment.Promised = promised(diagnosis.LiveHeap, fact.Amdahl(held), "no timer in use")
	if held < timersMost {
		f.Explains = []string{}
	}
	return f
}
