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

//go:embed unboundedspawn.md
var unboundedspawnPage string

var unboundedspawn = &diagnosis.Rule{
	Name:     "unboundedspawn",
	Title:    "Goroutines are started faster than they finish",
	Doc:      unboundedspawnPage,
	Needs:    []model.Source{model.Trace},
	Explains: []string{"oversubscribed", "schedlatency", "goroutinechurn", "goroutinegrowth"},
	Check:    checkUnboundedspawn,
}

const (
	// spawnFlood is how many alive at once are a flood however the window
	// was cut. The DNS server that the rule was made after had 294,404 parked of 441,703
	// started; the pool of 1,000 workers of another study must stay below.
	spawnFlood = 10_000
	// spawnGrowth is by how many the living must have grown in the window
	// when they are fewer than a flood.
	spawnGrowth = 1000
	// spawnServed is the least share of the started that must have ended:
	// below, they are connections or a leak, not work that queues.
	spawnServed = 0.10
	// spawnQueued is the share of their life that they wait for each other
	// or for a P. Those that wait for the network or a timer are
	// slow, not too many.
	spawnQueued = 0.80
	// spawnSure is the window from which growth is no burst. The catalogue's figure.
	spawnSure = 3 * time.Second
)

// outsideReasons are waits for something outside the program or for time.
var outsideReasons = []string{"network", "sleep", "forever", "select (no cases)"}

func checkUnboundedspawn(p *diagnosis.Pass) {
	groups := p.Model.Sched.Groups
	for i := range groups {
		if g := &groups[i]; flooding(g) {
			p.Report(floodFinding(p, g))
		}
	}
}

func flooding(g *model.Group) bool {
	if g.System || g.Created == 0 || float64(g.Ended) < spawnServed*float64(g.Created) || queuedShare(g) < spawnQueued {
		return false
	}
	grown := g.Created - g.Ended
	return g.Peak >= spawnFlood && g.Created >= g.Peak/2 ||
		grown >= spawnGrowth && spawned(g)
}

// queuedShare is the part of a group's life that it waits inside the program.
func queuedShare(g *model.Group) float64 {
	queued := g.Runnable + g.BlockedTotal()
	for _, r := range outsideReasons {
		queued -= g.Blocked[r]
	}
	return div(float64(queued), float64(g.Total()))
}

func floodFinding(p *diagnosis.Pass, g *model.Group) diagnosis.Finding {
	w := p.Seconds()
	started, ended := float64(g.Created)/w, float64(g.Ended)/w
	alive := g.Total().Seconds() / w
	enough := oversubscribedPerProc * p.Procs()
	bytes := float64(max(0, g.Peak-enough)) * goroutineBytes
	creator, _ := p.UserPlace(g.Creator)
	start, _ := p.GroupPlace(g)
	f := diagnosis.Finding{
		Summary: fmt.Sprintf("%s is started %s times a second and ends %s times: up to %s live at once, and %s of their life is waiting for each other or for a P.",
			short(groupName(g.Name)), num(math.Round(started)), num(math.Round(ended)), num(g.Peak), pct(queuedShare(g))),
		Where: where(creator, start),
		Evidence: []fact.Fact{
			{Name: "started", Value: started, Unit: fact.PerSec, Source: "trace: goroutine groups"},
			{Name: "ended", Value: ended, Unit: fact.PerSec, Source: "trace: goroutine groups"},
			{Name: "alive at once, at most", Value: float64(g.Peak), Unit: fact.Count, Source: "trace: goroutine groups"},
			{Name: "alive on average", Value: alive, Unit: fact.Count, Source: "trace: goroutine time ÷ window"},
			{Name: "waiting share of their life", Value: queuedShare(g), Unit: fact.Ratio, Source: "trace: goroutine groups"},
		},
		Cost: diagnosis.Cost{
			Value: alive, Unit: fact.Count, Share: queuedShare(g), What: "goroutines alive on average, nearly all of them waiting",
		},
		Bound: diagnosis.Bound{
			Value: bytes, Unit: fact.Bytes, Goal: diagnosis.MemoryGoal, Share: div(bytes, largestHeap(p.Model)+float64(g.Peak)*goroutineBytes),
			Method:  fmt.Sprintf("the largest number alive, less %d to a P, × %s of stack each; what each holds comes on top. The work itself is not made faster", oversubscribedPerProc, size(goroutineBytes)),
			Partial: true,
		},
		Confidence: diagnosis.Medium,
		Reasons:    []string{fmt.Sprintf("one kind of evidence, the trace, with %s goroutines", num(g.Count))},
		RuledOut: []string{
			fmt.Sprintf("a leak: %s of those started in the window also ended in it", pct(float64(g.Ended)/float64(g.Created))),
			"idle connections and timers: waits for the network and for time are not counted as waiting",
		},
		Groups: []string{g.Name},
		Remedy: diagnosis.Remedy{
			Text: "Decide before starting a goroutine whether there is room for it. Take a slot first and refuse, drop or block when none is free; or let a fixed number of workers read from the source, so that the pressure stays outside. Under overload, refusing early is what keeps the rest fast.",
			Code: "select {\ncase slots <- struct{}{}: // make(chan struct{}, limit)\n\tgo func() { defer func() { <-slots }(); handle(req) }()\ndefault:\n\treject(req)\n}",
		},
		Experiment: changed(diagnosis.PeakRSS, "", "Offer the same load to both. The largest number of goroutines and the 99th percentile of what is not refused must fall too; when the load stops, the number must fall back at once in both."),
	}
	if p.Model.Run.Duration < spawnSure {
		f.Confidence = diagnosis.Low
		f.Reasons = append(f.Reasons, "a window of "+dur(p.Model.Run.Duration)+" does not tell growth from a burst")
	}
	return f
}
