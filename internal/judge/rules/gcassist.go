package rules

import (
	"cmp"
	_ "embed"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/gowhy/gowhy/internal/ground/statistics"
	"github.com/gowhy/gowhy/internal/judge/diagnosis"
	"github.com/gowhy/gowhy/internal/judge/measure/code"
	"github.com/gowhy/gowhy/internal/judge/measure/memory"
	"github.com/gowhy/gowhy/internal/judge/measure/queueing"
	"github.com/gowhy/gowhy/internal/know/fact"
	"github.com/gowhy/gowhy/internal/know/model"
)

//go:embed gcassist.md
var gcassistPage string

var gcassist = &diagnosis.Rule{
	Name:     "gcassist",
	Title:    "Goroutines do the garbage collector's work",
	Doc:      gcassistPage,
	Needs:    []model.Source{model.Trace},
	Instead:  []model.Source{model.GCTrace},        // which has how much they were, and not whose
	Explains: []string{"schedlatency", "slowstop"}, // the latter only where stops are short and many; see gcSymptoms
	Check:    checkGcassist,
}

const (
	// gcassistMMU is the least share of the Ps that the program keeps in any
	// 100 ms. The collector's own workers take a quarter, so a healthy
	// program stays near 0.75; a DNS server under flood had windows of 500 ms at zero.
	gcassistMMU    = 0.5
	gcassistWindow = 100 * time.Millisecond
	// gcassistOften is the share of all such windows that must be that bad:
	// filling a cache at the start is one bad moment, not a problem.
	gcassistOften = 0.05
	// gcassistQuarter is the share of the Ps that is left while the background
	// workers alone are at work. Assists of a program that has more than that
	// in nineteen of twenty windows are a short moment of a rare collection,
	// as with an HTTP server whose heap is 5 MiB.
	gcassistQuarter = 0.75
	// gcassistShare is the part of a group's running time spent in assists,
	// the catalogue's figure, and gcassistHeavy the part of the program's
	// running time that the group must be.
	gcassistShare = 0.05
	gcassistHeavy = 0.05
	// gcassistMore is by how much GOGC is raised first. Doubling it from 100 took
	// 63% of the collector's CPU where half was predicted; the memory went from 148 to 335 MB.
	gcassistMore = 2
	// assistRange is a goroutine's time in an assist, waits included.
	assistRange  = "GC mark assist"
	assistColumn = "range:" + assistRange
)

func checkGcassist(p *diagnosis.Pass) {
	gc := p.Model.GC
	if !p.Model.Has(model.Trace) {
		checkLoggedAssist(p)
		return
	}
	if gc == nil || len(gc.Cycles) == 0 {
		p.Fine("garbage collector: it did not run")
		return
	}
	a := measureAssist(p)
	heavy := a.share.Value >= gcassistShare && a.often.Value < gcassistQuarter
	pressed := a.often.Value < gcassistMMU // and so is the worst
	switch {
	case !heavy && !pressed && a.mmu.Value < gcassistMMU:
		p.Fine(fact.Sentence("garbage collector: goroutines spend %s of their running time in assists; "+
			"the worst %s left the program %s of the Ps, but nearly all others left it %s or more",
			a.share, assistWindow, a.mmu, a.often))
	case !heavy && !pressed:
		p.Fine(fact.Sentence("garbage collector: goroutines spend %s of their running time in assists, "+
			"and in %s the program keeps at least %s of the Ps", a.share, assistWindow, a.mmu))
	case len(gc.Cycles) < habitCycles:
		p.Unchecked("whether the garbage collector habitually takes time from goroutines", fact.Sentence("the trace holds only %s collections", a.cycles), p.HowToGet(model.Trace))
	default:
		p.Report(assistFinding(p, &a, heavy, pressed))
	}
}

var (
	assistWindow = fact.Figure("length of such a window", gcassistWindow.Seconds(), fact.Seconds, "what a client begins to notice")
	assistOften  = fact.Ratio.Format(gcassistOften)
)

// An assist is what the rule measures.
type assist struct {
	groups []*model.Group // those that assist most, first
	worst  string         // the group with the largest share
	cycles fact.Fact      // collections in the trace
	onP    fact.Fact      // Ps' time in assists, all groups
	time   fact.Fact      // goroutine time held up by assists, waits included
	share  fact.Fact      // worst group's share of its running time
	mmu    fact.Fact      // worst window
	at     time.Duration  // its begin
	often  fact.Fact      // utilization that gcassistOften of the windows stay under
	loss   float64        // share of the Ps' time that the collector took, assists included
}

// ofCollector measures what the trace has of the collector.
func ofCollector(p *diagnosis.Pass, what, name string, v float64, u fact.Unit) fact.Fact {
	return p.Statistic(fact.Collector, what, name, v, u)
}

func measureAssist(p *diagnosis.Pass) (a assist) {
	m := p.Model
	var running time.Duration
	var assisting []string
	for i := range m.Sched.Groups {
		g := &m.Sched.Groups[i]
		if !g.System {
			running += g.Times.Running
		}
		if g.Ranges[assistRange] > 0 {
			assisting = append(assisting, g.Name)
		}
	}
	a.cycles = ofCollector(p, "collections", "collections", float64(len(m.GC.Cycles)), fact.Count)
	a.onP = ofCollector(p, "load", "Ps' time in assists", m.GC.LoadTime(model.CountAssist, m.Run.Procs, 0, m.Run.Duration).Seconds(), fact.Seconds)
	a.time = p.Goroutines("time that goroutines were held up by assists", assisting, assistColumn)
	a.share = a.of(p)
	for i := range m.Sched.Groups {
		g := &m.Sched.Groups[i]
		if g.System || g.Ranges[assistRange] == 0 || ofRecording(m, g.Name) || float64(g.Times.Running) < gcassistHeavy*float64(running) {
			continue
		}
		if share := a.of(p, g.Name); share.Value > a.share.Value {
			a.share, a.worst = share, g.Name
		}
		a.groups = append(a.groups, g)
	}
	slices.SortStableFunc(a.groups, func(x, y *model.Group) int {
		return cmp.Compare(y.Ranges[assistRange], x.Ranges[assistRange])
	})
	a.utilization(p)
	return a
}

// ofRecording reports whether a group serves only those who record: all that is
// known of what it waited in is the agent's. A program with no server of its
// own has such connections all the same.
func ofRecording(m *model.Model, group string) (only bool) {
	for i := range m.Sched.Waits {
		w := &m.Sched.Waits[i]
		if w.Group != group || w.Kind == model.SchedWait { // there the stack is of who made it ready
			continue
		}
		frames := m.Stacks.Frames(w.Stack)
		if _, user := diagnosis.UserPlace(frames); user {
			return false
		}
		only = only || model.OfRecording(frames)
	}
	return only
}

// assisting is the part of a group's running time that its assists take. The range
// of an assist goes on while its goroutine is parked or waits for a P, so only its
// part of the Ps' time in assists counts.
var assisting = &fact.Formula{Name: "assisting", Words: "{0} × {1} ÷ {2} ÷ {3}",
	Value: func(x []float64) float64 {
		return min(1, statistics.Quotient(x[0]*statistics.Quotient(x[1], x[2]), x[3]))
	}}

func (a *assist) of(p *diagnosis.Pass, group ...string) fact.Fact {
	return assisting.Of("assists' share of the worst group's running time", fact.Ratio, a.onP,
		p.Goroutines("its part of that", group, assistColumn), a.time, p.Goroutines("its running time", group, "running"))
}

// collectorWork leaves stops of the world out: they are short where the collector is
// at fault, and where they are long it is another rule's problem.
const collectorWork = model.CountBackground | model.CountAssist | model.CountSweep

// utilization fills in what is left to the program. Without a window of full
// length there is nothing to judge, and all is taken for well.
func (a *assist) utilization(p *diagnosis.Pass) {
	mmu, often := 1.0, 1.0
	if m := p.Model; m.Run.Duration >= gcassistWindow {
		u := m.GC.Utilization(collectorWork, m.Run.Procs, 0, m.Run.Duration)
		if at, worst := u.Worst(gcassistWindow); !math.IsNaN(worst) {
			a.at, mmu, often, a.loss = at, worst, u.MUD(gcassistWindow, gcassistOften)[0], 1-u.Mean()
		}
	}
	a.mmu = ofCollector(p, "utilization", "minimum mutator utilization in "+assistWindow.Text, mmu, fact.Ratio)
	a.often = ofCollector(p, "utilization", "utilization that "+assistOften+" of the windows stay under", often, fact.Ratio)
}

func assistFinding(p *diagnosis.Pass, a *assist, heavy, pressed bool) diagnosis.Finding {
	window := p.WindowLength()
	onPs := fact.Quotient.Of("Ps' time in assists", fact.Cores, a.onP, window)
	f := diagnosis.Finding{
		Evidence: []fact.Fact{
			onPs, fact.Quotient.Of("goroutines held up by assists, on average", fact.Count, a.time, window),
			a.share, a.mmu, a.often, fact.Quotient.Of("collections", fact.PerSec, a.cycles, window), heapGoal(p),
		},
		Cost:       diagnosis.CostOf(onPs.Named("goroutines marking in the collector's place"), a.share.Value),
		Bound:      assistBound(p, a, pressed),
		Confidence: diagnosis.Medium,
		Reasons:    []string{fact.Sentence("assists of %s collections", a.cycles)},
		RuledOut: []string{
			"the collector's background workers: a quarter of the Ps while it runs is its normal share",
			"idle Ps that help to mark: they take nothing from the program and are not counted",
			fact.Sentence("a single bad moment such as filling a cache: %s of all windows of %s stay under %s, and there were %s collections",
				fact.Name(assistOften), assistWindow, a.often, a.cycles),
		},
		Remedy: diagnosis.Remedy{
			Text: "Allocate less in the path named here (reuse buffers, keep values out of interfaces, size slices before filling them), " +
				"or let the heap grow further between collections. " +
				"Goroutines that allocate faster than the collector marks must mark themselves. A doubled GOGC took " +
				"resident memory from 148 to 335 MB in one measured program: set GOMEMLIMIT below the memory that is there.",
			Knob: largerGOGC(p),
		},
		Explains: gcSymptoms(p),
	}
	for _, g := range a.groups {
		f.Groups = append(f.Groups, g.Name)
		if place, ok := p.GroupPlace(g); ok && len(f.Where) < 2 {
			f.Where = append(f.Where, place)
		}
	}
	a.say(p, &f, heavy, pressed)
	metric := diagnosis.ThroughputMetric(p.Model)
	if pressed {
		metric = latency(p.Model)
	}
	f.Experiment = codeChange(metric, "", "Allocations per operation do not vary and show at once whether less is allocated.")
	if f.Remedy.Knob != "" {
		f.Experiment = settingTrial(metric, f.Remedy.Knob, "", "CPU time per operation falls with it, and peak memory is the price. "+
			"For a change of code compare allocations per operation, which do not vary.")
	}
	return f
}

func (a *assist) say(p *diagnosis.Pass, f *diagnosis.Finding, heavy, pressed bool) {
	var format []string
	var parts []fact.Part
	if heavy {
		format = append(format, "%s spends %s of its running time in mark assists, the collector's work.")
		parts = append(parts, code.Name(code.GroupName(a.worst)), a.share)
	}
	if pressed {
		format = append(format, "In the worst %s, at %s, the collector leaves the program %s of its Ps.")
		parts = append(parts, fact.Name(assistWindow.Text), ofCollector(p, "utilization", "begin of the worst window", a.at.Seconds(), fact.Seconds), a.mmu)
	}
	f.Say(strings.Join(format, " "), parts...)
}

var (
	// lostWindow is what the collector took of a window.
	lostWindow = &fact.Formula{Name: "lost", Words: "(1 − {0}) × {1}", Value: func(x []float64) float64 { return (1 - x[0]) * x[1] }}
	// lessCollecting is the growth of throughput when the program gets all that a
	// larger GOGC saves. The knob makes background marking rarer, too, so that
	// assists alone would not bound it.
	lessCollecting = &fact.Formula{Name: "less collecting", Words: "throughput by the GC model and Amdahl: 1 ÷ (1 − {0} ÷ {1} × (1 − 1 ÷ {2}) × {3})",
		Value: func(x []float64) float64 {
			return 1 / fact.Amdahl(fact.GCModel(min(1-minBusy, statistics.Quotient(x[0], x[1])), x[2], x[3]))
		}}
)

// assistBound promises latency where windows are short of Ps and throughput
// where only the assists' work could go.
func assistBound(p *diagnosis.Pass, a *assist, pressed bool) diagnosis.Bound {
	if pressed {
		return diagnosis.Limit(lostWindow.Of("time that the collector took of the worst window", fact.Seconds, a.mmu, assistWindow),
			diagnosis.Latency, max(a.loss, a.share.Value), "upper bound for a request of that length")
	}
	collecting := fact.Sum.Of("collector's time on the Ps", fact.Seconds, p.Processors("its workers' time", "gc"), a.onP)
	more := fact.Figure("multiple of GOGC", gcassistMore, fact.Factor, "to try first")
	excess := fact.Figure("excess of the saving", gccostExcess, fact.Factor, "a program whose GOGC was doubled and quadrupled")
	return queueing.FasterLimit(lessCollecting.Of("throughput", fact.Factor, collecting, p.Processors("time of Ps at work", "user", "gc", "syscall"), more, excess),
		"if the program got all that fewer collections save")
}

// largerGOGC returns the knob to try; none where the collector's pace is not set by GOGC.
func largerGOGC(p *diagnosis.Pass) string {
	g, off := memory.GOGC(p)
	if off {
		return ""
	}
	return memory.GOGCKnob(g.Value * gcassistMore)
}

func heapGoal(p *diagnosis.Pass) fact.Fact {
	goal := 0.0
	if p.Model.GC != nil {
		for _, h := range p.Model.GC.Heap {
			goal = max(goal, float64(h.Goal))
		}
	}
	return ofCollector(p, "goal", "largest heap goal", goal, fact.Bytes)
}
