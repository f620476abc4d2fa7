package rules

import (
	_ "embed"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/gowhy/gowhy/internal/ground/statistics"
	"github.com/gowhy/gowhy/internal/judge/diagnosis"
	"github.com/gowhy/gowhy/internal/judge/measure/code"
	"github.com/gowhy/gowhy/internal/judge/measure/cpu"
	"github.com/gowhy/gowhy/internal/know/fact"
	"github.com/gowhy/gowhy/internal/know/model"
)

//go:embed herdwakeup.md
var herdwakeupPage string

var herdwakeup = &diagnosis.Rule{
	Name:     "herdwakeup",
	Title:    "Many goroutines are woken, few have work (thundering herd)",
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
	// herdIdle is the share of the woken that may do nothing where the crowd is said to
	// have work: the same quarter, from the other side. Between the two neither is known.
	herdIdle = 1 - herdFutile
	// herdCores is the CPU in such runs below which they are nobody's concern, whatever their share: a program of
	// the field that hardly does anything spends 0.002 cores so, the least of those that have the problem 0.39.
	herdCores = 0.02
	// futileRun is the longest run that the model counts as futile.
	futileRun = 20 * time.Microsecond
)

func checkHerdwakeup(p *diagnosis.Pass) {
	futile, slight, found, handed, readers, answered := fact.Fact{}, fact.Fact{}, false, false, false, false
	for i := range p.Model.Sched.Bursts {
		b := burstFacts(p, &p.Model.Sched.Bursts[i])
		if _, user := p.UserPlace(b.Waker); !user || !b.herd(p) {
			continue
		}
		switch waker := p.Model.Stacks.Frames(b.Waker); {
		case handsOver(waker):
			handed = true
			continue
		case letsReaders(waker):
			readers = true
			continue
		case code.ContainsAny(waker, []string{"golang.org/x/sync/singleflight.(*Group).doCall"}):
			answered = true // each has what it waited for by it, however soon it asks again
			continue
		}
		switch {
		case b.futile.Value < herdFutile:
			futile = futile.Larger(b.futile)
		case b.share.Value < minShare, b.cost.Value < herdCores:
			slight = slight.Larger(b.cost)
		default:
			found = true
			p.Report(herdFinding(p, b))
		}
	}
	switch {
	case found:
	case futile.Value >= herdIdle:
		p.Unchecked("whether goroutines are woken for nothing",
			fact.Sentence("where a crowd is woken, %s of it does nothing: too few for a finding, and too many to call it well", futile),
			"look at who wakes them: for one item Signal wakes one, Broadcast all")
	case slight.Value > 0:
		p.Fine(fact.Sentence("wake-ups: some are for nothing, at a cost of %s", slight))
	case futile.Value > 0:
		p.Fine(fact.Sentence("wake-ups: goroutines woken together have work to do, all but %s of them", futile))
	case handed:
		p.Fine("wake-ups: where a crowd is woken, each gets an item of its own through a channel")
	case answered:
		p.Fine("wake-ups: where a crowd is woken, all of it gets the answer that one has asked for")
	case readers:
		p.Fine("wake-ups: where a crowd is woken, all of it gets the read lock that it waited for")
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

// letsReaders reports whether a waker gives back the write side of a reader-writer lock:
// all who wait to read get their turn by it, however soon they are done.
func letsReaders(waker []model.Frame) bool {
	return code.ContainsAny(waker, []string{"sync.(*RWMutex).Unlock"})
}

// A wakeBurst is what is known of the bursts of wake-ups from one place.
type wakeBurst struct {
	*model.Burst
	wokenCrowd
	count, woken, idle fact.Fact // bursts, who they woke, and who of those did nothing
	futile             fact.Fact // the part of the woken that did nothing
	cost, share        fact.Fact // of that, in cores and of the busy Ps
}

func burstFacts(p *diagnosis.Pass, b *model.Burst) *wakeBurst {
	in := func(what, name string, n int64) fact.Fact {
		return p.Statistic(fact.Wakes, what, name, float64(n), fact.Count)
	}
	w := &wakeBurst{Burst: b, wokenCrowd: wokenBy(p.Model, b.Waker),
		count: in("bursts", "bursts", b.Count), woken: in("wake-ups in bursts", "goroutines woken", b.Woken),
		idle: in("wake-ups in bursts for nothing", "woken for nothing", b.Futile),
	}
	w.futile = futilePart.Of("woken for nothing", fact.Ratio, w.idle, w.woken, w.count)
	spent := fact.Product.Of("time in runs for nothing", fact.Seconds, w.idle, w.futileRun(p))
	w.cost = fact.Quotient.Of("running only to wait again, scheduling not counted", fact.Cores, spent, p.WindowLength())
	w.share = fact.Fraction.Of("running only to wait again", fact.Ratio, w.cost, cpu.BusyPs(p))
	return w
}

// futilePart is the part of the woken that did nothing. Only from the eighth on
// is it known that a wake-up belongs to a burst, and its goroutine followed.
var futilePart = &fact.Formula{Name: "followed", Words: "{0} ÷ ({1} − those that came before it was one of {2})",
	Value: func(x []float64) float64 { return min(1, statistics.Quotient(x[0], x[1]-(model.MinBurst-1)*x[2])) }}

// futileRun returns the time that a futile run takes, as far as the trace shows it: no
// more than these goroutines usually run.
func (w *wakeBurst) futileRun(p *diagnosis.Pass) fact.Fact {
	most := fact.Figure("longest run that is for nothing", futileRun.Seconds(), fact.Seconds, "what the trace's reader counts as such")
	usual := fact.Quotient.Of("one run of theirs, mean", fact.Seconds,
		p.Goroutines("time that they run", w.groups, "running"), p.Goroutines("runs", w.groups, "runs"))
	if usual.Value == 0 {
		return most
	}
	return fact.Smallest.Of("time that a run for nothing takes, at most", fact.Seconds, most, usual)
}

// herd reports whether bursts are large and frequent enough to matter.
func (w *wakeBurst) herd(p *diagnosis.Pass) bool {
	least := max(model.MinBurst, min(herdPerProc*p.Procs(), herdLargest))
	return w.size().Value >= float64(least) && w.rate(p).Value >= herdRate
}

func (w *wakeBurst) size() fact.Fact {
	return fact.Quotient.Of("woken by each", fact.Count, w.woken, w.count)
}

func (w *wakeBurst) rate(p *diagnosis.Pass) fact.Fact {
	return fact.Quotient.Of("bursts of wake-ups", fact.PerSec, w.count, p.WindowLength())
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
	c.stacks, c.groups = statistics.Largest(stacks), statistics.Largest(groups)
	if r := statistics.Largest(reasons); len(r) > 0 {
		c.reason = r[0]
	}
	return c
}

func herdFinding(p *diagnosis.Pass, b *wakeBurst) diagnosis.Finding {
	places := []diagnosis.Place{}
	for _, s := range append([]model.Stack{b.Waker}, b.stacks[:min(2, len(b.stacks))]...) {
		if place, ok := p.UserPlace(s); ok {
			places = append(places, place)
		}
	}
	rate, size := b.rate(p), b.size()
	f := diagnosis.Finding{
		Where:    code.Places(places...),
		Evidence: []fact.Fact{rate, size, b.futile, fact.Quotient.Of("woken for nothing each second", fact.PerSec, b.idle, p.WindowLength())},
		Cost:     diagnosis.CostOf(b.cost, b.share.Value),
		Bound: diagnosis.Direction(b.cost, diagnosis.CPUGoal, b.share.Value,
			"the threads and the run queue that they occupy come on top and are not promised"),
		Confidence: diagnosis.Medium,
		Reasons:    []string{"each wake-up was followed to what the woken goroutine did next"},
		RuledOut: []string{
			fact.Sentence("a fan-out in which all have work: %s of the woken waited again at once", b.futile),
			fact.Sentence("a single event such as shutdown: it happens %s times a second", rate.Number()),
		},
		Groups: b.groups,
		Stacks: append(slices.Clone(b.stacks), b.Waker),
		Remedy: herdRemedy(b.reason),
		Experiment: codeChange(diagnosis.CPUPerOp, "", "The work done must stay the same: if it falls, a wake-up was lost. "+
			"Thread switches per operation fall with the wake-ups."),
	}
	f.Say("%s wakes %s goroutines at once, %s times a second, and %s of them find nothing to do.",
		code.Name(places[0].Function), size, rate.Number(), b.futile)
	return f
}

func herdRemedy(reason string) diagnosis.Remedy {
	if strings.Contains(reason, "Cond") {
		return diagnosis.Remedy{
			Text: "Wake as many as can go on: Signal once for each item instead of Broadcast, " +
				"or a condition variable for each kind of waiter.",
			Code: "mu.Lock()\nqueue = append(queue, item)\nmu.Unlock()\nnotEmpty.Signal() // one item, one goroutine",
		}
	}
	return diagnosis.Remedy{
		Text: "Wake as many as can go on: send each item to one receiver instead of telling everybody, " +
			"or split the crowd so that only those concerned listen.",
		Code: "work := make(chan item) // one send wakes one receiver",
	}
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
