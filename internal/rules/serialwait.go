package rules

import (
	_ "embed"
	"fmt"
	"slices"
	"time"

	"github.com/gowhy/gowhy/internal/diagnosis"
	"github.com/gowhy/gowhy/internal/fact"
	"github.com/gowhy/gowhy/internal/model"
)

//go:embed serialwait.md
var serialwaitPage string

var serialwait = &diagnosis.Rule{
	Name:     "serialwait",
	Title:    "One goroutine sets the pace, and it waits for answers",
	Doc:      serialwaitPage,
	Needs:    []model.Source{model.Trace},
	Explains: []string{"idleprocs", "funnelchannel", "idlespin", "futexstorm"},
	Check:    checkSerialwait,
}

const (
	// serialShare is the part of its time that the stage waits for answers,
	// while work stands before it: at half, twice the throughput is behind it. A
	// consumer that commits each message is at 84 to 99 %, its start included;
	// one that does not wait for commits has nobody standing before it for long, or is
	// at work.
	serialShare = 0.5
	// serialTrips is the least number of waits that this is taken from.
	serialTrips = 50
	// serialStay is the part of their time that those behind the stage wait
	// to be given more, when they have any: with more to do they would be the limit.
	serialStay = 0.5
	// serialHelper is the part of a wait for another goroutine that this one
	// must be in the network for, in the function that ends the wait: asking and
	// taking turns are the rest.
	serialHelper = 0.5
)

// A roundTrips is the waits of a stage for answers from outside.
type roundTrips struct {
	total  time.Duration
	count  int64
	stacks []model.Stack // the longest total first
	via    []string      // groups that wait for the answers on its behalf
}

func (r *roundTrips) mean() time.Duration { return r.total / time.Duration(max(1, r.count)) }

func checkSerialwait(p *diagnosis.Pass) {
	pressed := 0
	for _, s := range stages(p) {
		if s.count > max(serialReaders(p.Model, s.queue), p.Procs()) {
			continue
		}
		pressed++
		r := trips(p.Model, &s)
		share := div(r.total.Seconds(), s.total.Seconds())
		factor, method := s.unwaited(p, r.total)
		switch {
		case share < serialShare, r.count < serialTrips, factor < worthwhile:
		case len(s.feeds) > 0 && s.feedStay < serialStay:
		case len(s.feeds)+len(s.starts) == 0 && !takesFromOutside(p.Model, s.queue):
		default:
			p.Report(serialFinding(p, &s, &r, min(1, share), factor, method))
			return
		}
	}
	if pressed == 0 {
		p.Fine("stages: no few goroutines have somebody waiting before them all the time")
	}
}

// serialReaders is how many goroutines stand in the queue at most: as many
// takers as givers are still few.
func serialReaders(m *model.Model, q *queue) (n int) {
	for _, g := range groupsOf(m, q.groups) {
		n += g.Peak
	}
	return n
}

// takesFromOutside reports whether those who stand before the stage bring
// what they offer from outside, or are several. A single goroutine that makes
// up the next number of a series is no demand.
func takesFromOutside(m *model.Model, q *queue) bool {
	for _, g := range groupsOf(m, q.groups) {
		if g.Peak > 1 || g.Blocked["network"] > 0 || g.Syscall+g.SyscallBlocked > 0 {
			return true
		}
	}
	return false
}

// trips adds up what the stage waits for outside: in the network itself, or
// for a goroutine that spends that time there on its behalf. Waits for those
// who bring work do not count, nor waits for time.
func trips(m *model.Model, s *stage) (r roundTrips) {
	by := map[model.Stack]time.Duration{}
	wakers := answerers(m, s)
	for i := range m.Sched.Waits {
		w := &m.Sched.Waits[i]
		if w.Kind != model.Net && w.Kind != model.Sync || !s.has(m, w.Stack) {
			continue
		}
		if w.Kind == model.Sync {
			waker, ok := wakers[w.Stack]
			if !ok || float64(networkThrough(m, waker)) < serialHelper*float64(w.Total) {
				continue
			}
			if name := root(m, waker); !slices.Contains(r.via, name) {
				r.via = append(r.via, name)
			}
		}
		r.total += w.Total
		r.count += w.Count
		by[w.Stack] += w.Total
	}
	r.stacks = largest(by)
	return r
}

// answerers is the code of other goroutines that most often ends a wait of the
// stage; those who bring its work are left out.
func answerers(m *model.Model, s *stage) map[model.Stack]model.Stack {
	most, out := map[model.Stack]int64{}, map[model.Stack]model.Stack{}
	for _, w := range m.Sched.Wakes {
		if w.Waker == 0 || w.Count <= most[w.Woken] || !s.has(m, w.Woken) || s.has(m, w.Waker) || slices.Contains(s.queue.groups, root(m, w.Waker)) {
			continue
		}
		most[w.Woken], out[w.Woken] = w.Count, w.Waker
	}
	return out
}

// networkThrough is the time that goroutines wait for the network in the
// function that a waker's stack is in.
func networkThrough(m *model.Model, waker model.Stack) (d time.Duration) {
	function := ""
	for _, f := range m.Stacks.Frames(waker) {
		if !machinery(f.Func) {
			function = f.Func
			break
		}
	}
	for i := range m.Sched.Waits {
		if w := &m.Sched.Waits[i]; w.Kind == model.Net && w.Group == root(m, waker) && throughAny(m, w.Stack, map[string]bool{function: true}) {
			d += w.Total
		}
	}
	return d
}

// unwaited is the most by which throughput can grow when the stage no longer
// waits for the given time: the bound of a closed system whose next serial
// resource is the busiest single goroutine before or behind it.
func (s *stage) unwaited(p *diagnosis.Pass, wait time.Duration) (factor float64, method string) {
	factor, byP, byR := fact.Closed{
		Cores: usableProcs(p), Busy: max(minBusy, working(p)),
		Whole: s.total.Seconds(), Wait: min(wait, s.total).Seconds(), Serial: s.next,
	}.Asymptotic()
	method = fmt.Sprintf("asymptotic bound of a closed system: min(P ÷ busy Ps = %s, the stage's time ÷ its time without this wait = %s", times(byP), times(byR))
	if s.next > 0 {
		method += fmt.Sprintf(", 1 ÷ use of the busiest single goroutine beside it = %s", times(1/s.next))
	}
	return factor, method + "); less when messages arrive slower than that, or when the other side serves one request at a time"
}

func serialFinding(p *diagnosis.Pass, s *stage, r *roundTrips, share, factor float64, method string) diagnosis.Finding {
	var wait diagnosis.Place
	asks := diagnosis.Place{}
	for _, st := range r.stacks {
		if place, ok := p.UserPlace(st); ok && wait == (diagnosis.Place{}) {
			wait = place
		}
		if place, ok := own(p, st); ok && asks == (diagnosis.Place{}) {
			asks = place
		}
	}
	if asks == (diagnosis.Place{}) {
		asks, _ = p.GroupPlace(s.teams[0].Group)
	}
	idle := float64(p.Procs()) - working(p)
	pace := div(float64(r.count), p.Seconds())
	f := diagnosis.Finding{
		Summary: fmt.Sprintf("%s waits for answers %s of its time, %s each, while work stands before it and %s of %d Ps are idle: %s answers a second is its pace, and so the program's.",
			short(asks.Function), pct(share), dur(r.mean()), num(max(0, idle)), p.Procs(), num(pace)),
		Where: where(asks, wait, s.queue.place(p)),
		Evidence: []fact.Fact{
			{Name: "time of the stage in waits for answers", Value: share, Unit: fact.Ratio, Source: "trace: network waits, its own and of the goroutine that asks for it"},
			{Name: "one answer, mean", Value: r.mean().Seconds(), Unit: fact.Seconds, Source: "trace: waits"},
			{Name: "answers", Value: pace, Unit: fact.PerSec, Source: "trace: waits ÷ window"},
			{Name: "goroutines of the stage", Value: float64(s.count), Unit: fact.Count, Source: "trace: wake-ups, goroutine groups"},
			{Name: "standing before it with work, on average", Value: s.queue.waiters(p), Unit: fact.Count, Source: "trace: waits to send ÷ window"},
			{Name: "busy Ps", Value: working(p), Unit: fact.Cores, Source: "trace: Ps"},
		},
		Cost: diagnosis.Cost{Value: r.total.Seconds() / max(1e-9, p.Seconds()), Unit: fact.Count, Share: share, What: "goroutines of the stage waiting for an answer, on average"},
		Bound: diagnosis.Bound{
			Value: factor, Unit: fact.Ratio, Goal: diagnosis.Throughput, Share: gain(factor),
			Method: "throughput factor if the stage did not wait for each answer: " + method,
		},
		Confidence: diagnosis.Medium,
		Reasons: []string{
			"one kind of evidence, the trace: who waits, for what, and who stands before it",
			"the trace does not tell what is asked: that the stage could go on without the answer is yours to judge",
		},
		RuledOut: []string{
			"no work: somebody stood before the stage with work in hand, " + num(s.queue.waiters(p)) + " on average",
			fmt.Sprintf("a full machine: %s of %d Ps are busy", num(working(p)), p.Procs()),
			"waiting for input: only waits in the network and for goroutines that wait there are counted, those for who brings work are not",
		},
		Groups: append(s.names(), s.queue.groups...),
		Stacks: append(r.stacks, s.queue.stacks...),
		Remedy: diagnosis.Remedy{
			Text: "Do not wait for the answer to each piece of work. Acknowledge or write many with one request (by count and by time), or send the next request before the last is answered, or let the library do it in the background (kafka-go: ReaderConfig.CommitInterval instead of 0; what was not yet committed comes again after a crash, so that its effect must bear being repeated). Where each answer is needed, run several of this stage: one per partition or key keeps the order. More goroutines behind it change nothing.",
			Code: "for batch := range batches(messages, 500, 100*time.Millisecond) {\n\tprocess(batch)\n\tcommit(batch[len(batch)-1]) // one round trip for all of them\n}",
		},
		Experiment: changed(diagnosis.ThroughputMetric(p.Model), "", "Offer more than the program can take, or throughput stays what is offered. A test without code: two processes on the same load; where the stage is the limit they take nearly twice as much, and more goroutines behind it take no more."),
	}
	if len(s.feeds) > 0 {
		f.Evidence = append(f.Evidence, fact.Fact{
			Name: "goroutines behind it waiting to be given more", Value: s.feedStay, Unit: fact.Ratio, Source: "trace: waits to receive of " + short(s.feeds[0].does()),
		})
	}
	f.Groups = append(f.Groups, r.via...)
	return f
}
