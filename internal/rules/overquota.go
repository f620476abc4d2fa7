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

//go:embed overquota.md
var overquotaPage string

var overquota = &diagnosis.Rule{
	Name:     "overquota",
	Title:    "More Ps than the CPU quota pays for",
	Doc:      overquotaPage,
	Needs:    []model.Source{model.ProcFS},
	Explains: []string{"throttled", "starved", "schedlatency", "slowstop", "gcassist"},
	Untimed:  true,
	Check:    checkOverquota,
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
	procs, l := knownProcs(p.Model), p.Model.Limits
	if l == nil || l.Quota <= 0 {
		return // said by the rule about throttling
	}
	if procs == 0 {
		p.Unchecked("whether there are more Ps than the CPU quota pays for", "no evidence tells GOMAXPROCS", diagnosis.HowToGet(model.Trace))
		return
	}
	automatic := max(overquotaLeast, int(math.Ceil(l.Quota)))
	if procs <= automatic {
		p.Fine(fmt.Sprintf("GOMAXPROCS: %s on a quota of %s", many(procs, "P"), many(l.Quota, "core")))
		return
	}
	t, ok := throttling(p.Model)
	if !ok {
		p.Unchecked("what Ps beyond the CPU quota cost", "the counters of the control group were not read twice", "grep -H . /sys/fs/cgroup/cpu.stat")
		return
	}
	if t.throttled < throttledLeast || t.often() < overquotaStops {
		p.Fine(fmt.Sprintf("GOMAXPROCS: %s on a quota of %s, which is not used up", many(procs, "P"), many(l.Quota, "core")))
		return
	}
	p.Report(overquotaFinding(p, t, procs, automatic))
}

func overquotaFinding(p *diagnosis.Pass, t throttle, procs, automatic int) diagnosis.Finding {
	why, sure := whyOverquota(p.Model)
	// Ps that are all busy, as many as find a CPU, use the quota of a period up
	// in this time, and stand still for the rest of it.
	period, running := quotaPeriod(p.Model.Limits), procs
	if n := usableCPUs(p.Model); n > 0 {
		running = min(procs, n)
	}
	busy := min(period, time.Duration(t.quota/float64(running)*float64(period)))
	f := diagnosis.Finding{
		Summary: fmt.Sprintf("%d Ps on a quota of %s: busy on %s, they use a period's quota up in %s and then stand still for %s. It was used up in %s of %s periods.",
			procs, many(t.quota, "core"), many(running, "CPU"), dur(busy), dur(period-busy), num(t.throttled), num(t.periods)),
		Evidence: append([]fact.Fact{
			{Name: "Ps", Value: float64(procs), Unit: fact.Count, Source: "GOMAXPROCS of the run"},
			{Name: "Ps that the runtime sets for this quota", Value: float64(automatic), Unit: fact.Count, Source: containerProcs.version() + ": the quota rounded up, at least 2"},
		}, t.facts()...),
		Cost: diagnosis.Cost{
			Value: t.share(), Unit: fact.Ratio, Share: t.share(), What: "part of the window in which threads that wanted to run were stopped, at most",
		},
		Bound: diagnosis.Bound{
			Value: t.mean().Seconds(), Unit: fact.Seconds, Goal: diagnosis.Latency, Share: t.share(),
			Method: "0 to the mean stop, for a request that falls into one, as if Ps that fit the quota ended all stops. The quota itself stays, so that throughput is not promised to rise",
		},
		Confidence: diagnosis.Medium,
		Reasons:    []string{"GOMAXPROCS, the quota and the stops are exact; that fewer Ps end the stops is arithmetic until it is tried", why},
		RuledOut: []string{
			fmt.Sprintf("the runtime's own rounding: it would set %d", automatic),
			fmt.Sprintf("a quota that is never used up: %s of the periods ended in a stop", pct(t.often())),
		},
		Remedy: diagnosis.Remedy{
			Text: "Let the number follow the quota. " + containerProcs.version() + " and later do that by themselves, also when the quota changes, if go.mod says that version or a later one and neither the environment variable GOMAXPROCS, nor a call of runtime.GOMAXPROCS, nor GODEBUG containermaxprocs=0 prevents it. Here: " + why + ". Before " + containerProcs.version() + " set GOMAXPROCS to the quota when the container is started.",
			Knob: fmt.Sprintf("GOMAXPROCS=%d", max(1, int(math.Ceil(t.quota)))),
		},
	}
	f.Experiment = tried(latency(p.Model), f.Remedy.Knob, fmt.Sprintf("GOMAXPROCS=%d", procs), fmt.Sprintf("Both arms must have the quota. nr_throttled in `/sys/fs/cgroup/cpu.stat` is a count, now %s in %s, and must stop rising; throughput must stay the same. If the stops stay too, this finding is refuted.", num(t.throttled), dur(t.window)))
	if sure {
		f.Confidence = diagnosis.High
		f.Reasons[0] = "two kinds of evidence agree: the control group's counters and the program's build or environment"
	}
	return f
}

// whyOverquota says why the runtime did not follow the quota; sure is false
// when nothing tells and only what is left over can be named.
func whyOverquota(m *model.Model) (why string, sure bool) {
	if m.Build != nil {
		if v := m.Build.Environment["GOMAXPROCS"]; v != "" {
			return "the environment sets GOMAXPROCS=" + v, true
		}
	}
	for _, change := range []*goFact{containerProcs, updatedProcs} {
		if st, why := change.standing(m); st == notYet || st == undone {
			return why, true
		}
	}
	return "most likely runtime.GOMAXPROCS is called, or the quota is set on a parent of the group, which the runtime does not read", false
}
