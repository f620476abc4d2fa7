package rules

import (
	_ "embed"

	"github.com/gowhy/gowhy/internal/judge/diagnosis"
	"github.com/gowhy/gowhy/internal/judge/measure/code"
	"github.com/gowhy/gowhy/internal/know/fact"
	"github.com/gowhy/gowhy/internal/know/model"
)

//go:embed goroutinegrowth.md
var goroutinegrowthPage string

// goroutinegrowth needs no source in particular: the runtime's metrics, two
// goroutine profiles or a trace, each of which counts goroutines.
var goroutinegrowth = &diagnosis.Rule{
	Name:     "goroutinegrowth",
	Title:    "The number of goroutines keeps growing",
	Doc:      goroutinegrowthPage,
	Explains: []string{"heapgrowth", "descriptorgrowth"}, // the latter only where they are connections
	Confirm:  becomeMore,
	Check:    checkGoroutinegrowth,
}

func checkGoroutinegrowth(p *diagnosis.Pass) {
	const what = "whether goroutines become more and more"
	g, ok := measureGrowth(p)
	if !ok {
		p.Unchecked(what, "neither the runtime's metrics, nor two goroutine profiles, nor a trace was given", p.HowToGet(model.MetricsLog))
		return
	}
	rose := []fact.Part{g.start, g.end}
	if g.added.Value >= growthLeast && g.sudden {
		p.Doubt(what, fact.Sentence("they rose from %s to %s at the end of the window, too late to tell a leak from a burst", g.late, g.end),
			p.RecordAgain(60, "longer.gowhy"))
		return
	}
	small := g.added.Value < max(growthLeast, growthPart*g.start.Value)
	if !small && g.fitted && !g.trend {
		p.Unchecked(what, fact.Sentence("they rose from %s to %s, but not to the end of the window: workers were started, or a limit was met", rose...),
			p.RecordAgain(60, "longer.gowhy"))
		return
	}
	if small && g.creeps() {
		p.Unchecked(what, fact.Sentence("they rose from %s to %s at one pace to the end of the window, by too few to tell a leak from more work", rose...), p.RecordAgain(60, "longer.gowhy"))
		return
	}
	if small {
		p.Fine(fact.Sentence("number of goroutines: %s at the start, %s at the end", rose...))
		return
	}
	if g.fell {
		checkEnded(p, g, what)
		return
	}
	s, ok := growingSite(p, growthSite*g.added.Value)
	switch {
	case !ok:
		p.Doubt(what, fact.Sentence("they rose from %s to %s, and no goroutine profiles at both ends tell where those wait that were added", rose...),
			p.HowToGet(model.GoroutineProfile))
	case s.added.Value < growthSite*g.added.Value:
		p.Doubt(what, fact.Sentence("they rose from %s to %s, and no place accounts for half of it: the most, %s, are %s", g.start, g.end,
			s.added, fact.Name(code.GroupName(s.group))), p.RecordAgain(60, "longer.gowhy"))
	case s.net:
		if idle, asked, ok := idleConnections(p, &s); ok {
			p.Report(idleFinding(p, &g, &s, idle, asked))
			return
		}
		p.Unchecked(what, fact.Sentence("they rose from %s to %s, because there are more connections: clients come, or nobody closes them", rose...), p.RecordAgain(60, "longer.gowhy"))
	case s.flood || !g.fitted && (g.start.Value == 0 || s.known && s.ended.Value >= spawnServed):
		p.Unchecked(what, fact.Sentence("they rose from %s to %s, and many end: a start, or a queue that may become longer still", rose...), p.RecordAgain(60, "longer.gowhy"))
	case !g.fitted && lifetimeShare(p, &g, &s).Value > growthLived:
		p.Fine(fact.Sentence("number of goroutines: from %s to %s, a start and no growth: those that came lived %s of the window on average",
			g.start, g.end, lifetimeShare(p, &g, &s)))
	case p.Model.Load == nil && fires(p, overload):
		p.Unchecked(what, fact.Sentence("they rose from %s to %s because more came than got through, which queues; the finding is about that", rose...), "")
	case overloaded(p.Model):
		p.Unchecked(what, fact.Sentence("they rose from %s to %s while more requests came than were served, which queues: "+
			"record at a load that the program can serve", rose...), p.HowToGet(model.Trace))
	default:
		p.Report(growthFinding(p, g, s))
	}
}
