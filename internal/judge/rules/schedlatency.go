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
	"github.com/gowhy/gowhy/internal/know/fact"
	"github.com/gowhy/gowhy/internal/know/model"
)

//go:embed schedlatency.md
var schedlatencyPage string

var schedlatency = &diagnosis.Rule{
	Name:  "schedlatency",
	Title: "Requests wait for a processor",
	Doc:   schedlatencyPage,
	Needs: []model.Source{model.Trace},
	Check: checkSchedlatency,
}

const (
	// schedlatencyWait is the 99th percentile of single waits for a P from
	// which requests feel it: half a time slice. An unloaded program shows 1 to
	// 100 µs; three servers of the field that are well, with two Ps of which 60 to
	// 70% were in use, showed up to 2.5 ms.
	schedlatencyWait = 5 * time.Millisecond
	// schedlatencyOfTask is the part of a user task's 99th percentile below
	// which the wait does not matter to those tasks.
	schedlatencyOfTask = 0.10
	// schedlatencyOfWork is the part of a group's busy time (ready, running, in system
	// calls) that must be waiting, so that one bad moment is no finding.
	schedlatencyOfWork = 0.10
	// schedlatencyWaits is how many waits make a percentile: 99 of 100 is
	// the smallest count with a 99th percentile at all, ten times that has
	// ten waits beyond it.
	schedlatencyWaits = 1000
	// schedlatencyQueued is the share of the window in which as many must be ready
	// as there are Ps. Two thousand clients of a server that dial at once, and are
	// well ever after, are at 0.05 of four seconds.
	schedlatencyQueued = 0.10
	// schedlatencyNet is how many waits for the network make a program one
	// that answers somebody. The connection that fetches a trace over HTTP
	// waits a few times; batch programs never do.
	schedlatencyNet = 100
)

func checkSchedlatency(p *diagnosis.Pass) {
	s := p.Model.Sched
	p99 := s.Delay.Quantile(0.99)
	worst := worstDelayed(p)
	if worst == nil {
		if s.Delay.N >= schedlatencyWaits && p99 < schedlatencyWait {
			p.Fine(fact.Sentence("scheduling latency: nearly all waits for a P are shorter than %s",
				p.Statistic(fact.Timeline, "waits for a P", "wait for a P, 99th percentile", p99.Seconds(), fact.Seconds)))
		}
		return
	}
	f := delayedFinding(p, worst)
	if why := threadsWait(p); why != "" {
		f.Remark, f.Confidence, f.RuledOut = true, diagnosis.Low, f.RuledOut[:1]
		f.Reasons = append(f.Reasons, why+": who stands behind one that has none waits for its turn")
		p.Doubt("whether requests wait for a processor on a machine of their own", why, p.RecordAgain(10, "again.gowhy"))
	}
	p.Report(f)
}

// worstDelayed returns the group of the most waiting time among those that answer
// requests and wait too long; nil when there is none, or nobody waits for answers.
func worstDelayed(p *diagnosis.Pass) (worst *model.Group) {
	task, tasks := slowTask(p)
	if !tasks && netWaits(p) < schedlatencyNet {
		return nil // a batch shares its processors: only its end matters
	}
	limit := schedlatencyWait
	if tasks {
		limit = max(limit, time.Duration(schedlatencyOfTask*float64(task)))
	}
	groups := p.Model.Sched.Groups
	for i := range groups {
		g := &groups[i]
		if g.System || !answers(p, g) || g.Delay.N < schedlatencyWaits || g.Delay.Quantile(0.99) < limit {
			continue
		}
		if delayedPart(g) >= schedlatencyOfWork && (worst == nil || g.Runnable > worst.Runnable) {
			worst = g
		}
	}
	if worst != nil && queuedPart(p) < schedlatencyQueued {
		return nil // somebody else's doing, or one crowd at the start
	}
	return worst
}

// answers reports whether a group serves somebody outside: its goroutines come
// one to a request, or wait for a peer that came by itself. Who dials, polls a
// broker or reads answers to its own questions has nobody waiting for it.
func answers(p *diagnosis.Pass, g *model.Group) bool {
	if code.StartsWith(g.Name, []string{"net/http.(*Transport)", "net.(*Dialer)", "net.(*sysDialer)"}) {
		return false
	}
	return shortLived(g) || g.Blocked["network"] > 0 && takesCallers(p, g)
}

// takesCallers reports whether goroutines of a group read what somebody sends
// who came by himself: by what they are called, by who started them, and by
// what they wait in. A connection that was there before the recording does not
// tell who accepted it.
func takesCallers(p *diagnosis.Pass, g *model.Group) bool {
	m := p.Model
	serving := func(s model.Stack) bool {
		return code.ContainsFunc(m.Stacks.Frames(s), isServing)
	}
	if isServing(g.Name) || serving(g.Creator) {
		return true
	}
	return slices.ContainsFunc(m.Sched.Waits, func(w model.Wait) bool { return w.Kind == model.Net && w.Group == g.Name && serving(w.Stack) })
}

// isServing goes by the words that servers use, of the library and of others.
func isServing(f string) bool {
	name := strings.ToLower(f[strings.LastIndexByte(f, '.')+1:])
	return strings.HasPrefix(name, "serve") || strings.HasPrefix(name, "handle") || name == "accept" || strings.HasPrefix(f, "net.(*UDPConn).Read")
}

func delayedPart(g *model.Group) float64 {
	return statistics.Quotient(float64(g.Runnable), float64(g.Runnable+g.Times.Running+g.Syscall+g.SyscallBlocked))
}

// slowTask returns the longest 99th percentile of the program's own tasks.
func slowTask(p *diagnosis.Pass) (p99 time.Duration, ok bool) {
	if p.Model.Tasks == nil {
		return 0, false
	}
	for i := range p.Model.Tasks.Tasks {
		if h := &p.Model.Tasks.Tasks[i].Latency; h.N >= schedlatencyWaits/10 {
			p99, ok = max(p99, h.Quantile(0.99)), true
		}
	}
	return p99, ok
}

func netWaits(p *diagnosis.Pass) (n int64) {
	for i := range p.Model.Sched.Waits {
		if w := &p.Model.Sched.Waits[i]; w.Kind == model.Net {
			n += w.Count
		}
	}
	return n
}

// queuedPart returns the share of the window in which at least as many goroutines
// were ready as there are Ps; 1 when there is no timeline to tell.
func queuedPart(p *diagnosis.Pass) float64 {
	var queued, all time.Duration
	for _, b := range p.Model.Sched.Timeline {
		all += b.Width
		if b.Runnable >= float64(p.Procs()) {
			queued += b.Width
		}
	}
	if all == 0 {
		return 1
	}
	return statistics.Quotient(float64(queued), float64(all))
}

func delayedFinding(p *diagnosis.Pass, g *model.Group) diagnosis.Finding {
	of := []string{g.Name}
	p50, p99 := p.Goroutines("wait for a P, median", of, "delay_p50"), p.Goroutines("wait for a P, 99th percentile", of, "delay_p99")
	part := fact.Quotient.Of("waiting share of busy time", fact.Ratio,
		p.Goroutines("time waiting for a P", of, "runnable"), p.Goroutines("busy time", of, "runnable", "running", "syscall", "syscall_blocked"))
	waits := p.Statistic(fact.Timeline, "waits for a P of "+g.Name, "waits", float64(g.Delay.N), fact.Count)
	queued := p.Statistic(fact.Timeline, "as many ready as there are Ps", "time with a queue", queuedPart(p), fact.Ratio)
	cores, all, _ := diagnosis.Busy(p.Model)
	busy := p.Statistic(fact.Timeline, "Ps busy", "Ps in use", statistics.Quotient(cores, all), fact.Ratio)
	place, _ := p.GroupPlace(g)
	f := diagnosis.Finding{
		Where:    code.Places(place),
		Evidence: []fact.Fact{p50, p99, waits, part, busy, queued},
		Cost:     diagnosis.CostOf(p99.Named("wait for a P that one in a hundred runs exceeds"), part.Value),
		Bound: diagnosis.Limit(p99, diagnosis.Latency, part.Value,
			"each time a goroutine becomes ready: a wait cannot shrink by more than it lasts. Waits of different "+
				"goroutines overlap and are not added up"),
		Confidence: diagnosis.Medium,
		Reasons:    []string{fact.Sentence("one kind of evidence, the trace, with %s waits", waits)},
		RuledOut: []string{
			"a batch that only shares its processors: this program answers somebody",
			"waits caused outside the program: goroutines queued in it at the same time",
		},
		Queues: busy.Value >= loadedPs,
		// No Groups: the run queue is the whole program's, and a crowd of one
		// kind makes every other wait.
		Remedy: saturationRemedy(p, busy),
		Experiment: codeChange(latency(p.Model), "", "The 99th percentile of the wait in a new recording must fall too. "+
			"If the clients' latency does not move with it, the wait was not on their path."),
	}
	f.Say("%s waits for a P before it may run: %s at the median, %s at the tail, %s of its busy time.", code.Name(code.GroupName(g.Name)), p50, p99, part)
	return f
}

// loadedPs is the use of the Ps from which waiting follows from their number
// alone: with 2 to 16 servers, queues grow steeply beyond nine tenths.
const loadedPs = 0.9

func saturationRemedy(p *diagnosis.Pass, busy fact.Fact) diagnosis.Remedy {
	if busy.Value >= loadedPs {
		return diagnosis.Remedy{Text: fact.Sentence("Spend less CPU per request (the CPU profile says where), limit how many requests are taken at once so "+
			"that the rest is refused early, or give the process more cores. "+
			"The %s Ps are %s in use, so whoever becomes ready stands in a queue.", cpu.Procs(p), busy)}
	}
	return diagnosis.Remedy{Text: fact.Sentence("Look for what makes many goroutines ready at once (tickers, broadcasts, fan-out) and spread or batch it; "+
		"long stretches without a function call and bursts of garbage collection have the same effect. "+
		"The %s Ps are only %s in use on average: work arrives in bursts.", cpu.Procs(p), busy)}
}
