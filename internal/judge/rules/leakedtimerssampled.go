package rules

import (
	"slices"

	"github.com/gowhy/gowhy/internal/judge/diagnosis"
	"github.com/gowhy/gowhy/internal/judge/measure/code"
	"github.com/gowhy/gowhy/internal/judge/measure/cpu"
	"github.com/gowhy/gowhy/internal/know/fact"
	"github.com/gowhy/gowhy/internal/know/model"
)

// Without a trace nobody counts the deadlines that run out. Each runs a function of the
// context package in a goroutine of its own, and where that is tens of thousands a second
// CPU samples show it, and what it does: a deadline that somebody waits for wakes him.

const (
	// timersSamples is the fewest samples of expiries that tell whether they wake
	// somebody: of 3,000 goroutines that waited for each of theirs half were in waking
	// (22 of 43), of a leak none (0 of 39, 0 of 42). That at most a tenth of 20 are,
	// where a third are to be expected, happens once in 60 times, and `gowhy top`
	// wants to see it twice.
	timersSamples = 20
	// timersWaking is that tenth, and what calls of cancel may have for each sample of
	// expiries: a program that cancels after its deadlines calls it as often as they
	// run out, and one that cancels most of them before has more there than in expiries.
	timersWaking = 0.1
)

// A sampledExpiry is deadlines that run out, as CPU samples show them.
type sampledExpiry struct {
	share     fact.Fact // of the CPU
	samples   fact.Fact
	awaited   fact.Fact // of the samples, those in waking somebody or in starting what waited
	cancelled fact.Fact // samples in the program's calls of cancel
	started   fact.Fact // part of the starting of goroutines that timers do
}

// checkSampled judges the deadlines that run out by CPU samples; false when they show
// too few to tell.
func checkSampled(p *diagnosis.Pass) bool {
	s, ok := cpu.UseOf(p)
	if !ok {
		return false
	}
	e := expiriesOf(&s)
	if e.samples.Value < timersSamples || e.share.Value < minShare {
		return false
	}
	if e.awaited.Value > timersWaking*e.samples.Value || e.cancelled.Value > timersWaking*e.samples.Value {
		p.Fine(fact.Sentence("context deadlines: they run out and take %s of the CPU, and are awaited or cancelled: "+
			"%s of %s samples are in waking somebody, and %s more in calls of cancel",
			e.share, e.awaited, e.samples, e.cancelled))
		return true
	}
	p.Report(expiryFinding(&s, &e))
	return true
}

func expiriesOf(s *cpu.Use) (e sampledExpiry) {
	count := func(name string, match func([]model.Frame) bool) fact.Fact {
		return s.Pass.SampleCount(name, s.Tree, s.Pass.Frames(match))
	}
	e.share = s.ShareIn("CPU in deadlines that run out", expires)
	e.samples = count("samples in deadlines that run out", expires)
	e.awaited = count("of these in waking who waited", func(frames []model.Frame) bool { return expires(frames) && wakesWaiter(frames) })
	e.cancelled = count("samples in calls of cancel", func(frames []model.Frame) bool {
		return !expires(frames) && code.ContainsPrefix(frames, []string{"context.(*timerCtx).cancel"})
	})
	starts := func(frames []model.Frame) bool { return code.ContainsAny(frames, []string{"runtime.newproc"}) }
	e.started = fact.Fraction.Of("part of starting goroutines that timers do", fact.Ratio,
		s.ShareIn("CPU in starting goroutines for timers", func(frames []model.Frame) bool {
			return starts(frames) && code.ContainsAny(frames, []string{"time.goFunc"})
		}),
		s.ShareIn("CPU in starting goroutines", starts))
	return e
}

// expires reports whether a stack is in the function that a deadline runs. The function that
// WithDeadline returns has a name like it, and differs by its caller: this one has none.
func expires(frames []model.Frame) bool {
	at := slices.IndexFunc(frames, func(f model.Frame) bool { return deadlineFunc(f.Func) })
	return at >= 0 && !slices.ContainsFunc(frames[at+1:], func(f model.Frame) bool { return f.Func != "runtime.goexit" })
}

// wakesWaiter reports whether a stack readies goroutines that receive from a channel which
// is closed, looks for them, or starts what context.AfterFunc was given.
func wakesWaiter(frames []model.Frame) bool {
	return code.ContainsAny(frames, []string{"runtime.closechan"}) &&
		code.ContainsAny(frames, []string{"runtime.goready", "runtime.closechan.goready.func1", "runtime.(*waitq).dequeue"}) ||
		code.ContainsPrefix(frames, []string{"context.(*afterFuncCtx).cancel"})
}

func expiryFinding(s *cpu.Use, e *sampledExpiry) diagnosis.Finding {
	p := s.Pass
	places, source := deadlineCallers(p)
	f := diagnosis.Finding{
		Where:      places,
		Evidence:   []fact.Fact{e.share, e.samples, e.awaited, e.cancelled, e.started},
		Cost:       s.Cost(e.share),
		Bound:      s.Limit(s.MaxSaving("deadlines that run out", expires), "the contexts that they keep alive are work for the collector besides"),
		Confidence: diagnosis.Medium,
		Reasons:    []string{s.Witness(), "how many run out is not counted: a trace does"},
		RuledOut: []string{
			fact.Sentence("real timeouts: %s of %s samples are in waking who waited, which is a half where somebody does", e.awaited, e.samples),
			fact.Sentence("contexts that are cancelled after their deadline, or most of them before: %s samples are in calls of cancel", e.cancelled),
			"goroutines of your own time.AfterFunc: only those of context deadlines are counted",
			"the collection of timers since " + collectedTimers.version() + ": it covers timers with channels, not the one inside a context",
		},
		Remedy: deadlineRemedy,
		Experiment: codeChange(diagnosis.Goroutines, diagnosis.CPUPerOp, "Each deadline that runs out starts a goroutine: "+
			"samples under context.WithDeadlineCause that the scheduler started are gone from a new recording."),
	}
	f.Say("Context deadlines run out with nobody waiting, and that takes %s of the CPU: "+
		"each starts a goroutine, and keeps its context in memory until then.", e.share)
	if source != "" {
		f.Reasons = append(f.Reasons, "the calls are located by the "+source)
	}
	if e.started.Value >= timersWakes {
		f.Explains = append(slices.Clone(p.Rule.Explains), "idlespin", "futexstorm")
	}
	return f
}
