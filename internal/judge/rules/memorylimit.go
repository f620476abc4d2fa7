package rules

import (
	_ "embed"

	"github.com/gowhy/gowhy/internal/ground/statistics"
	"github.com/gowhy/gowhy/internal/judge/diagnosis"
	"github.com/gowhy/gowhy/internal/judge/measure/code"
	"github.com/gowhy/gowhy/internal/judge/measure/memory"
	"github.com/gowhy/gowhy/internal/know/fact"
	"github.com/gowhy/gowhy/internal/know/model"
)

//go:embed memorylimit.md
var memorylimitPage string

var memorylimit = &diagnosis.Rule{
	Name:     "memorylimit",
	Title:    "The memory limit makes the collector run constantly",
	Doc:      memorylimitPage,
	Needs:    []model.Source{model.MetricsLog},
	Instead:  []model.Source{model.GCTrace},                                        // whose goals show that a limit is reached
	Explains: []string{"gccost", "tinyheap", "gcassist", "slowstop", "allocchurn"}, // the last two with conditions; see gcSymptoms
	Whole:    true,
	Check:    checkMemorylimit,
}

const (
	// limitFull is the part of GOMEMLIMIT that the live heap takes from which
	// what may be allocated between two collections is next to nothing.
	limitFull = 0.85
	// limitShare is the collector's share of the CPU that shows it to be so.
	// A program whose heap was three times its limit used 3.7 times the CPU.
	limitShare = 0.15
	// limitFree is the part of a limit that the live heap should leave free:
	// at half of it the limit paces no worse than GOGC=100 does.
	limitFree = 0.5
	// limitSlope is how many seconds a growth must have been seen to say when it reaches the
	// limit: in one a heap that is collected twice in it grows and shrinks.
	limitSlope = 10
)

func checkMemorylimit(p *diagnosis.Pass) {
	if !p.Model.Has(model.MetricsLog) {
		if h, ok := measureFull(p); ok {
			p.Report(h.finding(p))
		}
		return
	}
	l := measureLimit(p)
	switch {
	case !l.known && l.engaged:
		p.Unchecked("whether a memory limit keeps the collector busy",
			"the runtime held its collector back, and nothing tells whether GOMEMLIMIT is set", p.HowToGet(model.MetricsLog))
	case !l.set: // a collector that is busy all the same is another rule's problem
	case l.engaged:
		p.Report(limitFinding(p, &l))
	case l.Live.Value < limitFull*l.limit.Value && l.until.Value > 0:
		p.Unchecked("how long the memory limit lasts", fact.Sentence("the live heap takes %s", fact.Name(l.use())), p.RecordAgain(60, "longer.gowhy"))
	case l.Live.Value < limitFull*l.limit.Value:
		p.Fine(fact.Sentence("memory limit: the live heap takes %s", fact.Name(l.use())))
	case !l.priced:
		p.Unchecked("what the memory limit costs", fact.Sentence("the live heap takes %s, and no evidence tells the collector's share of the CPU", fact.Name(l.use())), p.HowToGet(model.CPU))
	case l.Share.Value < limitShare:
		p.Fine(fact.Sentence("memory limit: the live heap takes %s, and the collector %s of the CPU", fact.Name(l.use()), l.Share))
	default:
		p.Report(limitFinding(p, &l))
	}
}

// A limited is what the rule measures.
type limited struct {
	memory.Collector
	limit   fact.Fact // GOMEMLIMIT
	set     bool
	known   bool      // whether it is
	priced  bool      // the collector's share of the CPU is known
	engaged bool      // the limiter held the collector back in the window
	needed  fact.Fact // collections a second that GOGC=100 would make; 0 when not known
	room    fact.Fact // left for what may be allocated between two collections
	until   fact.Fact // seconds until the live heap fills the limit; 0 when it does not grow for sure
}

func measureLimit(p *diagnosis.Pass) (l limited) {
	l.Collector, l.priced = memory.CollectorOf(p)
	l.limit, l.set, l.known = memory.Limit(p)
	l.engaged = limiterEngaged(p.Model)
	l.needed = fact.Quotient.Of("collections that GOGC=100 would need", fact.PerSec, p.Metric("bytes allocated", memory.MetricAllocBytes, fact.Rate), l.Live)
	if l.set {
		l.room = fact.Difference.Of("left by the live heap", fact.Bytes, l.limit, l.Live)
		l.until = untilFull(p, l.room)
	}
	return l
}

// untilFull returns when a live heap that grows for sure has taken a room; 0 when none does.
func untilFull(p *diagnosis.Pass, room fact.Fact) (until fact.Fact) {
	live := memory.LiveHeap(p.Model)
	slope, low, _, ok := live.Slope()
	if !ok || low <= 0 || room.Value <= 0 {
		return until
	}
	first, last := live.Series[0], live.Series[len(live.Series)-1]
	over := (last.At - first.At).Seconds()
	if over < limitSlope || slope*over < model.LeastGrowth*first.Value { // as little as what is well grows by
		return until
	}
	return fact.Quotient.Of("until the live heap fills the limit", fact.Seconds, room, live.Statistic(p, "growth of the live heap, by its Theil-Sen slope", slope, fact.BytesPerSec))
}

// use says how much of the limit lives, and how long that goes on.
func (l *limited) use() string {
	if l.until.Value == 0 {
		return fact.Sentence("%s of it", l.full())
	}
	return fact.Sentence("%s of it and all of it in %s at this pace", l.full(), l.until)
}

// full returns the part of the limit that lives.
func (l *limited) full() fact.Fact {
	return fact.Quotient.Of("part of the limit that is alive", fact.Ratio, l.Live, l.limit)
}

// limiterEngaged reports whether the limiter of the collector's CPU was on in
// the window. The metric is the number of the last collection for which it was.
func limiterEngaged(m *model.Model) bool {
	limiter, cycles := m.Metrics.Series[memory.MetricLimiter], m.Metrics.Series[memory.MetricCycles]
	if _, _, counted := cycles.Delta(); !counted || len(limiter) == 0 {
		return false
	}
	last := limiter[len(limiter)-1].Value
	return last > limiter[0].Value || last > cycles[0].Value
}

// limitUsed returns what counts against GOMEMLIMIT.
func limitUsed(m *model.Model) float64 {
	return max(0, memory.MetricNow(m, memory.MetricTotal)-memory.MetricNow(m, memory.MetricReleased))
}

func limitFinding(p *diagnosis.Pass, l *limited) diagnosis.Finding {
	f := diagnosis.Finding{
		Evidence: []fact.Fact{l.Rate, l.Live},
		Remedy:   l.remedy(),
		RuledOut: []string{"a limit that is near and does no harm: either the runtime's limiter was on, or the collector takes much of the CPU"},
		Explains: gcSymptoms(p),
	}
	if l.priced {
		f.Evidence = l.Facts()
	}
	f.Cost, f.Bound = l.costs()
	f.Rest(l.limit)
	for _, known := range []fact.Fact{l.room, l.until} {
		if known.Value > 0 {
			f.Rest(known)
		}
	}
	if l.needed.Value > 0 {
		f.Rest(l.needed)
	}
	l.say(&f)
	f.Experiment = collectorTrial(&l.Collector, &f, "The runtime's limiter must stay off. If CPU time does not fall, the limit is not to blame.")
	f.Confidence, f.Reasons = l.certainty()
	sayAlive(p, &f)
	sayWhoSets(p, &f, "GOMEMLIMIT")
	return f
}

// sayAlive names the function that made most of what is alive: with it, less of a limit is enough.
func sayAlive(p *diagnosis.Pass, f *diagnosis.Finding) {
	places, stacks, part := mostKept(p, "bytes", func(at diagnosis.Place) string { return at.Function }, func(*model.Sample) bool { return true })
	if len(places) == 0 {
		return
	}
	f.Where, f.Stacks = append(f.Where, code.WithProgram(p, places[0], stacks...)...), append(f.Stacks, stacks...)
	f.Rest(part)
	f.Reasons = append(f.Reasons, fact.Sentence("%s of what is alive at the end was made by %s: what it keeps fills the limit", part, code.Name(places[0].Function)))
}

func (l *limited) say(f *diagnosis.Finding) {
	format, parts := "%s collections a second", []fact.Part{l.Rate.Number()}
	if l.priced {
		format, parts = format+" take %s of the CPU in use", append(parts, l.Share)
	}
	if l.engaged {
		format += ", until the runtime held its collector back"
	}
	f.Say("The live heap is %s and GOMEMLIMIT %s: "+format+".", append([]fact.Part{l.Live, l.limit}, parts...)...)
}

func (l *limited) remedy() diagnosis.Remedy {
	return diagnosis.Remedy{
		Text: "Raise GOMEMLIMIT to twice the live heap, if there is that much: " +
			"nine tenths of a container's limit leave room for stacks and for what is not the heap. " +
			"If there is no more memory, let less stay alive; no GOGC helps where the live heap fills the limit. " +
			"The limit does not keep the process small either: the runtime goes beyond it rather than spend more than half of the " +
			"CPU on collecting.",
		Knob: memory.LimitKnob(memory.MiB(l.Live.Value / limitFree)),
	}
}

// sparedCollecting is the CPU in collections that GOGC=100 without a limit would not
// make.
var sparedCollecting = &fact.Formula{Name: "spared collections", Words: "GC model: {0} × {1} × (1 − {2} ÷ {3})",
	Value: func(x []float64) float64 { return x[0] * x[1] * (1 - min(1, statistics.Quotient(x[2], x[3]))) }}

// costs promises what collections cost that GOGC=100 would not make. Without
// a price there is a cost in collections and no promise.
func (l *limited) costs() (diagnosis.Cost, diagnosis.Bound) {
	if !l.priced {
		return diagnosis.CostOf(l.Rate, 0), noSaving(fact.Cores, diagnosis.CPUGoal, "no evidence tells the collector's share of the CPU")
	}
	spared := sparedCollecting.Of("CPU in collecting", fact.Cores, l.Share, l.Cores, l.needed, l.Rate)
	return l.Cost(), l.Saving(spared, "")
}

// certainty is high where the runtime itself says that it came to the end of
// what it may spend.
func (l *limited) certainty() (diagnosis.Confidence, []string) {
	if l.engaged {
		return diagnosis.High, []string{"the runtime's limiter was on, which happens only when collecting takes half of the CPU"}
	}
	return diagnosis.Medium, []string{"the live heap is near the limit and the collector busy; " +
		"that the one is the cause of the other shows when the limit is raised"}
}
