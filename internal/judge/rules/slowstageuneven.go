package rules

import (
	"slices"
	"time"

	"github.com/gowhy/gowhy/internal/judge/diagnosis"
	"github.com/gowhy/gowhy/internal/judge/measure/code"
	"github.com/gowhy/gowhy/internal/judge/measure/cpu"
	"github.com/gowhy/gowhy/internal/judge/measure/queueing"
	"github.com/gowhy/gowhy/internal/know/fact"
	"github.com/gowhy/gowhy/internal/know/model"
)

// One of many that take work is slow, or gets nearly all of it, and the others stand by.

const (
	// unevenStood is how many goroutines stand before it on average: half of one, and whoever
	// brings the work would be twice as fast.
	unevenStood = 0.5
	// unevenOne is the part of that time which one of the takers ends, unevenOwn the part of its time that
	// this one waits to be given more at most, and unevenIdle that of the others at least. Of eight lanes among which
	// a number that most pieces share chooses, it is 100%, 0 and 100%; chosen in turns, 58%, 0 and 0.4%.
	unevenOne  = 0.8
	unevenOwn  = 0.2
	unevenIdle = 0.5
	// unevenPeers is how many others there must be: of two, one may be for what is rare.
	unevenPeers = 2
	// unevenWaits is the least number of waits that this is taken from.
	unevenWaits = 20
)

// An unevenness is a [model.Handover] as facts.
type unevenness struct {
	*model.Handover
	stood, each, one, idle, peersIdle, peers fact.Fact
}

func measureUnevenness(p *diagnosis.Pass, h *model.Handover) (u unevenness) {
	of := func(name string, v float64, unit fact.Unit) fact.Fact {
		return p.Statistic(fact.Timeline, "goroutines of "+h.Taker.Func+", one by one", name, v, unit)
	}
	seconds := func(name string, d time.Duration) fact.Fact { return of(name, d.Seconds(), fact.Seconds) }
	waited := seconds("time waited there", h.Waited)
	u.Handover = h
	u.stood = fact.Quotient.Of("goroutines that stand there, on average", fact.Count, waited, seconds("time seen", h.Seen))
	u.each = fact.Quotient.Of("wait at a send, mean", fact.Seconds, waited, of("sends that waited", float64(h.Waits), fact.Count))
	u.one = fact.Fraction.Of("part of it for a single receiver", fact.Ratio, seconds("time waited there for that one", h.TakenTime), waited)
	u.idle = fact.Fraction.Of("part of its time that it waits to be given more", fact.Ratio, seconds("its time waiting for more", h.Idle), seconds("its time", h.Lived))
	u.peersIdle = fact.Fraction.Of("part of their time that the others wait to be given more", fact.Ratio,
		seconds("time of the others waiting for more", h.PeersIdle), seconds("time of the others", h.PeersLived))
	u.peers = of("others who run the same", float64(h.Peers), fact.Count)
	return u
}

// checkUneven looks for one taker whom all wait for, and reports whether there is one.
func checkUneven(p *diagnosis.Pass) bool {
	var sends []model.Stack
	for _, q := range queueing.AllQueues(p) {
		if q.Kind == queueing.Send {
			sends = append(sends, q.Stacks...)
		}
	}
	for i := range p.Model.Sched.Handovers {
		h := &p.Model.Sched.Handovers[i]
		if h.Peers < unevenPeers || h.Waits < unevenWaits || !slices.Contains(sends, h.Stack) {
			continue
		}
		u := measureUnevenness(p, h)
		if u.stood.Value >= unevenStood && u.one.Value >= unevenOne && u.idle.Value <= unevenOwn && u.peersIdle.Value >= unevenIdle {
			p.Report(u.finding(p))
			return true
		}
	}
	return checkGivenUp(p)
}

// checkGivenUp looks for a goroutine that waits for a time before a full channel, gives up and goes on to the
// next, while others stand before it.
func checkGivenUp(p *diagnosis.Pass) bool {
	handovers := p.Model.Sched.Handovers
	for i := range handovers {
		h := &handovers[i]
		if !h.Sends || h.GaveUp < unevenWaits || h.GaveUpTime.Seconds() < unevenStood*h.Seen.Seconds() {
			continue
		}
		before := slices.IndexFunc(handovers, func(b model.Handover) bool {
			return b.Taker.Func == h.Giver.Func && b.Waits >= unevenWaits && b.Waited.Seconds() >= unevenStood*b.Seen.Seconds()
		})
		if before >= 0 {
			p.Report(givenUpFinding(p, h, &handovers[before]))
			return true
		}
	}
	return false
}

func givenUpFinding(p *diagnosis.Pass, h, before *model.Handover) diagnosis.Finding {
	of := func(name string, v float64, unit fact.Unit) fact.Fact {
		return p.Statistic(fact.Timeline, "goroutines of "+h.Giver.Func+", one by one", name, v, unit)
	}
	seen, waited := of("time seen", h.Seen.Seconds(), fact.Seconds), of("time until it gave up", h.GaveUpTime.Seconds(), fact.Seconds)
	times := of("times that it gave up", float64(h.GaveUp), fact.Count)
	share := fact.Fraction.Of("part of its time", fact.Ratio, waited, seen)
	each := fact.Quotient.Of("wait until it gives up, mean", fact.Seconds, waited, times)
	stood := fact.Quotient.Of("goroutines that stand before it, on average", fact.Count, of("time waited before it", before.Waited.Seconds(), fact.Seconds), seen)
	sends := code.UserPlace(p, h.Stack)
	stacks := []model.Stack{h.Stack, before.Stack}
	f := diagnosis.Finding{
		Title:      "All wait until a receiver that is full has had its time",
		Where:      code.Places(sends, code.ProgramPlace(p, h.Stack), code.UserPlace(p, before.Stack)),
		Stacks:     stacks,
		Groups:     code.GroupsOfStacks(p.Model, stacks),
		Evidence:   []fact.Fact{share, each, times, stood, cpu.BusyPs(p)},
		Cost:       diagnosis.CostOf(stood, share.Value),
		Bound:      diagnosis.Direction(each, diagnosis.Latency, share.Value, "what all behind a full receiver wait for it"),
		Confidence: diagnosis.High,
		Reasons:    []string{"the trace has who ended each wait: the clock, and the source says that it sends there"},
		RuledOut: []string{
			"no work: somebody stands before it meanwhile",
			cpu.FullMachine(p),
		},
		Remedy:     subscriberRemedy,
		Experiment: codeChange(diagnosis.ThroughputMetric(p.Model), "", "In a new recording nobody stands before it."),
	}
	f.Say("%s gives up to send %s times after %s each, %s of its time, while %s goroutines stand before it on average: "+
		"a receiver that is full holds up all the others.", code.Name(sends.Function), times, each, share, stood)
	return f
}

// spreads reports whether each of the takers gets what the slow one gets, as those who are subscribed to the
// same have it: the others were given something as often.
func (u *unevenness) spreads() bool { return 2*u.PeersWaits >= u.Taken*int64(u.Peers) }

// works returns where those who run the same as the slow one wait longest for something else than for
// work; nothing where they do not.
func (u *unevenness) works(m *model.Model) (s model.Stack) {
	longest := u.Lived / 2
	for i := range m.Sched.Waits {
		w := &m.Sched.Waits[i]
		if w.Kind == model.SchedWait || w.Total < longest || queueing.Receives(m, w.Stack) {
			continue
		}
		if code.ContainsAny(m.Stacks.Frames(w.Stack), []string{u.Taker.Func}) {
			longest, s = w.Total, w.Stack
		}
	}
	return s
}

func (u *unevenness) finding(p *diagnosis.Pass) diagnosis.Finding {
	gives, taker := code.UserPlace(p, u.Stack), diagnosis.Place{Function: u.Taker.Func, File: u.Taker.File, Line: u.Taker.Line}
	stacks := []model.Stack{u.Stack}
	f := diagnosis.Finding{
		Title:      "One of many receivers is slow, and all wait for it",
		Evidence:   []fact.Fact{u.stood, u.one, u.idle, u.peers, u.peersIdle, cpu.BusyPs(p)},
		Cost:       diagnosis.CostOf(u.stood, min(1, u.stood.Value)),
		Bound:      diagnosis.Direction(u.each, diagnosis.Latency, min(1, u.stood.Value), "what each send waits there"),
		Confidence: diagnosis.High,
		Reasons: []string{
			"the trace has who ended each wait: one goroutine, while the others who run the same had nothing to do",
		},
		RuledOut: []string{
			"receivers that are too few: the others wait for more",
			cpu.FullMachine(p),
		},
		Experiment: codeChange(diagnosis.ThroughputMetric(p.Model), "", "In a new recording nobody stands at that line, or for all of the receivers alike."),
	}
	at := taker
	if s := u.works(p.Model); s != 0 {
		at, stacks = code.UserPlace(p, s), append(stacks, s)
	}
	f.Where, f.Stacks, f.Groups = code.Places(gives, at, taker, code.ProgramPlace(p, u.Stack)), stacks, code.GroupsOfStacks(p.Model, stacks)
	f.Remedy = skewedRemedy
	others := "The other %s get next to nothing: they"
	if u.spreads() {
		others, f.Remedy = "The other %s are given as much, are done with it and", subscriberRemedy
	} else {
		f.Title = "One of many receivers gets nearly all of the work"
	}
	f.Say("On average %s goroutines stand in %s, %s of that time for a single one that runs %s. "+others+" wait for more %s of their time.",
		u.stood, code.Name(gives.Function), u.one, code.Name(taker.Function), u.peers, u.peersIdle)
	return f
}

// subscriberRemedy and skewedRemedy are for the two ways in which one of many is the one whom all wait for.
var (
	subscriberRemedy = diagnosis.Remedy{
		Text: "Do not wait for a receiver that cannot keep up: give each a buffer of its own, and when that is full " +
			"leave out what it misses, or end its subscription, whatever its reader bears. " +
			"Give what it does a deadline (SetWriteDeadline, a context) where it waits for somebody outside. " +
			"A lock that is held around the send makes everybody else wait as well: copy the list of receivers first.",
		Code: "select {\ncase s.ch <- m:\ndefault: // full: it misses this one, or is ended\n\ts.missed.Add(1)\n}",
	}
	skewedRemedy = diagnosis.Remedy{
		Text: "Let whoever is free take the next piece, from one channel for all. Where a key must keep its order, " +
			"choose the receiver by a hash of the whole key (hash/maphash), which spreads keys that resemble each other; " +
			"one key that has most of the work alone is split by a part of it, " +
			"or its pieces are done side by side and put in order behind.",
		Code: "lane := lanes[maphash.String(seed, key)%uint64(len(lanes))]",
	}
)
