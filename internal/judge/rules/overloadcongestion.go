package rules

import (
	"slices"
	"time"

	"github.com/gowhy/gowhy/internal/judge/diagnosis"
	"github.com/gowhy/gowhy/internal/judge/measure/code"
	"github.com/gowhy/gowhy/internal/know/fact"
	"github.com/gowhy/gowhy/internal/know/model"
)

// What a trace tells of overload, without a generator that says how much was offered: goroutines of one kind come
// faster than they get through, and each waits longer than the one before.

// congestedQueued is the part of their life that they wait for each other, at least: what the work takes itself
// stays, and a queue that has become longer takes more than that. Two programs of the field had 0.69 and 0.99.
const congestedQueued = 0.5

// congestedEnded is the fewest goroutines that must have ended to tell whether they wait longer and longer: a third of
// them is compared with another.
const congestedEnded = 30

// A congestion is such goroutines.
type congestion struct {
	trend goroutineTrend
	site  growing
	lives model.Lives // of those that end
}

// congestionOf returns the goroutines that pile up before work that gets through, but too slowly; false for none.
func congestionOf(p *diagnosis.Pass) (c congestion, ok bool) {
	c.trend, ok = measureGrowth(p)
	if !ok || c.trend.fell || !c.trend.trend || c.trend.added.Value < max(growthLeast, growthPart*c.trend.start.Value) {
		return c, false
	}
	if c.site, ok = growingSite(p, growthSite*c.trend.added.Value); !ok {
		return c, false
	}
	return c, c.queues(p.Model)
}

// queues reports whether the goroutines that became more wait for each other, end in the order in which they came, and
// wait longer and longer. Those of a leak never end, and beside it the others take what they took before.
func (c *congestion) queues(m *model.Model) bool {
	s := &c.site
	if m.Sched == nil || s.net || !s.known || s.ended.Value < spawnServed || s.added.Value < growthSite*c.trend.added.Value {
		return false
	}
	for _, g := range code.Groups(m, s.groups) {
		if queuedShare(g) < congestedQueued || abandoned(g) {
			return false
		}
	}
	i := slices.IndexFunc(m.Sched.Lives, func(l model.Lives) bool { return l.Function == s.group })
	if i < 0 || m.Sched.Lives[i].Ended < congestedEnded {
		return false
	}
	c.lives = m.Sched.Lives[i]
	return float64(c.lives.Last) >= overloadGrowth*float64(c.lives.First)
}

// checkCongestion looks at a trace where there is no result of a load.
func checkCongestion(p *diagnosis.Pass) {
	switch c, ok := congestionOf(p); {
	case !ok:
		p.Lacks("no load generator says what it offered, and what waits elsewhere than in goroutines is not seen", p.HowToGet(model.LoadResult))
	case floods(p): // names the line, and has the same fix
	default:
		p.Report(congestionFinding(p, &c))
	}
}

func congestionFinding(p *diagnosis.Pass, c *congestion) diagnosis.Finding {
	g := growthFinding(p, c.trend, c.site)
	of := c.site.groups
	come := fact.Quotient.Of("started", fact.PerSec, p.Goroutines("goroutines started", of, "created"), p.WindowLength())
	through := fact.Quotient.Of("ended", fact.PerSec, p.Goroutines("goroutines ended", of, "ended"), p.WindowLength())
	life := func(name string, d time.Duration) fact.Fact {
		return p.Statistic(fact.Timeline, "lives of goroutines", name, d.Seconds(), fact.Seconds)
	}
	first, last := life("mean life of the first third to end", c.lives.First), life("mean life of the last third to end", c.lives.Last)
	longer := fact.Quotient.Of("lives of the last by those of the first", fact.Factor, last, first)
	f := diagnosis.Finding{
		Grows:      true,
		Where:      g.Where,
		Stacks:     g.Stacks,
		Groups:     of,
		Evidence:   []fact.Fact{come, through, c.trend.start, c.trend.end, first, last, longer},
		Cost:       g.Cost,
		Bound:      g.Bound,
		Confidence: diagnosis.Medium,
		Reasons:    []string{"one kind of evidence, the trace, of one window: whether the rush passes is not known"},
		RuledOut: []string{
			fact.Sentence("a leak: %s of the goroutines started in the window ended in it, and those that still live are no older than in a queue", c.site.ended),
			"a queue of fixed length: that is full at once and stays as it is",
			"idle connections and timers: waits for the network and for time are not counted as waiting",
		},
		Explains:   overloadSymptoms,
		Remedy:     overloadRemedy,
		Experiment: overloadExperiment,
	}
	f.Say("%s is started %s times a second and ends %s times: the rest waits, %s goroutines at the end, and each takes %s times "+
		"as long as at the beginning.",
		code.Name(code.GroupName(c.site.group)), come.Number(), through.Number(), c.trend.end, longer.Number())
	return f
}
