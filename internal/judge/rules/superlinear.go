package rules

import (
	"cmp"
	_ "embed"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/gowhy/gowhy/internal/judge/diagnosis"
	"github.com/gowhy/gowhy/internal/judge/measure/code"
	"github.com/gowhy/gowhy/internal/judge/measure/cpu"
	"github.com/gowhy/gowhy/internal/know/fact"
	"github.com/gowhy/gowhy/internal/know/model"
)

//go:embed superlinear.md
var superlinearPage string

var superlinear = &diagnosis.Rule{
	Name:  "superlinear",
	Title: "Twice the input takes more than twice the time",
	Doc:   superlinearPage,
	Needs: []model.Source{model.LoadResult},
	Check: checkSuperlinear,
}

const (
	// growthSlope is by which power of the size the time of one item grows: 0 is
	// linear, 1 quadratic. Sorting is at 0.12 between 1,000 and 16,000 items and
	// at 0.25 between 16 and 256, a nested loop at 1.
	growthSlope = 0.3
	// logarithmSlope is that of a logarithm between 16 and 256.
	logarithmSlope = 0.25
	// growthSizes and growthRange are how many sizes there must be and how far
	// apart: two points have a slope whatever they are, and a factor of two is
	// lost in what does not depend on the size.
	growthSizes = 3
	growthRange = 16
	// growthSmallest is the size from which cost is the algorithm's: below, a
	// call costs more than its items.
	growthSmallest = 16
	// growthStep is the slope that each step from one size to the next must
	// have: where data leaves a cache the time jumps once and is level again.
	growthStep = growthSlope / 2
)

// A sweep is one benchmark at several sizes.
type sweep struct {
	name   string // with N for the size
	points []sizedCost
}

// A sizedCost is the time of one run of the benchmark at a size, in ns.
type sizedCost struct{ size, cost float64 }

// A power is that by which the time of one item grows with the size, and
// its 95% interval.
type power struct{ slope, low, high float64 }

func checkSuperlinear(p *diagnosis.Pass) {
	sweeps := sweepsOf(p.Model.Load.Benchmarks)
	var steepest *power
	found := false
	for i := range sweeps {
		g, ok := sweeps[i].fit()
		if !ok {
			continue
		}
		if steepest == nil || g.slope > steepest.slope {
			steepest = &g
		}
		if g.slope >= growthSlope && g.low > 0 && sweeps[i].steady() {
			found = true
			p.Report(superlinearFinding(p, &sweeps[i], g))
		}
	}
	if steepest != nil && !found {
		slope, low, high := steepest.facts(p, 0)
		p.Fine(fact.Sentence("benchmarks at several sizes: the time of an item grows with the size by the power %s at most, "+
			"and with noise from %s to %s", slope, low, high))
	}
}

// sweepsOf groups benchmarks that differ in one number of their sub-names and
// have enough sizes, in the order in which they first come.
func sweepsOf(list []model.Benchmark) (out []sweep) {
	index := map[string]int{}
	for i := range list {
		b := &list[i]
		name, size, ok := sizeIn(b.Name)
		ns := b.Values["ns/op"]
		if !ok || !(ns > 0) || size < growthSmallest {
			continue
		}
		key := b.Package + " " + name
		at, ok := index[key]
		if !ok {
			at = len(out)
			index[key] = at
			out = append(out, sweep{name: name})
		}
		out[at].points = append(out[at].points, sizedCost{size, ns})
	}
	return slices.DeleteFunc(out, func(s sweep) bool {
		sizes := s.medians()
		return len(sizes) < growthSizes || sizes[len(sizes)-1].size < growthRange*sizes[0].size
	})
}

// sizeIn finds the size in a benchmark's sub-names: "n=1000", "size=1k", "1000",
// "items1000". The last such part counts; name has N in its place.
func sizeIn(benchmark string) (name string, size float64, ok bool) {
	if i := strings.LastIndexByte(benchmark, '-'); i > 0 {
		if _, err := strconv.Atoi(benchmark[i+1:]); err == nil { // GOMAXPROCS
			benchmark = benchmark[:i]
		}
	}
	parts := strings.Split(benchmark, "/")
	for i := len(parts) - 1; i > 0; i-- {
		digits := strings.IndexFunc(parts[i], func(r rune) bool { return r >= '0' && r <= '9' })
		if digits < 0 || !sizeKey(strings.TrimRight(parts[i][:digits], "=:_-")) {
			continue
		}
		if size, ok = sizeOf(parts[i][digits:]); ok {
			parts[i] = parts[i][:digits] + "N"
			return strings.Join(parts, "/"), size, true
		}
	}
	return "", 0, false
}

// sizeKey reports whether a name stands for how much there is, and not for how
// many work on it or which variant it is.
func sizeKey(key string) bool {
	switch strings.ToLower(key) {
	case "", "n", "size", "len", "length", "items", "count", "num", "rows", "records", "keys", "entries", "elements", "elems", "nodes", "bytes", "input":
		return true
	}
	return false
}

// sizeOf reads "1000", "1_000", "1k", "1M", "64KB", "1e6".
func sizeOf(text string) (size float64, ok bool) {
	text = strings.ReplaceAll(text, "_", "")
	lower := strings.TrimSuffix(strings.TrimSuffix(strings.ToLower(text), "ib"), "b")
	unit := 1.0
	for suffix, u := range map[string]float64{"k": 1e3, "m": 1e6, "g": 1e9} {
		if rest, cut := strings.CutSuffix(lower, suffix); cut {
			if lower, unit = rest, u; strings.HasSuffix(strings.ToLower(text), "b") {
				unit = map[float64]float64{1e3: 1 << 10, 1e6: 1 << 20, 1e9: 1 << 30}[u]
			}
			break
		}
	}
	v, err := strconv.ParseFloat(lower, 64)
	if err != nil || !(v > 0) || math.IsInf(v, 0) {
		return 0, false
	}
	return v * unit, true
}

// medians returns the middle cost of each size, the smallest size first.
func (s *sweep) medians() (out []sizedCost) {
	points := slices.Clone(s.points)
	slices.SortFunc(points, func(a, b sizedCost) int { return cmp.Or(cmp.Compare(a.size, b.size), cmp.Compare(a.cost, b.cost)) })
	for len(points) > 0 {
		n := 1
		for n < len(points) && points[n].size == points[0].size {
			n++
		}
		out = append(out, points[n/2])
		points = points[n:]
	}
	return out
}

// fit lays a line through the logarithms of the time of one item and of the size by
// least squares, with the 95% interval of the slope by Student's t.
func (s *sweep) fit() (g power, ok bool) {
	n := float64(len(s.points))
	var mx, my, sxx, sxy, rest float64
	for _, p := range s.points {
		mx += math.Log(p.size) / n
		my += math.Log(p.cost/p.size) / n
	}
	for _, p := range s.points {
		dx := math.Log(p.size) - mx
		sxx += dx * dx
		sxy += dx * (math.Log(p.cost/p.size) - my)
	}
	if n < 3 || sxx == 0 {
		return g, false
	}
	g.slope = sxy / sxx
	for _, p := range s.points {
		d := math.Log(p.cost/p.size) - my - g.slope*(math.Log(p.size)-mx)
		rest += d * d
	}
	half := studentT(len(s.points)-2) * math.Sqrt(rest/(n-2)/sxx)
	g.low, g.high = g.slope-half, g.slope+half
	return g, true
}

// studentT returns the 97.5% quantile of Student's distribution, from the table
// where there are few degrees of freedom and near enough beyond.
func studentT(freedom int) float64 {
	table := []float64{12.71, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228}
	if freedom <= len(table) {
		return table[freedom-1]
	}
	return 1.96 + 2.5/float64(freedom)
}

// steady reports whether the time of an item grows from each size to the next.
func (s *sweep) steady() bool {
	m := s.medians()
	for i := 1; i < len(m); i++ {
		step := math.Log(m[i].cost/m[i].size/(m[i-1].cost/m[i-1].size)) / math.Log(m[i].size/m[i-1].size)
		if step < growthStep {
			return false
		}
	}
	return true
}

// facts returns the power and its interval, of the time of an item, or with one more of
// that of all.
func (g *power) facts(p *diagnosis.Pass, more float64) (slope, low, high fact.Fact) {
	fit := func(name string, v float64) fact.Fact {
		return benchmarkFact(p, "slope of the logarithms", name, v+more, fact.Count)
	}
	return fit("power of the size by which time grows", max(-more, g.slope)), fit("its 95% interval, from", g.low), fit("its 95% interval, to", g.high)
}

func benchmarkFact(p *diagnosis.Pass, what, name string, v float64, u fact.Unit) fact.Fact {
	return p.Statistic(fact.LoadResults, "benchmarks: "+what, name, v, u)
}

// facts returns the size, the time of a run and that of an item.
func (c *sizedCost) facts(p *diagnosis.Pass, items string) (size, run, item fact.Fact) {
	among := " among " + fact.Count.Format(c.size)
	size = benchmarkFact(p, "names", items, c.size, fact.Count)
	run = benchmarkFact(p, "ns/op", "time of a run"+among, c.cost/1e9, fact.Seconds)
	return size, run, fact.Quotient.Of("time of an item"+among, fact.Seconds, run, size)
}

func superlinearFinding(p *diagnosis.Pass, s *sweep, g power) diagnosis.Finding {
	m := s.medians()
	few, _, first := m[0].facts(p, "fewest items")
	many, run, last := m[len(m)-1].facts(p, "most items")
	slope, low, high := g.facts(p, 1)
	sizes := benchmarkFact(p, "names", "sizes", float64(len(m)), fact.Count)
	factor := fact.Quotient.Of("time of an item by that among the fewest", fact.Factor, last, first)
	even := fact.Product.Of("time of a run if each item took what it takes among the fewest", fact.Seconds, first, many)
	share := fact.Gain.Of("", fact.Ratio, factor).Value
	function, _, _ := strings.Cut(s.name, "/")
	f := diagnosis.Finding{
		Where:    code.Places(append(dearestUnder(p, function), diagnosis.Place{Function: function})...),
		Evidence: []fact.Fact{slope, low, high, sizes, first, last},
		Cost:     diagnosis.CostOf(fact.Difference.Of("time of a run among the most items beyond that", fact.Seconds, run, even), share),
		Bound: diagnosis.Direction(factor, diagnosis.Throughput, share, "the throughput of this function at the largest size measured, "+
			"if an item took what it takes among the fewest. What that is for the program depends on its sizes; "+
			"it is more for larger ones"),
		Confidence: superlinearConfidence(m, g),
		Reasons: []string{fact.Sentence("one kind of evidence, %s benchmark results at %s sizes; the interval of the slope is %s to %s",
			benchmarkFact(p, "lines", "benchmark results", float64(len(s.points)), fact.Count), sizes, low, high)},
		RuledOut: []string{
			fact.Sentence("sorting and trees: their logarithm is a power of %s at most over such sizes", fact.Name(fact.Count.Format(logarithmSlope))),
			"data that leaves a cache: the time of an item would jump once, and it grows at each step",
			"what a call costs whatever its size: that makes small sizes look dear, the opposite",
			"a benchmark that does the same number of operations at each size: " +
				"it is taken for one that does as many as there are items, " +
				"which only hides such growth",
		},
		Remedy: diagnosis.Remedy{
			Text: "Find the loop inside the loop: a search through a slice for each item (use a map or sort first), " +
				"deleting from the middle of a slice, += on a string or append to a copy in a loop, a list that is sorted again " +
				"after each insertion, " +
				"a lock that each item takes while the others hold it. Or do it in batches of a fixed size.",
			Code: "index := make(map[Key]*Item, len(items)) // once\nfor i := range items {\n\tindex[items[i].Key] = &items[i]\n}\n" +
				"for _, q := range queries {\n\tuse(index[q.Key]) // in the place of a search through items\n}",
		},
		Experiment: codeChange(diagnosis.CPUPerOp, "", "Run the benchmark at the same sizes again: the time of an item must be the same at each. "+
			"The gain at your own sizes is the one that counts."),
	}
	f.Say("In %s an item takes %s times as long among %s as among %s: "+
		"time grows as the power %s of the size, and not in proportion to it.",
		fact.Name(s.name), factor.Number(), many, few, slope)
	return f
}

// underShare is the part of a benchmark's CPU that a function must take to be named beside it: in the nested loops that make
// time grow faster than the input, nearly all is spent at the largest sizes, which a benchmark runs longest.
const underShare = 0.4

// dearestUnder returns the function that takes most of the CPU of a benchmark, where a profile has that, who calls
// it, as the loop may be there, and what the benchmark calls.
func dearestUnder(p *diagnosis.Pass, benchmark string) []diagnosis.Place {
	s, ok := cpu.UseOf(p)
	if !ok {
		return nil
	}
	isBenchmark := func(name string) bool {
		return name[strings.LastIndexByte(name, '.')+1:] == benchmark || strings.Contains(name, "."+benchmark+".")
	}
	found := s.Functions(p.Model, func(frames []model.Frame) bool { return code.ContainsFunc(frames, isBenchmark) })
	all := 0.0
	for _, l := range found {
		all += l.Share
	}
	if len(found) == 0 || isBenchmark(found[0].Function) || found[0].Share < underShare*all {
		return nil
	}
	places := []diagnosis.Place{found[0].Place}
	frames := p.Model.Stacks.Frames(found[0].Stacks[0])
	at := func(i int) {
		if i >= 0 && i < len(frames) && !model.IsStd(frames[i].Func) && !isBenchmark(frames[i].Func) {
			places = append(places, diagnosis.Place{Function: frames[i].Func, File: frames[i].File, Line: frames[i].Line})
		}
	}
	at(1 + slices.IndexFunc(frames, func(f model.Frame) bool { return f.Func == found[0].Function }))
	at(slices.IndexFunc(frames, func(f model.Frame) bool { return isBenchmark(f.Func) }) - 1)
	return places
}

func superlinearConfidence(m []sizedCost, g power) diagnosis.Confidence {
	if len(m) > growthSizes && g.low >= growthStep {
		return diagnosis.High
	}
	return diagnosis.Medium
}
