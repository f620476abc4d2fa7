package rules

import (
	_ "embed"
	"math"

	"github.com/gowhy/gowhy/internal/ground/statistics"
	"github.com/gowhy/gowhy/internal/judge/diagnosis"
	"github.com/gowhy/gowhy/internal/judge/measure/cpu"
	"github.com/gowhy/gowhy/internal/know/fact"
	"github.com/gowhy/gowhy/internal/know/model"
)

//go:embed overquota.md
var overquotaPage string

var overquota = &diagnosis.Rule{
	Name:       "overquota",
	Title:      "More Ps than the CPU quota pays for",
	Doc:        overquotaPage,
	Needs:      []model.Source{model.ProcFS},
	Explains:   []string{"throttled", "starved", "schedlatency", "slowstop", "gcassist"},
	Disturbing: true,
	Whole:      true,
	Check:      checkOverquota,
}

const (
	// overquotaLeast is the smallest number of Ps that the runtime sets by
	// itself, however small the quota (see containerProcs).
	overquotaLeast = 2
	// overquotaStops is the part of the quota periods that must have ended in
	// a stop. A program that never uses its quota up pays nothing for its Ps.
	overquotaStops = 0.01
)

func checkOverquota(p *diagnosis.Pass) {
	ps, l := cpu.KnownProcs(p), p.Model.Limits
	if l == nil || l.Quota <= 0 {
		return // said by the rule about throttling
	}
	if ps.Value == 0 {
		p.Unchecked("whether there are more Ps than the CPU quota pays for", "no evidence tells GOMAXPROCS", p.HowToGet(model.Trace))
		return
	}
	quota := cpu.Quota(p)
	automatic := automaticPs.Of("Ps that the runtime sets for this quota", fact.Count, quota)
	if ps.Value <= automatic.Value {
		p.Fine(fact.Sentence("GOMAXPROCS: %s on a quota of %s", ps.Things("P"), quota))
		return
	}
	t, ok := cpu.Throttling(p)
	if !ok {
		p.Unchecked("what Ps beyond the CPU quota cost", "the counters of the control group were not read twice", "grep -H . /sys/fs/cgroup/cpu.stat")
		return
	}
	if t.Throttled.Value < throttledLeast || t.Often.Value < overquotaStops {
		p.Fine(fact.Sentence("GOMAXPROCS: %s on a quota of %s, which is not used up", ps.Things("P"), quota))
		return
	}
	p.Report(overquotaFinding(p, &t, ps, automatic))
}

// automaticPs is what the runtime sets where nobody says otherwise.
var automaticPs = &fact.Formula{Name: "automatic Ps", Words: "{0} rounded up, at least two",
	Value: func(x []float64) float64 { return max(overquotaLeast, math.Ceil(x[0])) }}

// usedUp is when Ps that are all busy, as many as find a CPU, have used the quota
// of a period up. For the rest of it they stand still.
var usedUp = &fact.Formula{Name: "used up", Words: "{0} × {1} ÷ {2}",
	Value: func(x []float64) float64 { return statistics.Quotient(x[0]*x[1], x[2]) }}

func overquotaFinding(p *diagnosis.Pass, t *cpu.Throttle, ps, automatic fact.Fact) diagnosis.Finding {
	why, known := whyOverquota(p.Model)
	running := ps
	if n := cpu.UsableCPUs(p); n.Value > 0 && n.Value < ps.Value {
		running = n
	}
	busy := usedUp.Of("time in which they use a period's quota up", fact.Seconds, t.Period, t.Quota, running)
	f := diagnosis.Finding{
		Evidence: append([]fact.Fact{ps, automatic}, t.Facts()...),
		Cost:     diagnosis.CostOf(t.Share, t.Share.Value),
		Bound: t.Bound(", as if Ps that fit the quota ended all stops; the quota itself stays, so that " +
			"throughput is not promised to rise"),
		Confidence: diagnosis.Medium,
		Reasons: []string{"GOMAXPROCS, the quota and the stops are exact; that fewer Ps end the stops is " +
			"arithmetic until it is tried", why},
		RuledOut: []string{
			fact.Sentence("the runtime's own rounding: it would set %s", automatic),
			fact.Sentence("a quota that is never used up: %s of the periods ended in a stop", t.Often),
		},
		Remedy: diagnosis.Remedy{
			Text: "Let the number follow the quota. " + containerProcs.version() + " and later do that by themselves, also when the quota changes, " +
				"if go.mod says that version or a later one and neither the environment variable GOMAXPROCS, nor a " +
				"call of runtime.GOMAXPROCS, " +
				"nor GODEBUG containermaxprocs=0 prevents it. Here: " + why + ". Before " + containerProcs.version() +
				" set GOMAXPROCS to the quota when the container is started.",
			Knob: cpu.ProcsKnob(int(math.Ceil(t.Quota.Value))),
		},
	}
	f.Say("%s on a quota of %s: busy on %s, they use a period's quota up in %s and then stand still for %s. It was "+
		"used up in %s of %s periods.",
		ps.Things("P"), t.Quota, running.Things("CPU"), busy,
		fact.Difference.Of("time in which they stand still", fact.Seconds, t.Period, busy), t.Throttled, t.Periods)
	f.Experiment = settingTrial(latency(p.Model), f.Remedy.Knob, cpu.ProcsKnob(int(ps.Value)), fact.Sentence("Both arms must have the quota. "+
		"nr_throttled in `/sys/fs/cgroup/cpu.stat` is a count, now %s in %s, and must stop rising; throughput must "+
		"stay the same. "+
		"If the stops stay too, this finding is refuted.", t.Throttled, t.Window))
	if known {
		f.Confidence = diagnosis.High
		f.Reasons[0] = "two kinds of evidence agree: the control group's counters and the program's build or " +
			"environment"
	}
	return f
}

// whyOverquota says why the runtime did not follow the quota; sure is false
// when nothing tells and only what is left over can be named.
func whyOverquota(m *model.Model) (why string, known bool) {
	if m.Build != nil {
		if v := m.Build.Environment["GOMAXPROCS"]; v != "" {
			return "the environment sets GOMAXPROCS=" + v, true
		}
	}
	for _, change := range []*goFact{containerProcs, updatedProcs} {
		if st, why := change.status(m); st == notYet || st == undone {
			return why, true
		}
	}
	return "most likely runtime.GOMAXPROCS is called, or the quota is set on a parent of the group, which the " +
		"runtime does not read", false
}
