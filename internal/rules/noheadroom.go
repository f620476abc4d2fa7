package rules

import (
	_ "embed"
	"fmt"
	"math"

	"github.com/gowhy/gowhy/internal/diagnosis"
	"github.com/gowhy/gowhy/internal/fact"
	"github.com/gowhy/gowhy/internal/model"
)

//go:embed noheadroom.md
var noheadroomPage string

var noheadroom = &diagnosis.Rule{
	Name:    "noheadroom",
	Title:   "The heap may grow into the container's memory limit",
	Doc:     noheadroomPage,
	Needs:   []model.Source{model.ProcFS},
	Untimed: true,
	Check:   checkNoheadroom,
}

const (
	// headroomFull is the part of the container's memory from which the next
	// burst may end in the kernel's killing the process.
	headroomFull = 0.8
	// headroomLimit is the part of it that GOMEMLIMIT should be: the rest is
	// for what the runtime does not count, C memory, thread stacks, page tables.
	headroomLimit = 0.9
	// headroomLive is the part of GOMEMLIMIT that the live heap may take
	// before the limit itself becomes an illness; see limitFull.
	headroomLive = 0.7
)

func checkNoheadroom(p *diagnosis.Pass) {
	m := p.Model
	if m.Limits == nil || m.Limits.Memory == 0 {
		return
	}
	memory := float64(m.Limits.Memory)
	rss := peakRSS(m.Process)
	goal := heapPeak(m)
	peak := max(rss, goal)
	limit, known := memoryLimit(m)
	switch {
	case peak < headroomFull*memory:
		p.Fine(fmt.Sprintf("memory: at most %s of the container's %s", size(peak), size(memory)))
	case !known:
		p.Unchecked("whether the runtime knows of the container's memory limit",
			fmt.Sprintf("the process takes %s of %s, and no evidence tells GOMEMLIMIT", size(peak), size(memory)), diagnosis.HowToGet(model.MetricsLog))
	case math.IsInf(limit, 0) || limit > memory:
		p.Report(headroomFinding(p, memory, rss, goal, limit))
	default:
		p.Fine(fmt.Sprintf("memory: GOMEMLIMIT is %s, the container's limit %s", size(limit), size(memory)))
	}
}

func peakRSS(proc *model.Process) (rss float64) {
	for _, s := range proc.Samples {
		rss = max(rss, float64(s.RSS))
	}
	return rss
}

// heapPeak is the largest goal of the heap in the window: what it may grow to
// before the next collection has ended.
func heapPeak(m *model.Model) (goal float64) {
	if m.Metrics != nil {
		for _, p := range m.Metrics.Series[metricGoal] {
			goal = max(goal, p.Value)
		}
	}
	if m.GC != nil {
		goal = max(goal, heapGoal(m))
	}
	for _, l := range m.GCLog {
		goal = max(goal, float64(l.Goal))
	}
	if goal >= math.MaxInt64 { // GOGC=off has a goal that is none
		return 0
	}
	return goal
}

func headroomFinding(p *diagnosis.Pass, memory, rss, goal, limit float64) diagnosis.Finding {
	live, _ := liveHeap(p.Model)
	alive := 0.0
	for _, point := range live {
		alive = max(alive, point.Value)
	}
	summary := fmt.Sprintf("The process takes up to %s of the container's %s, and %s.", size(rss), size(memory), unlimited(limit))
	if goal > rss {
		summary = fmt.Sprintf("The heap may grow to %s before a collection ends, the container has %s, and %s.", size(goal), size(memory), unlimited(limit))
	}
	return diagnosis.Finding{
		Summary: summary,
		Evidence: []fact.Fact{
			{Name: "container's memory limit", Value: memory, Unit: fact.Bytes, Source: "control group"},
			{Name: "largest resident memory", Value: rss, Unit: fact.Bytes, Source: "/proc of the process"},
			{Name: "largest heap goal", Value: goal, Unit: fact.Bytes, Source: "what the heap may grow to before a collection ends"},
			{Name: "largest live heap", Value: alive, Unit: fact.Bytes, Source: "as collections found it"},
		},
		Cost:       diagnosis.Cost{Value: rss, Unit: fact.Bytes, Share: min(1, rss/memory), What: "of the container's memory in use"},
		Bound:      headroomBound(memory, rss, alive),
		Confidence: diagnosis.Medium,
		Reasons:    []string{"the limit and the sizes are exact; whether a burst comes that needs more is not known"},
		RuledOut: []string{
			"the page cache, which counts in the container's usage and can be dropped: resident memory and the heap's goal are compared",
			"a limit that the runtime knows: " + unlimited(limit),
		},
		Remedy:     headroomRemedy(memory, alive),
		Experiment: headroomExperiment(memory, alive),
		Prove:      "More memory for the container has no other arm. Record under the heaviest load there is: the heap's goal must stay below the limit.",
	}
}

// headroomBound promises the garbage that earlier collections would have
// taken away: what is resident beyond the live heap.
func headroomBound(memory, rss, alive float64) diagnosis.Bound {
	b := diagnosis.Bound{Unit: fact.Bytes, Goal: diagnosis.MemoryGoal}
	if alive == 0 {
		b.Method = "no evidence tells how much of it is alive"
		return b
	}
	b.Value = max(0, rss-alive)
	b.Share = min(1, div(b.Value, memory))
	b.Method = "what is resident beyond the live heap: the most that earlier collections can give back. A process that is killed loses all"
	return b
}

func unlimited(limit float64) string {
	if math.IsInf(limit, 0) {
		return "the runtime has no limit to keep to: GOMEMLIMIT is off"
	}
	return fmt.Sprintf("GOMEMLIMIT, %s, lies beyond it", size(limit))
}

// headroomExperiment tries the limit where it is the cure.
func headroomExperiment(memory, alive float64) *diagnosis.Experiment {
	knob := headroomRemedy(memory, alive).Knob
	if knob == "" {
		return nil
	}
	return tried(diagnosis.PeakRSS, knob, "", "Try it under the heaviest load there is: the heap's goal must stay below the limit, and CPU time per operation as it was, for the limit acts only when it is near.")
}

// headroomRemedy warns where the cure would be the next illness.
func headroomRemedy(memory, alive float64) diagnosis.Remedy {
	if alive > headroomLive*headroomLimit*memory {
		return diagnosis.Remedy{Text: "Give the container more memory, or let less stay alive: the live heap alone takes most of what there is. GOMEMLIMIT would keep the process from being killed and make it collect without end instead."}
	}
	limit := headroomLimit * memory
	return diagnosis.Remedy{
		Text: fmt.Sprintf("Set GOMEMLIMIT to nine tenths of the container's limit, %s: the runtime then collects earlier as it comes near. Memory of C code is not counted by it; leave more room for that.", size(limit)),
		Knob: fmt.Sprintf("GOMEMLIMIT=%.0fMiB", math.Floor(limit/(1<<20))),
	}
}
