package rules

import (
	"slices"
	"time"

	"github.com/gowhy/gowhy/internal/judge/diagnosis"
	"github.com/gowhy/gowhy/internal/judge/measure/code"
	"github.com/gowhy/gowhy/internal/judge/measure/memory"
	"github.com/gowhy/gowhy/internal/know/fact"
	"github.com/gowhy/gowhy/internal/know/model"
)

// A heap as a whole hides what one line keeps: others breathe by more than that, and what is
// loaded at first is larger. Where the heap was looked at all the time, each line is judged alone.

const (
	// heapgrowthLooks is the fewest looks behind the warm-up: that five values of what comes and
	// goes stand in order is the chance of one in 120.
	heapgrowthLooks = 5
	// heapgrowthSeen is how long they must cover: the looks of a window of five seconds end where its
	// last collection but one did, a second and a half before its end in a heap of 60 MiB.
	heapgrowthSeen = 2 * time.Second
	// heapgrowthGiven is how much of its growth a line may give back in between: one that keeps
	// sessions has those that end in it, too, which gave back 5 % in 14 looks. Where nothing
	// was kept, lines that came and went gave back all.
	heapgrowthGiven = 0.1
	// heapgrowthLevel is the part of its pace below which all that is in use is level at the end: a
	// window of messages that had filled after three of five seconds grew by a fiftieth of it.
	heapgrowthLevel = 0.25
	// heapgrowthBurst is how much of it may come at once, beyond the usual pace: of what is loaded
	// all does.
	heapgrowthBurst = 0.5
)

// reportKept reports lines that keep what they make, and whether there are any.
func reportKept(p *diagnosis.Pass) bool {
	lines := keptLines(p)
	if len(lines) == 0 {
		return false
	}
	g, _ := lineGrowth(p, &lines[0])
	live := memory.LiveHeap(p.Model)
	f := heapFinding(&g, fact.Fraction.Of("part of the live heap", fact.Ratio, g.bytes, live.LastFound(p)))
	f.Evidence = []fact.Fact{g.slope, g.late, g.from, g.cycles}
	for _, c := range lines {
		f.Where, f.Stacks = append(f.Where, c.Place), append(f.Stacks, c.Stacks...)
		if more, ok := lineGrowth(p, &c); ok {
			f.Rest(more.bytes)
		}
	}
	f.Reasons = []string{fact.Sentence("it rose in %s looks at the heap, whatever else comes and goes there", g.cycles)}
	f.RuledOut = []string{
		fact.Sentence("a cache that fills up: the second half grows by %s, the whole by %s", g.late, g.slope),
		"what only comes and goes: next to nothing of it was freed between two looks",
		fact.Sentence("warm-up: the first %s of the window is left out", fact.Name(fact.Ratio.Format(model.WarmUp))),
	}
	f.Say("What %s allocates stays: it grows by %s, from %s by %s in %s.", code.Name(lines[0].Place.Function), g.slope, g.from, g.bytes, g.over)
	endHeapFinding(p, &f, &g)
	p.Report(ofCommand(p, f, keptToTheEnd))
	return true
}

// fullAtEnd reports whether what all lines have in use is level at the end, which a trend over all of the
// window does not show.
func fullAtEnd(p *diagnosis.Pass) bool {
	all := model.Series{}
	for _, c := range memory.Courses(p) {
		if len(all) == 0 {
			all = slices.Clone(c.Bytes)
			continue
		}
		for i := range all {
			all[i].Value += c.Bytes[i].Value
		}
	}
	return levelAtEnd(all)
}

// levelAtEnd reports whether a series grew by next to nothing in its last quarter: a store that fills is full then.
func levelAtEnd(s model.Series) bool {
	grew, over, ok := s.Delta()
	if !ok {
		return false
	}
	last := s[len(s)-1]
	end := s[s.Index(last.At-over/4):]
	return len(end) >= heapgrowthFew && last.Value-end[0].Value < heapgrowthLevel*grew*float64(last.At-end[0].At)/float64(over)
}

// keptLines returns the lines each of which has more in use from look to look, to the end of
// the run, those first that have most more.
func keptLines(p *diagnosis.Pass) (lines []memory.Course) {
	for _, c := range memory.Courses(p) {
		if g, ok := lineGrowth(p, &c); ok && g.bytes.Value >= heapgrowthBytes && !ofGoroutines(p, c.Objects[len(c.Objects)-1].Value) {
			lines = append(lines, c)
		}
	}
	return lines[:min(len(lines), heapgrowthNamed)]
}

// heapgrowthNamed is how many of these lines a finding names.
const heapgrowthNamed = 3

// lineGrowth measures how what a line has in use grows behind the warm-up; false unless it does
// so at an even pace.
func lineGrowth(p *diagnosis.Pass, c *memory.Course) (g swelling, ok bool) {
	looks := c.Bytes
	if len(looks) == 0 {
		return g, false
	}
	last := looks[len(looks)-1]
	// Those of the warm-up are left out but for the last, from which the way to the next leads.
	warm := looks[max(0, looks.Index(time.Duration(model.WarmUp*float64(last.At)))-1):]
	if len(warm) < heapgrowthLooks {
		return g, false
	}
	from := warm[0]
	grew, over := last.Value-from.Value, last.At-from.At
	if grew <= 0 || over < heapgrowthSeen {
		return g, false
	}
	middle := from.At + over/2
	pace := func(by float64, in time.Duration) float64 { return by / in.Seconds() }
	statistic := func(name string, v float64, u fact.Unit) fact.Fact {
		return p.Statistic(fact.Collector, "in use of "+code.Line(c.Place)+" at each look", name, v, u).From(model.LiveHeap)
	}
	slope, late := pace(grew, over), pace(last.Value-warm.At(middle), last.At-middle)
	g = swelling{
		few:    true,
		slope:  statistic("growth of what the line keeps", slope, fact.BytesPerSec),
		late:   statistic("growth in the second half", late, fact.BytesPerSec),
		from:   statistic("in use of the line after warm-up", from.Value, fact.Bytes),
		over:   statistic("time since the warm-up", over.Seconds(), fact.Seconds),
		cycles: statistic("looks at the heap", float64(len(looks)), fact.Count),
	}
	g.bytes = fact.Product.Of("in use of the line that grew in the window", fact.Bytes, g.slope, g.over)
	more := c.Objects[len(looks)-1].Value - c.Objects[len(looks)-len(warm)].Value
	return g, grew >= model.LeastGrowth*from.Value && more >= growthMany &&
		late >= model.SteadyGrowth*slope && falls(warm) <= heapgrowthGiven*grew && burst(warm, slope) <= heapgrowthBurst*grew && !levelAtEnd(looks)
}

// burst returns by how much a series rose most between two values, beyond its usual pace.
func burst(s model.Series, pace float64) (by float64) {
	for i := range s[1:] {
		by = max(by, s[i+1].Value-s[i].Value-pace*(s[i+1].At-s[i].At).Seconds())
	}
	return by
}
