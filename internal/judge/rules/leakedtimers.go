package rules

import (
	"cmp"
	_ "embed"
	"slices"
	"strings"

	"github.com/gowhy/gowhy/internal/ground/statistics"
	"github.com/gowhy/gowhy/internal/judge/diagnosis"
	"github.com/gowhy/gowhy/internal/judge/measure/code"
	"github.com/gowhy/gowhy/internal/judge/measure/cpu"
	"github.com/gowhy/gowhy/internal/judge/measure/memory"
	"github.com/gowhy/gowhy/internal/know/fact"
	"github.com/gowhy/gowhy/internal/know/model"
)

//go:embed leakedtimers.md
var leakedtimersPage string

var leakedtimers = &diagnosis.Rule{
	Name:  "leakedtimers",
	Title: "Context deadlines that nobody cancels",
	Doc:   leakedtimersPage,
	// No Needs: a trace shows those that run out, or CPU samples where they are many;
	// heap profiles those that have not yet.
	// Those that run out at once queue for the lock of the context above them.
	Explains: []string{"goroutinechurn", "hotmutex"},
	Check:    checkLeakedtimers,
}

const (
	// timersRate is how many deadlines must expire a second. The catalogue's
	// figure; the consumer that the rule was made after showed 240,000 in a
	// trace, the fixed one none.
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
	// timersKept is the least memory of deadlines that pile up: the runtime samples one allocation in 512 KiB. Of a
	// hundred that are alive it has one by chance in 2% of the profiles, and three of them in one of a million.
	timersKept = 3 * 512 << 10
)

func checkLeakedtimers(p *diagnosis.Pass) {
	expired := checkSampled
	if p.Model.Sched != nil {
		expired = checkExpired
	}
	if !expired(p) {
		checkPending(p)
	}
}

// checkExpired judges the deadlines that ran out; false when they are too few.
func checkExpired(p *diagnosis.Pass) bool {
	var groups []string
	for i := range p.Model.Sched.Groups {
		if g := &p.Model.Sched.Groups[i]; deadlineFunc(g.Name) {
			groups = append(groups, g.Name)
		}
	}
	expired := p.Goroutines("deadlines expired", groups, "created")
	rate := fact.Quotient.Of("deadlines expired a second", fact.PerSec, expired, p.WindowLength())
	if rate.Value < timersRate || expired.Value < timersPerLive*p.Goroutines("", groups, "peak").Value {
		return false
	}
	awaited := awaitedDeadlines(p)
	if awaited.Value >= timersAwaited*expired.Value {
		p.Fine(fact.Sentence("context deadlines: %s a second expire, and somebody waits for them: they are real timeouts", rate.Number()))
		return true
	}
	p.Report(timersFinding(p, groups, rate, expired, awaited))
	return true
}

// A pending is contexts with deadlines that were made in the window, have neither
// expired nor been cancelled, and stay in memory until one or the other.
type pending struct {
	objects, bytes fact.Fact // by which they grew
	survival       fact.Fact // part of the objects made that is still there
	goroutines     fact.Fact // at the end, all of which could wait for some
	places         []diagnosis.Place
	stacks         []model.Stack
}

// checkPending finds deadlines that nobody cancels before the first runs out: as
// memory in use under context.WithTimeout that grows while goroutines do not.
func checkPending(p *diagnosis.Pass) {
	d := measurePending(p)
	if len(d.stacks) == 0 || d.bytes.Value < timersKept || d.goroutines.Value == 0 ||
		d.objects.Value < timersRate*p.Seconds() || d.objects.Value < timersPerLive*d.goroutines.Value {
		return
	}
	p.Report(pendingFinding(p, &d))
}

func measurePending(p *diagnosis.Pass) (d pending) {
	survivors := map[model.Stack]float64{}
	living := memory.SurvivingStacks(p.Model)
	for stack, objects := range memory.StackGrowth(p.Model, "inuse_objects") {
		if _, ok := deadlineCaller(p, stack); ok && living[stack] {
			survivors[stack] = objects
		}
	}
	d.stacks = statistics.Largest(survivors)
	for _, stack := range d.stacks {
		if place, _ := deadlineCaller(p, stack); len(d.places) < cpu.MostSites {
			d.places = code.Places(append(d.places, place)...)
		}
	}
	these := code.MatchStacks(d.stacks)
	d.objects = memory.ObjectGrowth(p, d.stacks)
	d.bytes = fact.Difference.Of("memory of contexts with deadlines that piled up", fact.Bytes,
		p.Samples("in use at the end", "inuse_space", these), p.SamplesAtStart("in use at the start", "inuse_space", these))
	d.survival = fact.Fraction.Of("part of the objects made there that is still there", fact.Ratio, d.objects, p.Samples("objects made there", "alloc_objects", these))
	d.goroutines = p.Samples("goroutines at the end", "goroutine", nil)
	if d.goroutines.Value == 0 {
		d.goroutines = p.Metric("goroutines at the end", memory.MetricGoroutines, fact.Last)
	}
	return d
}

func pendingFinding(p *diagnosis.Pass, d *pending) diagnosis.Finding {
	share := fact.Quotient.Of("share of the live heap", fact.Ratio, d.bytes, p.Samples("live heap", "inuse_space", nil))
	rate := fact.Quotient.Of("objects of contexts with deadlines that stay, a second", fact.PerSec, d.objects, p.WindowLength())
	f := diagnosis.Finding{
		Where:    d.places,
		Evidence: []fact.Fact{d.objects, rate, d.survival, d.goroutines, d.bytes, share},
		Cost:     diagnosis.CostOf(d.bytes, share.Value),
		Bound: diagnosis.Direction(d.bytes, diagnosis.MemoryGoal, share.Value,
			"all contexts that piled up in the window; what they refer to goes with them, and more is made until the first deadline"),
		Confidence: diagnosis.Medium,
		Reasons: []string{
			"the heap profiles show what stays; that it is cancelled at its deadline and no sooner is concluded from it",
			"deadlines that somebody still waits for look the same, if a goroutine waits for many of them",
		},
		RuledOut: []string{
			fact.Sentence("work in progress: objects of contexts grew by %s while there were %s goroutines", d.objects, d.goroutines),
			fact.Sentence("contexts that are cancelled and not collected yet: at the last collection %s of the objects made there lived", d.survival),
			"the collection of timers since " + collectedTimers.version() + ": it covers timers with channels, not the one inside a context",
		},
		Stacks: d.stacks,
		Remedy: deadlineRemedy,
		Experiment: codeChange(diagnosis.LiveHeap, diagnosis.PeakRSS,
			"A heap profile of a new recording must have next to nothing in use under context.WithDeadlineCause."),
		Explains: append(slices.Clone(p.Rule.Explains), "heapgrowth", "gccost"),
	}
	f.Say("Contexts made with deadlines in %s pile up, by %s in the window: nobody cancels them, and each stays until its deadline.",
		code.Name(d.places[0].Function), d.bytes)
	adviseRelease(p, &f)
	return f
}

var deadlineRemedy = diagnosis.Remedy{
	Text: "Call the cancel function of context.WithTimeout and context.WithDeadline as soon as the work is over, on every path, " +
		"not only after an error. `go vet` does not see a cancel that is only called on some paths.",
	Code: "ctx, cancel := context.WithTimeout(parent, 5*time.Second)\nmsg, err := read(ctx)\n" +
		"cancel() // at once in a loop; defer cancel() where the function ends with the work",
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
func awaitedDeadlines(p *diagnosis.Pass) fact.Fact {
	var n int64
	for _, w := range p.Model.Sched.Wakes {
		if code.ContainsFunc(p.Model.Stacks.Frames(w.Waker), deadlineFunc) {
			n += w.Count
		}
	}
	return p.Statistic(fact.Wakes, "wake-ups by deadlines that expire", "goroutines woken by them", float64(n), fact.Count)
}

func timersFinding(p *diagnosis.Pass, groups []string, rate, expired, awaited fact.Fact) diagnosis.Finding {
	places, source := deadlineCallers(p)
	part := fact.Quotient.Of("their part of all runs", fact.Ratio, p.Goroutines("runs of deadline goroutines", groups, "runs"),
		p.Goroutines("runs of goroutines", code.AllGroups(p.Model), "runs"))
	spent := fact.Sum.Of("P time of deadline goroutines, their scheduling and the collector", fact.Seconds,
		p.Goroutines("time that deadline goroutines run", groups, "running"),
		fact.Product.Of("their part of the scheduler's time", fact.Seconds, part, p.Processors("time of the scheduler", "scheduler")),
		p.Processors("time of the collector", "gc"))
	cores := fact.Quotient.Of("Ps taken by deadline goroutines, their scheduling and the collector", fact.Cores, spent, p.WindowLength())
	share := fact.Fraction.Of("of the Ps in use", fact.Ratio, cores, cpu.ActivePs(p)).Value
	f := diagnosis.Finding{
		Where:    places,
		Evidence: []fact.Fact{expired, rate, awaited},
		Cost:     diagnosis.CostOf(cores, share),
		Bound: diagnosis.Limit(cores, diagnosis.CPUGoal, share,
			"all of the collector's time is counted, since the contexts that they keep alive are part of its work"),
		Confidence: diagnosis.High,
		Reasons: []string{
			"two views of the trace agree: the goroutines are started by the context package, and most of them wake nobody",
		},
		RuledOut: []string{
			fact.Sentence("real timeouts: %s of %s expiries ended somebody's wait", awaited, expired),
			"goroutines of your own time.AfterFunc: only those of context deadlines are counted",
			"the collection of timers since " + collectedTimers.version() + ": it covers timers with channels, not the one inside a context",
		},
		Groups: groups,
		Remedy: deadlineRemedy,
		Experiment: codeChange(diagnosis.Goroutines, diagnosis.CPUPerOp, "Each deadline that runs out starts a goroutine: "+
			"in `gowhy ledger --by group after.gowhy` of a new recording context.WithDeadlineCause is gone. "+
			"CPU time and live heap fall with it; "+
			"the number of collections misleads, it often rises when the live heap shrinks."),
	}
	f.Say("%s context deadlines a second run out with nobody waiting: "+
		"each starts a goroutine, and keeps its context in memory until then.", rate.Number())
	if source == "" {
		f.Reasons = append(f.Reasons, "the calls are not located: timers run without a stack. A CPU or allocs profile would name them; "+
			"`grep -rn 'context.With\\(Timeout\\|Deadline\\)'` lists the candidates")
	} else {
		f.Reasons = append(f.Reasons, "the calls are located by the "+source)
	}
	if part.Value >= timersWakes {
		f.Explains = append(slices.Clone(p.Rule.Explains), "idlespin", "futexstorm")
	}
	return f
}

// deadlineCallers finds the user's code that makes contexts with deadlines,
// in the profile that has it; the trace itself cannot, since a timer's
// goroutine is started by nobody's code.
func deadlineCallers(p *diagnosis.Pass) (places []diagnosis.Place, source string) {
	for _, from := range []struct {
		profile *model.Profile
		name    string
	}{{p.Model.Heap, "allocs profile"}, {p.Model.CPU, "CPU profile"}, {fact.ProfileOf(p.Model, "kernel"), "kernel's samples"}} {
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

// deadlineCaller returns the user's frame nearest above a call into
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
