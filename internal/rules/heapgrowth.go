package rules

import (
	"cmp"
	_ "embed"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/gowhy/gowhy/internal/diagnosis"
	"github.com/gowhy/gowhy/internal/fact"
	"github.com/gowhy/gowhy/internal/model"
)

//go:embed heapgrowth.md
var heapgrowthPage string

var heapgrowth = &diagnosis.Rule{
	Name:     "heapgrowth",
	Title:    "The live heap grows and grows",
	Doc:      heapgrowthPage,
	Explains: []string{"noheadroom", "memorylimit"},
	Untimed:  true,
	Check:    checkHeapgrowth,
}

const (
	// heapgrowthCycles is the fewest collections: each says once what is alive,
	// and both halves of the window need six to have a slope with an interval.
	heapgrowthCycles = 12
	// heapgrowthShare is the growth from which it is no drift: a fifth of what
	// was alive when the warm-up was over.
	heapgrowthShare = 0.2
	// heapgrowthWindow is the shortest window: one that only holds a program's
	// start shows nothing but growth. heapgrowthLong is the one from which it is
	// more likely that something is kept than that something is being loaded.
	heapgrowthWindow = 5 * time.Second
	heapgrowthLong   = 30 * time.Second
	// heapgrowthBytes is the least growth that can matter: the runtime's
	// smallest heap.
	heapgrowthBytes = 4 << 20
	// heapgrowthWarm is the part of the window that counts as warm-up.
	heapgrowthWarm = 0.25
	// heapgrowthSteady is how fast the second half must grow, as a part of the
	// whole: a leak is at 1; a cache that fills up, with a time constant of a
	// third of the window, at 0.15 to 0.3.
	heapgrowthSteady = 0.6
	// heapgrowthNamed is how many places a finding names, and heapgrowthPlace
	// the part of the growth that makes one worth it.
	heapgrowthNamed = 3
	heapgrowthPlace = 0.1
)

// A swelling heap is what the rule measures, the warm-up left out.
type swelling struct {
	source string
	slope  float64 // bytes a second
	low    float64 // the lower end of its 95 % interval
	late   float64 // slope of the second half
	from   float64 // bytes alive at its begin
	over   time.Duration
	cycles int
}

// A grown is a line of the user's code and by how much its live bytes grew.
type grown struct {
	place  diagnosis.Place
	bytes  float64
	stacks []model.Stack
}

func (g *swelling) bytes() float64 { return g.slope * g.over.Seconds() }

func checkHeapgrowth(p *diagnosis.Pass) {
	g, ok := measureSwelling(p.Model)
	switch {
	case !ok:
		if live, _ := liveHeap(p.Model); len(live) > 0 && p.Model.Run.Duration >= heapgrowthLong {
			p.Unchecked("whether the live heap grows", fmt.Sprintf("only %d collections said what is alive; %d begin to show a trend", len(live), heapgrowthCycles), "gowhy record -d 60s -o longer.gowhy -- COMMAND")
		}
	case g.low <= 0 || g.bytes() < heapgrowthShare*g.from || g.bytes() < heapgrowthBytes:
		p.Fine(fmt.Sprintf("live heap: %s, and no steady growth in %s", size(g.from), dur(g.over)))
	case g.late < heapgrowthSteady*g.slope:
		p.Fine(fmt.Sprintf("live heap: it grew by %s and is levelling off", size(g.bytes())))
	case g.over < heapgrowthWindow:
		p.Unchecked("whether the live heap keeps growing", fmt.Sprintf("it grew by %s in %s, and so does that of a program that starts", size(g.bytes()), dur(g.over)), "gowhy record -d 60s -o longer.gowhy -- COMMAND")
	case goroutinesGrow(p.Model):
		p.Fine(fmt.Sprintf("live heap: it grows by %s a second, and so does the number of goroutines, which comes first", size(g.slope)))
	default:
		p.Report(swellingFinding(p, g))
	}
}

func measureSwelling(m *model.Model) (g swelling, ok bool) {
	live, source := liveHeap(m)
	if len(live) < heapgrowthCycles {
		return g, false
	}
	first, last := live[0].At, live[len(live)-1].At
	at := func(part float64) model.Series {
		from := first + time.Duration(part*float64(last-first))
		i, _ := slices.BinarySearchFunc(live, from, func(p model.Point, t time.Duration) int { return cmp.Compare(p.At, t) })
		return live[i:]
	}
	warm, half := at(heapgrowthWarm), at(0.5)
	g.source, g.cycles = source, len(live)
	var okHalf bool
	g.slope, g.low, _, ok = warm.Slope()
	g.late, _, _, okHalf = half.Slope()
	if !ok || !okHalf {
		return g, false
	}
	g.over = last - warm[0].At
	g.from = max(1, warmValue(warm))
	return g, true
}

// warmValue is the live heap when the warm-up is over, by the median of the
// first few collections: one of them may have come at a bad moment.
func warmValue(s model.Series) float64 {
	var v []float64
	for _, p := range s[:min(3, len(s))] {
		v = append(v, p.Value)
	}
	slices.Sort(v)
	return v[len(v)/2]
}

// goroutinesGrow reports whether the number of goroutines grows as the heap
// does: what they keep is then the symptom.
func goroutinesGrow(m *model.Model) bool {
	if m.Metrics != nil {
		s := m.Metrics.Series[metricGoroutines]
		if slope, low, _, ok := s.Slope(); ok {
			return low > 0 && slope*(s[len(s)-1].At-s[0].At).Seconds() >= heapgrowthShare*s[0].Value
		}
	}
	start, end := float64(profileCount(m.Goroutines.Start)), float64(profileCount(m.Goroutines.End))
	return start > 0 && end >= (1+heapgrowthShare)*start
}

// grownPlaces compares the heap profiles of the ends of the run.
func grownPlaces(p *diagnosis.Pass) (out []grown, all float64) {
	start, end := p.Model.LiveHeap.Start, p.Model.LiveHeap.End
	if start == nil || end == nil {
		return nil, 0
	}
	sum := map[diagnosis.Place]*grown{}
	add := func(prof *model.Profile, sign float64) {
		live := prof.Column("inuse_space")
		for i := range prof.Samples {
			s := &prof.Samples[i]
			v := sign * s.Value(live)
			all += v
			place, ok := p.UserPlace(s.Stack)
			if !ok {
				continue
			}
			if sum[place] == nil {
				sum[place] = &grown{place: place}
			}
			sum[place].bytes += v
			sum[place].stacks = append(sum[place].stacks, s.Stack)
		}
	}
	add(start, -1)
	add(end, 1)
	for _, g := range slices.SortedFunc(maps.Values(sum), func(a, b *grown) int {
		return cmp.Or(cmp.Compare(b.bytes, a.bytes), cmp.Compare(a.place.Function, b.place.Function), cmp.Compare(a.place.Line, b.place.Line))
	}) {
		if len(out) < heapgrowthNamed && g.bytes >= heapgrowthPlace*all && g.bytes > 0 {
			out = append(out, *g)
		}
	}
	return out, all
}

func swellingFinding(p *diagnosis.Pass, g swelling) diagnosis.Finding {
	places, all := grownPlaces(p)
	end := g.from + g.bytes()
	f := diagnosis.Finding{
		Summary: fmt.Sprintf("What is alive after a collection grows by %s a second: from %s by %s in %s.", size(g.slope), size(g.from), size(g.bytes()), dur(g.over)),
		Evidence: []fact.Fact{
			{Name: "growth of the live heap a second", Value: g.slope, Unit: fact.Bytes, Source: g.source + ", Theil-Sen slope"},
			{Name: "at least", Value: g.low, Unit: fact.Bytes, Source: "lower end of its 95 % interval"},
			{Name: "growth a second in the second half", Value: g.late, Unit: fact.Bytes, Source: g.source + ", Theil-Sen slope"},
			{Name: "live heap after warm-up", Value: g.from, Unit: fact.Bytes, Source: g.source},
			{Name: "collections", Value: float64(g.cycles), Unit: fact.Count, Source: g.source},
		},
		Cost: diagnosis.Cost{Value: g.bytes(), Unit: fact.Bytes, Share: g.bytes() / end, What: "live heap that grew in the window"},
		Bound: diagnosis.Bound{
			Value: g.bytes(), Unit: fact.Bytes, Goal: diagnosis.MemoryGoal, Share: g.bytes() / end,
			Method:  "what was kept since the warm-up; the rate goes on until something ends it",
			Partial: true,
		},
		Confidence: diagnosis.Medium,
		Reasons:    []string{fmt.Sprintf("a trend over %d collections; which code keeps the memory is not shown", g.cycles)},
		RuledOut: []string{
			fmt.Sprintf("a cache that fills up: the second half grows by %s a second, the whole by %s", size(g.late), size(g.slope)),
			"more goroutines, each with its own: their number does not grow like this",
			fmt.Sprintf("warm-up: the first %s of the window is left out", pct(heapgrowthWarm)),
		},
		Remedy: diagnosis.Remedy{
			Text: "Find who keeps it: compare two heap profiles (`go tool pprof -base first.pb.gz -sample_index=inuse_space last.pb.gz`). Usual suspects are maps and slices that only grow, caches without a bound, entries kept for requests that are long over, small pieces that hold a large buffer (clone them), and timers that were never stopped. If it is a cache, give it a bound.",
		},
		Experiment: changed(diagnosis.LiveHeap, diagnosis.PeakRSS, fmt.Sprintf("Let each run last %s at least, for what grows must have the time to. In a recording of the changed program the interval of the slope contains zero. One heap size at one moment proves nothing: it depends on when the last collection was.", dur(g.over))),
	}
	addGrown(&f, places, all)
	addTimeLeft(&f, p.Model, g.slope)
	if g.over < heapgrowthLong {
		f.Confidence = diagnosis.Low
		f.Reasons = append(f.Reasons, fmt.Sprintf("in %s a program that loads something looks the same", dur(g.over)))
	}
	return f
}

// addGrown names the code, which is the second kind of evidence.
func addGrown(f *diagnosis.Finding, places []grown, all float64) {
	if len(places) == 0 {
		return
	}
	named := 0.0
	for _, g := range places {
		named += g.bytes
		f.Where = append(f.Where, g.place)
		f.Stacks = append(f.Stacks, g.stacks...)
		f.Evidence = append(f.Evidence, fact.Fact{
			Name: fmt.Sprintf("more in use from %s:%d", short(g.place.Function), g.place.Line), Value: g.bytes, Unit: fact.Bytes, Source: "heap profiles at both ends",
		})
	}
	f.Summary += fmt.Sprintf(" Most of it comes from %s.", short(places[0].place.Function))
	if named >= all/2 {
		f.Confidence = diagnosis.High
		f.Reasons = []string{fmt.Sprintf("the collections show the trend and the heap profiles the code: the lines named here have %s of the growth", pct(min(1, named/all)))}
	}
}

// addTimeLeft says when the container's memory will be full, if it goes on.
func addTimeLeft(f *diagnosis.Finding, m *model.Model, slope float64) {
	_, last, ok := m.Process.Window()
	if !ok || m.Limits == nil || m.Limits.Memory == 0 || slope <= 0 {
		return
	}
	left := max(0, float64(m.Limits.Memory)-float64(last.RSS)) / slope
	f.Evidence = append(f.Evidence, fact.Fact{Name: "until the container's memory is full", Value: left, Unit: fact.Seconds, Source: "(limit - resident memory) ÷ growth"})
}
