package rules

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

// gcLine is a number of the lines.
func gcLine(p *diagnosis.Pass, what, name string, v float64, u fact.Unit) fact.Fact {
	return p.Statistic(fact.Collector, what, name, v, u).From(model.GCTrace)
}

// loggedCPU is the collector's share of what the Ps could do and their number, by the lines.
func loggedCPU(p *diagnosis.Pass) (share, ps fact.Fact, ok bool) {
	a := p.Model.GCLogAccount()
	if a == nil || !a.Costs || a.Procs == 0 {
		return share, ps, false
	}
	ps = gcLine(p, "Ps", "Ps", float64(a.Procs), fact.Cores)
	over := gcLine(p, "lines", "time since the first", a.Over.Seconds(), fact.Seconds)
	marking := gcLine(p, "CPU", "CPU of collections after the first", a.CPU().Seconds(), fact.Seconds)
	return fact.Fraction.Of(inCollector, fact.Ratio, marking, fact.Product.Of("what the Ps could do", fact.Seconds, ps, over)), ps, true
}

// ofWhole says what the collector's share is a part of.
func (h *heapCost) ofWhole() fact.Part {
	if h.logged {
		return fact.Name(fact.Sentence("of what %s Ps can do", h.cores.Number()))
	}
	return fact.Name("of the CPU in use")
}

// saving is the bound of what fewer collections save: no limit where only the lines tell
// what they cost, for sweeping and the pace of what allocates are not in them.
func (h *heapCost) saving(saved fact.Fact, note string) diagnosis.Bound {
	share := fact.Quotient.Of("share saved", fact.Ratio, saved, h.cores).Value
	if h.logged {
		return diagnosis.Direction(saved, diagnosis.CPUGoal, share, "of what the Ps can do; of the CPU in use it is more")
	}
	return diagnosis.Limit(saved, diagnosis.CPUGoal, share, note)
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
	// limitGOGC is the percentage from which nobody sets GOGC: collecting all that is
	// alive for each seventh of it would be half of all CPU. A limit that is full leaves 0 to 15.
	limitGOGC = 15
)

// loggedGOGC is the growth that the goals of the lines leave the heap, in percent of what
// must be scanned; steady says that it is one for all of them, as a setting is.
func loggedGOGC(m *model.Model) (percent float64, steady, ok bool) {
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

// pacedLow reports whether the goals are above what is alive by so little that somebody
// set it: GOGC, or a memory limit that is near. The lines do not tell which.
func pacedLow(m *model.Model) bool {
	percent, _, told := loggedGOGC(m)
	return told && percent <= lowGOGC
}

// A fullHeap is one that is collected again as soon as it was, by the lines of gctrace.
type fullHeap struct {
	heapCost
	room   fact.Fact // that the goal leaves, of what is alive
	needed fact.Fact // collections a second that Go's default would make
}

// measureFull tells a heap without room from the lines. Shares of what the Ps can do are
// less than those of the CPU in use, so that the least that counts is that of a small heap.
func measureFull(p *diagnosis.Pass) (f fullHeap, ok bool) {
	percent, _, told := loggedGOGC(p.Model)
	h, priced := measureHeap(p)
	if !told || !priced || percent > limitGOGC || h.rate.Value < tinyheapRate || h.share.Value < tinyheapShare {
		return f, false
	}
	f.heapCost = h
	f.room = gcLine(p, "goals", "room that the goal leaves, of what is alive", percent/100, fact.Ratio)
	f.needed = fact.Quotient.Of("collections that GOGC=100 would need", fact.PerSec, loggedAllocation(p), h.live)
	return f, true
}

// loggedAllocation returns what was allocated a second: a collection's heap at its end, less
// what the one before found alive.
func loggedAllocation(p *diagnosis.Pass) fact.Fact {
	sum := 0.0
	var over time.Duration
	for i := 1; i < len(p.Model.GCLog); i++ {
		before, l := &p.Model.GCLog[i-1], &p.Model.GCLog[i]
		if l.Cycle == before.Cycle+1 && l.After >= before.Live && before.Live > 0 {
			sum += float64(l.After - before.Live)
			over += l.At - before.At
		}
	}
	return fact.Quotient.Of("bytes allocated", fact.BytesPerSec, gcLine(p, "heap", "heap that was allocated between collections", sum, fact.Bytes),
		gcLine(p, "heap", "time between them", over.Seconds(), fact.Seconds))
}

// loggedGoal is that of the last line.
func loggedGoal(p *diagnosis.Pass) fact.Fact {
	return gcLine(p, "goals", "goal", float64(p.Model.GCLog[len(p.Model.GCLog)-1].Goal), fact.Bytes)
}

// finding is about a heap whose limit nobody knows: that it has no room is seen.
func (h *fullHeap) finding(p *diagnosis.Pass) diagnosis.Finding {
	spared := sparedCollecting.Of("CPU in collecting", fact.Cores, h.share, h.cores, h.needed, h.rate)
	knob := limitKnob(toMiB(2 * h.live.Value))
	f := diagnosis.Finding{
		Title:    "The heap has no room: it is collected all the time",
		Evidence: append(h.facts(), h.room, h.needed, loggedGoal(p)),
		Cost:     h.cost(),
		Bound:    h.saving(spared, ""),
		RuledOut: []string{
			fact.Sentence("Go's default, which lets the heap grow by as much as is alive: the goals leave %s", h.room),
			fact.Sentence("collections that cost nothing: they take %s %s", h.share, h.ofWhole()),
		},
		Confidence: diagnosis.Medium,
		Reasons:    []string{fact.Sentence("the goals of %s collections; whether GOMEMLIMIT or a GOGC below %s sets them is not in the lines", h.cycles, fact.Name(fact.Count.Format(limitGOGC)))},
		Remedy: diagnosis.Remedy{
			Text: "Raise the limit to twice the live heap, if there is that much: GOMEMLIMIT is full, or GOGC next to nothing; " +
				"look at both, and for debug.SetMemoryLimit. " +
				"If there is no more memory, let less stay alive; a heap profile has what holds it.",
			Knob: knob,
		},
		Explains: gcSymptoms(p),
	}
	f.Say("%s collections a second take %s %s: %s are alive, and the next collection is due at %s, "+
		"where Go's default waits for twice what is alive.",
		h.rate.Number(), h.share, h.ofWhole(), h.live, loggedGoal(p))
	f.Experiment = tried(diagnosis.CPUPerOp, knob, "", "If CPU time does not fall, it is not the limit: try GOGC=100.")
	return f
}

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
	assist := gcLine(p, "CPU", "CPU of mark assists", a.Assist.Seconds(), fact.Seconds)
	marking := fact.Sum.Of("CPU in marking", fact.Seconds, assist, gcLine(p, "CPU", "CPU of the collector's workers", a.Background.Seconds(), fact.Seconds))
	ps := gcLine(p, "Ps", "Ps", float64(a.Procs), fact.Cores)
	over := gcLine(p, "lines", "time since the first", a.Over.Seconds(), fact.Seconds)
	cores := fact.Quotient.Of("goroutines marking in the collector's place", fact.Cores, assist, over)
	share := fact.Fraction.Of("assists' share of what the Ps can do", fact.Ratio, cores, ps)
	half := fact.Fraction.Of("assists' share of marking", fact.Ratio, assist, marking)
	if share.Value < loggedAssist || half.Value < loggedHalf || a.Collections < habitCycles {
		p.Fine(fact.Sentence("garbage collector: assists are %s of its marking and %s of what the Ps can do", half, share))
		return
	}
	rate, _, _ := collections(p)
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
	f.Experiment = changed(diagnosis.ThroughputMetric(p.Model), "", "Allocations per operation do not vary and show at once whether less is allocated.")
	if f.Remedy.Knob != "" {
		f.Experiment = tried(diagnosis.ThroughputMetric(p.Model), f.Remedy.Knob, "", "Peak memory is the price.")
	}
	p.Report(f)
}

// rateCount returns how many collections the lines are of.
func rateCount(p *diagnosis.Pass) fact.Fact {
	_, n, _ := collections(p)
	return n
}
