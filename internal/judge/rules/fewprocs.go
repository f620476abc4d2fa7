package rules

import (
	_ "embed"

	"github.com/gowhy/gowhy/internal/ground/statistics"
	"github.com/gowhy/gowhy/internal/judge/diagnosis"
	"github.com/gowhy/gowhy/internal/judge/measure/cpu"
	"github.com/gowhy/gowhy/internal/judge/measure/queueing"
	"github.com/gowhy/gowhy/internal/know/fact"
	"github.com/gowhy/gowhy/internal/know/model"
)

//go:embed fewprocs.md
var fewprocsPage string

var fewprocs = &diagnosis.Rule{
	Name:     "fewprocs",
	Title:    "Fewer Ps than cores, and all of them busy",
	Doc:      fewprocsPage,
	Needs:    []model.Source{model.ProcFS},
	Explains: []string{"schedlatency"},
	Whole:    true,
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
	part fact.Fact // of the window with somebody ready
	mean fact.Fact // ready on average
}

func checkFewprocs(p *diagnosis.Pass) {
	ps, usable := cpu.KnownProcs(p), cpu.AllowedCores(p)
	if ps.Value == 0 || usable.Value == 0 {
		p.Unchecked("whether there are too few Ps", "GOMAXPROCS or the cores that the process may use are not known", p.HowToGet(model.Trace))
		return
	}
	if ps.Value+1 > usable.Value {
		return // as many as there are cores
	}
	used := useOfPs(p, ps)
	if used.Value < fewprocsUse {
		p.Fine(fact.Sentence("GOMAXPROCS: %s of the %s that it may use, and %s of their time is used", ps, usable, used))
		return
	}
	q, ok := measureReady(p)
	if !ok {
		p.Unchecked("whether more Ps would be used", "no evidence tells how many goroutines were ready and without a P", p.HowToGet(model.Trace))
		return
	}
	more := []fact.Fact{fact.Difference.Of("cores without a P", fact.Cores, usable, ps), q.mean}
	idle, known := idleCores(p)
	if known {
		more = append(more, idle)
	}
	throughput := withMorePs.Of("throughput", fact.Factor, ps, fact.Smallest.Of("more Ps that have work and a core", fact.Count, more...))
	switch {
	case q.part.Value < fewprocsQueued || q.mean.Value < 1 && throughput.Value < worthwhile:
		p.Fine(fact.Sentence("GOMAXPROCS: %s of the %s that it may use, and hardly anybody waits for "+
			"another", ps, usable))
	case throughput.Value < worthwhile:
		p.Fine(fact.Sentence("GOMAXPROCS: %s of the %s that it may use; the others were busy with other "+
			"programs", ps, usable))
	default:
		f := fewprocsFinding(p, ps, used, usable, q, throughput)
		if known {
			f.Confidence = diagnosis.High
			f.Reasons[0] = "two kinds of evidence agree: goroutines wait for a P, and the machine has idle cores " +
				"that the process may use"
			f.Summary += fact.Sentence(" %s of the machine are idle.", idle)
			f.Rest(idle)
		}
		p.Report(f)
	}
}

// withMorePs is the factor of throughput that more Ps bring where they are short.
var withMorePs = &fact.Formula{Name: "more Ps", Words: "asymptotic bound: ({0} + {1}) ÷ {0}",
	Value: func(x []float64) float64 { return statistics.Quotient(x[0]+max(0, x[1]), x[0]) }}

// useOfPs returns the part of the Ps' time in which they worked.
func useOfPs(p *diagnosis.Pass, ps fact.Fact) fact.Fact {
	if p.Model.Sched != nil && len(p.Model.Sched.Procs) > 0 {
		return fact.Fraction.Of("Ps used", fact.Ratio, cpu.BusyPs(p), ps)
	}
	used, _ := cpu.ProcessCPU(p)
	return fact.Fraction.Of("Ps used", fact.Ratio, used, ps)
}

// measureReady takes the trace's timeline, the runtime's own metrics, or the
// lines of schedtrace; ok is false without any.
func measureReady(p *diagnosis.Pass) (b readyQueue, ok bool) {
	const runnable = "/sched/goroutines/runnable:goroutines"
	m := p.Model
	var whole, queued, sum float64
	add := func(ready, weight float64) {
		whole += weight
		sum += ready * weight
		if ready >= 1 {
			queued += weight
		}
	}
	kind, what, from := fact.Timeline, "goroutines ready", model.Trace
	switch {
	case m.Sched != nil && len(m.Sched.Timeline) > 0:
		for _, t := range m.Sched.Timeline {
			add(t.Runnable, t.Width.Seconds())
		}
	case m.Metrics != nil && len(m.Metrics.Series[runnable]) > 1:
		kind, what, from = fact.Metric, runnable, model.MetricsLog
		for _, v := range m.Metrics.Series[runnable] {
			add(v.Value, 1)
		}
	default:
		what, from = "run queues", model.SchedTrace
		for i := range m.SchedLog {
			add(float64(m.SchedLog[i].Queued()), 1)
		}
	}
	b.part = p.Statistic(kind, what, "time with somebody ready", statistics.Quotient(queued, whole), fact.Ratio).From(from)
	b.mean = p.Statistic(kind, what, "goroutines that are ready and without a P, on average", statistics.Quotient(sum, whole), fact.Count).From(from)
	return b, whole > 0
}

// idleCores returns how many of the machine's were idle on average; known is false where the
// machine was not looked at.
func idleCores(p *diagnosis.Pass) (idle fact.Fact, known bool) {
	_, _, known = p.Model.Machine.Window()
	return fact.Sum.Of("idle cores of the machine", fact.Cores,
		p.Machine("CPUs idle", "idle", fact.Rate), p.Machine("CPUs that wait for a disk", "iowait", fact.Rate)), known
}

func fewprocsFinding(p *diagnosis.Pass, ps, used, usable fact.Fact, q readyQueue, throughput fact.Fact) diagnosis.Finding {
	knob := cpu.ProcsKnob(int(usable.Value + 1e-9)) // at least one more than now
	f := diagnosis.Finding{
		Evidence:   []fact.Fact{ps, usable, used, q.mean, q.part},
		Cost:       diagnosis.CostOf(q.mean, q.part.Value),
		Bound:      queueing.FasterLimit(throughput, "if nothing else is shared; less when something is"),
		Confidence: diagnosis.Medium,
		Reasons:    []string{"whether the other cores were idle was not recorded"},
		RuledOut: []string{
			fact.Sentence("a quota or an affinity that allows no more: the process may use %s", usable),
			fact.Sentence("nobody to use more Ps: %s of the time somebody is ready", q.part),
		},
		Remedy: diagnosis.Remedy{
			Text: "Remove what sets GOMAXPROCS (the environment, or a call of runtime.GOMAXPROCS), or raise it. " +
				"A low number chosen on purpose, to leave cores to others on the machine, is a trade: this is its " +
				"price.",
			Knob: knob,
		},
		Experiment: settingTrial(diagnosis.ThroughputMetric(p.Model), knob, cpu.ProcsKnob(int(ps.Value)), "CPU time per operation should stay the same. "+
			"If throughput does not move, something else is shared: a lock, a channel, a device."),
	}
	f.Say("GOMAXPROCS is %s where the process may use %s: %s of the Ps' time is used, and %s goroutines are ready "+
		"and wait for one on average.",
		ps, usable, used, q.mean)
	if b := p.Model.Build; b != nil && b.Environment["GOMAXPROCS"] != "" {
		f.Reasons = append(f.Reasons, "the environment sets GOMAXPROCS="+b.Environment["GOMAXPROCS"])
	}
	sayWhoSets(p, &f, "GOMAXPROCS")
	return f
}
