package rules

import (
	_ "embed"
	"fmt"
	"math"

	"github.com/gowhy/gowhy/internal/diagnosis"
	"github.com/gowhy/gowhy/internal/fact"
	"github.com/gowhy/gowhy/internal/model"
)

//go:embed fewprocs.md
var fewprocsPage string

var fewprocs = &diagnosis.Rule{
	Name:     "fewprocs",
	Title:    "Fewer Ps than cores, and all of them busy",
	Doc:      fewprocsPage,
	Needs:    []model.Source{model.ProcFS},
	Explains: []string{"schedlatency"},
	Check:    checkFewprocs,
}

const (
	// fewprocsUse is the use of the Ps from which they are what limits: four
	// workers that compute on one P show 0.99 and more; with 2 to 16 servers
	// queues grow steeply beyond nine tenths.
	fewprocsUse = 0.9
	// fewprocsQueued is the part of the window in which somebody must have
	// been ready and without a P. The catalogue's figure; four workers
	// on one P show 1, one worker on one P next to nothing.
	fewprocsQueued = 0.20
)

// A readyQueue is who waits for a P, by whatever evidence tells it.
type readyQueue struct {
	part   float64 // of the window with somebody ready
	mean   float64 // ready on average
	source string
}

func checkFewprocs(p *diagnosis.Pass) {
	procs, usable := knownProcs(p.Model), p.Model.Usable()
	if procs == 0 || usable == 0 {
		p.Unchecked("whether there are too few Ps", "GOMAXPROCS or the cores that the process may use are not known", diagnosis.HowToGet(model.Trace))
		return
	}
	if float64(procs+1) > usable {
		return // as many as there are cores
	}
	used, source := useOfPs(p, procs)
	if used < fewprocsUse {
		p.Fine(fmt.Sprintf("GOMAXPROCS: %d of the %s cores that it may use, and %s of their time is used", procs, num(usable), pct(used)))
		return
	}
	q, ok := measureReady(p.Model)
	if !ok {
		p.Unchecked("whether more Ps would be used", "no evidence tells how many goroutines were ready and without a P", diagnosis.HowToGet(model.Trace))
		return
	}
	idle := idleCores(p.Model, usable-float64(procs))
	more := min(usable-float64(procs), idle, q.mean)
	factor := 1 + more/float64(procs)
	switch {
	case q.part < fewprocsQueued || q.mean < 1 && factor < worthwhile:
		p.Fine(fmt.Sprintf("GOMAXPROCS: %d of the %s cores that it may use, and hardly anybody waits for another", procs, num(usable)))
	case factor < worthwhile:
		p.Fine(fmt.Sprintf("GOMAXPROCS: %d of the %s cores that it may use; the others were busy with other programs", procs, num(usable)))
	default:
		p.Report(fewprocsFinding(p, procs, used, source, usable, idle, q, factor))
	}
}

// useOfPs is the part of the Ps' time in which they worked.
func useOfPs(p *diagnosis.Pass, procs int) (part float64, source string) {
	if p.Model.Sched != nil && len(p.Model.Sched.Procs) > 0 {
		return min(1, working(p)/float64(procs)), "trace: Ps, running, collecting or in a system call"
	}
	u, _ := rusage(p.Model)
	return min(1, u.cores()/float64(procs)), "/proc: CPU time of the process ÷ Ps"
}

// measureReady takes the trace's timeline, the runtime's own metrics, or the
// lines of schedtrace; ok is false without any.
func measureReady(m *model.Model) (b readyQueue, ok bool) {
	var whole, queued, sum float64
	add := func(ready, weight float64) {
		whole += weight
		sum += ready * weight
		if ready >= 1 {
			queued += weight
		}
	}
	switch {
	case m.Sched != nil && len(m.Sched.Timeline) > 0:
		b.source = "trace: timeline"
		for _, t := range m.Sched.Timeline {
			add(t.Runnable, t.Width.Seconds())
		}
	case m.Metrics != nil && len(m.Metrics.Series["/sched/goroutines/runnable:goroutines"]) > 1:
		b.source = "runtime/metrics: goroutines runnable"
		for _, v := range m.Metrics.Series["/sched/goroutines/runnable:goroutines"] {
			if !math.IsNaN(v.Value) && !math.IsInf(v.Value, 0) {
				add(max(0, v.Value), 1)
			}
		}
	default:
		b.source = "schedtrace: run queues"
		for i := range m.SchedLog {
			ready := m.SchedLog[i].RunQueue
			for _, n := range m.SchedLog[i].Local {
				ready += n
			}
			add(float64(ready), 1)
		}
	}
	b.part, b.mean = div(queued, whole), div(sum, whole)
	return b, whole > 0
}

// idleCores is how many of the machine's were idle on average; otherwise,
// where the machine was not looked at, unknown.
func idleCores(m *model.Model, unknown float64) float64 {
	first, last, ok := m.Machine.Window()
	if !ok {
		return unknown
	}
	return max(0, div((last.Idle-first.Idle+last.IOWait-first.IOWait).Seconds(), (last.At-first.At).Seconds()))
}

func fewprocsFinding(p *diagnosis.Pass, procs int, used float64, source string, usable, idle float64, q readyQueue, factor float64) diagnosis.Finding {
	all := wholeCores(usable)
	f := diagnosis.Finding{
		Summary: fmt.Sprintf("GOMAXPROCS is %d where the process may use %s cores: %s of the Ps' time is used, %s goroutines are ready and wait for one on average, and %s cores of the machine are idle.",
			procs, num(usable), pct(used), num(q.mean), num(idle)),
		Evidence: []fact.Fact{
			{Name: "Ps", Value: float64(procs), Unit: fact.Count, Source: "GOMAXPROCS of the run"},
			{Name: "cores that the process may use", Value: usable, Unit: fact.Cores, Source: "affinity, quota and CPUs online"},
			{Name: "Ps used", Value: used, Unit: fact.Ratio, Source: source},
			{Name: "ready and without a P, on average", Value: q.mean, Unit: fact.Count, Source: q.source},
			{Name: "time with somebody ready", Value: q.part, Unit: fact.Ratio, Source: q.source},
			{Name: "idle cores of the machine", Value: idle, Unit: fact.Cores, Source: "/proc/stat"},
		},
		Cost: diagnosis.Cost{Value: q.mean, Unit: fact.Count, Share: q.part, What: "goroutines that are ready and without a P, on average"},
		Bound: diagnosis.Bound{
			Value: factor, Unit: fact.Ratio, Goal: diagnosis.Throughput, Share: gain(factor),
			Method: "asymptotic bound: throughput factor (Ps + more) ÷ Ps, where more is the least of the cores that are allowed and not used by a P, the cores of the machine that are idle, and the goroutines ready on average; less when they share something else",
		},
		Confidence: diagnosis.High,
		Reasons:    []string{"two kinds of evidence agree: goroutines wait for a P, and the machine has idle cores that the process may use"},
		RuledOut: []string{
			"a quota or an affinity that allows no more: the process may use " + num(usable) + " cores",
			"nobody to use more Ps: " + pct(q.part) + " of the time somebody is ready",
		},
		Remedy: diagnosis.Remedy{
			Text: "Remove what sets GOMAXPROCS (the environment, or a call of runtime.GOMAXPROCS), or raise it. A low number chosen on purpose, to leave cores to others on the machine, is a trade: this is its price.",
			Knob: fmt.Sprintf("GOMAXPROCS=%d", all),
		},
		Experiment: tried(diagnosis.ThroughputMetric(p.Model), fmt.Sprintf("GOMAXPROCS=%d", all), fmt.Sprintf("GOMAXPROCS=%d", procs), "CPU time per operation should stay the same. If throughput does not move, something else is shared: a lock, a channel, a device."),
	}
	if _, _, ok := p.Model.Machine.Window(); !ok {
		f.Confidence = diagnosis.Medium
		f.Reasons = []string{"whether the other cores were idle was not recorded"}
	}
	if b := p.Model.Build; b != nil && b.Environment["GOMAXPROCS"] != "" {
		f.Reasons = append(f.Reasons, "the environment sets GOMAXPROCS="+b.Environment["GOMAXPROCS"])
	}
	return f
}
