package rules

import (
	_ "embed"

	"github.com/gowhy/gowhy/internal/ground/statistics"
	"github.com/gowhy/gowhy/internal/judge/diagnosis"
	"github.com/gowhy/gowhy/internal/judge/measure/code"
	"github.com/gowhy/gowhy/internal/judge/measure/cpu"
	"github.com/gowhy/gowhy/internal/know/fact"
	"github.com/gowhy/gowhy/internal/know/model"
)

//go:embed oldtimers.md
var oldtimersPage string

var oldtimers = &diagnosis.Rule{
	Name:     "oldtimers",
	Title:    "Timers that nobody waits for stay in memory until they fire",
	Doc:      oldtimersPage,
	Needs:    []model.Source{model.Heap},
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

// makesTimer reports whether an object was made for a timer with a channel:
// time.AfterFunc, which contexts with deadlines call, shares the inner maker.
func makesTimer(frames []model.Frame) bool {
	return code.ContainsAny(frames, timerMakers) && !code.ContainsFunc(frames, func(f string) bool { return f == "time.AfterFunc" })
}

func checkOldtimers(p *diagnosis.Pass) {
	timers := p.Frames(makesTimer)
	t := timerUse{
		objects: p.SampleShare("share of objects made", "alloc_objects", timers),
		live:    p.Samples("memory in timers", "inuse_space", timers),
		share:   p.SampleShare("share of the live heap", "inuse_space", timers),
	}
	t.places, t.stacks = timerPlaces(p)
	s, why := collectedTimers.status(p.Model)
	switch {
	case s == inForce && t.objects.Value >= timersMade:
		collectedTimers.harmless(p, fact.Sentence("timers made again and again in %s, %s of all objects", code.Name(t.places[0].Function), t.objects))
	case s == inForce, s == unsure:
	case t.live.Value >= timersBytes && t.share.Value >= timersLive:
		p.Report(oldtimersFinding(p, &t, s, why))
	case t.objects.Value >= timersMade:
		p.Fine(fact.Sentence("timers: those that are made hold %s until they fire", t.live))
	}
}

// A timerUse is the memory that timers with channels take.
type timerUse struct {
	objects fact.Fact // share of all objects made
	live    fact.Fact // bytes in use at the end
	share   fact.Fact // share of all in use
	places  []diagnosis.Place
	stacks  []model.Stack
}

// timerPlaces returns where timers are made, by how many and how much of them is in use.
func timerPlaces(p *diagnosis.Pass) (places []diagnosis.Place, stacks []model.Stack) {
	sum := map[model.Stack]float64{}
	for _, tree := range []string{"alloc_objects", "inuse_space"} { // which are columns, too
		if profile := fact.ProfileOf(p.Model, tree); profile != nil {
			value := profile.Column(tree)
			for i := range profile.Samples {
				if s := &profile.Samples[i]; makesTimer(p.Model.Stacks.Frames(s.Stack)) {
					sum[s.Stack] += s.Value(value)
				}
			}
		}
	}
	stacks = statistics.Largest(sum)
	for _, s := range stacks {
		if place, ok := p.UserPlace(s); ok && len(places) < cpu.MostSites {
			places = code.Places(append(places, place)...)
		}
	}
	if len(places) == 0 {
		places = []diagnosis.Place{{Function: "the program's libraries"}}
	}
	return places, stacks
}

func oldtimersFinding(p *diagnosis.Pass, t *timerUse, s status, why string) diagnosis.Finding {
	f := diagnosis.Finding{
		Where:    t.places,
		Evidence: []fact.Fact{t.live, t.share, t.objects},
		Cost:     diagnosis.CostOf(t.live, t.share.Value),
		Bound: diagnosis.Direction(t.live, diagnosis.MemoryGoal, t.share.Value, "all timers in use, as if none were waited for. "+
			"The process may give back more than that, since the heap grows by GOGC percent of what lives"),
		Confidence: diagnosis.High,
		Reasons:    []string{"two kinds of evidence agree: the heap profile has the timers, and " + why},
		RuledOut: []string{
			"timers of " + collectedTimers.version() + " and later: " + collectedTimers.what + ", and here that is not in force",
			"time.AfterFunc: its timers are not counted, for they stay until they fire in every version",
		},
		Stacks: t.stacks,
		Remedy: diagnosis.Remedy{
			Text: "Stop the timer when what it was for has come, or keep one for the loop and Reset it. ",
			Code: "timer := time.NewTimer(wait)\ndefer timer.Stop()\nfor {\n\ttimer.Reset(wait)\n\tselect {\n\tcase v := <-in:\n" +
				"\t\thandle(v)\n\tcase <-timer.C:\n\t\treturn errTimeout\n\t}\n}",
		},
		Experiment: codeChange(diagnosis.LiveHeap, diagnosis.PeakRSS, "A heap profile of a new recording must have next to nothing in use under time.NewTimer."),
	}
	f.Say("Timers made in %s hold %s, %s of the live heap, until they fire, though nobody waits for most of them.", code.Name(t.places[0].Function), t.live, t.share)
	if s == undone {
		f.Remedy.Text += "Or take the setting away: with go 1.23 or later in go.mod, and without asynctimerchan=1 in GODEBUG, " +
			"the collector takes them. Channels of timers then have no buffer, and no old value after Stop or Reset."
		f.Remedy.Knob = withGODEBUG(p.Model, collectedTimers.undo.key, "0")
		f.Experiment = settingTrial(diagnosis.LiveHeap, f.Remedy.Knob, "", f.Experiment.Note)
		f.Experiment.Else = diagnosis.PeakRSS
	} else {
		f.Remedy.Text += "Or build with " + collectedTimers.version() + " or later, and with that version in go.mod: " + collectedTimers.what + "."
	}
	f.Experiment.Promised = metricPromise(diagnosis.LiveHeap, fact.Amdahl(t.share.Value), "no timer in use")
	if t.share.Value < timersMost {
		f.Explains = []string{}
	}
	return f
}
