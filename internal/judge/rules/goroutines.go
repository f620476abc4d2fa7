package rules

import (
	"github.com/gowhy/gowhy/internal/judge/diagnosis"
	"github.com/gowhy/gowhy/internal/judge/measure/code"
	"github.com/gowhy/gowhy/internal/judge/measure/memory"
	"github.com/gowhy/gowhy/internal/know/fact"
	"github.com/gowhy/gowhy/internal/know/model"
)

// shortLived reports whether the group is made of goroutines that come and go
// rather than of workers that stay: their number follows the load, and no
// worker count is there to be lowered.
func shortLived(g *model.Group) bool { return g.Count > 2*g.Peak }

// spawnServed is the least share of the started that must have ended: below, they
// are connections or a leak, not work that queues.
const spawnServed = 0.10

// goroutinesAlive returns how many there were at the end, by the evidence that says it best.
func goroutinesAlive(p *diagnosis.Pass) fact.Fact {
	const name = "goroutines alive"
	switch alive := p.Metric(name, memory.MetricGoroutines, fact.Last); {
	case alive.Value > 0:
		return alive
	case p.Model.Goroutines.End != nil:
		return p.Samples(name, "goroutine", nil)
	}
	return p.Goroutines(name, code.AllGroups(p.Model), "alive")
}

// moreAt returns by how many the goroutines at the lines of some stacks have become more
// between the two goroutine profiles.
func moreAt(p *diagnosis.Pass, name string, stacks ...model.Stack) fact.Fact {
	there := code.MatchText(p.Model, stacks...)
	return fact.Difference.Of(name, fact.Count, p.Samples("there at the end", "goroutine", there), p.SamplesAtStart("there at the start", "goroutine", there))
}

// snapshotWindow returns the time between the two goroutine profiles.
func snapshotWindow(p *diagnosis.Pass) fact.Fact {
	return p.ProfileLength("goroutine").Named("time between the goroutine profiles")
}
