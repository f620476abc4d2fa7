package rules

import (
	"slices"
	"strconv"
	"time"

	"github.com/gowhy/gowhy/internal/judge/diagnosis"
	"github.com/gowhy/gowhy/internal/judge/measure/code"
	"github.com/gowhy/gowhy/internal/judge/measure/queueing"
	"github.com/gowhy/gowhy/internal/know/fact"
	"github.com/gowhy/gowhy/internal/know/model"
)

// Some waits end by what others do who no longer exist: nobody is left to call Done, to
// answer, or to signal. Source shows who could, and the moment that none of them is there.

// An absenceKind is what is said of goroutines that wait for what nobody can bring.
type absenceKind struct {
	title  string
	waits  string // they
	nobody string // follows
	text   string // of the remedy
	code   string
	// few is how many must stand there to be stuck, and once how many must at a single
	// look without times.
	few, once int
}

// absenceKinds are those that are known. Where nobody else can have what is waited for,
// one that waits for it is enough. An answer may be asked for again and again, and what
// stands at one look is then on its way: sixteen that all are is [lookSure], and eight is
// what a signal needs, which those who wait in a loop do not count for.
var absenceKinds = map[model.AbsenceKind]absenceKind{
	model.LacksAnswer: {
		title:  "Goroutines wait for an answer that nobody is left to send",
		waits:  "to receive from",
		nobody: "no goroutine that is left could send there",
		text: "Let whoever answers live as long as somebody may ask, and close or answer what is open when it ends. " +
			"Wait for the answer in a select with the context's Done.",
		code: "select {\ncase a := <-q.reply:\n\treturn a, nil\ncase <-ctx.Done():\n\treturn nil, ctx.Err()\n}",
		few:  stuckFew, once: lookSure,
	},
	model.LacksDone: {
		title:  "A WaitGroup waits for goroutines that have ended",
		waits:  "for the WaitGroup",
		nobody: "no goroutine that is left could call Done",
		text: "Call Done on every path: defer it as the first line of the goroutine, or start it with WaitGroup.Go. " +
			"One that returned early, on an error, was counted and never done.",
		code: "wg.Go(func() {\n\tif err := fetch(); err != nil {\n\t\treturn\n\t}\n})",
		few:  stuckFew, once: lookSure,
	},
	model.LacksSignal: {
		title:  "Goroutines wait in Cond.Wait without a loop",
		waits:  "for the condition",
		nobody: "nothing there looks first whether what they wait for has happened, so that a signal given before is lost",
		text: "Wait in a loop that looks for what you wait for, under the lock: then who comes after the signal " +
			"does not wait.",
		code: "mu.Lock()\nfor len(items) == 0 {\n\tcond.Wait()\n}",
		few:  stuckFew, once: lookWaiters,
	},
	model.LacksCase: {
		title:  "Goroutines wait in a select of which no case can come",
		waits:  "for",
		nobody: "no goroutine that is left could bring any of these",
		text: "Give the select a case that surely comes: the end of a context that whoever starts these goroutines " +
			"cancels, or that has a deadline. Let whoever is at the other side close its channel when it ends.",
		code: "ctx, cancel := context.WithTimeout(ctx, time.Second)\ndefer cancel()\nselect {\ncase a := <-answer:\n\treturn a, nil\ncase <-ctx.Done():\n\treturn nil, ctx.Err()\n}",
		few:  stuckFew, once: lookSure,
	},
}

// reportAbsences reports who waits for what nobody who is there can bring.
func reportAbsences(p *diagnosis.Pass) {
	m := p.Model.Moment
	for i := range m.Absences {
		a, n := &m.Absences[i], 0
		var waiters []*model.Standing
		for j := range m.Goroutines {
			if s := &m.Goroutines[j]; s.Lacks == i+1 {
				waiters = append(waiters, s)
				n += int(s.Count)
			}
		}
		k, still := absenceKinds[a.Kind], anyStuck(m, waiters)
		least := k.few
		if !still {
			least = k.once
		}
		if a.Sure {
			least = 1
		}
		if n == 1 && restsInMain(p, waiters[0]) {
			continue
		}
		if n >= least && (still || m.Watched == 0 && (n >= k.once || atRest(m))) {
			p.Report(absent(p, a, waiters, still))
		}
	}
}

// restsInMain reports whether it is the main goroutine of a server that waits: that has
// nothing else to do, and what it waits for may never be meant to come.
func restsInMain(p *diagnosis.Pass, s *model.Standing) bool {
	frames := p.Model.Stacks.Frames(s.Stack)
	return code.ContainsAny(frames, []string{"main.main"}) && slices.ContainsFunc(p.Model.Moment.Goroutines, func(o model.Standing) bool {
		return code.ContainsAny(p.Model.Stacks.Frames(o.Stack), []string{"internal/poll.(*FD).Accept"})
	})
}

// anyStuck reports whether any of them made no step for long: where only one thing can
// let them go on, those who came later wait as long.
func anyStuck(m *model.Moment, list []*model.Standing) bool {
	return slices.ContainsFunc(list, func(s *model.Standing) bool {
		return s.Waited >= stuckFor || m.Watched >= stuckWatched && s.Still > 0
	})
}

// atRest reports whether at most one goroutine runs, who takes the moment: then nobody has
// just been let go on, which takes some microseconds where a CPU is free, and has not run.
func atRest(m *model.Moment) bool {
	n := int64(0)
	for i := range m.Goroutines {
		if s := &m.Goroutines[i]; s.State == model.StateRunning || s.State == "runnable" {
			n += s.Count
		}
	}
	return n <= 1
}

func absent(p *diagnosis.Pass, a *model.Absence, waiters []*model.Standing, still bool) diagnosis.Finding {
	k := absenceKinds[a.Kind]
	n := p.Standing("goroutines that wait for it", "goroutines", queueing.MatchStandings(waiters...))
	all := p.Standing("goroutines", "goroutines", nil)
	longest := p.Standing("longest wait", "waited", queueing.MatchStandings(waiters...))
	places := []diagnosis.Place{code.UserPlace(p, queueing.StacksOf(waiters)...)}
	for _, by := range a.By[:min(len(a.By), absentNamed)] {
		places = append(places, code.PlaceOf(by))
	}
	f := diagnosis.Finding{
		Title:      k.title,
		Stalls:     still && (n.Value >= stuckFew || atRest(p.Model.Moment)), // one of a program that goes on is a leak
		Where:      code.Places(places...),
		Evidence:   []fact.Fact{n, all},
		Cost:       diagnosis.CostOf(n, fact.Fraction.Of("part of all", fact.Ratio, n, all).Value),
		Bound:      goOn(),
		Groups:     queueing.RootsOf(p.Model, waiters),
		Stacks:     queueing.StacksOf(waiters),
		Confidence: diagnosis.Low,
		Reasons:    []string{k.reason(a)},
		RuledOut:   []string{"workers at rest: those come back to their wait in a loop, and others give them work"},
		Remedy:     diagnosis.Remedy{Text: k.text, Code: k.code},
		Prove: "Take such a dump again some seconds later, and one of the changed program under the same load: " +
			"the same goroutines at the same places confirm it; a list without them rejects it.",
	}
	if still {
		f.Confidence, f.Reasons = diagnosis.Medium, append(f.Reasons, "they have stood there too long for one who is about to come")
	} else {
		f.Reasons = append(f.Reasons, "one look shows who waits and not for how long: a second one would tell")
	}
	verb := "wait"
	if n.Value == 1 {
		verb = "waits"
	}
	asks := code.UserPlace(p, queueing.StacksOf(waiters)...)
	format, parts := "%s "+verb+" in %s %s %s", []fact.Part{n.Things("goroutine"), code.Name(asks.Function), fact.Name(k.waits), fact.Name(code.Short(a.Name))}
	if longest.Value >= time.Second.Seconds() {
		format, parts = format+", the longest for %s", append(parts, longest)
	}
	f.Say(format+", and "+k.nobody+"%s.", append(parts, fact.Name(k.causeText(a)))...)
	return f
}

// absentNamed is how many are named who could bring it.
const absentNamed = 2

func (k absenceKind) reason(a *model.Absence) string {
	switch {
	case a.Kind == model.LacksSignal:
		return "the source shows no loop around the wait, and no goroutine that is there in code that signals"
	case a.Kind == model.LacksCase && len(a.By) == 0:
		return "the source shows that nothing in the package uses the other side of any case"
	case a.Kind == model.LacksCase:
		return "the source shows all code that could bring one of the cases and what calls it, and no goroutine is in any of that"
	case a.Sure:
		return "the source shows that only this function and the goroutines that it starts have it, and none of these is left"
	}
	return "the source shows all code that can send there and what calls it, and no goroutine is in any of that"
}

// causeText names code that could bring it.
func (k absenceKind) causeText(a *model.Absence) string {
	if len(a.By) == 0 || a.By[0].Func == "" || a.Kind == model.LacksSignal {
		return ""
	}
	return ", as " + code.Short(a.By[0].Func) + " does at " + code.Base(a.By[0].File) + ":" + strconv.Itoa(a.By[0].Line)
}
