package rules

import (
	"time"

	"github.com/gowhy/gowhy/internal/judge/diagnosis"
	"github.com/gowhy/gowhy/internal/judge/measure/code"
	"github.com/gowhy/gowhy/internal/judge/measure/memory"
	"github.com/gowhy/gowhy/internal/know/fact"
	"github.com/gowhy/gowhy/internal/know/model"
)

const (
	// heapgrowthBytes is the least growth that can matter: the runtime's
	// smallest heap.
	heapgrowthBytes = 4 << 20
	// heapgrowthWindow is the shortest window: one that only holds a program's
	// start shows nothing but growth.
	heapgrowthWindow = 5 * time.Second
	// heapgrowthFew is the fewest values of the live heap that show a pace and
	// whether it lasts: two ways from one to the next. A leak under GOGC=100 has
	// no more of them, for the heap doubles between collections.
	heapgrowthFew = 3
	// heapgrowthRecent is how far into the window the last collection must be:
	// what leaks at a steady pace doubles the heap once more in the second half.
	heapgrowthRecent = 0.5
	// heapgrowthDoubt is the growth to twice the size and more from which an open question
	// keeps a program from being called well: a recording's own buffers take four to eight
	// megabytes, a pool of buffers that grew and stayed large 214.
	heapgrowthDoubt = 16 << 20
)

// heapgrowthOpen is the question that every growth leaves which no finding accuses.
const heapgrowthOpen = "whether the live heap keeps growing"

// openHeap leaves the question open, with the code that made most of what came, and doubts a
// program whose heap grew a lot meanwhile, and does not work through something and end; unless a line of it is seen to keep
// what it makes.
func openHeap(p *diagnosis.Pass, why, longer string) {
	if reportKept(p) {
		return
	}
	if places := memory.GrowingLines(p, false); len(places) > 0 {
		why += fact.Sentence("; most of the growth is %s", fact.Name(code.Line(places[0].Place)))
	}
	if who := holderOf(p); who != "" {
		why += "; " + who
	}
	ask := p.Unchecked
	if c := courseOf(memory.LiveHeap(p.Model).Series); !worksThrough(p) && c.most-c.from >= heapgrowthDoubt && c.most >= 2*c.from {
		ask = p.Doubt
	}
	ask(heapgrowthOpen, why, longer)
}

// levelHeap says that the heap as a whole does not grow, unless a line of it does.
func levelHeap(p *diagnosis.Pass, words string) {
	if !reportKept(p) {
		p.Fine(words)
	}
}

// checkLevel says that a heap does not grow, where its collections show that: growth that is
// too little or too uneven to accuse is an open question and never well.
func checkLevel(p *diagnosis.Pass, g *swelling, live *memory.LiveSeries, longer string) {
	c := courseOf(live.Series)
	from := live.Statistic(p, "live heap after warm-up, least", c.from, fact.Bytes)
	switch {
	case c.fell && c.grew(c.most):
		openHeap(p, fact.Sentence("it rose from %s to %s and fell at the end: so does that of a program whose work is done",
			from, live.MaxHeap(p)), longer)
	case c.grew(c.to) && c.most-c.before >= (c.to-c.from)/2: // a heap that was as large before came back to it
		words := fact.Sentence("it rose from %s to %s, and not at one pace", from, live.Statistic(p, "live heap in the second half, least", c.to, fact.Bytes))
		if c.dips > 0 {
			words += fact.Sentence(": %s of %s collections found less than the one before", fact.Name(figureOf(c.dips)), fact.Name(figureOf(len(live.Series))))
		}
		openHeap(p, words, longer)
	case g == nil && c.grew(c.last): // of few, one lower among them is no level
		openHeap(p, fact.Sentence("it was %s and is %s at the last of %s collections: too few to tell what rises from what comes back",
			from, live.LastFound(p), live.Statistic(p, "collections", float64(len(live.Series)), fact.Count)), longer)
	case g == nil:
		checkFewLevel(p, live, from, longer)
	case g.low.Value > 0 && g.bytes.Value >= heapgrowthBytes && g.late.Value >= model.SteadyGrowth*g.slope.Value:
		openHeap(p, fact.Sentence("it grows by %s, by %s in %s: beside the %s that it has that is too little to tell a leak "+
			"from what is used later", g.slope, g.bytes, g.over, g.from), longer)
	case g.low.Value > 0:
		levelHeap(p, fact.Sentence("live heap: %s, and in %s it grew by at most %s", g.from, g.over, g.high))
	default:
		levelHeap(p, fact.Sentence("live heap: %s, and no steady growth in %s", g.from, g.over))
	}
}

// checkFewLevel is about few collections that show no growth.
func checkFewLevel(p *diagnosis.Pass, live *memory.LiveSeries, from fact.Fact, longer string) {
	s := live.Series
	n := live.Statistic(p, "collections", float64(len(s)), fact.Count)
	if last := s[len(s)-1]; len(s) < heapgrowthFew || float64(last.At) < heapgrowthRecent*float64(p.Model.Run.Duration) {
		if reportKept(p) {
			return
		}
		p.Unchecked("whether the live heap grows", fact.Sentence("%s said what is alive, the last %s before the end: that shows no trend",
			n.Things("collection"), fact.Name(fact.Seconds.Format((p.Model.Run.Duration-last.At).Seconds()))), longer)
		return
	}
	levelHeap(p, fact.Sentence("live heap: %s after the warm-up and %s at the last of %s collections", from, live.LastFound(p), n))
}

// checkSlower is about a heap that grew, and slower in the second half.
func checkSlower(p *diagnosis.Pass, g *swelling, longer string) {
	if g.still {
		openHeap(p, fact.Sentence("it grew by %s, by %s in the second half and by %s in all: "+
			"so do a cache that fills and a leak whose load falls", g.bytes, g.late, g.slope), longer)
		return
	}
	levelHeap(p, fact.Sentence("live heap: it grew by %s and is level in the second half", g.bytes))
}
