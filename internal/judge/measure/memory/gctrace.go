package memory

import (
	"slices"
	"time"

	"github.com/gowhy/gowhy/internal/ground/statistics"
	"github.com/gowhy/gowhy/internal/judge/diagnosis"
	"github.com/gowhy/gowhy/internal/know/fact"
	"github.com/gowhy/gowhy/internal/know/model"
)

// The lines of gctrace tell what collecting cost and what the Ps could have done
// meanwhile, and not what the program used of that: shares by them are of the Ps, and
// what the CPU in use is, they are that part of it at least.

// LogFact returns a number of the lines.
func LogFact(p *diagnosis.Pass, what, name string, v float64, u fact.Unit) fact.Fact {
	return p.Statistic(fact.Collector, what, name, v, u).From(model.GCTrace)
}

// loggedCPU returns the collector's share of what the Ps could do and their number, by the lines.
func loggedCPU(p *diagnosis.Pass) (share, ps fact.Fact, ok bool) {
	a := p.Model.GCLogAccount()
	if a == nil || !a.Costs || a.Procs == 0 {
		return share, ps, false
	}
	ps = LogFact(p, "Ps", "Ps", float64(a.Procs), fact.Cores)
	over := LogFact(p, "lines", "time since the first", a.Over.Seconds(), fact.Seconds)
	marking := LogFact(p, "CPU", "CPU of collections after the first", a.CPU().Seconds(), fact.Seconds)
	return fact.Fraction.Of(InCollector, fact.Ratio, marking, fact.Product.Of("what the Ps could do", fact.Seconds, ps, over)), ps, true
}

// WholeWords says what the collector's share is a part of.
func (h *Collector) WholeWords() fact.Part {
	if h.Logged {
		return fact.Name(fact.Sentence("of what %s Ps can do", h.Cores.Number()))
	}
	return fact.Name("of the CPU in use")
}

// Saving returns what fewer collections save. It is no limit: what they cost the program's own code, by the barriers
// and the caches, no evidence tells, and three of eight repairs of the field saved more. Where only the lines tell what
// they cost, sweeping and the pace of what allocates are not in it either.
func (h *Collector) Saving(saved fact.Fact, note string) diagnosis.Bound {
	share := fact.Quotient.Of("share saved", fact.Ratio, saved, h.Cores).Value
	if h.Logged {
		note = "of what the Ps can do; of the CPU in use it is more"
	}
	return diagnosis.Direction(saved, diagnosis.CPUGoal, share, note)
}

const (
	// gogcLines is the fewest collections whose goals tell what sets them.
	gogcLines = 3
	// gogcGoal is the least goal that a line in whole MB tells to a few percent. The
	// runtime's own least is 4 MB, whatever lives.
	gogcGoal = 20 << 20
	// gogcAgree is how far, as a part of the middle one, the middle half of the goals may
	// be apart for one percentage to have set them; and gogcRound how far in percents,
	// which is what rounding to MB makes of 20. A limit leaves more the less is alive.
	gogcAgree = 0.15
	gogcRound = 10.0
	// LimitGOGC is the percentage from which nobody sets GOGC: collecting all that is
	// alive for each seventh of it would be half of all CPU. A limit that is full leaves 0 to 15.
	LimitGOGC = 15
)

// LoggedGOGC returns the growth that the goals of the lines leave the heap, in percent of what
// must be scanned; steady says that it is one for all of them, as a setting is.
func LoggedGOGC(m *model.Model) (percent float64, steady, ok bool) {
	var all []float64
	for i := 1; i < len(m.GCLog); i++ {
		before, l := &m.GCLog[i-1], &m.GCLog[i]
		if l.Cycle != before.Cycle+1 || l.Goal < gogcGoal || before.Live == 0 {
			continue
		}
		all = append(all, 100*statistics.Quotient(float64(l.Goal)-float64(before.Live), float64(before.Live+l.StackScan+l.Globals)))
	}
	if len(all) < gogcLines {
		return 0, false, false
	}
	slices.Sort(all)
	percent = max(0, statistics.Median(all))
	apart := all[3*len(all)/4] - all[len(all)/4]
	return percent, apart <= max(gogcRound, gogcAgree*percent), true
}

// LowGOGC is the setting up to which collections are frequent because somebody wants them:
// half of Go's own, and twice as many.
const LowGOGC = 50

// PacedLow reports whether the goals are above what is alive by so little that somebody
// set it: GOGC, or a memory limit that is near. The lines do not tell which.
func PacedLow(m *model.Model) bool {
	percent, _, told := LoggedGOGC(m)
	return told && percent <= LowGOGC
}

// LoggedAllocation returns what was allocated a second: a collection's heap at its end, less
// what the one before found alive.
func LoggedAllocation(p *diagnosis.Pass) fact.Fact {
	sum := 0.0
	var over time.Duration
	for i := 1; i < len(p.Model.GCLog); i++ {
		before, l := &p.Model.GCLog[i-1], &p.Model.GCLog[i]
		if l.Cycle == before.Cycle+1 && l.After >= before.Live && before.Live > 0 {
			sum += float64(l.After - before.Live)
			over += l.At - before.At
		}
	}
	return fact.Quotient.Of("bytes allocated", fact.BytesPerSec, LogFact(p, "heap", "heap that was allocated between collections", sum, fact.Bytes),
		LogFact(p, "heap", "time between them", over.Seconds(), fact.Seconds))
}

// LoggedGoal returns that of the last line.
func LoggedGoal(p *diagnosis.Pass) fact.Fact {
	return LogFact(p, "goals", "goal", float64(p.Model.GCLog[len(p.Model.GCLog)-1].Goal), fact.Bytes)
}
