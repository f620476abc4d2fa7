package rules

import (
	"cmp"
	_ "embed"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/gowhy/gowhy/internal/diagnosis"
	"github.com/gowhy/gowhy/internal/fact"
	"github.com/gowhy/gowhy/internal/model"
)

//go:embed leakedtimers.md
var leakedtimersPage string

var leakedtimers = &diagnosis.Rule{
	Name:  "leakedtimers",
	Title: "Context deadlines that nobody cancels",
	Doc:   leakedtimersPage,
	Needs: []model.Source{model.Trace},
	// Those that run out at once queue for the lock of the context above them.
	Explains: []string{"goroutinechurn", "hotmutex"},
	Check:    checkLeakedtimers,
}

const (
	// timersRate is how many deadlines must expire a second. The catalogue's
	// figure; the consumer that the rule was made after showed 240,000 in a
	// trace, the healed one none.
	timersRate = 100
	// timersPerLive is how many must have run for each that was alive at
	// once: they do nothing and end, and so appear in no goroutine profile.
	timersPerLive = 10
	// timersAwaited is the share of expiries that somebody waited for, from
	// which they are timeouts doing their work: a leaked deadline closes a
	// channel that nobody listens to any more.
	timersAwaited = 0.5
	// timersWakes is the part of all goroutine runs from which the deadlines'
	// are what wakes threads: each needs a P at its own time, and where most are
	// idle one is woken for it. In the lab's consumer with 8 Ps they were a
	// third of the runs, and cancelling took three fifths of the CPU away that
	// fewer Ps would have saved.
	timersWakes = 0.2
)

func checkLeakedtimers(p *diagnosis.Pass) {
	var expired, peak int
	var groups []*model.Group
	for i := range p.Model.Sched.Groups {
		if g := &p.Model.Sched.Groups[i]; deadlineFunc(g.Name) {
			groups = append(groups, g)
			expired += g.Created
			peak += g.Peak
		}
	}
	rate := div(float64(expired), p.Seconds())
	if rate < timersRate || expired < timersPerLive*peak {
		return
	}
	awaited := awaitedDeadlines(p)
	if float64(awaited) >= timersAwaited*float64(expired) {
		p.Fine(fmt.Sprintf("context deadlines: %s a second expire, and somebody waits for them: they are real timeouts", num(rate)))
		return
	}
	p.Report(timersFinding(p, groups, rate, expired, awaited))
}

// deadlineFunc reports whether a start function is the one that the context
// package runs when a deadline expires: a closure of WithDeadlineCause since
// Go 1.21, of WithDeadline before. The compiler numbers closures as it sees
// fit, and puts the name of the function that it inlined them into in front.
func deadlineFunc(name string) bool {
	for _, f := range []string{"WithDeadlineCause.func", "WithDeadline.func"} {
		if at := strings.Index(name, f); at > 0 && name[at-1] == '.' {
			return true
		}
	}
	return false
}

// awaitedDeadlines counts goroutines that were woken by an expiring deadline.
func awaitedDeadlines(p *diagnosis.Pass) (n int64) {
	for _, w := range p.Model.Sched.Wakes {
		if slices.ContainsFunc(p.Model.Stacks.Frames(w.Waker), func(f model.Frame) bool { return deadlineFunc(f.Func) }) {
			n += w.Count
		}
	}
	return n
}

func timersFinding(p *diagnosis.Pass, groups []*model.Group, rate float64, expired int, awaited int64) diagnosis.Finding {
	places, source := deadlineCallers(p)
	cores, part, method := timersCost(p, groups)
	cores = div(cores, p.Seconds())
	busy, _, _ := diagnosis.Busy(p.Model)
	share := min(1, div(cores, busy))
	f := diagnosis.Finding{
		Summary: fmt.Sprintf("%s context deadlines a second run out with nobody waiting: each starts a goroutine, and keeps its context in memory until then.", num(rate)),
		Where:   places,
		Evidence: []fact.Fact{
			{Name: "deadlines expired", Value: float64(expired), Unit: fact.Count, Source: "trace: goroutines started by context deadlines"},
			{Name: "deadlines expired a second", Value: rate, Unit: fact.PerSec, Source: "trace: goroutines started by context deadlines"},
			{Name: "goroutines woken by them", Value: float64(awaited), Unit: fact.Count, Source: "trace: wake-ups"},
		},
		Cost: diagnosis.Cost{Value: cores, Unit: fact.Cores, Share: share, What: "Ps taken by deadline goroutines, their scheduling and the collector"},
		Bound: diagnosis.Bound{
			Value: cores, Unit: fact.Cores, Share: share, Goal: diagnosis.CPUGoal, Method: method,
		},
		Confidence: diagnosis.High,
		Reasons: []string{
			"two views of the trace agree: the goroutines are started by the context package, and hardly any of them wakes anybody",
		},
		RuledOut: []string{
			fmt.Sprintf("real timeouts: %s of %s expiries ended somebody's wait", num(awaited), num(expired)),
			"goroutines of your own time.AfterFunc: only those of context deadlines are counted",
			"the collection of timers since " + collectedTimers.version() + ": it covers timers with channels, not the one inside a context",
		},
		Remedy: diagnosis.Remedy{
			Text: "Call the cancel function of context.WithTimeout and context.WithDeadline as soon as the work is over, on every path, not only after an error. `go vet` does not see a cancel that is only called on some paths.",
			Code: "ctx, cancel := context.WithTimeout(parent, 5*time.Second)\nmsg, err := read(ctx)\ncancel() // at once in a loop; defer cancel() where the function ends with the work",
		},
		Experiment: changed(diagnosis.Goroutines, diagnosis.CPUPerOp, "Each deadline that runs out starts a goroutine: in `gowhy ledger --by group after.gowhy` of a new recording context.WithDeadlineCause is gone. CPU time and live heap fall with it; the number of collections misleads, it often rises when the live heap shrinks."),
	}
	if source == "" {
		f.Reasons = append(f.Reasons, "the calls are not located: timers run without a stack. A CPU or allocs profile would name them; `grep -rn 'context.With\\(Timeout\\|Deadline\\)'` lists the candidates")
	} else {
		f.Reasons = append(f.Reasons, "the calls are located by the "+source)
	}
	for _, g := range groups {
		f.Groups = append(f.Groups, g.Name)
	}
	if part >= timersWakes {
		f.Explains = append(slices.Clone(p.Rule.Explains), "idlespin", "futexstorm")
	}
	return f
}

// timersCost returns the most P time that the cure could bring, in seconds of
// the window, and the part that the groups have in all runs of goroutines.
func timersCost(p *diagnosis.Pass, groups []*model.Group) (seconds, part float64, method string) {
	var own, schedule, collect time.Duration
	var runs, all int64
	for _, g := range groups {
		own += g.Times.Running
		runs += g.Runs
	}
	for i := range p.Model.Sched.Groups {
		all += p.Model.Sched.Groups[i].Runs
	}
	for _, q := range p.Model.Sched.Procs {
		schedule += q.Scheduler
		collect += q.GC
	}
	part = div(float64(runs), float64(all))
	return own.Seconds() + part*schedule.Seconds() + collect.Seconds(), part, fmt.Sprintf(
		"Amdahl: 0 to the sum of three P times: the goroutines' own (%s), their %s of all runs in the scheduler's (%s), and all of the collector's (%s), since the contexts they keep alive are part of its work",
		dur(own), pct(part), dur(time.Duration(part*float64(schedule))), dur(collect))
}

// deadlineCallers finds the user's code that makes contexts with deadlines,
// in the profile that has it; the trace itself cannot, since a timer's
// goroutine is started by nobody's code.
func deadlineCallers(p *diagnosis.Pass) (places []diagnosis.Place, source string) {
	for _, from := range []struct {
		profile *model.Profile
		name    string
	}{{p.Model.Heap, "allocs profile"}, {p.Model.CPU, "CPU profile"}} {
		if from.profile == nil {
			continue
		}
		count := map[diagnosis.Place]int64{}
		for _, s := range from.profile.Samples {
			if place, ok := deadlineCaller(p, s.Stack); ok && len(s.Values) > 0 {
				count[place] += max(s.Values[0], 1)
			}
		}
		for place := range count {
			places = append(places, place)
		}
		slices.SortFunc(places, func(a, b diagnosis.Place) int {
			return cmp.Or(cmp.Compare(count[b], count[a]), cmp.Compare(a.Function, b.Function), cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line))
		})
		if len(places) > 0 {
			return places[:min(len(places), 3)], from.name
		}
	}
	return nil, ""
}

// deadlineCaller is the user's frame nearest above a call into
// context.WithTimeout or WithDeadline.
func deadlineCaller(p *diagnosis.Pass, s model.Stack) (diagnosis.Place, bool) {
	made := false
	for _, f := range p.Model.Stacks.Frames(s) {
		switch {
		case strings.HasPrefix(f.Func, "context.WithDeadline") || strings.HasPrefix(f.Func, "context.WithTimeout"):
			// Its own closures are the expiry, with the scheduler below them.
			made = !deadlineFunc(f.Func)
		case made && !model.IsStd(f.Func):
			return diagnosis.Place{Function: f.Func, File: f.File, Line: f.Line}, true
		}
	}
	return diagnosis.Place{}, false
}
