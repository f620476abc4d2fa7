package rules

import (
	_ "embed"
	"slices"
	"strings"
	"time"

	"github.com/gowhy/gowhy/internal/ground/statistics"
	"github.com/gowhy/gowhy/internal/judge/diagnosis"
	"github.com/gowhy/gowhy/internal/judge/measure/code"
	"github.com/gowhy/gowhy/internal/judge/measure/cpu"
	"github.com/gowhy/gowhy/internal/judge/measure/queueing"
	"github.com/gowhy/gowhy/internal/know/fact"
	"github.com/gowhy/gowhy/internal/know/model"
)

//go:embed funnelchannel.md
var funnelchannelPage string

var funnelchannel = &diagnosis.Rule{
	Name:     "funnelchannel",
	Title:    "Many senders, one slow receiver",
	Doc:      funnelchannelPage,
	Needs:    []model.Source{model.Trace},
	Explains: []string{"idleprocs"},
	Check:    checkFunnelchannel,
}

const (
	// funnelWaiters is how many senders stand before a channel on average.
	// One is a dispatcher with work in hand or a generator of numbers, both
	// well; two mean that the second waits for the first.
	funnelWaiters = 2
	// funnelShare and funnelCrowd are how much of the time blocked on
	// anything that holds up work, or how many senders, make the channel
	// worth a finding. The promote channel of the cache that the rule was
	// made after has 99.7%, its replay 86%.
	funnelShare = 0.5
	funnelCrowd = 50
	// funnelRatio is how many senders there are to a receiver. Worker pools
	// have it the other way round.
	funnelRatio = 8
)

func checkFunnelchannel(p *diagnosis.Pass) {
	qs := queueing.Queues(p)
	worst, full, found := fact.Fact{}, false, false
	for _, q := range qs {
		if q.Kind != queueing.Send {
			continue
		}
		waiting, throughput := q.Waiting(p, "goroutines waiting to send, on average"), q.Faster(p)
		in, ok := receiver(p, &q)
		switch {
		case waiting.Value < funnelWaiters, waiting.Value < funnelCrowd && q.PartOf(p, qs, "part of all the time in queues").Value < funnelShare:
			worst = worst.Larger(waiting)
		case !ok:
			continue
		case throughput.Value >= worthwhile:
			found = true
			p.Report(funnel(p, &q, &in, waiting))
		case in.delays(p, &q):
			found = true
			p.Report(lateFunnel(p, &q, &in, waiting))
		default:
			full = true
		}
	}
	switch {
	case found:
	case full:
		p.Fine(fact.Sentence("channels: senders wait, but %s of %s Ps are busy: the program is at its capacity", cpu.BusyPs(p).Number(), cpu.Procs(p)))
	case queueing.Unseen(p, queueing.Send) != "":
		p.Unchecked("whether goroutines wait to send", queueing.Unseen(p, queueing.Send), p.HowToGet(model.Trace))
	case worst.Value == 0:
		p.Fine("channels: nobody waits to send where few goroutines receive")
	default:
		p.Fine(fact.Sentence("channels: on average at most %s senders wait where few goroutines receive", worst))
	}
}

// An inlet is the goroutines that take from a channel.
type inlet struct {
	groups []string
	count  fact.Fact
	busy   fact.Fact // share of their time that they were not waiting for more
	doing  string    // what most of that share was
	place  diagnosis.Place
}

// receiver finds who takes from the channel. It is no funnel when the
// receivers are unknown or many beside the senders, as in a worker pool.
func receiver(p *diagnosis.Pass, q *queueing.Queue) (in inlet, ok bool) {
	in.groups, in.place = statistics.Largest(code.CountRoots(p.Model, q.Servers)), q.Server(p)
	var total fact.Fact
	in.count, total = activeGoroutines(p, "receivers", in.groups)
	if in.count.Value == 0 || in.count.Value*funnelRatio > p.Goroutines("senders", q.Groups, "peak").Value {
		return in, false
	}
	var columns []string
	doing := map[string]float64{}
	for what, part := range receiverActivities(code.Groups(p.Model, in.groups)) {
		columns = append(columns, part...)
		doing[what] = p.Goroutines(what, in.groups, part...).Value
	}
	slices.Sort(columns)
	in.busy = fact.Quotient.Of("receivers at work", fact.Ratio,
		p.Goroutines("time of receivers at work", in.groups, columns...), total)
	in.doing = statistics.Largest(doing)[0]
	return in, true
}

// waitsForP is what a receiver does that the scheduler lets wait.
const waitsForP = "waiting for a P"

// delays reports whether the receiver makes requests late though no more of them could
// be served: the program has clients who wait, the senders spend most of their time
// before the channel, and the receiver works all of its time. One that mostly waits
// for a P is as late as everybody else on a full machine.
func (in *inlet) delays(p *diagnosis.Pass, q *queueing.Queue) bool {
	return (diagnosis.Serves(p.Model) || p.Goal == diagnosis.Latency) && in.busy.Value >= queueing.ReceiverBusy && in.doing != waitsForP &&
		q.Share(p, "their time in it").Value >= funnelShare
}

// activeGoroutines returns how many goroutines of some groups there were at a time, and their
// time, without those that never ran in the window: what earlier rounds left behind is there
// and does nothing. Where not all goroutines of the groups were kept, all count.
func activeGoroutines(p *diagnosis.Pass, what string, groups []string) (count, total fact.Fact) {
	count, total = p.Goroutines(what, groups, "peak"), p.Goroutines("time of "+what, groups, "total")
	var kept, parked, all int
	var idle time.Duration
	for i := range p.Model.Sched.Goroutines {
		if g := &p.Model.Sched.Goroutines[i]; slices.Contains(groups, g.Group) {
			kept++
			if g.Runs == 0 {
				parked++
				idle += g.Total()
			}
		}
	}
	for _, g := range code.Groups(p.Model, groups) {
		all += g.Count
	}
	if parked == 0 || kept < all {
		return count, total
	}
	left := func(name string, v float64, u fact.Unit) fact.Fact {
		return p.Statistic(fact.Timeline, "goroutines that never ran", name, v, u)
	}
	return fact.Difference.Of(what+" that ran", fact.Count, count, left(what+" that never ran", float64(parked), fact.Count)),
		fact.Difference.Of("time of "+what+" that ran", fact.Seconds, total, left("time of "+what+" that never ran", idle.Seconds(), fact.Seconds))
}

// receiverActivities returns what groups do when they are not waiting to be given more, as
// columns of their account.
func receiverActivities(groups []*model.Group) map[string][]string {
	out := map[string][]string{"running": {"running"}, waitsForP: {"runnable"}, "in system calls": {"syscall", "syscall_blocked"}}
	for _, g := range groups {
		for reason := range g.Blocked {
			if !strings.HasPrefix(reason, "chan receive") && !strings.HasPrefix(reason, "select") {
				out["blocked on "+reason] = []string{"blocked:" + reason}
			}
		}
	}
	return out
}

func funnel(p *diagnosis.Pass, q *queueing.Queue, in *inlet, waiting fact.Fact) diagnosis.Finding {
	place, wait := q.Place(p), q.MeanWait(p, "mean wait")
	f := inQueue(p, q, waiting, "if no sender waited", place, in.place)
	f.Evidence = []fact.Fact{waiting, in.count, in.busy, wait, cpu.BusyPs(p)}
	f.Reasons = []string{
		"senders from the waits, receivers from the wake-ups of the same trace",
		"the trace does not name the channel: code that takes from the same senders is taken for its receiver",
	}
	f.RuledOut = []string{
		"a worker pool without work: waits to receive are not counted",
		fact.Sentence("a semaphore or a pool at capacity: the receivers (%s) run other code than the senders", in.count),
		cpu.FullMachine(p),
		"back-pressure that is wanted looks the same: if the receiver is meant to set the pace, this is its pace",
	}
	f.Remedy = funnelRemedy(in)
	f.Experiment = codeChange(diagnosis.ThroughputMetric(p.Model), "", "The 99th percentile of the senders' requests tells what the wait did to them; "+
		"if neither moves, the receiver was meant to set the pace.")
	works := "works %s of the time, mostly %s."
	if in.busy.Value < queueing.ReceiverBusy {
		works = "works only %s of the time, so the senders come in bursts."
	}
	f.Say("On average %s goroutines wait to send in %s, %s each time, while a receiving side of %s "+works,
		waiting, code.Name(place.Function), q.WaitWords(wait), in.count, in.busy, fact.Name(in.doing))
	return f
}

// lateFunnel returns one on a full machine: nothing but the wait can be shorter.
func lateFunnel(p *diagnosis.Pass, q *queueing.Queue, in *inlet, waiting fact.Fact) diagnosis.Finding {
	f := funnel(p, q, in, waiting)
	share := q.Share(p, "their time in it")
	f.Bound = diagnosis.Direction(q.MeanWait(p, "mean wait"), diagnosis.Latency, share.Value,
		"what a sender waits; the machine is full, so that throughput stays as it is")
	full := cpu.FullMachine(p)
	f.RuledOut = slices.DeleteFunc(f.RuledOut, func(s string) bool { return s == full })
	f.Reasons = append(f.Reasons, "all Ps are busy: with more receivers the work waits for a P, and how long is not known before it is tried")
	f.Experiment = codeChange(latency(p.Model), "", "Throughput stays where it is, as the machine is full; "+
		"if the tail does not move either, the receiver was meant to set the pace.")
	return f
}

func funnelRemedy(in *inlet) diagnosis.Remedy {
	if in.busy.Value < queueing.ReceiverBusy {
		return diagnosis.Remedy{
			Text: "Give the channel a buffer as large as a burst, as the receiver has time to spare; " +
				"or give up the send when the channel is full, where losing one does no harm (counters, cache promotions, " +
				"debug lines).",
			Code: "select {\ncase ch <- item:\ndefault: // full: count it and go on\n\tdropped.Add(1)\n}",
		}
	}
	return diagnosis.Remedy{
		Text: "Speed up or multiply the receiver, which is busy nearly all the time (" + in.doing + "). Shard the channel by key with a receiver each, " +
			"let one receive take a batch, or move the work itself to the senders. A larger buffer only delays the wait.",
		Code: "shard := &shards[hash(key)%len(shards)] // one channel and one receiver each, order kept by key\nshard.ch <- item",
	}
}
