package rules

import (
	_ "embed"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/gowhy/gowhy/internal/diagnosis"
	"github.com/gowhy/gowhy/internal/fact"
	"github.com/gowhy/gowhy/internal/model"
)

//go:embed broadcastclose.md
var broadcastclosePage string

var broadcastclose = &diagnosis.Rule{
	Name:     "broadcastclose",
	Title:    "Closing a channel again and again to call a crowd",
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
	// select's channels. The library shows 12.5 %, its replays 5 to 36 %.
	broadcastLocks = 0.05
	// broadcastFutile is the share of the woken that hardly run, from which
	// the waking itself is taken for the cost when no CPU profile tells.
	broadcastFutile = 0.5
)

func checkBroadcastclose(p *diagnosis.Pass) {
	locks, sampled := lockedSelects(p)
	quiet, found := 0, false
	for _, b := range wakers(p.Model.Sched.Bursts) {
		c := wokenBy(p.Model, b.Waker)
		if !closes(p.Model, b.Waker, c) || !rounds(p, &b, c) {
			continue
		}
		futile := futileShare(&b)
		cost := futileCores(p, &b, c)
		switch {
		case sampled && locks < broadcastLocks, !sampled && (futile < broadcastFutile || div(cost, working(p)) < minShare):
			quiet = max(quiet, c.peak(p.Model))
		default:
			found = true
			p.Report(broadcast(p, &b, c, locks, sampled, cost))
		}
	}
	switch {
	case found:
	case quiet > 0:
		p.Fine(fmt.Sprintf("broadcasts: up to %s goroutines wait for one channel to be closed, at little cost", num(quiet)))
	default:
		p.Fine("broadcasts: no channel is closed again and again to call a crowd")
	}
}

// lockedSelects is the share of CPU samples in a select's channel locks, and
// whether there are samples enough to say.
func lockedSelects(p *diagnosis.Pass) (share float64, sampled bool) {
	share, _ = p.CPUShare(func(f string) bool { return f == "runtime.sellock" || f == "runtime.selunlock" })
	_, n := diagnosis.CPUTime(p.Model)
	return share, n >= diagnosis.ThinSamples
}

// closes reports whether a stack that wakes receivers does so by closing
// their channel. The runtime leaves its own frame out of that stack, so the
// innermost function is the one with the close in it, context's own included,
// where a send would show a function of the runtime.
func closes(m *model.Model, waker model.Stack, c wokenCrowd) bool {
	by := leaf(m, waker)
	if by == "" || strings.HasPrefix(by, "runtime.") && by != "runtime.closechan" || machinery(by) && by != "runtime.closechan" {
		return false
	}
	return slices.ContainsFunc(c.stacks, func(s model.Stack) bool {
		at := leaf(m, s)
		return at == "runtime.selectgo" || strings.HasPrefix(at, "runtime.chanrecv")
	})
}

// rounds reports whether the whole crowd was called often enough.
func rounds(p *diagnosis.Pass, b *model.Burst, c wokenCrowd) bool {
	listeners := max(b.Max, c.peak(p.Model))
	if listeners < broadcastListeners {
		return false
	}
	n := div(float64(b.Woken), float64(listeners))
	return n >= broadcastTimes && div(n, p.Seconds()) >= broadcastRate
}

func broadcast(p *diagnosis.Pass, b *model.Burst, c wokenCrowd, locks float64, sampled bool, cost float64) diagnosis.Finding {
	place, _ := p.UserPlace(b.Waker)
	listeners := max(b.Max, c.peak(p.Model))
	rate := div(div(float64(b.Woken), float64(listeners)), p.Seconds())
	places := []diagnosis.Place{place}
	if len(c.stacks) > 0 {
		q, _ := p.UserPlace(c.stacks[0])
		places = append(places, q)
	}
	f := diagnosis.Finding{
		Summary: fmt.Sprintf("%s closes a channel that %s goroutines wait for, %s times a second.",
			short(place.Function), num(listeners), num(math.Round(rate))),
		Where: where(places...),
		Evidence: []fact.Fact{
			{Name: "listeners", Value: float64(listeners), Unit: fact.Count, Source: "trace: goroutine groups, wake-ups"},
			{Name: "rounds", Value: rate, Unit: fact.PerSec, Source: "trace: wake-ups ÷ listeners"},
			{Name: "goroutines woken", Value: div(float64(b.Woken), p.Seconds()), Unit: fact.PerSec, Source: "trace: wake-ups"},
			{Name: "hardly ran", Value: futileShare(b), Unit: fact.Ratio, Source: "trace: ran less than 20 µs, then waited at the same place"},
		},
		Cost: diagnosis.Cost{Value: cost, Unit: fact.Cores, Share: div(cost, working(p)), What: "listeners running only to wait again, scheduling not counted"},
		Bound: diagnosis.Bound{
			Value: cost, Unit: fact.Cores, Goal: diagnosis.CPUGoal, Share: div(cost, working(p)),
			Method:  "futile wake-ups per second × the time that such a run takes, at most 20 µs; the channel's lock and the threads woken come on top and are not promised",
			Partial: true,
		},
		Confidence: diagnosis.Medium,
		Reasons:    []string{"a close is recognised by its wake-ups: many receivers at once from a function that does not send"},
		RuledOut: []string{
			fmt.Sprintf("a shutdown: it happens %s times a second", num(math.Round(rate))),
			"a fan-out by sends: those would show the runtime's send in the waker's stack",
		},
		Groups: c.groups,
		Stacks: append(slices.Clone(c.stacks), b.Waker),
		Remedy: diagnosis.Remedy{
			Text: "Let fewer goroutines listen to one channel: one dispatcher that hands the news to those concerned, a channel for each of several groups, or no goroutine at all for those that only look at a value (an atomic pointer that they read when they need it). A channel that is closed and replaced can also be missed by those who come late. As few Ps as the work allows make what remains cheaper.",
			Code: "type news struct{ v atomic.Pointer[state] } // readers load it when they need it; nobody is woken",
		},
		Experiment: changed(diagnosis.CPUPerOp, "", "Half as many listeners do for a first try: the cost of a broadcast falls with their number. If `GOMAXPROCS=1` makes the cost nearly disappear, it was the lock and the threads."),
	}
	if sampled {
		cores, _, _ := diagnosis.Busy(p.Model)
		f.Cost = diagnosis.Cost{Value: locks * cores, Unit: fact.Cores, Share: locks, What: "locking the channels of selects"}
		f.Bound = diagnosis.Bound{Value: locks * cores, Unit: fact.Cores, Goal: diagnosis.CPUGoal, Share: locks,
			Method: "Amdahl: share of the CPU samples in runtime.sellock and runtime.selunlock × busy cores; the threads woken come on top and are not promised", Partial: true}
		f.Confidence = diagnosis.High
		f.Reasons = append(f.Reasons, fmt.Sprintf("the CPU profile agrees: %s of it is in the locks of selects", pct(locks)))
		f.Evidence = append(f.Evidence, fact.Fact{Name: "locking channels of selects", Value: locks, Unit: fact.Ratio, Source: "CPU profile: runtime.sellock, runtime.selunlock"})
	}
	return f
}
