package rules

import (
	_ "embed"
	"fmt"
	"math"
	"time"

	"github.com/gowhy/gowhy/diagnosis"
	"github.com/gowhy/gowhy/model"
)

//go:embed oversubscribed.md
var oversubscribedPage string

var oversubscribed = &diagnosis.Rule{
	Name:     "oversubscribed",
	Title:    "More workers than processors can run",
	Doc:      oversubscribedPage,
	Needs:    []model.Source{model.Trace},
	Explains: []string{"schedlatency"},
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
	// minStack is the smallest stack of a goroutine, and goroutineBytes what
	// one costs at least: a stack that once ran more than a trivial call
	// chain has been doubled twice, 2 KiB to 8 KiB.
	minStack       = 2 << 10
	goroutineBytes = 4 * minStack
)

func checkOversubscribed(p *diagnosis.Pass) {
	worst := 0.0
	for i := range p.Model.Sched.Groups {
		g := &p.Model.Sched.Groups[i]
		if g.System || g.Peak < oversubscribedPerProc*p.Procs() {
			continue
		}
		work := g.Times.Running + g.Syscall + g.SyscallBlocked
		queue := div(float64(g.Runnable), float64(work))
		ready := readyPerProc(p, g)
		switch {
		case spawned(g) || queue >= oversubscribedQueue && ready < oversubscribedReady:
		case queue < oversubscribedQueue:
			worst = max(worst, queue)
		default:
			p.Report(crowd(p, g, queue, ready))
		}
	}
	if worst > 0 {
		p.Fine(fmt.Sprintf("worker counts: a crowd is there, and queues for a processor only %s times as long as it works", num(worst)))
	}
}

// readyPerProc is how many goroutines of the group were waiting for each P
// on average over the window.
func readyPerProc(p *diagnosis.Pass, g *model.Group) float64 {
	return p.Share(g.Runnable)
}

// spawned reports whether the group is made of goroutines that come and go
// rather than of workers that stay: their number follows the load, and no
// worker count is there to be lowered.
func spawned(g *model.Group) bool { return g.Count > 2*g.Peak }

func crowd(p *diagnosis.Pass, g *model.Group, queue, ready float64) diagnosis.Finding {
	procs := p.Procs()
	spare := float64(max(0, g.Peak-oversubscribedPerProc*procs))
	bytes := spare * goroutineBytes
	place, _ := p.GroupPlace(g)
	creator, _ := p.UserPlace(g.Creator)
	work := g.Times.Running + g.Syscall + g.SyscallBlocked
	start := sweepStart(procs, g)
	return diagnosis.Finding{
		Summary: fmt.Sprintf("%s goroutines of %s share %d Ps: for every second of work they queue %s for a P, %s of them on average.",
			num(g.Peak), short(groupName(g.Name)), procs, dur(time.Duration(queue*float64(time.Second))), num(math.Round(ready*float64(procs)))),
		Where: where(place, creator),
		Evidence: []diagnosis.Fact{
			{Name: "goroutines alive at once", Value: float64(g.Peak), Unit: diagnosis.Count, Source: "trace: goroutine groups"},
			{Name: "waiting for a P", Value: g.Runnable.Seconds(), Unit: diagnosis.Seconds, Source: "trace: goroutine groups"},
			{Name: "running or in system calls", Value: work.Seconds(), Unit: diagnosis.Seconds, Source: "trace: goroutine groups"},
			{Name: "waiting ÷ working", Value: queue, Unit: diagnosis.Ratio, Source: "trace: goroutine groups"},
			{Name: "first count to try", Value: float64(start), Unit: diagnosis.Count, Source: "P × (exec + syscall + blocked) ÷ (exec + syscall)"},
		},
		Cost: diagnosis.Cost{
			Value: ready * float64(procs), Unit: diagnosis.Count, Share: div(float64(g.Runnable), float64(g.Total())),
			What: "goroutines ready and waiting for a P, on average",
		},
		Bound: diagnosis.Bound{
			Value: bytes, Unit: diagnosis.Bytes, Goal: diagnosis.MemoryGoal, Share: heapShare(p, bytes),
			Method: fmt.Sprintf("%s goroutines beyond %d to a P × %s of stack each, plus what each worker holds; the work itself takes as long with fewer workers, so throughput is not promised to rise", num(spare), oversubscribedPerProc, size(goroutineBytes)),
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
		Prove: fmt.Sprintf("Run the same work with %d, %d, %d and %d workers, several times in turn, and compare elapsed time and peak memory; then `gowhy record -o fewer.gowhy -- COMMAND` with the chosen count and `gowhy diagnose fewer.gowhy`: this finding is gone.", start, 2*start, 4*start, 8*start),
	}
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

// heapShare relates bytes to the largest heap goal of the window; without a
// heap in the evidence it is 0 and the finding ranks by its cost.
func heapShare(p *diagnosis.Pass, bytes float64) float64 {
	if p.Model.GC == nil {
		return 0
	}
	var goal uint64
	for _, h := range p.Model.GC.Heap {
		goal = max(goal, h.Goal, h.Alloc)
	}
	return min(1, div(bytes, float64(goal)+bytes))
}
