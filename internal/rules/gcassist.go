package rules

import (
	"cmp"
	_ "embed"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/gowhy/gowhy/internal/diagnosis"
	"github.com/gowhy/gowhy/internal/fact"
	"github.com/gowhy/gowhy/internal/model"
)

//go:embed gcassist.md
var gcassistPage string

var gcassist = &diagnosis.Rule{
	Name:     "gcassist",
	Title:    "Goroutines do the garbage collector's work",
	Doc:      gcassistPage,
	Needs:    []model.Source{model.Trace},
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
	// filling a cache at the start is one bad moment, not an illness.
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
	// gcassistCycles is the fewest collections that show a habit.
	gcassistCycles = 3
	// gcassistMore is by how much GOGC is raised first. Doubling it from 100 took
	// 63 % of the collector's CPU where half was predicted; the memory went from 148 to 335 MB.
	gcassistMore = 2
	assistRange  = "GC mark assist"
)

func checkGcassist(p *diagnosis.Pass) {
	gc := p.Model.GC
	if gc == nil || len(gc.Cycles) == 0 {
		p.Fine("garbage collector: it did not run")
		return
	}
	a := measureAssist(p)
	heavy := a.share >= gcassistShare && a.often < gcassistQuarter
	pressed := a.mmu < gcassistMMU && a.often < gcassistMMU
	switch {
	case !heavy && !pressed && a.mmu < gcassistMMU:
		p.Fine(fmt.Sprintf("garbage collector: goroutines spend %s of their running time in assists; the worst 100 ms left the program %s of the Ps, but 19 of 20 left it %s or more", pct(a.share), pct(a.mmu), pct(a.often)))
	case !heavy && !pressed:
		p.Fine(fmt.Sprintf("garbage collector: goroutines spend %s of their running time in assists, and in 100 ms the program keeps at least %s of the Ps", pct(a.share), pct(a.mmu)))
	case len(gc.Cycles) < gcassistCycles:
		p.Unchecked("whether the garbage collector habitually takes time from goroutines", fmt.Sprintf("the trace holds only %d collections", len(gc.Cycles)), diagnosis.HowToGet(model.Trace))
	default:
		p.Report(assistFinding(p, a, heavy, pressed))
	}
}

// An assist is what the rule measures.
type assist struct {
	groups []*model.Group // those that assist most, first
	onP    time.Duration  // Ps' time in assists, all groups
	held   time.Duration  // goroutine time held up by assists, waits included
	share  float64        // worst group's share of its running time
	mmu    float64        // worst 100 ms
	at     time.Duration  // its begin
	often  float64        // utilization that gcassistOften of the windows stay under
	loss   float64        // share of the Ps' time that the collector took, assists included
}

func measureAssist(p *diagnosis.Pass) (a assist) {
	m := p.Model
	var running time.Duration
	for i := range m.Sched.Groups {
		g := &m.Sched.Groups[i]
		a.held += g.Ranges[assistRange]
		if !g.System {
			running += g.Times.Running
		}
	}
	a.onP = m.GC.LoadTime(model.CountAssist, m.Run.Procs, 0, m.Run.Duration)
	for i := range m.Sched.Groups {
		g := &m.Sched.Groups[i]
		if g.System || g.Ranges[assistRange] == 0 || ofRecording(m, g.Name) || float64(g.Times.Running) < gcassistHeavy*float64(running) {
			continue
		}
		a.share = max(a.share, a.of(g))
		a.groups = append(a.groups, g)
	}
	slices.SortStableFunc(a.groups, func(x, y *model.Group) int {
		return cmp.Compare(y.Ranges[assistRange], x.Ranges[assistRange])
	})
	a.utilization(m)
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

// of is the part of a group's running time that its assists take. The range
// of an assist goes on while its goroutine is parked or waits for a P, so
// only its part of the Ps' time in assists counts.
func (a *assist) of(g *model.Group) float64 {
	mine := a.onP.Seconds() * div(g.Ranges[assistRange].Seconds(), a.held.Seconds())
	return min(1, div(mine, g.Times.Running.Seconds()))
}

// taken leaves stops of the world out: they are short where the collector is
// at fault, and where they are long it is another rule's illness.
const taken = model.CountBackground | model.CountAssist | model.CountSweep

// utilization fills in what is left to the program. Without a window of full
// length there is nothing to judge, and all is taken for well.
func (a *assist) utilization(m *model.Model) {
	a.mmu, a.often = 1, 1
	if m.Run.Duration < gcassistWindow {
		return
	}
	u := m.GC.Utilization(taken, m.Run.Procs, 0, m.Run.Duration)
	if at, worst := u.Worst(gcassistWindow); !math.IsNaN(worst) {
		a.at, a.mmu = at, worst
		a.often = u.MUD(gcassistWindow, gcassistOften)[0]
		a.loss = 1 - u.Mean()
	}
}

func assistFinding(p *diagnosis.Pass, a assist, heavy, pressed bool) diagnosis.Finding {
	f := diagnosis.Finding{
		Evidence: []fact.Fact{
			{Name: "Ps' time in assists", Value: div(a.onP.Seconds(), p.Seconds()), Unit: fact.Cores, Source: "trace: collector's load"},
			{Name: "goroutines held up by assists, on average", Value: div(a.held.Seconds(), p.Seconds()), Unit: fact.Count, Source: "trace: mark assist ranges, waits included"},
			{Name: "assists' share of the worst group's running time", Value: a.share, Unit: fact.Ratio, Source: "trace: collector's load, goroutine groups"},
			{Name: "minimum mutator utilization in 100 ms", Value: a.mmu, Unit: fact.Ratio, Source: "trace: collector's load, stops left out"},
			{Name: "utilization that 5 % of the windows stay under", Value: a.often, Unit: fact.Ratio, Source: "trace: collector's load"},
			{Name: "collections", Value: div(float64(len(p.Model.GC.Cycles)), p.Seconds()), Unit: fact.PerSec, Source: "trace: collections"},
			{Name: "largest heap goal", Value: heapGoal(p.Model), Unit: fact.Bytes, Source: "trace: heap goal"},
		},
		Confidence: diagnosis.Medium,
		Reasons:    []string{fmt.Sprintf("assists of %d collections", len(p.Model.GC.Cycles))},
		RuledOut: []string{
			"the collector's background workers: a quarter of the Ps while it runs is its normal share",
			"idle Ps that help to mark: they take nothing from the program and are not counted",
			fmt.Sprintf("a single bad moment such as filling a cache: 5 %% of all windows of 100 ms stay under %s, and there were %d collections", pct(a.often), len(p.Model.GC.Cycles)),
		},
		Remedy: diagnosis.Remedy{
			Text: "Goroutines that allocate faster than the collector marks must mark themselves. Allocate less in the path named here (reuse buffers, keep values out of interfaces, size slices before filling them), or let the heap grow further between collections. A doubled GOGC took resident memory from 148 to 335 MB in one measured program: set GOMEMLIMIT below the memory that is there.",
			Knob: largerGOGC(p.Model),
		},
	}
	for _, g := range a.groups {
		f.Groups = append(f.Groups, g.Name)
		if place, ok := p.GroupPlace(g); ok && len(f.Where) < 2 {
			f.Where = append(f.Where, place)
		}
	}
	f.Cost = diagnosis.Cost{Value: div(a.onP.Seconds(), p.Seconds()), Unit: fact.Cores, Share: a.share, What: "goroutines marking in the collector's place"}
	if heavy {
		g := slices.MaxFunc(a.groups, func(x, y *model.Group) int {
			return cmp.Compare(a.of(x), a.of(y))
		})
		f.Summary = fmt.Sprintf("%s spends %s of its running time in mark assists, the collector's work.", short(groupName(g.Name)), pct(a.share))
	}
	if pressed {
		if f.Summary != "" {
			f.Summary += " "
		}
		f.Summary += fmt.Sprintf("In the worst 100 ms, at %s, the collector leaves the program %s of its Ps.", dur(a.at), pct(a.mmu))
	}
	f.Bound = assistBound(p, a, heavy, pressed)
	metric := diagnosis.ThroughputMetric(p.Model)
	if pressed {
		metric = latency(p.Model)
	}
	f.Experiment = changed(metric, "", "Allocations per operation do not vary and show at once whether less is allocated.")
	if f.Remedy.Knob != "" {
		f.Experiment = tried(metric, f.Remedy.Knob, "", "CPU time per operation falls with it, and peak memory is the price. For a change of code compare allocations per operation, which do not vary.")
	}
	f.Explains = gcSymptoms(p)
	return f
}

// gcMostly is the part of the cost of allocating that the collector must be
// for the collector's illness to explain it.
const gcMostly = 0.7

func mostlyCollecting(p *diagnosis.Pass) bool {
	a := measureAllocation(p)
	return a.collect >= gcMostly*(a.malloc+a.collect+a.touch)
}

// assistBound promises latency where windows are short of Ps and throughput
// where only the assists' work could go.
func assistBound(p *diagnosis.Pass, a assist, heavy, pressed bool) diagnosis.Bound {
	if pressed {
		lost := (1 - a.mmu) * gcassistWindow.Seconds()
		return diagnosis.Bound{
			Value: lost, Unit: fact.Seconds, Goal: diagnosis.Latency, Share: max(a.loss, a.share),
			Method: "the part of the worst 100 ms that the collector took: the most that a request of that length can gain",
		}
	}
	// The knob makes background marking rarer, too, so that assists alone would
	// not bound it.
	var collect time.Duration
	for _, q := range p.Model.Sched.Procs {
		collect += q.GC
	}
	share := min(1-minBusy, div(div((collect+a.onP).Seconds(), p.Seconds()), working(p)))
	factor := 1 / fact.Amdahl(fact.GCModel(share, gcassistMore, gccostExcess))
	return diagnosis.Bound{
		Value: factor, Unit: fact.Ratio, Goal: diagnosis.Throughput, Share: gain(factor),
		Method: fmt.Sprintf("throughput factor by the GC model and Amdahl: 1 ÷ (1 - collector's share of the Ps' work × (1 - 1/%d) × %s), as if the program got all that twice the GOGC saves", gcassistMore, num(gccostExcess)),
	}
}

// largerGOGC is the knob to try; none where the collector's pace is not set by GOGC.
func largerGOGC(m *model.Model) string {
	if g := gogc(m); !math.IsInf(g, 0) {
		return fmt.Sprintf("GOGC=%.0f", g*gcassistMore)
	}
	return ""
}

func heapGoal(m *model.Model) (goal float64) {
	for _, h := range m.GC.Heap {
		goal = max(goal, float64(h.Goal))
	}
	return goal
}
