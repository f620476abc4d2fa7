package rules

import (
	"time"

	"github.com/gowhy/gowhy/internal/ground/statistics"
	"github.com/gowhy/gowhy/internal/judge/diagnosis"
	"github.com/gowhy/gowhy/internal/judge/measure/code"
	"github.com/gowhy/gowhy/internal/know/fact"
	"github.com/gowhy/gowhy/internal/know/model"
)

const (
	// endedAfter is the part of the window that they must become more in before they end.
	endedAfter = 0.75
	// endedLeft is the part of the peak that may be left at the end.
	endedLeft = 0.5
	// endedBefore is the part of those started that may have ended before: what works off
	// requests ends all the time, what waits for the end of the program ends only then. A
	// trace that does not keep every goroutine knows how many were alive at once, which came
	// to 0.83 of 4,485 that all were.
	endedBefore = 0.25
)

// untilEnded returns the part of a count of goroutines up to the most there were, where most of
// these ended at once at the end of the window: a program that ends in order, or the
// cancelling of a context that all wait for. The last moment tells nothing of the rise.
func untilEnded(s model.Series) (rise model.Series, ok bool) {
	if len(s) < 3 {
		return nil, false
	}
	most := 0
	for i := range s {
		if s[i].Value > s[most].Value {
			most = i
		}
	}
	first, last := s[0], s[len(s)-1]
	late := s[most].At-first.At >= time.Duration(endedAfter*float64(last.At-first.At))
	return s[:most+1], late && most > 1 && last.Value <= endedLeft*s[most].Value &&
		s[most].Value-first.Value >= max(growthLeast, growthPart*first.Value)
}

// checkEnded is about goroutines that became more until nearly all ended at once.
func checkEnded(p *diagnosis.Pass, g goroutineTrend, what string) {
	s, before, ok := endedSite(p, &g)
	left := fact.Sentence("they rose from %s to %s, and nearly all ended at once", g.start, g.end)
	switch {
	case !ok:
		p.Unchecked(what, left+", and no trace tells which", p.HowToGet(model.Trace))
	case s.added.Value < growthSite*g.added.Value || s.net || before.Value >= endedBefore:
		p.Unchecked(what, left+": as a load does that stops", p.RecordAgain(60, "longer.gowhy"))
	default:
		f := growthFinding(p, g, s)
		f.RuledOut = append(f.RuledOut, fact.Sentence("work that is done: %s of them had ended before", before))
		f.Reasons = append(f.Reasons, "they end when the program or its work does, and only then: a program that runs for longer has more of them")
		p.Report(f)
	}
}

// endedSite returns the group of most of those that were alive when there were most, by a trace,
// and the part of those started in it that had ended before.
func endedSite(p *diagnosis.Pass, t *goroutineTrend) (g growing, before fact.Fact, ok bool) {
	m := p.Model
	if m.Sched == nil {
		return g, before, false
	}
	by, started := aliveBefore(m, t.peak)
	order := statistics.Largest(by)
	places, alike := groupPlaces(order, by, growthSite*t.added.Value, func(name string) string { return starterOf(m, code.Group(m, name)) })
	if len(places) == 0 {
		return g, before, false
	}
	g = growing{stack: longestWait(m, places[0]), places: len(places), alike: alike, group: places[0], groups: places}
	var alive, all float64
	for _, name := range places {
		alive, all = alive+by[name], all+started[name]
		if s := code.Group(m, name); s != nil {
			g.net = g.net || 2*s.Blocked["network"] > s.BlockedTotal()
		}
	}
	statistic := func(name string, v float64) fact.Fact {
		return p.Statistic(fact.Timeline, "goroutines alive", name, v, fact.Count)
	}
	g.added, g.starts = statistic(addedHere, alive), commonStarter(m, places)
	return g, fact.Quotient.Of("share of the started that ended before", fact.Ratio, statistic("ended before", all-alive), statistic("started before", all)), true
}

// aliveBefore returns how many goroutines of each group were started up to a moment, and how
// many of them were alive then: at once, where a trace does not keep every one.
func aliveBefore(m *model.Model, moment time.Duration) (alive, started map[string]float64) {
	alive, started = map[string]float64{}, map[string]float64{}
	if m.Sched.AllKept && len(m.Sched.Goroutines) > 0 {
		for i := range m.Sched.Goroutines {
			g := &m.Sched.Goroutines[i]
			if g.Created < 0 || g.Created > moment || code.IsSystemGroup(m, g.Group) {
				continue
			}
			started[g.Group]++
			if g.Ended < 0 || g.Ended >= moment {
				alive[g.Group]++
			}
		}
		return alive, started
	}
	for _, name := range code.UserGroups(m) {
		g := code.Group(m, name)
		started[name] = float64(g.Created)
		alive[name] = float64(max(0, g.Peak-(g.Count-g.Created)))
	}
	return alive, started
}
