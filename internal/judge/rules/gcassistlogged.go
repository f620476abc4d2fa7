package rules

import (
	"github.com/gowhy/gowhy/internal/judge/diagnosis"
	"github.com/gowhy/gowhy/internal/judge/measure/memory"
	"github.com/gowhy/gowhy/internal/know/fact"
)

const (
	// loggedAssist is the part of what the Ps can do that assists must take: a part of
	// the running time of what allocates that is larger still. Go's own workers take a
	// quarter of the Ps while they mark, so that assists are next to nothing where the
	// pace is kept. A DNS server under flood is at 0.20.
	loggedAssist = 0.10
	// loggedHalf is the part of all marking from which it is goroutines that do it.
	loggedHalf = 0.4
)

// checkLoggedAssist tells assists from the lines, which have their CPU and not whose it is.
func checkLoggedAssist(p *diagnosis.Pass) {
	a := p.Model.GCLogAccount()
	if a == nil || !a.Costs || a.Procs == 0 {
		return
	}
	assist := memory.LogFact(p, "CPU", "CPU of mark assists", a.Assist.Seconds(), fact.Seconds)
	marking := fact.Sum.Of("CPU in marking", fact.Seconds, assist, memory.LogFact(p, "CPU", "CPU of the collector's workers", a.Background.Seconds(), fact.Seconds))
	ps := memory.LogFact(p, "Ps", "Ps", float64(a.Procs), fact.Cores)
	over := memory.LogFact(p, "lines", "time since the first", a.Over.Seconds(), fact.Seconds)
	cores := fact.Quotient.Of("goroutines marking in the collector's place", fact.Cores, assist, over)
	share := fact.Fraction.Of("assists' share of what the Ps can do", fact.Ratio, cores, ps)
	half := fact.Fraction.Of("assists' share of marking", fact.Ratio, assist, marking)
	if share.Value < loggedAssist || half.Value < loggedHalf || a.Collections < habitCycles {
		p.Fine(fact.Sentence("garbage collector: assists are %s of its marking and %s of what the Ps can do", half, share))
		return
	}
	rate, _, _ := memory.Collections(p)
	f := diagnosis.Finding{
		Evidence:   []fact.Fact{assist, marking, half, share, rate},
		Cost:       diagnosis.CostOf(cores, share.Value),
		Bound:      diagnosis.Direction(cores.Named("CPU in assists"), diagnosis.CPUGoal, share.Value, "of what the Ps can do; whose time it is, is not in the lines"),
		Confidence: diagnosis.Medium,
		Reasons:    []string{fact.Sentence("the runtime's own sums of %s collections", rateCount(p))},
		RuledOut: []string{
			"the collector's background workers, and Ps that mark because they have nothing else to do: neither is counted",
			fact.Sentence("a single bad moment: there were %s collections", rateCount(p)),
		},
		Remedy: diagnosis.Remedy{
			Text: "Find who allocates by an allocs profile: reuse buffers, keep values out of interfaces, size slices before filling " +
				"them. Or let the heap grow further between collections, with GOMEMLIMIT below the memory that is there. " +
				"Goroutines that allocate faster than the collector marks must mark themselves.",
			Knob: largerGOGC(p),
		},
		Explains: gcSymptoms(p),
	}
	f.Say("Goroutines that allocate do %s of the marking, %s of %s CPU, which is %s of what %s Ps can do.", half, assist, marking, share, ps.Number())
	f.Experiment = codeChange(diagnosis.ThroughputMetric(p.Model), "", "Allocations per operation do not vary and show at once whether less is allocated.")
	if f.Remedy.Knob != "" {
		f.Experiment = settingTrial(diagnosis.ThroughputMetric(p.Model), f.Remedy.Knob, "", "Peak memory is the price.")
	}
	p.Report(f)
}

// rateCount returns how many collections the lines are of.
func rateCount(p *diagnosis.Pass) fact.Fact {
	_, n, _ := memory.Collections(p)
	return n
}
