package rules

import (
	"cmp"
	_ "embed"
	"slices"
	"strings"
	"time"

	"github.com/gowhy/gowhy/internal/judge/diagnosis"
	"github.com/gowhy/gowhy/internal/judge/measure/code"
	"github.com/gowhy/gowhy/internal/judge/measure/memory"
	"github.com/gowhy/gowhy/internal/know/fact"
	"github.com/gowhy/gowhy/internal/know/model"
)

//go:embed heldmemory.md
var heldmemoryPage string

var heldmemory = &diagnosis.Rule{
	Name:  "heldmemory",
	Title: "One holder keeps more and more of the heap",
	Doc:   heldmemoryPage,
	// No Needs: nobody lacks a look who did not ask for one.
	Explains: []string{"heapgrowth", "noheadroom", "memorylimit"},
	Check:    checkHeldmemory,
}

const (
	// heldMost is the part of the heap's growth that a holder must have to be who grows.
	heldMost = 0.5
	// heldMoved is the part of a holder's growth that the whole heap must have grown by: else
	// its objects came from another holder, as of a queue that another one drains.
	heldMoved = 0.5
	// heldApart is how far apart two looks must be where collections show the trend: a recording looks so soon again.
	heldApart = time.Second
)

// A heldGrowth is a holder that grew.
type heldGrowth struct {
	holder           *model.Holder
	held, grew, over fact.Fact
	pace             fact.Fact // bytes a second
	reached, part    fact.Fact // of all; of what that grew by
	trend            swelling  // of the collections, where they show one
	traced           bool      // they do
	lined            bool      // what lines have in use does
	least            bool      // there is one look: it grew by this at least
}

func checkHeldmemory(p *diagnosis.Pass) {
	look := lastLook(p.Model)
	if look == nil {
		return
	}
	live := memory.LiveHeap(p.Model)
	trend, grows := measureSwelling(p, &live)
	if !grows {
		trend, grows = measureFew(p, &live)
	}
	steady := grows && lasting(&live, &trend)
	lined := len(keptLines(p)) > 0 && fires(p, heapgrowth) // what lines have in use grows, whatever else is on the heap
	least := heapgrowthWindow
	if steady || lined { // that it goes on is known, and the looks say whose it is
		least = heldApart
	}
	g, ok := measureHeld(p, look, least)
	if ok { // or it grew before, and does no more
		steady = steady && trend.slope.Value >= model.SteadyGrowth*g.pace.Value
	} else if steady && fires(p, heapgrowth) {
		g, ok = heldAtLeast(p, look, &trend)
	}
	g.trend, g.traced, g.lined = trend, steady, lined && !steady
	switch {
	case !ok:
		fineHeld(p, look)
	case toldBy(p, g.holder): // with what each of them holds
	case steady, lined, len(live.Series) < heapgrowthFew && g.over.Value >= heapgrowthLong.Seconds():
		p.Report(ofCommand(p, heldFinding(p, &g), keptToTheEnd))
	default:
		openHeld(p, &g)
	}
}

// lasting reports whether collections show a heap that grows and goes on, as heapgrowth says it.
func lasting(live *memory.LiveSeries, g *swelling) bool {
	if g.few {
		return g.lasts
	}
	return g.low.Value > 0 && g.late.Value >= model.SteadyGrowth*g.slope.Value && !hasStep(live.Series)
}

// measureHeld compares two looks that are as far apart at the least.
func measureHeld(p *diagnosis.Pass, look *model.HeapLook, least time.Duration) (g heldGrowth, ok bool) {
	h := mostGrown(look)
	first := p.Model.Run.Holders[0]
	if h == nil || look.Over < least || first.Partial {
		return g, false
	}
	g = heldBy(p, h)
	g.grew, g.over = p.Held("more held by "+h.Words(), "grew", h), p.Look("time between the looks", "over")
	all := fact.Difference.Of("growth of all that is reached", fact.Bytes, g.reached, p.FirstLook("reached at the first look", "reached"))
	g.part = fact.Fraction.Of("part of the heap's growth", fact.Ratio, g.grew, all)
	g.pace = fact.Quotient.Of("growth of what "+h.Words()+" holds", fact.BytesPerSec, g.grew, g.over)
	before := g.held.Value - g.grew.Value
	return g, g.grew.Value >= heldBytes && g.grew.Value >= model.LeastGrowth*before && all.Value >= heldMoved*g.grew.Value && g.part.Value >= heldMost
}

// heldAtLeast finds who must have grown where there is one look: who holds so much more than all
// that was alive before that most of the growth is in it.
func heldAtLeast(p *diagnosis.Pass, look *model.HeapLook, trend *swelling) (g heldGrowth, ok bool) {
	h := mostHeld(look)
	if h == nil {
		return g, false
	}
	g = heldBy(p, h)
	g.least = true
	g.grew, g.over = fact.Difference.Of("more held by "+h.Words()+", at least", fact.Bytes, g.held, trend.from), trend.over
	g.part = fact.Fraction.Of("part of the heap's growth", fact.Ratio, g.grew, trend.bytes)
	g.pace = trend.slope
	return g, g.grew.Value >= heldBytes && g.part.Value >= heldMost
}

func heldBy(p *diagnosis.Pass, h *model.Holder) heldGrowth {
	return heldGrowth{holder: h, held: p.Held("held by "+h.Words(), "bytes", h), reached: p.Look("what is reached on the heap", "reached")}
}

// toldBy reports whether another rule names what holds it: goroutines that do not end, or
// deadlines that nobody cancels.
func toldBy(p *diagnosis.Pass, h *model.Holder) bool {
	var first []*diagnosis.Rule
	switch h.Kind {
	case model.HeldByGoroutines:
		first = []*diagnosis.Rule{goroutinegrowth, unboundedspawn, leakedgoroutines}
	case model.HeldByTimers:
		first = []*diagnosis.Rule{leakedtimers}
	}
	return slices.ContainsFunc(first, func(r *diagnosis.Rule) bool { return fires(p, r) })
}

// fineHeld says that nobody holds more than before, of looks that are far enough apart to tell.
func fineHeld(p *diagnosis.Pass, look *model.HeapLook) {
	h := mostHeld(look)
	grown := mostGrown(look)
	if h == nil || look.Over < heapgrowthLong || p.Model.Run.Holders[0].Partial || grown != nil && grown.Growth() >= heldBytes {
		return
	}
	p.Fine(fact.Sentence("holders of the heap: %s has most, %s, and in %s nobody came to hold much more",
		fact.Name(h.Words()), p.Held("held by "+h.Words(), "bytes", h), p.Look("time between the looks", "over")))
}

// openHeld leaves the question open of growth that may be a cache that fills or a batch. What
// came to hold twice as much is not called well: a program at 2 MiB a second was idle.
func openHeld(p *diagnosis.Pass, g *heldGrowth) {
	ask := p.Unchecked
	if g.held.Value >= 2*(g.held.Value-g.grew.Value) {
		ask = p.Doubt
	}
	ask("whether "+g.holder.Words()+" keeps growing", fact.Sentence("it holds %s, of which %s came in %s, at %s: a cache that fills "+
		"and a batch that is given on later do so, too", g.held, g.grew, g.over, fact.Name(g.holder.Way())), p.HowToGet(model.Holders))
}

func heldFinding(p *diagnosis.Pass, g *heldGrowth) diagnosis.Finding {
	share := fact.Fraction.Of("part of the heap", fact.Ratio, g.grew, g.reached)
	f := diagnosis.Finding{
		Grows:    true,
		Scope:    g.holder.Way(),
		Evidence: []fact.Fact{g.pace, g.held, g.part, g.reached},
		Cost:     diagnosis.CostOf(g.grew, share.Value),
		Bound:    diagnosis.Direction(g.grew, diagnosis.MemoryGoal, share.Value, "what it came to hold meanwhile; the rate goes on until something ends it"),
		Remedy:   heldRemedy(lastLook(p.Model), g.holder),
		Experiment: codeChange(diagnosis.LiveHeap, diagnosis.PeakRSS, fact.Sentence("Let each run last %s at least, for what grows must have the time to. "+
			"In a recording of the changed program, with --holders, %s must have stopped growing.", g.over, fact.Name(g.holder.Words()))),
	}
	g.certainty(&f)
	if f.Where = keepers(g.holder); len(f.Where) > 0 {
		f.Scope = ""
	}
	if places := memory.GrowingLines(p, g.lined || g.trend.few && g.traced); len(places) > 0 {
		f.Scope = ""
		f.Rest(nameGrown(p, &f, places))
	}
	more := "%s more in %s"
	if g.least {
		more = "%s more at least, in %s"
	}
	format, parts := "What is held by %s grows by %s, to %s: "+more+". The way to most of it: %s.",
		[]fact.Part{fact.Name(g.holder.Words()), g.pace, g.held, g.grew, g.over, fact.Name(g.holder.Way())}
	if kept := keepers(g.holder); len(kept) > 0 {
		format, parts = format+" It is put there by %s.", append(parts, code.Name(kept[0].Function))
	}
	f.Say(format, parts...)
	if p.Model.Run.Killed != nil { // which its own finding says, first of all
		f.Explains = []string{"heapgrowth", "memorylimit"}
	}
	if left, ok := timeLeft(p, g.pace); ok {
		f.Rest(left)
	}
	adviseRelease(p, &f)
	return f
}

// certainty says how sure it is, and what else it could be.
func (g *heldGrowth) certainty(f *diagnosis.Finding) {
	f.Confidence = diagnosis.High
	over := g.over
	if g.traced {
		over = g.trend.over
		f.Reasons = []string{fact.Sentence("two kinds of evidence agree: the collections show a trend of %s, and the looks at the heap whose it is, with %s "+
			"of the growth", g.trend.slope, g.part)}
		f.RuledOut = append(f.RuledOut, fact.Sentence("a cache that is full: it does not grow, and in the second half the heap grew by %s", g.trend.late))
		f.Rest(g.trend.slope, g.trend.late, g.trend.cycles)
	} else if g.lined {
		f.Reasons = []string{fact.Sentence("two kinds of evidence agree: what lines of the program have in use grows all the time, by the heap "+
			"profile, and the looks at the heap whose it is, with %s of the growth", g.part)}
		f.RuledOut = append(f.RuledOut, "a cache that is full: it does not grow")
	} else {
		f.Confidence = diagnosis.Low
		f.Reasons = []string{fact.Sentence("two looks, %s apart, are two points: nothing says what was between them", g.over)}
		f.RuledOut = append(f.RuledOut, "a cache that is full: it does not grow")
	}
	if g.least {
		f.Reasons = append(f.Reasons, "there is one look: it holds more than all that was alive before, so that most of what came since must be there")
	} else {
		f.RuledOut = append(f.RuledOut, fact.Sentence("objects that another holder had before: the heap as a whole grew, and %s of that is here", g.part),
			"garbage: only what is reached from a root is counted")
	}
	if over.Value < heapgrowthLong.Seconds() {
		f.Confidence = diagnosis.Low
		f.Reasons = append(f.Reasons, fact.Sentence("in %s a program that loads something looks the same", over))
	}
	again := fact.Product.Of("time to record", fact.Seconds, over, fact.Figure("times as long", heapgrowthAgain, fact.Count, "two more collections under GOGC=100"))
	f.Reasons = append(f.Reasons, fact.Sentence("only time tells a cache that fills from a leak: record %s, and a cache has levelled off", again))
}

// A heldCure is what helps where the way to what is held leads through a type.
type heldCure struct {
	types []string // parts of their names
	text  string
}

const contextCure = "Call the cancel functions of context.WithCancel and context.WithTimeout, and what context.AfterFunc " +
	"returns, when the work is over, on every path: a context keeps all that are made from it until they are cancelled, " +
	"and one that lives as long as the program keeps them for ever."

// heldCures are by the kind of container, the most telling first where a type has several names.
var heldCures = []heldCure{
	{[]string{"sync.Pool", "sync.poolLocal", "sync.poolChain"},
		"Put nothing back that has grown large (`if cap(b) <= 64<<10 { pool.Put(b) }`), and bound how many are taken at " +
			"once: a pool keeps what it has until two collections have passed."},
	{[]string{"context.cancelCtx", "context.timerCtx", "context.afterFuncCtx"},
		contextCure},
	{[]string{"chan "},
		"Make the channel's buffer smaller, so that who sends waits or drops, or give it more receivers: they are slower " +
			"than those who send, or have ended, or wait for something else."},
	{[]string{"sync.Map", "sync.HashTrieMap", "map["},
		"Delete entries that are done with, on every path that ends what they are for (defer it where the entry is " +
			"made), and give what is a cache a bound: a number of entries with an order of use, or an age that a janitor " +
			"enforces. Keys that are never the same twice (a URL with its query, a time, an error's text) fill any map."},
	{[]string{"list.Element", "list.List"},
		"Remove elements that are done with: call list.Remove where their work ends, and give a cache a bound."},
	{[]string{"[]"},
		"Remove what is done with: it is appended to and never cut. `s = s[1:]` keeps the whole array and what it points " +
			"to, so set the element to its zero value first, and copy the rest to a new slice now and then."},
}

// containerCure returns what helps with the container nearest to the root; "" without one.
func containerCure(h *model.Holder) string {
	for _, s := range h.Path {
		for _, c := range heldCures {
			if slices.ContainsFunc(c.types, func(t string) bool {
				named := strings.Contains(t, ".") // of a package, also as what a pointer or a list is of
				return strings.HasPrefix(s.Type, t) || named && (strings.Contains(s.Type, t) || strings.Contains(s.Field, t))
			}) {
				return c.text
			}
		}
	}
	return ""
}

// heldRemedy returns what to change, by who holds it and the way to it.
func heldRemedy(look *model.HeapLook, h *model.Holder) diagnosis.Remedy {
	text := "Let go of it: delete what is done with, and give what is a cache a bound."
	switch {
	case look.Contexts(h) != "":
		text = contextCure
	case h.Kind == model.HeldByGoroutines && h.Count > 1:
		text = "Let the goroutines end when their work does (with a context, a closed channel, a deadline), and set large " +
			"variables to nil before a long wait: one that does not end keeps what is on its stack, and all that it leads to."
	case h.Kind == model.HeldByTimers:
		text = "Stop timers when their work is over: keep what time.AfterFunc returns. Until it fires a timer keeps all that " +
			"its function has captured, so let that be the few values that it needs and not the whole request."
	case h.Kind == model.HeldByFinalizers:
		text = "Let no finalizer wait: they are called one after the other in one goroutine, and one of them blocks or is slow. " +
			"The goroutine started as runtime.runFinalizers says where. Start a goroutine in it, or free what it frees with " +
			"Close."
	default: // a variable, of the program or of a function that does not return
		text = cmp.Or(containerCure(h), text)
	}
	if i := slices.IndexFunc(h.Path, func(s model.HolderStep) bool {
		return s.Use != nil && *s.Use < retainedUse && !strings.HasPrefix(s.Type, "map[")
	}); i >= 0 {
		text += " Copy what is a small part of something larger, too: a part keeps all of it."
	}
	return diagnosis.Remedy{Text: text}
}
