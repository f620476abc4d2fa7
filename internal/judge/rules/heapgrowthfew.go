package rules

import (
	"slices"
	"time"

	"github.com/gowhy/gowhy/internal/ground/statistics"
	"github.com/gowhy/gowhy/internal/judge/diagnosis"
	"github.com/gowhy/gowhy/internal/judge/measure/code"
	"github.com/gowhy/gowhy/internal/judge/measure/memory"
	"github.com/gowhy/gowhy/internal/know/fact"
	"github.com/gowhy/gowhy/internal/know/model"
)

// keepsMany reports whether the line that grew most keeps many objects, and not a few large ones.
func keepsMany(p *diagnosis.Pass) bool {
	places := memory.GrowingLines(p, true)
	return len(places) > 0 && memory.ObjectGrowth(p, places[0].Stacks).Value >= growthMany
}

// measureFew takes the trend from the live heap of few collections. Those of the
// first quarter are left out but for the last, from which the way to the next leads.
func measureFew(p *diagnosis.Pass, live *memory.LiveSeries) (g swelling, ok bool) {
	all := live.Series
	if len(all) < heapgrowthFew {
		return g, false
	}
	// The first value of the metrics is of a collection before the window, nobody
	// knows when: it counts as one and gives no pace.
	timed := all
	if live.Source == model.MetricsLog && all[0].At == p.Model.Metrics.Series[memory.MetricLive][0].At {
		timed = all[1:]
	}
	last := timed[len(timed)-1]
	warm := time.Duration(model.WarmUp * float64(last.At))
	from := timed.Index(warm)
	trend := timed[max(0, from-1):]
	if len(trend) < 2 || float64(last.At) < heapgrowthRecent*float64(p.Model.Run.Duration) {
		return g, false
	}
	pace := func(a, b model.Point) float64 { return statistics.Quotient(b.Value-a.Value, (b.At - a.At).Seconds()) }
	higher := highs(trend)
	if len(higher) < 2 {
		return g, false
	}
	var steps []float64
	for i, b := range higher[1:] {
		steps = append(steps, pace(higher[i], b))
	}
	first := trend[0]
	usual := pace(first, last)
	// Two collections can be close to each other, so that no single step is a pace.
	middle := model.Point{At: (first.At + last.At) / 2}
	middle.Value = trend.At(middle.At)
	late := pace(middle, last)
	if len(steps) == 1 { // which shows no pace that could last
		late, usual = usual, max(usual, pace(all[0], first))
	}
	g.few = true
	g.slope = live.Statistic(p, "growth of the live heap from collection to collection", pace(first, last), fact.BytesPerSec)
	g.low = live.Statistic(p, "growth between two collections, at least", slices.Min(steps), fact.BytesPerSec)
	g.high = live.Statistic(p, "growth between two collections, at most", slices.Max(steps), fact.BytesPerSec)
	g.late = live.Statistic(p, "growth in the second half", late, fact.BytesPerSec)
	g.from = live.Statistic(p, "live heap after warm-up", first.Value, fact.Bytes)
	g.over = live.Statistic(p, "time since the warm-up", (last.At - first.At).Seconds(), fact.Seconds)
	g.bytes = live.Statistic(p, "live heap that grew in the window", max(0, last.Value-first.Value), fact.Bytes)
	g.cycles = live.Statistic(p, "collections", float64(len(all)), fact.Count)
	window := p.Model.Run.Duration
	if window == 0 { // of lines alone, theirs
		window = last.At - timed[0].At
	}
	g.short = window < heapgrowthWindow
	g.lasts = late >= model.SteadyGrowth*usual && !g.short && !allocatingLess(p, last.At, g.slope.Value)
	grew := g.bytes.Value >= model.LeastGrowth*first.Value && g.bytes.Value >= heapgrowthBytes
	g.dips = len(trend) - len(higher)
	switch dips := float64(g.dips); {
	case dips == 0:
	case dips > heapgrowthDips*float64(len(trend)-1) || last.Value < higher[len(higher)-1].Value:
		grew = false
	default:
		g.lasts = g.lasts && falls(trend) <= heapgrowthDip*g.bytes.Value
	}
	return g, grew
}

// highs returns the first value of a series and those that are higher than all before.
func highs(s model.Series) (out model.Series) {
	for _, p := range s {
		if len(out) == 0 || p.Value > out[len(out)-1].Value {
			out = append(out, p)
		}
	}
	return out
}

// falls returns by how much a series fell, from value to value.
func falls(s model.Series) (by float64) {
	for i := range s[1:] {
		by += max(0, s[i].Value-s[i+1].Value)
	}
	return by
}

// allocatingLess reports whether since some moment less was allocated than what
// grows at a pace would take: it has ended, though no collection says so yet.
func allocatingLess(p *diagnosis.Pass, since time.Duration, pace float64) bool {
	if p.Model.Metrics == nil {
		return false
	}
	s := p.Model.Metrics.Series[memory.MetricAllocBytes]
	i := s.Index(since)
	if i >= len(s)-1 {
		return false
	}
	over := s[len(s)-1].At - s[i].At
	if float64(over) < heapgrowthSince*float64(p.Model.Run.Duration) {
		return false
	}
	return (s[len(s)-1].Value-s[i].Value)/over.Seconds() < model.SteadyGrowth*pace
}

// checkFew reports what few collections and the heap profiles show together.
func checkFew(p *diagnosis.Pass, g *swelling, longer string) {
	switch {
	case goroutinesGrow(p):
		besideGoroutines(p, g, longer)
	case g.lasts && fullAtEnd(p):
		openHeap(p, fullWords(g), longer)
	case p.Model.Run.Duration == 0 && g.over.Value < heapgrowthWindow.Seconds() && g.late.Value >= model.SteadyGrowth*g.slope.Value:
		openHeap(p, fact.Sentence("it grew by %s in %s, to the last collection, and so does that of a program that starts", g.bytes, g.over), longer)
	case !g.lasts && g.short:
		openHeap(p, fact.Sentence("it grew by %s in a recording of less than %s, and so does that of a program that starts", g.bytes,
			fact.Name(fact.Seconds.Format(heapgrowthWindow.Seconds()))), longer)
	case !g.lasts:
		openHeap(p, fact.Sentence("it grew by %s over %s collections, and not evenly to the end: a program that starts and a cache that fills do so", g.bytes, g.cycles), longer)
	case len(memory.GrowingLines(p, true)) == 0:
		openHeap(p, fact.Sentence("it grew by %s over %s collections, which is too few without heap profiles of both ends and an allocs profile "+
			"that name a line whose objects stay", g.bytes, g.cycles), longer)
	case keptPart(p, g) < heapgrowthSure:
		openHeap(p, fact.Sentence("it grew by %s over %s collections, "+
			"and of what the heap profile shows of it the lines whose objects stay have less than half", g.bytes, g.cycles), longer)
	default:
		reportSwelling(p, g, longer)
	}
}

// keptPart returns the part that lines have whose objects stay, of the growth that the heap profile
// shows. Few collections make no trend, so that these lines decide: a pool of connections that
// filled had two samples of 4.7 MiB.
func keptPart(p *diagnosis.Pass, g *swelling) float64 {
	live := memory.LiveHeap(p.Model)
	grown, ok := live.GrownInProfile(p.Model)
	if !ok {
		grown = g.bytes.Value
	}
	grown = max(grown, heapgrowthShown*g.bytes.Value) // an early profile, by which next to nothing had grown
	return statistics.Quotient(memory.RetainedGrowth(p), grown)
}

// containers are what code keeps objects in, by the functions that put them there,
// the most telling first. Heap profiles leave the runtime's own frames out, so
// that CPU samples tell of maps and slices.
var containers = []struct {
	kind      string
	functions []string
}{
	{"a list", []string{"container/list.(*List)."}},
	{"a sync.Map", []string{"sync.(*Map).", "internal/sync.(*HashTrieMap["}},
	{"a context that others are made from", []string{"context.(*cancelCtx).propagateCancel"}},
	{"the runtime's timers", []string{"time.AfterFunc"}},
	{"a map", []string{"runtime.mapassign", "internal/runtime/maps."}},
	{"a slice that is appended to", []string{"runtime.growslice"}},
}

// container returns the first kind that code on some stacks was seen to write to.
func container(p *diagnosis.Pass, stacks []model.Stack) (kind string, ok bool) {
	functions := map[string]bool{}
	for _, s := range stacks {
		for _, f := range p.Model.Stacks.Frames(s) {
			functions[f.Func] = true
		}
	}
	profiles := []*model.Profile{p.Model.LiveHeap.End, p.Model.CPU, fact.ProfileOf(p.Model, "kernel")}
	for _, c := range containers {
		for _, profile := range profiles {
			if profile == nil {
				continue
			}
			for i := range profile.Samples {
				stack := profile.Samples[i].Stack
				place, ok := p.UserPlace(stack)
				if ok && functions[place.Function] && code.ContainsFunc(p.Model.Stacks.Frames(stack), func(f string) bool { return code.StartsWith(f, c.functions) }) {
					return c.kind, true
				}
			}
		}
	}
	return "", false
}
