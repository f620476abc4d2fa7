package rules

import (
	_ "embed"
	"fmt"
	"time"

	"github.com/gowhy/gowhy/internal/diagnosis"
	"github.com/gowhy/gowhy/internal/fact"
	"github.com/gowhy/gowhy/internal/model"
)

//go:embed starved.md
var starvedPage string

var starved = &diagnosis.Rule{
	Name:     "starved",
	Title:    "The process itself waits for a CPU",
	Doc:      starvedPage,
	Needs:    []model.Source{model.Trace},
	Explains: []string{"schedlatency"},
	Untimed:  true,
	Check:    checkStarved,
}

// starvedBeyondQueue is how much longer than the program's own goroutines
// wait for a P (99th percentile) the tracer's goroutine must have been away.
// It stands in the same queue, a few times for each generation.
const starvedBeyondQueue = 5

func checkStarved(p *diagnosis.Pass) {
	c := &p.Model.Run.Coverage
	if c.MaxOverlap < diagnosis.StarvedOverlap {
		if c.Generations > 1 {
			p.Fine(fmt.Sprintf("CPU from the machine: the tracer never waited longer than %s for it", dur(c.MaxOverlap)))
		}
		return
	}
	queue := p.Model.Sched.Delay.Quantile(0.99)
	if c.MaxOverlap < starvedBeyondQueue*queue {
		p.Unchecked("whether the process was starved of CPU",
			fmt.Sprintf("the tracer waited up to %s, and the program's own run queue explains that: one in a hundred waits for a P exceeds %s", dur(c.MaxOverlap), dur(queue)),
			"grep -H . /sys/fs/cgroup/cpu.stat /proc/pressure/cpu")
		return
	}
	p.Report(starvedFinding(p, queue))
}

func starvedFinding(p *diagnosis.Pass, queue time.Duration) diagnosis.Finding {
	c := &p.Model.Run.Coverage
	cores, of, _ := diagnosis.Busy(p.Model)
	share := min(1, div(c.Overlap.Seconds(), p.Seconds()))
	return diagnosis.Finding{
		Summary: fmt.Sprintf("The process stood still for up to %s at a time without a CPU from the operating system: the tracer, which needs microseconds, was held up by that much.", dur(c.MaxOverlap)),
		Evidence: []fact.Fact{
			{Name: "generation overlap, longest", Value: c.MaxOverlap.Seconds(), Unit: fact.Seconds, Source: "trace: generations"},
			{Name: "generation overlap, all", Value: c.Overlap.Seconds(), Unit: fact.Seconds, Source: "trace: generations"},
			{Name: "generations", Value: float64(c.Generations), Unit: fact.Count, Source: "trace: generations"},
			{Name: "wait for a P, 99th percentile", Value: queue.Seconds(), Unit: fact.Seconds, Source: "trace: goroutines"},
			{Name: "Ps in use", Value: div(cores, of), Unit: fact.Ratio, Source: "trace: Ps"},
		},
		Cost: diagnosis.Cost{
			Value: c.MaxOverlap.Seconds(), Unit: fact.Seconds, Share: share,
			What: "the longest single hold-up seen; only the change of generation, about once a second, is a moment at which it shows",
		},
		Bound: diagnosis.Bound{
			Value: c.MaxOverlap.Seconds(), Unit: fact.Seconds, Goal: diagnosis.Latency, Share: share,
			Method: "0 to the longest hold-up, for a request that falls into it. The share is that of the window in which generations overlap",
		},
		Confidence: diagnosis.Medium,
		Reasons:    []string{"one kind of evidence, and indirect: the kernel's own counters (cpu.stat, pressure) would decide it"},
		RuledOut: []string{
			fmt.Sprintf("the program's own run queue: 99 of 100 waits in it end within %s", dur(queue)),
			"an ordinary change of generation: it takes 0.01 to 0.1 ms, or 11 ms with 100,000 parked goroutines",
		},
		Remedy: diagnosis.Remedy{
			Text: "Find who took the CPU: a quota (nr_throttled in cpu.stat), neighbours on the machine (PSI in /proc/pressure/cpu), or a hypervisor (steal in /proc/stat). Raise the quota, move the neighbour, or set GOMAXPROCS to no more than the CPUs the process may really use. Until then times in this trace include the standing still: what counts as running may not have run.",
			Knob: fmt.Sprintf("GOMAXPROCS=%d", max(1, p.Procs()/2)),
		},
		Prove: "What stood in the way is outside the program, so that no change of it can be compared. nr_throttled in `/sys/fs/cgroup/cpu.stat` rises during a run if it is a quota. Record on an idle machine or with a larger quota: the overlap is gone.",
	}
}
