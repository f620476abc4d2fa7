package rules

import (
	_ "embed"
	"slices"
	"strings"

	"github.com/gowhy/gowhy/internal/judge/diagnosis"
	"github.com/gowhy/gowhy/internal/judge/measure/code"
	"github.com/gowhy/gowhy/internal/know/fact"
	"github.com/gowhy/gowhy/internal/know/model"
)

//go:embed broadcastclose.md
var broadcastclosePage string

var broadcastclose = &diagnosis.Rule{
	Name:     "broadcastclose",
	Title:    "Channels are closed repeatedly to wake many goroutines",
	Doc:      broadcastclosePage,
	Needs:    []model.Source{model.Trace},
	Explains: []string{"herdwakeup", "futexstorm", "oversubscribed", "schedlatency"},
	Check:    checkBroadcastclose,
}

const (
	// broadcastListeners is how many goroutines listen to one channel. The
	// library that the rule was made after has 900; they cost 1.2 to 3.7
	// times the CPU of a program without them.
	broadcastListeners = 100
	// broadcastTimes is how many whole rounds the window must hold, and
	// broadcastRate how many a second: one is a shutdown.
	broadcastTimes = 3
	broadcastRate  = 1
	// broadcastLocks is the share of a CPU profile in the locking of a
	// select's channels. The library shows 12.5%, its replays 5 to 36%.
	broadcastLocks = 0.05
	// broadcastFutile is the share of the woken that hardly run, from which
	// the waking itself is taken for the cost when no CPU profile tells.
	broadcastFutile = 0.5
	// broadcastShare is the part of the CPU in use that runs for nothing from which they are
	// the cost also where a profile has little in the locks. A monitor with 2,250 listeners
	// called 33 times a second was at 0.26; one of which each has work has none.
	broadcastShare = 0.1
)

func checkBroadcastclose(p *diagnosis.Pass) {
	locks := p.SampleShare("locking the channels of selects", "cpu", p.Frames(locksSelect))
	_, samples := diagnosis.CPUTime(p.Model)
	sampled := samples >= diagnosis.ThinSamples
	quiet, found := fact.Fact{}, false
	for _, waker := range wakers(p.Model.Sched.Bursts) {
		b := burstFacts(p, &waker)
		if !closes(p.Model, b.Waker, b.wokenCrowd) || !calledOften(p, b) {
			continue
		}
		switch {
		case sampled && locks.Value < broadcastLocks && !b.costly(), !sampled && (b.futile.Value < broadcastFutile || b.share.Value < minShare):
			quiet = quiet.Larger(b.listeners(p))
		case sampled && locks.Value >= broadcastLocks:
			found = true
			f := broadcast(p, b)
			lockedSelects(p, &f, locks)
			p.Report(f)
		default:
			found = true
			p.Report(broadcast(p, b))
		}
	}
	switch {
	case found:
	case quiet.Value > 0:
		p.Fine(fact.Sentence("broadcasts: up to %s goroutines wait for one channel to be closed, at little cost", quiet))
	default:
		p.Fine("broadcasts: no channel is closed again and again to call a crowd")
	}
}

// costly reports whether those called run for nothing so often that the calls cost a good
// part of the CPU in use, whatever the locks of their channels do.
func (w *wakeBurst) costly() bool {
	return w.futile.Value >= herdFutile && w.share.Value >= broadcastShare
}

// locksSelect reports whether a sample is in the locks of a select's channels.
func locksSelect(frames []model.Frame) bool {
	return code.ContainsAny(frames, []string{"runtime.sellock", "runtime.selunlock"})
}

// closes reports whether a stack that wakes receivers does so by closing
// their channel. The runtime leaves its own frame out of that stack, so the
// innermost function is the one with the close in it, context's own included,
// where a send would show a function of the runtime.
func closes(m *model.Model, waker model.Stack, c wokenCrowd) bool {
	by := code.Leaf(m, waker)
	if by == "" || code.IsMachinery(by) && by != "runtime.closechan" {
		return false
	}
	return slices.ContainsFunc(c.stacks, func(s model.Stack) bool {
		at := code.Leaf(m, s)
		return at == "runtime.selectgo" || strings.HasPrefix(at, "runtime.chanrecv")
	})
}

// listeners returns how many goroutines wait for the channel.
func (w *wakeBurst) listeners(p *diagnosis.Pass) fact.Fact {
	return fact.Largest.Of("listeners", fact.Count,
		p.Statistic(fact.Wakes, "largest burst of wake-ups", "woken at once", float64(w.Max), fact.Count),
		p.Goroutines("alive at once", w.groups, "peak"))
}

// rounds returns how often the whole crowd was called.
func (w *wakeBurst) rounds(p *diagnosis.Pass) (n, rate fact.Fact) {
	n = fact.Quotient.Of("rounds in the window", fact.Count, w.woken, w.listeners(p))
	return n, fact.Quotient.Of("rounds", fact.PerSec, n, p.WindowLength())
}

// calledOften reports whether it is a crowd that is called again and again.
func calledOften(p *diagnosis.Pass, b *wakeBurst) bool {
	n, rate := b.rounds(p)
	return b.listeners(p).Value >= broadcastListeners && n.Value >= broadcastTimes && rate.Value >= broadcastRate
}

func broadcast(p *diagnosis.Pass, b *wakeBurst) diagnosis.Finding {
	place, _ := p.UserPlace(b.Waker)
	listeners := b.listeners(p)
	_, rate := b.rounds(p)
	places := []diagnosis.Place{place}
	if len(b.stacks) > 0 {
		q, _ := p.UserPlace(b.stacks[0])
		places = append(places, q)
	}
	cost := b.cost.Named("listeners running only to wait again, scheduling not counted")
	f := diagnosis.Finding{
		Where: code.Places(places...),
		Evidence: []fact.Fact{
			listeners, rate, fact.Quotient.Of("goroutines woken", fact.PerSec, b.woken, p.WindowLength()), b.futile.Named("hardly ran"),
		},
		Cost: diagnosis.CostOf(cost, b.share.Value),
		Bound: diagnosis.Direction(cost, diagnosis.CPUGoal, b.share.Value,
			"the channel's lock and the threads woken come on top and are not promised"),
		Confidence: diagnosis.Medium,
		Reasons:    []string{"a close is recognised by its wake-ups: many receivers at once from a function that does not send"},
		RuledOut: []string{
			fact.Sentence("a shutdown: it happens %s times a second", rate.Number()),
			"a fan-out by sends: those would show the runtime's send in the waker's stack",
		},
		Groups: b.groups,
		Stacks: append(slices.Clone(b.stacks), b.Waker),
		Remedy: diagnosis.Remedy{
			Text: "Let fewer goroutines listen to one channel: one dispatcher that hands the news to those concerned, " +
				"a channel for each of several groups, or no goroutine at all for those that only look at a value " +
				"(an atomic pointer that they read when they need it). A channel that is closed and replaced can also be missed " +
				"by those who come late. As few Ps as the work allows make what remains cheaper.",
			Code: "type news struct{ v atomic.Pointer[state] } // readers load it when they need it; nobody is woken",
		},
		Experiment: codeChange(diagnosis.CPUPerOp, "", "Half as many listeners do for a first try: the cost of a broadcast falls with their number. "+
			"If `GOMAXPROCS=1` makes the cost nearly disappear, it was the lock and the threads."),
	}
	f.Say("%s closes a channel that %s goroutines wait for, %s times a second.", code.Name(place.Function), listeners, rate.Number())
	return f
}

// lockedSelects makes the locks that CPU samples show the cost of a finding.
func lockedSelects(p *diagnosis.Pass, f *diagnosis.Finding, locks fact.Fact) {
	cores := fact.Quotient.Of("busy cores", fact.Cores,
		p.Processors("time of Ps not idle", "user", "gc", "syscall", "scheduler"), p.WindowLength())
	f.Cost = diagnosis.CostOf(fact.Product.Of(locks.Name, fact.Cores, locks, cores), locks.Value)
	f.Bound = diagnosis.Direction(fact.Saving.Of(locks.Name, fact.Cores, locks, cores), diagnosis.CPUGoal, locks.Value,
		"the threads woken come on top and are not promised")
	f.Confidence = diagnosis.High
	f.Reasons = append(f.Reasons, fact.Sentence("the CPU profile agrees: %s of it is in the locks of selects", locks))
	f.Rest(locks)
}
