package rules

import (
	_ "embed"
	"time"

	"github.com/gowhy/gowhy/internal/ground/statistics"
	"github.com/gowhy/gowhy/internal/judge/diagnosis"
	"github.com/gowhy/gowhy/internal/judge/measure/code"
	"github.com/gowhy/gowhy/internal/judge/measure/cpu"
	"github.com/gowhy/gowhy/internal/judge/measure/memory"
	"github.com/gowhy/gowhy/internal/know/fact"
	"github.com/gowhy/gowhy/internal/know/model"
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
	// spawnQueued is the share of their life that they wait for each other
	// or for a P. Those that wait for the network or a timer are
	// slow, not too many.
	spawnQueued = 0.80
	// spawnLeft is how many times as old as those that ended the living are when they
	// are a leak: a watcher of contexts of which a tenth is never told to end is at
	// more than a hundred; where the first that came is served first they are as old.
	spawnLeft = 20
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
	if g.System || float64(g.Ended) < spawnServed*float64(g.Created) || queuedShare(g) < spawnQueued {
		return false
	}
	if abandoned(g) {
		return false
	}
	grown := g.Created - g.Ended
	return g.Peak >= spawnFlood && g.Created >= g.Peak/2 ||
		grown >= spawnGrowth && shortLived(g)
}

// abandoned reports whether those that live on were left behind by the others: in a queue each
// waits for about as long as there is before it, and those that end have waited, too. Where
// the queue is longer than the window, most of those that end are older than it, and whose
// life is known are the few that had not to wait.
func abandoned(g *model.Group) bool {
	if g.Life.N == 0 || g.Alive() == 0 || 2*g.Life.N < int64(g.Ended) {
		return false
	}
	return (g.Total()-g.Life.Sum)/time.Duration(g.Alive()) > spawnLeft*g.Life.Mean()
}

// queuedShare returns the part of a group's life that it waits inside the program.
func queuedShare(g *model.Group) float64 {
	queued := g.Runnable + g.BlockedTotal()
	for _, r := range outsideReasons {
		queued -= g.Blocked[r]
	}
	return statistics.Quotient(float64(queued), float64(g.Total()))
}

func floodFinding(p *diagnosis.Pass, g *model.Group) diagnosis.Finding {
	of := []string{g.Name}
	started := fact.Quotient.Of("started", fact.PerSec, p.Goroutines("goroutines started", of, "created"), p.WindowLength())
	ended := fact.Quotient.Of("ended", fact.PerSec, p.Goroutines("goroutines ended", of, "ended"), p.WindowLength())
	peak, life := p.Goroutines("alive at once, at most", of, "peak"), p.Goroutines("their time", of, "total")
	alive := fact.Quotient.Of("goroutines alive, on average", fact.Count, life, p.WindowLength())
	queued := fact.Quotient.Of("waiting share of their life", fact.Ratio, waitingInside(p, g), life)
	enough := fact.Product.Of("goroutines that keep the Ps busy", fact.Count, cpu.Procs(p),
		fact.Figure("goroutines to a P that are enough", oversubscribedPerProc, fact.Count, "the lab's pools of workers"))
	stacks := fact.Product.Of("their stacks", fact.Bytes, fact.Difference.Of("goroutines beyond that", fact.Count, peak, enough), memory.MinStack())
	creator, _ := p.UserPlace(g.Creator)
	start, _ := p.GroupPlace(g)
	f := diagnosis.Finding{
		Where:    code.Places(creator, start),
		Evidence: []fact.Fact{started, ended, peak, alive, queued},
		Cost:     diagnosis.CostOf(alive, queued.Value),
		Bound: diagnosis.Direction(stacks, diagnosis.MemoryGoal, statistics.Quotient(stacks.Value, memory.LargestHeap(p.Model)+peak.Value*memory.GoroutineBytes),
			"what each holds comes on top. The work itself is not made faster"),
		Confidence: diagnosis.Medium,
		Reasons:    []string{fact.Sentence("one kind of evidence, the trace, with %s goroutines", p.Goroutines("goroutines", of, "count"))},
		RuledOut: []string{
			fact.Sentence("a leak: %s of the goroutines started in the window also ended in it", fact.Quotient.Of("share of the started that ended", fact.Ratio, ended, started)),
			"idle connections and timers: waits for the network and for time are not counted as waiting",
		},
		Groups: of,
		Remedy: diagnosis.Remedy{
			Text: "Decide before starting a goroutine whether there is room for it. Take a slot first and refuse, drop or " +
				"block when none is free; " +
				"or let a fixed number of workers read from the source, so that the pressure stays outside. Under " +
				"overload, refusing early is what keeps the rest fast.",
			Code: "select {\ncase slots <- struct{}{}: // make(chan struct{}, limit)\n\tgo func() { defer func() { <-slots }(); handle(req) }()\ndefault:\n\treject(req)\n}",
		},
		Experiment: codeChange(diagnosis.PeakRSS, "", "Offer the same load to both. The largest number of goroutines and the 99th percentile of what is not refused "+
			"must fall too; when the load stops, the number must fall back at once in both."),
	}
	f.Say("%s is started %s times a second and ends %s times: up to %s live at once, and %s of their life is waiting "+
		"for each other or for a P.",
		code.Name(code.GroupName(g.Name)), started.Number(), ended.Number(), peak, queued)
	if p.Model.Run.Duration < spawnSure {
		f.Confidence = diagnosis.Low
		f.Reasons = append(f.Reasons, fact.Sentence("a window of %s does not tell growth from a burst", p.WindowLength()))
	}
	return f
}

// waitingInside returns the time that a group waited inside the program: see [queuedShare].
func waitingInside(p *diagnosis.Pass, g *model.Group) fact.Fact {
	of := []string{g.Name}
	waiting := p.Goroutines("time ready or blocked", of, "runnable", "blocked")
	var outside []string
	for _, r := range outsideReasons {
		if g.Blocked[r] > 0 {
			outside = append(outside, "blocked:"+r)
		}
	}
	if len(outside) == 0 {
		return waiting
	}
	return fact.Difference.Of("time waiting inside the program", fact.Seconds, waiting, p.Goroutines("time waiting for what is outside", of, outside...))
}
