package rules

import (
	"cmp"
	_ "embed"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gowhy/gowhy/internal/diagnosis"
	"github.com/gowhy/gowhy/internal/fact"
	"github.com/gowhy/gowhy/internal/model"
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
// its 95 % interval.
type power struct{ slope, low, high float64 }

func checkSuperlinear(p *diagnosis.Pass) {
	sweeps := sweepsOf(p.Model.Load.Benchmarks)
	var steepest *power
	found := false
	for i := range sweeps {
		g, ok := sweeps[i].growth()
		if !ok {
			continue
		}
		if steepest == nil || g.slope > steepest.slope {
			steepest = &g
		}
		if g.slope >= growthSlope && g.low > 0 && sweeps[i].steady() {
			found = true
			p.Report(superlinearFinding(&sweeps[i], g))
		}
	}
	if steepest != nil && !found {
		p.Fine(fmt.Sprintf("benchmarks at several sizes: the time of an item grows with the size by the power %s at most, and with noise from %s to %s",
			num(round3(max(0, steepest.slope))), num(round3(steepest.low)), num(round3(steepest.high))))
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

// medians is the middle cost of each size, the smallest size first.
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

// growth fits the logarithm of the time of one item to that of the size by
// least squares, with the 95 % interval of the slope by Student's t.
func (s *sweep) growth() (g power, ok bool) {
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

// studentT is the 97.5 % quantile of Student's distribution, from the table
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

func superlinearFinding(s *sweep, g power) diagnosis.Finding {
	m := s.medians()
	first, last := m[0], m[len(m)-1]
	factor := last.cost / last.size / (first.cost / first.size)
	function, _, _ := strings.Cut(s.name, "/")
	return diagnosis.Finding{
		Summary: fmt.Sprintf("In %s an item takes %s times as long among %s as among %s: time grows with the size by the power %s, and not 1.",
			s.name, num(round3(factor)), num(last.size), num(first.size), num(round3(1+g.slope))),
		Where: []diagnosis.Place{{Function: function}},
		Evidence: []fact.Fact{
			{Name: "power of the size by which time grows", Value: 1 + g.slope, Unit: fact.Ratio, Source: "benchmarks: slope of the logarithms"},
			{Name: "its 95 % interval, from", Value: 1 + g.low, Unit: fact.Ratio, Source: "benchmarks: Student's t"},
			{Name: "its 95 % interval, to", Value: 1 + g.high, Unit: fact.Ratio, Source: "benchmarks: Student's t"},
			{Name: "sizes", Value: float64(len(m)), Unit: fact.Count, Source: "benchmarks: names"},
			{Name: fmt.Sprintf("time of an item among %s", num(first.size)), Value: first.cost / first.size / 1e9, Unit: fact.Seconds, Source: "benchmarks: ns/op"},
			{Name: fmt.Sprintf("time of an item among %s", num(last.size)), Value: last.cost / last.size / 1e9, Unit: fact.Seconds, Source: "benchmarks: ns/op"},
		},
		Cost: diagnosis.Cost{Value: (last.cost - first.cost/first.size*last.size) / 1e9, Unit: fact.Seconds, Share: 1 - 1/factor,
			What: fmt.Sprintf("of the %s that one run among %s takes, what is more than %s times the smallest run", dur(time.Duration(min(last.cost, math.MaxInt64/2))), num(last.size), num(last.size/first.size))},
		Bound: diagnosis.Bound{
			Value: factor, Unit: fact.Ratio, Goal: diagnosis.Throughput, Share: 1 - 1/factor,
			Method: fmt.Sprintf("throughput factor of this function at the largest size measured, if an item took what it takes among %s. What that is for the program depends on its sizes; it is more for larger ones", num(first.size)),
			// The function's, not the program's.
			Partial: true,
		},
		Confidence: superlinearConfidence(m, g),
		Reasons:    []string{fmt.Sprintf("one kind of evidence, %s at %d sizes; the interval of the slope is %s to %s", many(len(s.points), "benchmark result"), len(m), num(round3(1+g.low)), num(round3(1+g.high)))},
		RuledOut: []string{
			"sorting and trees: their logarithm is a power of 0.25 at most over such sizes",
			"data that leaves a cache: the time of an item would jump once, and it grows at each step",
			"what a call costs whatever its size: that makes small sizes look dear, the opposite",
			"a benchmark that does the same number of operations at each size: it is taken for one that does as many as there are items, which only hides such growth",
		},
		Remedy: diagnosis.Remedy{
			Text: "Find the loop inside the loop: a search through a slice for each item (use a map or sort first), deleting from the middle of a slice, += on a string or append to a copy in a loop, a list that is sorted again after each insertion, a lock that each item takes while the others hold it. Or do it in batches of a fixed size.",
			Code: "index := make(map[Key]*Item, len(items)) // once\nfor i := range items {\n\tindex[items[i].Key] = &items[i]\n}\nfor _, q := range queries {\n\tuse(index[q.Key]) // in the place of a search through items\n}",
		},
		Experiment: changed(diagnosis.CPUPerOp, "", "Run the benchmark at the same sizes again: the time of an item must be the same at each. The gain at your own sizes is the one that counts."),
	}
}

func superlinearConfidence(m []sizedCost, g power) diagnosis.Confidence {
	if len(m) > growthSizes && g.low >= growthStep {
		return diagnosis.High
	}
	return diagnosis.Medium
}
