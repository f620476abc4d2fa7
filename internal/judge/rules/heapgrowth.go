package rules

import (
	_ "embed"
	"slices"
	"time"

	"github.com/gowhy/gowhy/internal/judge/diagnosis"
	"github.com/gowhy/gowhy/internal/judge/measure/code"
	"github.com/gowhy/gowhy/internal/judge/measure/memory"
	"github.com/gowhy/gowhy/internal/know/fact"
	"github.com/gowhy/gowhy/internal/know/model"
)

//go:embed heapgrowth.md
var heapgrowthPage string

var heapgrowth = &diagnosis.Rule{
	Name:     "heapgrowth",
	Title:    "The live heap keeps growing",
	Doc:      heapgrowthPage,
	Explains: []string{"noheadroom", "memorylimit"},
	Check:    checkHeapgrowth,
}

const (
	// heapgrowthCycles is the fewest collections: each says once what is alive,
	// and both halves of the window need six to have a slope with an interval.
	heapgrowthCycles = 12
	// heapgrowthLong is the time from which it is more likely that something is kept than that
	// something is being loaded.
	heapgrowthLong = 30 * time.Second
	// heapgrowthSure is the part of it that the named places must have to be sure of.
	heapgrowthSure = 0.5
	// heapgrowthShown is the part of the growth that a heap profile has of a heap that doubles from
	// one collection to the next: less of it is held against this.
	heapgrowthShown = 0.5
	// heapgrowthSince is the part of the window after the last collection from
	// which what was allocated since shows a pace.
	heapgrowthSince = 0.1
	// heapgrowthDip is how much of its growth a heap may fall by between few collections
	// and still be one that rises: what breathes falls by nearly all that it rose, and a
	// collection at a moment of little work is some hundredths lower than the one before.
	// heapgrowthDips is the part of the ways from one to the next that may be such: one of
	// four, and none of two.
	heapgrowthDip  = 0.05
	heapgrowthDips = 0.25
	// heapgrowthJump is the part of the growth that comes within heapgrowthAtOnce of the
	// window where something doubles: the last time it is half of all. Of a steady leak it
	// is a twentieth, of a cache that fills with a time constant of a third of the window
	// a seventh.
	heapgrowthJump   = 0.3
	heapgrowthAtOnce = 0.05
	// heapgrowthContexts is how many contexts must pile up for an object of the line that grew most, for them to be what
	// keeps it: text that is decoded makes some ten objects. A program of the field has 0.43.
	heapgrowthContexts = 0.1
	// heapgrowthAgain is how many times as long to record: under GOGC=100 two
	// more collections come in that time.
	heapgrowthAgain = 4
)

func checkHeapgrowth(p *diagnosis.Pass) {
	longer := p.RecordAgain(60, "longer.gowhy")
	live := memory.LiveHeap(p.Model)
	g, ok := measureSwelling(p, &live)
	if !ok {
		g, ok = measureFew(p, &live)
	}
	switch {
	case ok && g.few:
		checkFew(p, &g, longer)
	case len(live.Series) == 0:
		p.Lacks("no collection said what is alive", p.HowToGet(model.MetricsLog))
	case !ok:
		checkLevel(p, nil, &live, longer)
	case (g.low.Value <= 0 || g.late.Value < model.SteadyGrowth*g.slope.Value) && hasStep(live.Series):
		openHeap(p, steppedWords(p, &live), longer)
	case g.low.Value <= 0 || g.bytes.Value < model.LeastGrowth*g.from.Value || g.bytes.Value < heapgrowthBytes:
		checkLevel(p, &g, &live, longer)
	case g.late.Value < model.SteadyGrowth*g.slope.Value:
		checkSlower(p, &g, longer)
	case g.over.Value < growthShort.Seconds(), g.over.Value < heapgrowthWindow.Seconds() && !keepsMany(p):
		openHeap(p, fact.Sentence("it grew by %s in %s, and so does that of a program that starts", g.bytes, g.over), longer)
	case goroutinesGrow(p):
		besideGoroutines(p, &g, longer)
	case fullAtEnd(p):
		openHeap(p, fullWords(&g), longer)
	default:
		reportSwelling(p, &g, longer)
	}
}

// reportSwelling reports a heap that grows, and leaves it to the finding about contexts that nobody cancels where these
// become more with what it grew by: what they refer to goes with them.
func reportSwelling(p *diagnosis.Pass, g *swelling, longer string) {
	if places := memory.GrowingLines(p, true); len(places) > 0 && fires(p, leakedtimers) &&
		measurePending(p).objects.Value >= heapgrowthContexts*memory.ObjectGrowth(p, places[0].Stacks).Value {
		p.Unchecked(heapgrowthOpen, fact.Sentence("it grows by %s, and contexts that nobody cancels pile up, "+
			"whose finding comes first: what they refer to stays with them", g.slope), longer)
		return
	}
	p.Report(ofCommand(p, swellingFinding(p, g), keptToTheEnd))
}

func measureSwelling(p *diagnosis.Pass, live *memory.LiveSeries) (g swelling, ok bool) {
	return swellingOf("live heap", live.Series, func(name string, v float64, u fact.Unit) fact.Fact { return live.Statistic(p, name, v, u) })
}

// steppedWords returns why such a heap is an open question.
func steppedWords(p *diagnosis.Pass, live *memory.LiveSeries) string {
	from := live.Statistic(p, "live heap at the start", warmValue(live.Series), fact.Bytes)
	to := live.Statistic(p, "live heap at the end", warmValue(live.Series[len(live.Series)-3:]), fact.Bytes)
	return fact.Sentence("it grew from %s to %s, most of it in a step: what is put into a map or a slice "+
		"that doubles shows as steps, and as nothing between", from, to)
}

// fullWords returns why a heap whose lines are level at the end is an open question.
func fullWords(g *swelling) string {
	return fact.Sentence("it grew by %s, and what the lines of the program have in use is level since: so is a store that is full", g.bytes)
}

// goroutinesGrow reports whether the number of goroutines grows as the heap does, and what they hold may
// be what it grew by: that is the symptom then.
func goroutinesGrow(p *diagnosis.Pass) bool {
	places := memory.GrowingLines(p, true)
	if len(places) == 0 {
		return ofGoroutines(p, 0)
	}
	return ofGoroutines(p, memory.ObjectGrowth(p, places[0].Stacks).Value)
}

// ofGoroutines reports whether the number of goroutines grows, and what became more may be
// what they hold. A line that keeps many for each one that came keeps them elsewhere: a registry
// that forgets no request had thousands more, and one goroutine.
func ofGoroutines(p *diagnosis.Pass, objects float64) bool {
	g, ok := measureGrowth(p)
	if !ok || g.fitted && g.low.Value <= 0 || g.start.Value <= 0 || g.added.Value < model.LeastGrowth*g.start.Value {
		return false
	}
	return objects < growthMany*g.added.Value
}

// besideGoroutines leaves a heap that grows with the number of goroutines to the finding
// about them, where there is one.
func besideGoroutines(p *diagnosis.Pass, g *swelling, longer string) {
	first := []*diagnosis.Rule{goroutinegrowth, unboundedspawn, leakedgoroutines}
	if slices.ContainsFunc(first, func(r *diagnosis.Rule) bool { return fires(p, r) }) {
		openHeap(p, fact.Sentence("it grows by %s, and so does the number of goroutines, whose finding comes first", g.slope), longer)
		return
	}
	openHeap(p, fact.Sentence("it grows by %s, and so does the number of goroutines: what each holds, "+
		"as long as it is at work, may be all of it", g.slope), longer)
}

func swellingFinding(p *diagnosis.Pass, g *swelling) diagnosis.Finding {
	share := fact.Quotient.Of("part of the live heap", fact.Ratio, g.bytes, fact.Sum.Of("live heap at the end of the trend", fact.Bytes, g.from, g.bytes))
	f := heapFinding(g, share)
	f.Evidence = []fact.Fact{g.slope, g.low, g.high, g.late, g.from, g.cycles}
	f.Reasons = []string{fact.Sentence("a trend over %s collections; which code keeps the memory is not shown", g.cycles)}
	f.RuledOut = []string{
		fact.Sentence("a cache that fills up: the second half grows by %s, the whole by %s", g.late, g.slope),
		"more goroutines, each with its own: their number does not grow like this",
		fact.Sentence("warm-up: the first %s of the window is left out", fact.Name(fact.Ratio.Format(model.WarmUp))),
	}
	format, parts := "What is alive after a collection grows by %s: from %s by %s in %s.", []fact.Part{g.slope, g.from, g.bytes, g.over}
	if g.few {
		format, parts = "What is alive after a collection grows by %s, and between two collections by %s at least and %s at most: "+
			"from %s by %s in %s.",
			[]fact.Part{g.slope, g.low, g.high, g.from, g.bytes, g.over}
		f.RuledOut[0] = fact.Sentence("a cache that is full: in the second half it grew by %s, and by %s in all", g.late, g.slope)
		f.RuledOut[2] = "a program that has loaded what it needs: the last collection is in the second half of the window"
	}
	if places := memory.GrowingLines(p, g.few); len(places) > 0 {
		format, parts = format+" Most of it comes from %s.", append(parts, code.Name(places[0].Place.Function))
		addGrown(p, &f, places)
	}
	f.Say(format, parts...)
	endHeapFinding(p, &f, g)
	return f
}

// heapFinding begins a finding about a heap that grows, with what all of them have.
func heapFinding(g *swelling, share fact.Fact) diagnosis.Finding {
	return diagnosis.Finding{
		Grows:      true,
		Cost:       diagnosis.CostOf(g.bytes, share.Value),
		Bound:      diagnosis.Direction(g.bytes, diagnosis.MemoryGoal, share.Value, "what was kept since the warm-up; the rate goes on until something ends it"),
		Confidence: diagnosis.Medium,
		Remedy: diagnosis.Remedy{
			Text: "Ask who holds it while it runs: gowhy memory with the number of its process and `--holders -d 1m` names the " +
				"variable or the goroutines, the fields that lead there, and whose part grew. Two heap profiles " +
				"(`go tool pprof -base first.pb.gz -sample_index=inuse_space last.pb.gz`) say who allocated it. " +
				"Usual suspects are maps and slices that only grow, caches without a bound, " +
				"entries kept for requests that are long over, small pieces that hold a large buffer (clone them), " +
				"and timers that were never stopped. If it is a cache, give it a bound.",
		},
		Experiment: codeChange(diagnosis.LiveHeap, diagnosis.PeakRSS, fact.Sentence("Let each run last %s at least, for what grows must have the time to. "+
			"In a recording of the changed program the interval of the slope contains zero. "+
			"One heap size at one moment proves nothing: it depends on when the last collection was.", g.over)),
	}
}

// endHeapFinding says what holds it, how long it can go on, and how sure that is.
func endHeapFinding(p *diagnosis.Pass, f *diagnosis.Finding, g *swelling) {
	if p.Model.Run.Killed != nil { // which its own finding says, first of all
		f.Explains = []string{"memorylimit"}
	}
	if left, ok := timeLeft(p, g.slope); ok {
		f.Rest(left)
	}
	if g.over.Value < heapgrowthLong.Seconds() {
		f.Confidence = diagnosis.Low
		f.Reasons = append(f.Reasons, fact.Sentence("in %s a program that loads something looks the same", g.over))
	}
	if who := holderOf(p); who != "" {
		f.Reasons = append(f.Reasons, "of the heap that was looked at, "+who)
	} else {
		f.Remedy.Text += " Who holds it: " + p.HowToGet(model.Holders) + " says."
	}
	if kind, ok := container(p, f.Stacks); ok {
		f.Reasons = append(f.Reasons, "what holds it is in no profile; the code that makes it writes to "+kind+", which samples show, and that may be it")
	}
	if g.dips > 0 {
		f.Reasons = append(f.Reasons, fact.Sentence("collections that found a little less than one before are left out, %s of %s", fact.Name(figureOf(g.dips)), g.cycles))
	}
	again := fact.Product.Of("time to record", fact.Seconds, g.over, fact.Figure("times as long", heapgrowthAgain, fact.Count, "two more collections under GOGC=100"))
	f.Reasons = append(f.Reasons, fact.Sentence("only time tells a cache that fills from a leak: record %s, and a cache has levelled off", again))
	adviseRelease(p, f)
}

// addGrown names the code, which is the second kind of evidence.
func addGrown(p *diagnosis.Pass, f *diagnosis.Finding, places []memory.GrowingLine) {
	part := nameGrown(p, f, places)
	if part.Value >= heapgrowthSure {
		f.Confidence = diagnosis.High
		f.Reasons = []string{fact.Sentence("the collections show the trend and the heap profiles the code: the lines named here have %s of the growth", part)}
	}
}
