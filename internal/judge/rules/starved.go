package rules

import (
	_ "embed"

	"github.com/gowhy/gowhy/internal/judge/diagnosis"
	"github.com/gowhy/gowhy/internal/judge/measure/cpu"
	"github.com/gowhy/gowhy/internal/know/fact"
	"github.com/gowhy/gowhy/internal/know/model"
)

//go:embed starved.md
var starvedPage string

var starved = &diagnosis.Rule{
	Name:       "starved",
	Title:      "The process itself waits for a CPU",
	Doc:        starvedPage,
	Needs:      []model.Source{model.Trace},
	Explains:   []string{"schedlatency"},
	Disturbing: true,
	Whole:      true,
	Check:      checkStarved,
}

// starvedBeyondQueue is how much longer than the program's own goroutines
// wait for a P (99th percentile) the tracer's goroutine must have been away.
// It stands in the same queue, a few times for each generation.
const starvedBeyondQueue = 5

// A change of generation took changeQuiet at most on an idle machine, and changeParked with
// that number of goroutines to be written down, in seconds.
const (
	changeQuiet  = 100e-6
	changeParked = 11e-3
	parked       = 100_000
)

func checkStarved(p *diagnosis.Pass) {
	c := &p.Model.Run.Coverage
	overlap := p.Statistic(fact.Generations, "overlap", "generation overlap, longest", c.MaxOverlap.Seconds(), fact.Seconds)
	if c.MaxOverlap < diagnosis.StarvedOverlap {
		if c.Generations > 1 {
			p.Fine(fact.Sentence("CPU from the machine: the tracer never waited longer than %s for it", overlap))
		}
		return
	}
	queue := p.Statistic(fact.Timeline, "waits for a P", "wait for a P, 99th percentile",
		p.Model.Sched.Delay.Quantile(0.99).Seconds(), fact.Seconds)
	if overlap.Value < starvedBeyondQueue*queue.Value {
		p.Unchecked("whether the process was starved of CPU",
			fact.Sentence("the tracer waited up to %s, and the program's own run queue explains that: one in a "+
				"hundred waits for a P exceeds %s", overlap, queue),
			"grep -H . /sys/fs/cgroup/cpu.stat /proc/pressure/cpu")
		return
	}
	p.Report(starvedFinding(p, overlap, queue))
}

func starvedFinding(p *diagnosis.Pass, overlap, queue fact.Fact) diagnosis.Finding {
	c := &p.Model.Run.Coverage
	all := p.Statistic(fact.Generations, "overlap", "generation overlap, all", c.Overlap.Seconds(), fact.Seconds)
	share := fact.Fraction.Of("part of the window in which generations overlap", fact.Ratio, all, p.WindowLength())
	f := diagnosis.Finding{
		Evidence: []fact.Fact{overlap, all, p.Statistic(fact.Generations, "number", "generations", float64(c.Generations), fact.Count), queue,
			fact.Quotient.Of("Ps in use", fact.Ratio, cpu.ActivePs(p), cpu.Procs(p))},
		Cost: diagnosis.CostOf(overlap.Named("longest hold-up that a change of generation showed"), share.Value),
		Bound: diagnosis.Limit(overlap.Named("hold-up"), diagnosis.Latency, share.Value,
			"between nothing and this, for a request that falls into it; the share is that of the window in which "+
				"generations overlap"),
		Confidence: diagnosis.Medium,
		Reasons: []string{"one kind of evidence, and indirect: the kernel's own counters (cpu.stat, pressure) " +
			"would decide it"},
		RuledOut: []string{
			fact.Sentence("the program's own run queue: all but one in a hundred waits in it end within %s", queue),
			fact.Sentence("an ordinary change of generation: it takes %s at most, or %s with %s parked goroutines",
				fact.Name(fact.Seconds.Format(changeQuiet)), fact.Name(fact.Seconds.Format(changeParked)), fact.Name(fact.Count.Format(parked))),
		},
		Remedy: diagnosis.Remedy{
			Text: "Find who took the CPU: a quota (nr_throttled in cpu.stat), neighbours on the machine (PSI in " +
				"/proc/pressure/cpu), " +
				"or a hypervisor (steal in /proc/stat). Raise the quota, move the neighbour, or set GOMAXPROCS to " +
				"no more than the CPUs " +
				"the process may really use. Until then times in this trace include the standing still: what " +
				"counts as running may not have run.",
			Knob: cpu.ProcsKnob(max(1, p.Procs()/2)),
		},
		Prove: "What stood in the way is outside the program, so that no change of it can be compared. " +
			"nr_throttled in `/sys/fs/cgroup/cpu.stat` rises during a run if it is a quota. " +
			"Record on an idle machine or with a larger quota: the overlap is gone.",
	}
	f.Say("The process stood still for up to %s at a time without a CPU from the operating system: "+
		"the tracer, which needs microseconds, was held up by that much.", overlap)
	return f
}
