package rules

import (
	_ "embed"
	"fmt"
	"strings"
	"time"

	"github.com/gowhy/gowhy/internal/diagnosis"
	"github.com/gowhy/gowhy/internal/fact"
	"github.com/gowhy/gowhy/internal/model"
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
	// made after has 99.7 %, its replay 86 %.
	funnelShare = 0.5
	funnelCrowd = 50
	// funnelRatio is how many senders there are to a receiver. Worker pools
	// have it the other way round.
	funnelRatio = 8
	// funnelBusy is the share of its time that the receiver works when it,
	// and not the rhythm of the senders, is what holds them up.
	funnelBusy = 0.8
)

func checkFunnelchannel(p *diagnosis.Pass) {
	qs := queues(p)
	all, worst, full, found := sumQueues(qs), 0.0, false, false
	for _, q := range qs {
		if q.kind != sendDemand {
			continue
		}
		waiters := q.waiters(p)
		factor, method := speedup(p, q.groups, q.total, 0)
		in, ok := receiver(p, &q)
		switch {
		case waiters < funnelWaiters, waiters < funnelCrowd && div(float64(q.total), float64(all)) < funnelShare:
			worst = max(worst, waiters)
		case !ok:
			continue
		case factor < worthwhile:
			full = true
		default:
			found = true
			p.Report(funnel(p, &q, in, factor, method))
		}
	}
	switch {
	case found:
	case full:
		p.Fine(fmt.Sprintf("channels: senders wait, but %s of %d Ps are busy: the program is at its capacity", num(working(p)), p.Procs()))
	default:
		if worst == 0 {
			p.Fine("channels: nobody waits to send where few goroutines receive")
		} else {
			p.Fine(fmt.Sprintf("channels: on average at most %s senders wait where few goroutines receive", num(worst)))
		}
	}
}

// An inlet is the goroutines that take from a channel.
type inlet struct {
	groups []string
	count  int
	busy   float64 // share of their time that they were not waiting for more
	doing  string  // what most of that share was
	place  diagnosis.Place
}

// receiver finds who takes from the channel. It is no funnel when the
// receivers are unknown or many beside the senders, as in a worker pool.
func receiver(p *diagnosis.Pass, q *queue) (in inlet, ok bool) {
	counts := map[string]int64{}
	for s, n := range q.servers {
		if name := root(p.Model, s); name != "" && s != 0 {
			counts[name] += n
		}
	}
	in.groups, in.place = largest(counts), q.server(p)
	senders := 0
	for _, g := range groupsOf(p.Model, q.groups) {
		senders += g.Peak
	}
	var total, busy time.Duration
	doing := map[string]time.Duration{}
	for _, g := range groupsOf(p.Model, in.groups) {
		in.count += g.Peak
		total += g.Total()
		busy += activity(g, doing)
	}
	if in.count == 0 || in.count*funnelRatio > senders {
		return in, false
	}
	in.busy = div(busy.Seconds(), total.Seconds())
	if names := largest(doing); len(names) > 0 {
		in.doing = names[0]
	}
	return in, true
}

// activity adds what a group does when it is not waiting to be given more,
// and returns the sum.
func activity(g *model.Group, doing map[string]time.Duration) (sum time.Duration) {
	add := func(what string, d time.Duration) {
		if d > 0 {
			doing[what] += d
			sum += d
		}
	}
	add("running", g.Times.Running)
	add("waiting for a P", g.Runnable)
	add("in system calls", g.Syscall+g.SyscallBlocked)
	for reason, d := range g.Blocked {
		if !strings.HasPrefix(reason, "chan receive") && !strings.HasPrefix(reason, "select") {
			add("blocked on "+reason, d)
		}
	}
	return sum
}

func funnel(p *diagnosis.Pass, q *queue, in inlet, factor float64, method string) diagnosis.Finding {
	waiters, place := q.waiters(p), q.place(p)
	slow := fmt.Sprintf("the receiving side works %s of the time, mostly %s", pct(in.busy), in.doing)
	if in.busy < funnelBusy {
		slow = fmt.Sprintf("the receiving side works only %s of the time, so the senders come in bursts", pct(in.busy))
	}
	return diagnosis.Finding{
		Summary: fmt.Sprintf("On average %s goroutines wait to send in %s, %s each time, while %d receive: %s.",
			num(waiters), short(place.Function), dur(q.mean()), in.count, slow),
		Where: where(place, in.place),
		Evidence: []fact.Fact{
			{Name: "senders waiting on average", Value: waiters, Unit: fact.Count, Source: "trace: sync waits ÷ window"},
			{Name: "receivers", Value: float64(in.count), Unit: fact.Count, Source: "trace: wake-ups, goroutine groups"},
			{Name: "receivers at work", Value: in.busy, Unit: fact.Ratio, Source: "trace: goroutine groups, waits to receive left out"},
			{Name: "mean wait", Value: q.mean().Seconds(), Unit: fact.Seconds, Source: "trace: sync waits"},
			{Name: "busy Ps", Value: working(p), Unit: fact.Cores, Source: "trace: Ps"},
		},
		Cost: diagnosis.Cost{
			Value: waiters, Unit: fact.Count, Share: waitShare(p, q),
			What: "goroutines waiting to send, on average",
		},
		Bound: diagnosis.Bound{
			Value: factor, Unit: fact.Ratio, Goal: diagnosis.Throughput, Share: gain(factor),
			Method: "throughput factor if no sender waited: " + method,
		},
		Confidence: diagnosis.Medium,
		Reasons: []string{
			"senders from the waits, receivers from the wake-ups of the same trace",
			"the trace does not name the channel: code that takes from the same senders is taken for its receiver",
		},
		RuledOut: []string{
			"a worker pool without work: waits to receive are not counted",
			fmt.Sprintf("a semaphore or a pool at capacity: there are %d receivers, and other code than the senders'", in.count),
			fmt.Sprintf("a full machine: %s of %d Ps are busy", num(working(p)), p.Procs()),
			"back-pressure that is wanted looks the same: if the receiver is meant to set the pace, this is its pace",
		},
		Groups:     q.groups,
		Stacks:     q.stacks,
		Remedy:     funnelRemedy(in),
		Experiment: changed(diagnosis.ThroughputMetric(p.Model), "", "The 99th percentile of the senders' requests tells what the wait did to them; if neither moves, the receiver was meant to set the pace."),
	}
}

func funnelRemedy(in inlet) diagnosis.Remedy {
	if in.busy < funnelBusy {
		return diagnosis.Remedy{
			Text: "The receiver has time to spare: a buffer as large as a burst lets the senders go on, or a send that gives up when the channel is full, where losing one does no harm (counters, cache promotions, debug lines).",
			Code: "select {\ncase ch <- item:\ndefault: // full: count it and go on\n\tdropped.Add(1)\n}",
		}
	}
	return diagnosis.Remedy{
		Text: "The receiver is the limit (" + in.doing + "). Shard the channel by key with a receiver each, let one receive take a batch, or move the work itself to the senders. A larger buffer only delays the wait.",
		Code: "shard := &shards[hash(key)%len(shards)] // one channel and one receiver each, order kept by key\nshard.ch <- item",
	}
}
