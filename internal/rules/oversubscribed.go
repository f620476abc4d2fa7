package rules

import (
	_ "embed"
	"fmt"
	"math"
	"time"

	"github.com/gowhy/gowhy/internal/diagnosis"
	"github.com/gowhy/gowhy/internal/fact"
	"github.com/gowhy/gowhy/internal/model"
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
	// workers on 2 Ps (4 to a P) and sick at 1000 (500 to a P).
	oversubscribedPerProc = 8
	// oversubscribedQueue is the time spent ready to run over the time spent
	// running or in system calls from which a crowd is too large. The pool of
	// 1000 file workers that the rule was made after shows about 31.
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
	// crowdCreated is how long before the first goroutine that was kept the
	// group may have begun, which is known only of some of it: a thousand
	// workers with a buffer of 64 KiB each are created in 30 ms under the tracer.
	crowdCreated = 100 * time.Millisecond
	// minStack is the smallest stack of a goroutine, and goroutineBytes what
	// one costs at least: a stack that once ran more than a trivial call
	// chain has been doubled twice, 2 KiB to 8 KiB.
	minStack       = 2 << 10
	goroutineBytes = 4 * minStack
)

func checkOversubscribed(p *diagnosis.Pass) {
	worst, spared, found := 0.0, 0.0, false
	for i := range p.Model.Sched.Groups {
		g := &p.Model.Sched.Groups[i]
		if g.System || g.Peak < oversubscribedPerProc*p.Procs() {
			continue
		}
		work := g.Times.Running + g.Syscall + g.SyscallBlocked
		queue := div(float64(g.Runnable), float64(work))
		ready := readyPerProc(p, g)
		mem := spareMemory(p, g)
		switch {
		case queue < oversubscribedQueue:
			worst = max(worst, queue)
		case spawned(g) || ready < oversubscribedReady || working(p) < oversubscribedBusy*float64(p.Procs()):
		case mem.bytes() < oversubscribedBytes:
			spared = max(spared, mem.bytes())
		default:
			found = true
			p.Report(crowd(p, g, queue, ready, mem))
		}
	}
	switch {
	case found:
	case spared > 0:
		p.Fine(fmt.Sprintf("worker counts: a crowd queues for the processors, and fewer workers would save at most %s of memory", size(spared)))
	case worst > 0:
		p.Fine(fmt.Sprintf("worker counts: a crowd is there, and queues for a processor only %s times as long as it works", num(worst)))
	}
}

// spare is what workers beyond a count that keeps the Ps busy hold at most.
type spare struct {
	workers      float64
	stacks, heap float64 // bytes
	share        float64 // of the largest heap and all workers' stacks
	sure         bool    // the heap was seen to grow with the workers
}

func (s *spare) bytes() float64 { return s.stacks + s.heap }

// spareMemory takes what the heap grew by since there were workers for theirs,
// and shares it out evenly: no trace tells who holds what, so that this is an
// upper bound. Where the growth may have been missed all of the heap is, and
// nobody can be sure.
func spareMemory(p *diagnosis.Pass, g *model.Group) (s spare) {
	s.workers = float64(max(0, g.Peak-oversubscribedPerProc*p.Procs()))
	s.stacks = s.workers * goroutineBytes
	heap := largestHeap(p.Model)
	before, known := heapBefore(p.Model, g)
	part := div(s.workers, float64(g.Peak))
	s.heap, s.sure = max(0, heap-before)*part, g.Created == g.Count
	if !known && (!s.sure || s.bytes() < oversubscribedBytes) {
		s.heap, s.sure = heap*part, s.stacks >= oversubscribedBytes
	}
	s.share = div(s.bytes(), heap+float64(g.Peak)*goroutineBytes)
	return s
}

// heapBefore is the most that the heap held before the group was created. It
// is not known of a group that is older than the window, or than the first
// sample of the heap; then bytes is that sample.
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

// readyPerProc is how many goroutines of the group were waiting for each P
// on average over the window.
func readyPerProc(p *diagnosis.Pass, g *model.Group) float64 {
	return p.Share(g.Runnable)
}

func crowd(p *diagnosis.Pass, g *model.Group, queue, ready float64, mem spare) diagnosis.Finding {
	procs := p.Procs()
	place, _ := p.GroupPlace(g)
	creator, _ := p.UserPlace(g.Creator)
	work := g.Times.Running + g.Syscall + g.SyscallBlocked
	start := sweepStart(procs, g)
	f := diagnosis.Finding{
		Summary: fmt.Sprintf("%s goroutines of %s share %d Ps: for every second of work they queue %s for a P, %s of them on average. Fewer would save up to %s.",
			num(g.Peak), short(groupName(g.Name)), procs, dur(time.Duration(queue*float64(time.Second))), num(math.Round(ready*float64(procs))), size(mem.bytes())),
		Where: where(place, creator),
		Evidence: []fact.Fact{
			{Name: "goroutines alive at once", Value: float64(g.Peak), Unit: fact.Count, Source: "trace: goroutine groups"},
			{Name: "waiting for a P", Value: g.Runnable.Seconds(), Unit: fact.Seconds, Source: "trace: goroutine groups"},
			{Name: "running or in system calls", Value: work.Seconds(), Unit: fact.Seconds, Source: "trace: goroutine groups"},
			{Name: "waiting ÷ working", Value: queue, Unit: fact.Ratio, Source: "trace: goroutine groups"},
			{Name: "memory that fewer workers may save, at most", Value: mem.bytes(), Unit: fact.Bytes, Source: "trace: heap samples, goroutine groups"},
			{Name: "first count to try", Value: float64(start), Unit: fact.Count, Source: "P × (exec + syscall + blocked) ÷ (exec + syscall)"},
		},
		Cost: diagnosis.Cost{
			Value: ready * float64(procs), Unit: fact.Count, Share: div(float64(g.Runnable), float64(g.Total())),
			What: "goroutines ready and waiting for a P, on average",
		},
		Bound: diagnosis.Bound{
			Value: mem.bytes(), Unit: fact.Bytes, Goal: diagnosis.MemoryGoal, Share: mem.share,
			Method: fmt.Sprintf("%s goroutines beyond %d to a P × %s of stack each, plus their even part of the heap that came with them, %s, as if they held all of it; the work itself takes as long with fewer workers, so throughput is not promised to rise", num(mem.workers), oversubscribedPerProc, size(goroutineBytes), size(mem.heap)),
		},
		Confidence: diagnosis.Medium,
		Reasons:    []string{"one kind of evidence, the trace, covering every goroutine of the group"},
		RuledOut: []string{
			fmt.Sprintf("workers that merely wait: only ready ones are counted, %s to a P", num(ready)),
			"a short burst: the queue is an average over the whole window",
		},
		Groups: []string{g.Name},
		Remedy: diagnosis.Remedy{
			Text: fmt.Sprintf("Lower the number of workers. Begin a sweep at %d (running time, system calls and blocking of these goroutines, the queue left out), double it while throughput rises by more than 3 %%, and keep the smallest that does as well as the best. Formulas that count the queue as waiting return about the number that happened to run.", start),
		},
		Experiment: &diagnosis.Experiment{
			Primary: diagnosis.ThroughputMetric(p.Model), Tune: fmt.Sprintf("workers=1..%d", g.Peak), At: g.Peak,
			Note: "Peak memory along the curve is what fewer workers save. A recording with the chosen count no longer has this finding.",
		},
	}
	if !mem.sure {
		f.Confidence = diagnosis.Low
		f.Reasons = append(f.Reasons, "what the heap held before these goroutines is not known: all of it is taken for theirs, and may as well be a cache")
	}
	return f
}

// sweepStart is a worker count to begin a search with, not a result. It
// leaves out what the count itself causes, time in the queue and in garbage
// collection, and so does not move with the number that was run.
func sweepStart(procs int, g *model.Group) int {
	busy := float64(g.Times.Running + g.Syscall + g.SyscallBlocked)
	var blocked time.Duration
	for reason, d := range g.Blocked {
		if !idleReason[reason] {
			blocked += d
		}
	}
	n := float64(procs) * div(busy+float64(blocked), busy)
	return max(1, min(int(math.Ceil(n)), g.Peak))
}

// idleReason are waits that are a worker's leisure or the collector's doing,
// not part of a task.
var idleReason = map[string]bool{
	"chan receive": true, "select": true, "select (no cases)": true, "sync.WaitGroup.Wait": true, "sync": true,
	"GC mark assist wait for work": true, "GC background sweeper wait": true, "GC assist wait": true, "wait for GC cycle": true,
	"wait until GC ends": true, "GC weak to strong wait": true, "preempted": true, "runtime.Gosched": true,
}
