package rules

import (
	_ "embed"
	"slices"
	"time"

	"github.com/gowhy/gowhy/internal/judge/diagnosis"
	"github.com/gowhy/gowhy/internal/judge/measure/code"
	"github.com/gowhy/gowhy/internal/judge/measure/cpu"
	"github.com/gowhy/gowhy/internal/know/fact"
	"github.com/gowhy/gowhy/internal/know/model"
)

//go:embed slowstart.md
var slowstartPage string

var slowstart = &diagnosis.Rule{
	Name:  "slowstart",
	Title: "Starting up takes much of what was recorded",
	Doc:   slowstartPage,
	// No Needs: either kind of CPU samples will do, and a trace alone tells who waits.
	Explains: []string{"idleprocs"}, // only where it waits
	Check:    checkSlowstart,
}

const (
	// startShare is the part of the CPU in starting from which it disturbs the other shares,
	// as much as makes a function hot.
	startShare = 0.10
	// startWait is the part of the window that the main goroutine must wait at one place to
	// have done only the start: that of a server waits nearly all the time, that of a
	// program which shares out its work and collects the answers waits often and briefly.
	startWait = 0.5
	// startWaits is how many waits at that place are one: it and the one that a signal or
	// the end of the recording broke off.
	startWaits = 2
	// startGoesOn is the part of the window to which a function that main calls must go on for it to be
	// what the program does once it has started, and startLess how much of the CPU is in use then, of what
	// was before: a program that only computes, one thing after another, uses as much of it in each.
	startGoesOn = 0.8
	startLess   = 0.5
)

func checkSlowstart(p *diagnosis.Pass) {
	checkStartCalls(p)
	s, ok := cpu.RequireUse(p)
	if !ok {
		return
	}
	starts := startOf(p.Model)
	share := s.ShareIn("CPU in starting up", starts)
	if share.Value < startShare {
		return
	}
	p.Report(startFinding(p, &s, share, starts))
}

// startOf returns which stacks are of the start: initialising packages, and the main goroutine
// where it waits from then on while others work, or else in what it calls before it does something
// else to the end.
func startOf(m *model.Model) func([]model.Frame) bool {
	waits := mainWaits(m)
	first := map[string]bool{}
	if !waits {
		first = calledFirst(m)
	}
	return func(frames []model.Frame) bool {
		if model.OfRecording(frames) {
			return false
		}
		if code.ContainsFunc(frames, func(f string) bool { return code.StartsWith(f, []string{"runtime.doInit"}) }) {
			return true
		}
		return waits && code.ContainsFunc(frames, isMain) || first[calledByMain(frames)]
	}
}

// calledByMain returns the first function outside of package main that the main goroutine is in; "" for other
// goroutines, and where it is in none.
func calledByMain(frames []model.Frame) string {
	main := false
	for _, f := range slices.Backward(frames) {
		pkg, _ := model.SplitSymbol(f.Func)
		switch {
		case isMain(f.Func):
			main = true
		case main && pkg != "main":
			return f.Func
		}
	}
	return ""
}

// calledFirst returns the functions that main calls one after another before it begins with what it goes on
// with to the end, where the CPU has less to do from then on.
func calledFirst(m *model.Model) map[string]bool {
	if m.Kernel == nil || m.Kernel.CPU == nil {
		return nil
	}
	type span struct{ first, last time.Duration }
	spans := map[string]span{}
	for _, x := range m.Kernel.Moments {
		name := calledByMain(m.Stacks.Frames(m.Kernel.CPU.Samples[x.Sample].Stack))
		if name == "" || x.At < 0 {
			continue
		}
		s, ok := spans[name]
		if !ok || x.At < s.first {
			s.first = x.At
		}
		s.last = max(s.last, x.At)
		spans[name] = s
	}
	begins := m.Run.Duration
	for _, s := range spans {
		if float64(s.last) >= startGoesOn*float64(m.Run.Duration) {
			begins = min(begins, s.first)
		}
	}
	first, ends := map[string]bool{}, time.Duration(0)
	for name, s := range spans {
		if s.last <= begins {
			first[name], ends = true, max(ends, s.last)
		}
	}
	if begins == m.Run.Duration || ends == 0 {
		return nil
	}
	before, after := 0.0, 0.0
	for _, x := range m.Kernel.Moments {
		if x.At <= ends {
			before++
		} else {
			after++
		}
	}
	if after*ends.Seconds() > startLess*before*(m.Run.Duration-ends).Seconds() {
		return nil
	}
	return first
}

func isMain(function string) bool { return function == "runtime.main" || function == "main.main" }

// mainWaits reports whether the main goroutine waits at one place for most of the window.
func mainWaits(m *model.Model) bool {
	if m.Sched == nil {
		return false
	}
	for i := range m.Sched.Waits {
		w := &m.Sched.Waits[i]
		if isMain(w.Group) && w.Count+w.Open <= startWaits && float64(w.Total) >= startWait*float64(m.Run.Duration) {
			return true
		}
	}
	return false
}

func startFinding(p *diagnosis.Pass, s *cpu.Use, share fact.Fact, starts func([]model.Frame) bool) diagnosis.Finding {
	places := s.Functions(p.Model, starts)
	took := fact.Product.Of("CPU time of starting up", fact.Seconds, s.CoresOf(share), p.WindowLength())
	f := diagnosis.Finding{
		Where:      cpu.Places(places, cpu.MostNamed),
		Stacks:     cpu.Stacks(places, len(places)),
		Evidence:   []fact.Fact{share, took, s.InUse()},
		Cost:       s.Cost(share),
		Bound:      noSaving(fact.Cores, diagnosis.CPUGoal, "whether what is loaded and built is needed, and needed before the first answer, is not known"),
		Remark:     true,
		Confidence: diagnosis.Low,
		Reasons:    []string{fact.Sentence("the share is sure, from %s samples; that it is too much is not", s.SampleCount())},
		RuledOut: []string{"a main goroutine that does the work: it waits at one place for half of the window or more, " +
			"or what it calls is over before it begins with something else, from which on less than half as much of " +
			"the CPU is in use, or only package initialisation is counted"},
		Explains: []string{},
		Remedy: diagnosis.Remedy{
			Text: "To start sooner, make what is not needed for the first answer when it is first asked for, " +
				"do independent parts side by side, and compute at build time what never changes. " +
				"It is paid once and is not what an operation costs: other shares have it in, so record the running program for them " +
				"(`gowhy record -d 10s --pid PID`).",
			Code: "var table = sync.OnceValue(func() map[string]int { return build() }) // built when it is first asked for",
		},
		Experiment: codeChange(diagnosis.CPUPerOp, "", "The share of starting up in a recording of the changed program that is as long must fall with it."),
	}
	if len(places) == 0 {
		f.Say("Starting up takes %s of CPU time, %s of what was recorded.", took, share)
		return f
	}
	f.Say("Starting up takes %s of CPU time, %s of what was recorded, %s of that in %s.", took, share, s.FirstPart(places, share), code.Name(places[0].Function))
	return f
}
