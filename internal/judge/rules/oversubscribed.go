package rules

import (
	_ "embed"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/gowhy/gowhy/internal/ground/statistics"
	"github.com/gowhy/gowhy/internal/judge/diagnosis"
	"github.com/gowhy/gowhy/internal/judge/measure/code"
	"github.com/gowhy/gowhy/internal/judge/measure/cpu"
	"github.com/gowhy/gowhy/internal/judge/measure/memory"
	"github.com/gowhy/gowhy/internal/know/fact"
	"github.com/gowhy/gowhy/internal/know/model"
)

//go:embed oversubscribed.md
var oversubscribedPage string

var oversubscribed = &diagnosis.Rule{
	Name:     "oversubscribed",
	Title:    "More workers than processors can run",
	Doc:      oversubscribedPage,
	Needs:    []model.Source{model.Trace},
	Explains: []string{"schedlatency", "gcassist"}, // what the crowd holds is what the collector must mark
	Check:    checkOversubscribed,
}

const (
	// oversubscribedPerProc is how many goroutines of one kind to a P make a
	// crowd. The catalogue's figure; the file pool of the lab is well at 8
	// workers on 2 Ps (4 to a P) and far too many at 1000 (500 to a P).
	oversubscribedPerProc = 8
	// oversubscribedQueue is the time spent ready to run over the time spent on a P,
	// from which a crowd is too large. Time in a system call that lost its P is none:
	// who crowds at a lock of the kernel waits there as well, and who waits for a
	// device is counted among those that are enough. The pool of 1000 file workers
	// that the rule was made after shows 31 and more.
	oversubscribedQueue = 5
	// oversubscribedReady is how many of the crowd are ready on average, to a
	// P, for as long as the group is at work. Fewer is a burst that was soon served: waiting
	// workers are cheap, and a queue of this length is what keeps Ps busy.
	oversubscribedReady = 4
	// oversubscribedBusy is the share of the Ps that is in use when work waits
	// for them. With less, the crowd became ready together and was soon
	// served, as two hundred tickers of one period are.
	oversubscribedBusy = 0.7
	// oversubscribedBytes is the least memory that fewer workers may save. The
	// processors do the same work either way, so that a crowd that holds less
	// costs nothing that anybody would notice: 64 CPU-bound goroutines on 2 Ps
	// hold some hundred KiB.
	oversubscribedBytes = 16 << 20
	// crowdClients is the part of the load's connections that a crowd has to be to be one to
	// each of them: some of them may not have come yet.
	crowdClients = 0.9
	// crowdCreated is how long before the first goroutine that was kept the
	// group may have begun, which is known only of some of it: a thousand
	// workers with a buffer of 64 KiB each are created in 30 ms under the tracer.
	crowdCreated = 100 * time.Millisecond
)

func checkOversubscribed(p *diagnosis.Pass) {
	var worst, spared fact.Fact
	found := false
	for i := range p.Model.Sched.Groups {
		g := &p.Model.Sched.Groups[i]
		if g.System || g.Peak < oversubscribedPerProc*p.Procs() || strings.HasPrefix(g.Name, "net/http.") {
			continue // of net/http's server there is one to a connection, and clients decide how many
		}
		if l := p.Model.Load; l != nil && g.Peak <= l.Connections && float64(g.Peak) >= crowdClients*float64(l.Connections) {
			continue // and of other servers too
		}
		c := measureCrowd(p, g)
		switch {
		case c.queue.Value < oversubscribedQueue:
			worst = worst.Larger(c.queue)
		case shortLived(g) || c.ready.Value < oversubscribedReady*float64(p.Procs()) || cpu.BusyPs(p).Value < oversubscribedBusy*float64(p.Procs()):
		case sweepStart(p.Procs(), g) >= g.Peak: // they work so little between their waits that nobody knows of fewer
		case c.memory.Value < oversubscribedBytes:
			spared = spared.Larger(c.memory)
		default:
			found = true
			p.Report(c.finding(p))
		}
	}
	switch {
	case found:
	case spared.Value > 0:
		p.Fine(fact.Sentence("worker counts: a crowd queues for the processors, and fewer workers would save at most %s of memory", spared))
	case worst.Value > 0:
		p.Fine(fact.Sentence("worker counts: a crowd is there, and queues for a processor only %s times as long as it is on one", worst.Number()))
	}
}

// A crowd is a group with more workers than the Ps can run.
type crowd struct {
	group        *model.Group
	peak         fact.Fact
	queued, work fact.Fact // its time in the run queue, and on a P
	queue        fact.Fact // one by the other
	ready        fact.Fact // of them ready at once, on average
	// memory is what workers beyond a count that keeps the Ps busy hold at most,
	// and share that of the largest heap and all workers' stacks.
	memory fact.Fact
	share  float64
	exact  bool // the heap was seen to grow with the workers
}

// measureCrowd takes for the workers' memory what the heap grew by after the workers came,
// and shares it out evenly: no trace tells who holds what, so that this is an upper bound.
// Where the growth may have been missed all of the heap is, and nobody can be sure.
func measureCrowd(p *diagnosis.Pass, g *model.Group) crowd {
	of := []string{g.Name}
	c := crowd{
		group:  g,
		peak:   p.Goroutines("goroutines alive at once", of, "peak"),
		queued: p.Goroutines("time waiting for a P", of, "runnable"),
		work:   p.Goroutines("time on a P", of, "running", "syscall"),
		exact:  g.Created == g.Count,
	}
	c.queue = fact.Quotient.Of("waiting ÷ on a P", fact.Factor, c.queued, c.work)
	c.ready = fact.Quotient.Of("goroutines ready and waiting for a P, on average", fact.Count, c.queued, p.WindowLength())
	enough := fact.Product.Of("goroutines that keep the Ps busy", fact.Count, cpu.Procs(p),
		fact.Figure("goroutines to a P that are enough", oversubscribedPerProc, fact.Count, "the lab's pools of workers"))
	away := fact.Quotient.Of("in system calls without a P, on average", fact.Count,
		p.Goroutines("time in system calls without a P", of, "syscall_blocked"), p.WindowLength())
	spare := fact.Difference.Of("goroutines beyond that", fact.Count, c.peak, fact.Sum.Of("that are enough", fact.Count, enough, away))
	stacks := fact.Product.Of("their stacks", fact.Bytes, spare, memory.MinStack())
	heap := p.Statistic(fact.Collector, "largest heap", "largest heap", memory.LargestHeap(p.Model), fact.Bytes)
	bytes, known := heapBefore(p.Model, g)
	before := p.Statistic(fact.Collector, "heap before", "heap before there were workers", bytes, fact.Bytes)
	even := func(grown fact.Fact) fact.Fact {
		return fact.Even.Of("their even part of the heap that came with them", fact.Bytes, grown, spare, c.peak)
	}
	part := even(fact.Difference.Of("heap that came with the workers", fact.Bytes, heap, before))
	if !known && (!c.exact || stacks.Value+part.Value < oversubscribedBytes) {
		part, c.exact = even(heap), stacks.Value >= oversubscribedBytes
	}
	c.memory = fact.Sum.Of("memory that fewer workers may save, at most", fact.Bytes, stacks, part)
	c.share = statistics.Quotient(c.memory.Value, heap.Value+c.peak.Value*memory.GoroutineBytes)
	return c
}

// heapBefore returns the peak of the heap before the group was created. It is not known of a group
// that is older than the window, or than the first sample of the heap; then bytes is that
// sample.
func heapBefore(m *model.Model, g *model.Group) (bytes float64, known bool) {
	if m.GC == nil || len(m.GC.Heap) == 0 {
		return 0, true
	}
	bytes = float64(m.GC.Heap[0].Alloc)
	begin := m.Run.Duration
	for i := range m.Sched.Goroutines {
		if k := &m.Sched.Goroutines[i]; k.Group == g.Name {
			begin = min(begin, k.Created-crowdCreated)
		}
	}
	if g.Created < g.Count || begin == m.Run.Duration || m.GC.Heap[0].At > begin {
		return bytes, false
	}
	for _, h := range m.GC.Heap {
		if h.At <= begin {
			bytes = max(bytes, float64(h.Alloc))
		}
	}
	return bytes, true
}

func (c *crowd) finding(p *diagnosis.Pass) diagnosis.Finding {
	g := c.group
	place, _ := p.GroupPlace(g)
	creator, _ := p.UserPlace(g.Creator)
	start := p.Statistic(fact.Timeline, "P × (exec + syscall + blocked) ÷ (exec + syscall)", "first count to try", float64(sweepStart(p.Procs(), g)), fact.Count)
	f := diagnosis.Finding{
		Where:    code.Places(place, creator),
		Evidence: []fact.Fact{c.peak, c.queued, c.work, c.queue, c.memory, start},
		Cost:     diagnosis.CostOf(c.ready, fact.Quotient.Of("", fact.Ratio, c.queued, p.Goroutines("their time", []string{g.Name}, "total")).Value),
		Bound: diagnosis.Limit(c.memory, diagnosis.MemoryGoal, c.share,
			"as if the workers held all of it; the work itself takes as long with fewer, so throughput is not promised to rise"),
		Confidence: diagnosis.Medium,
		Reasons:    []string{"one kind of evidence, the trace, covering every goroutine of the group"},
		RuledOut: []string{
			fact.Sentence("workers that merely wait: only ready ones are counted, %s to a P", fact.Quotient.Of("ready to a P", fact.Count, c.ready, cpu.Procs(p))),
			"a short burst: the queue is an average over the whole window",
		},
		Groups: []string{g.Name},
		Remedy: diagnosis.Remedy{
			Text: fact.Sentence("Lower the number of workers. Begin a sweep at %s (running time, system calls and blocking of these "+
				"goroutines, the queue left out), "+
				"double it while throughput rises by more than the noise, and keep the smallest that does as well as the best. "+
				"Formulas that count the queue as waiting return about the number that happened to run.", start),
		},
		Experiment: &diagnosis.Experiment{
			Primary: diagnosis.ThroughputMetric(p.Model), Tune: fmt.Sprintf("workers=1..%d", g.Peak), At: g.Peak,
			Note: "Peak memory along the curve is what fewer workers save. A recording with the chosen count no longer has this finding.",
		},
	}
	f.Say("%s goroutines of %s share %s Ps: they spend %s× as long queued for a P as on one, %s of them on average. "+
		"Fewer would save up to %s.",
		c.peak, code.Name(code.GroupName(g.Name)), cpu.Procs(p), c.queue.Number(), c.ready, c.memory)
	if !c.exact {
		f.Confidence = diagnosis.Low
		f.Reasons = append(f.Reasons, "what the heap held before these goroutines is not known: all of it is taken for theirs, and may as well be a cache")
	}
	return f
}

// sweepStart returns a worker count to begin a search with, not a result. It
// leaves out what the count itself causes, time in the queue and in garbage
// collection, and so does not move with the number that was run.
func sweepStart(ps int, g *model.Group) int {
	busy := float64(g.Times.Running + g.Syscall + g.SyscallBlocked)
	var blocked time.Duration
	for reason, d := range g.Blocked {
		if !idleReason[reason] {
			blocked += d
		}
	}
	n := float64(ps) * statistics.Quotient(busy+float64(blocked), busy)
	return max(1, min(int(math.Ceil(n)), g.Peak))
}

// idleReason are waits that are a worker's leisure or the collector's doing,
// not part of a task.
var idleReason = map[string]bool{
	"chan receive": true, "select": true, "select (no cases)": true, "sync.WaitGroup.Wait": true, "sync": true,
	"GC mark assist wait for work": true, "GC background sweeper wait": true, "GC assist wait": true, "wait for GC cycle": true,
	"wait until GC ends": true, "GC weak to strong wait": true, "preempted": true, "runtime.Gosched": true,
}
