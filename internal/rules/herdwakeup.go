package rules

import (
	_ "embed"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/gowhy/gowhy/internal/diagnosis"
	"github.com/gowhy/gowhy/internal/fact"
	"github.com/gowhy/gowhy/internal/model"
)

//go:embed herdwakeup.md
var herdwakeupPage string

var herdwakeup = &diagnosis.Rule{
	Name:     "herdwakeup",
	Title:    "Many are woken, few have anything to do",
	Doc:      herdwakeupPage,
	Needs:    []model.Source{model.Trace},
	Explains: []string{"schedlatency", "oversubscribed", "hotmutex", "futexstorm"},
	Check:    checkHerdwakeup,
}

const (
	// herdPerProc is how many goroutines to a P are woken at once. Fewer find
	// their Ps free and disturb nobody.
	herdPerProc = 4
	// herdLargest bounds that on machines with many Ps: more than this many
	// cannot be made ready in the 100 µs of a burst while a trace is taken.
	herdLargest = 32
	// herdRate is how often it must happen, per second.
	herdRate = 1
	// herdFutile is the share of the woken that do nothing: they run for less
	// than 20 µs and wait at the same place again. The catalogue draws the
	// line at a quarter that does useful work.
	herdFutile = 0.75
	// futileRun is the longest run that the model counts as futile.
	futileRun = 20 * time.Microsecond
)

func checkHerdwakeup(p *diagnosis.Pass) {
	futile, slight, found, handed := 0.0, 0.0, false, false
	for i := range p.Model.Sched.Bursts {
		b := &p.Model.Sched.Bursts[i]
		if _, user := p.UserPlace(b.Waker); !user || !herd(p, b) {
			continue
		}
		if handsOver(p.Model.Stacks.Frames(b.Waker)) {
			handed = true
			continue
		}
		share := futileShare(b)
		woken := wokenBy(p.Model, b.Waker)
		cost := futileCores(p, b, woken)
		switch {
		case share < herdFutile:
			futile = max(futile, share)
		case div(cost, working(p)) < minShare:
			slight = max(slight, div(cost, working(p)))
		default:
			found = true
			p.Report(herdFinding(p, b, woken, share, cost))
		}
	}
	switch {
	case found:
	case slight > 0:
		p.Fine(fmt.Sprintf("wake-ups: some are for nothing, at a cost of %s of the CPU in use", pct(slight)))
	case futile > 0:
		p.Fine(fmt.Sprintf("wake-ups: goroutines woken together have work to do, all but %s of them", pct(futile)))
	case handed:
		p.Fine("wake-ups: where a crowd is woken, each gets an item of its own through a channel")
	default:
		p.Fine("wake-ups: no place wakes a crowd again and again")
	}
}

// handsOver reports whether a waker sends or receives on channels: whoever it
// woke has got an item by it, however soon it was done with that. The plugins
// of the lab's consumer take a microsecond each on workers of a pool, which
// then wait for the next; only closing a channel wakes all and gives nothing.
func handsOver(waker []model.Frame) bool {
	return len(waker) > 0 && slices.Contains([]string{
		"runtime.chansend1", "runtime.chanrecv1", "runtime.chanrecv2", "runtime.selectnbsend", "runtime.selectnbrecv", "runtime.selectgo",
	}, waker[0].Func)
}

// futileShare is the part of the woken that did nothing. Only from the eighth
// on is it known that a wake-up belongs to a burst, and its goroutine followed.
func futileShare(b *model.Burst) float64 {
	return min(1, div(float64(b.Futile), float64(b.Woken-(model.MinBurst-1)*b.Count)))
}

// herd reports whether a burst is large and frequent enough to matter.
func herd(p *diagnosis.Pass, b *model.Burst) bool {
	least := max(model.MinBurst, min(herdPerProc*p.Procs(), herdLargest))
	return div(float64(b.Woken), float64(b.Count)) >= float64(least) && div(float64(b.Count), p.Seconds()) >= herdRate
}

// A wokenCrowd is who was woken from one place.
type wokenCrowd struct {
	stacks []model.Stack
	groups []string
	reason string // of most waits that were ended
}

// wokenBy follows the wake graph from a waker to those it woke.
func wokenBy(m *model.Model, waker model.Stack) (c wokenCrowd) {
	stacks := map[model.Stack]int64{}
	for _, w := range m.Sched.Wakes {
		if w.Waker == waker && w.Woken != 0 {
			stacks[w.Woken] += w.Count
		}
	}
	groups, reasons := map[string]time.Duration{}, map[string]int64{}
	for i := range m.Sched.Waits {
		w := &m.Sched.Waits[i]
		if w.Kind != model.SchedWait && w.Kind != model.SyscallWait && stacks[w.Stack] > 0 {
			groups[w.Group] += w.Total
			reasons[w.Reason] += stacks[w.Stack]
		}
	}
	c.stacks, c.groups = largest(stacks), largest(groups)
	if r := largest(reasons); len(r) > 0 {
		c.reason = r[0]
	}
	return c
}

// futileCores is the CPU that futile runs take, in cores, as far as the trace
// shows it: at most 20 µs each, and no more than these goroutines usually run.
func futileCores(p *diagnosis.Pass, b *model.Burst, c wokenCrowd) float64 {
	run := futileRun
	if s := meanSlice(groupsOf(p.Model, c.groups)); s > 0 {
		run = min(run, s)
	}
	return div(float64(b.Futile)*run.Seconds(), p.Seconds())
}

func herdFinding(p *diagnosis.Pass, b *model.Burst, c wokenCrowd, share, cost float64) diagnosis.Finding {
	place, _ := p.UserPlace(b.Waker)
	size, rate := div(float64(b.Woken), float64(b.Count)), div(float64(b.Count), p.Seconds())
	places := []diagnosis.Place{place}
	for _, s := range c.stacks[:min(2, len(c.stacks))] {
		if q, ok := p.UserPlace(s); ok {
			places = append(places, q)
		}
	}
	return diagnosis.Finding{
		Summary: fmt.Sprintf("%s wakes %s goroutines at once, %s times a second, and %s of them find nothing to do.",
			short(place.Function), num(math.Round(size)), num(math.Round(rate)), pct(share)),
		Where: where(places...),
		Evidence: []fact.Fact{
			{Name: "bursts of wake-ups", Value: rate, Unit: fact.PerSec, Source: "trace: wake-ups of one thread within 100 µs"},
			{Name: "woken by each", Value: size, Unit: fact.Count, Source: "trace: wake-ups"},
			{Name: "woken for nothing", Value: share, Unit: fact.Ratio, Source: "trace: ran less than 20 µs, then waited at the same place"},
			{Name: "woken for nothing each second", Value: div(float64(b.Futile), p.Seconds()), Unit: fact.PerSec, Source: "trace: wake-ups"},
		},
		Cost: diagnosis.Cost{Value: cost, Unit: fact.Cores, Share: div(cost, working(p)), What: "running only to wait again, scheduling not counted"},
		Bound: diagnosis.Bound{
			Value: cost, Unit: fact.Cores, Goal: diagnosis.CPUGoal, Share: div(cost, working(p)),
			Method:  "futile wake-ups per second × the time that such a run takes, at most 20 µs; the threads and the run queue that they occupy come on top and are not promised",
			Partial: true,
		},
		Confidence: diagnosis.Medium,
		Reasons:    []string{"each wake-up was followed to what the woken goroutine did next"},
		RuledOut: []string{
			fmt.Sprintf("a fan-out in which all have work: %s of the woken waited again at once", pct(share)),
			fmt.Sprintf("a single event such as shutdown: it happens %s times a second", num(math.Round(rate))),
		},
		Groups:     c.groups,
		Stacks:     append(slices.Clone(c.stacks), b.Waker),
		Remedy:     herdRemedy(c.reason),
		Experiment: changed(diagnosis.CPUPerOp, "", "The work done must stay the same: if it falls, a wake-up was lost. Thread switches per operation fall with the wake-ups."),
	}
}

func herdRemedy(reason string) diagnosis.Remedy {
	if strings.Contains(reason, "Cond") {
		return diagnosis.Remedy{
			Text: "Wake as many as can go on: Signal once for each item instead of Broadcast, or a condition variable for each kind of waiter.",
			Code: "mu.Lock()\nqueue = append(queue, item)\nmu.Unlock()\nnotEmpty.Signal() // one item, one goroutine",
		}
	}
	return diagnosis.Remedy{
		Text: "Wake as many as can go on: send each item to one receiver instead of telling everybody, or split the crowd so that only those concerned listen.",
		Code: "work := make(chan item) // one send wakes one receiver",
	}
}

// peak is how many goroutines the woken groups have alive at once.
func (c wokenCrowd) peak(m *model.Model) (n int) {
	for _, g := range groupsOf(m, c.groups) {
		n += g.Peak
	}
	return n
}

// wakers returns, for each waker of a burst, all its bursts as one.
func wakers(bs []model.Burst) []model.Burst {
	by := map[model.Stack]model.Burst{}
	for _, b := range bs {
		o := by[b.Waker]
		by[b.Waker] = model.Burst{Waker: b.Waker, Count: o.Count + b.Count, Woken: o.Woken + b.Woken, Max: max(o.Max, b.Max), Futile: o.Futile + b.Futile}
	}
	var out []model.Burst
	for _, s := range slices.Sorted(maps.Keys(by)) {
		out = append(out, by[s])
	}
	return out
}
