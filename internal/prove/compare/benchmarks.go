package compare

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/gowhy/gowhy/internal/ground/statistics"
	"github.com/gowhy/gowhy/internal/judge/diagnosis"
	"github.com/gowhy/gowhy/internal/know/model"
)

// A Benchmark is one unit of one benchmark in both sides.
type Benchmark struct {
	Package string `json:"package,omitempty"`
	Name    string `json:"name"` // without "Benchmark"
	Unit    string `json:"unit"`
	// RunsA and RunsB are how many repetitions there are, A and B their medians.
	RunsA int     `json:"runs_a"`
	RunsB int     `json:"runs_b"`
	A     float64 `json:"a"`
	B     float64 `json:"b"`
	// Ratio is the Hodges-Lehmann estimate of B/A, Low and High its 95%
	// interval by inverting the Mann-Whitney test; nil where there is none.
	Ratio *float64 `json:"ratio"`
	Low   *float64 `json:"low,omitempty"`
	High  *float64 `json:"high,omitempty"`
	// P is that of the Mann-Whitney test, corrected by Holm over all rows that
	// are tested; nil for exact counters.
	P *float64 `json:"p,omitempty"`
	// Exact is set for a counter that hardly varies: decided by its spread.
	Exact   bool    `json:"exact,omitempty"`
	More    bool    `json:"more_is_better,omitempty"`
	Verdict Verdict `json:"verdict"`
}

// A Mean is the geometric mean of a unit over the benchmarks of both sides.
type Mean struct {
	Unit  string  `json:"unit"`
	Of    int     `json:"of"` // benchmarks; those with a zero have no place in it
	A     float64 `json:"a"`
	B     float64 `json:"b"`
	Ratio float64 `json:"ratio"`
}

// Limits of the statistics.
const (
	// alpha is the level of tests and intervals.
	alpha = 0.05
	// exactSpread is the largest ratio-1 between repetitions of a counter that
	// counts exactly: allocs/op of the same work differ by less, times by more.
	exactSpread = 0.002
	// exactLeast is the least change of an exact counter that is one.
	exactLeast = 0.005
	// fewRuns is how many repetitions a side needs: with fewer even a complete
	// separation of a handful of benchmarks is not significant.
	fewRuns = 6
	// exactRuns is how many a side needs to show that a counter hardly varies.
	exactRuns = 2
	// maxRuns bounds the repetitions that are looked at: the estimate needs all
	// pairs of them.
	maxRuns = 500
)

// benchmarks compares the lines of go test -bench that both models have.
func (c *Comparison) benchmarks(a, b *model.Model) {
	if a.Load == nil || b.Load == nil || len(a.Load.Benchmarks) == 0 || len(b.Load.Benchmarks) == 0 {
		return
	}
	listA, listB := collect(a.Load.Benchmarks), collect(b.Load.Benchmarks)
	pairs, onlyA, onlyB := match(slices.Clone(listA), slices.Clone(listB))
	thinned, renamed := false, ""
	for _, p := range pairs {
		for _, unit := range units(p[0], p[1]) {
			va, cutA := thin(p[0].values[unit])
			vb, cutB := thin(p[1].values[unit])
			thinned = thinned || cutA || cutB
			c.Benchmarks = append(c.Benchmarks, result(p[0], unit, va, vb))
		}
		if p[0].name != p[1].name {
			renamed = fmt.Sprintf("GOMAXPROCS differs: %s in A is %s in B", p[0].name, p[1].name)
		}
	}
	if renamed != "" {
		c.Warnings = append(c.Warnings, renamed)
	}
	c.OnlyA, c.OnlyB = titles(onlyA), titles(onlyB)
	c.correct()
	c.means()
	if thinned {
		c.Warnings = append(c.Warnings, fmt.Sprintf("of more than %d repetitions, %d were looked at, evenly chosen", maxRuns, maxRuns))
	}
	c.doubtRuns(a.Load.Benchmarks, b.Load.Benchmarks)
}

// thin returns at most maxRuns values, evenly chosen.
func thin(v []float64) ([]float64, bool) {
	if len(v) <= maxRuns {
		return v, false
	}
	out := make([]float64, maxRuns)
	for i := range out {
		out[i] = v[i*len(v)/maxRuns]
	}
	return out, true
}

func titles(list []*series) (names []string) {
	for _, s := range list {
		names = append(names, strings.TrimPrefix(s.name, "Benchmark"))
	}
	return names
}

// unitOrder is how testing prints its own units; others follow by name.
var unitOrder = []string{"ns/op", "MB/s", "B/op", "allocs/op"}

// units returns those that both series have.
func units(a, b *series) (list []string) {
	for _, u := range slices.Sorted(maps.Keys(a.values)) {
		if len(b.values[u]) > 0 {
			list = append(list, u)
		}
	}
	slices.SortStableFunc(list, func(x, y string) int {
		return cmp.Compare(uint(slices.Index(unitOrder, x)), uint(slices.Index(unitOrder, y))) // -1 is last
	})
	return list
}

// better says whether more of a unit is better; known is false for units that
// a benchmark made up itself.
func better(unit string) (more, known bool) {
	switch {
	case strings.HasSuffix(unit, "/s"):
		return true, true
	case unit == "B/op", unit == "allocs/op", strings.HasPrefix(unit, "ns/"), strings.HasSuffix(unit, "-ns"), strings.HasSuffix(unit, "-ns/op"):
		return false, true
	}
	return false, false
}

// counter reports whether a unit counts, so that the same work gives the same.
func counter(unit string) bool { return unit == "B/op" || unit == "allocs/op" }

// result compares the repetitions of one unit. The test is not yet corrected
// for how many there are.
func result(s *series, unit string, a, b []float64) Benchmark {
	r := Benchmark{Package: s.pkg, Name: strings.TrimPrefix(s.name, "Benchmark"), Unit: unit, RunsA: len(a), RunsB: len(b),
		A: statistics.Median(a), B: statistics.Median(b)}
	r.More, _ = better(unit)
	switch {
	case r.A == r.B:
		r.Ratio = statistics.Finite(1)
	case r.A > 0 && r.B >= 0: // of what is below zero a ratio says nothing
		r.Ratio = statistics.Finite(r.B / r.A)
	}
	if spread := max(spreadOf(a), spreadOf(b)); counter(unit) && min(len(a), len(b)) >= exactRuns && spread < exactSpread {
		r.Exact = true
		r.Verdict = r.exact(spread)
		return r
	}
	r.P = statistics.Finite(statistics.MannWhitney(a, b))
	if la, lb, ok := logs(a, b); ok {
		r.Ratio = statistics.Finite(math.Exp(statistics.Shift(la, lb)))
		if low, high, ok := shiftInterval(la, lb); ok {
			r.Low, r.High = statistics.Finite(math.Exp(low)), statistics.Finite(math.Exp(high))
		}
	}
	return r
}

// exact judges a counter by its medians: a change is one when it exceeds what
// repetitions differ by.
func (r *Benchmark) exact(spread float64) Verdict {
	least := max(exactLeast, 4*spread)
	switch diff := r.B - r.A; {
	case math.Abs(diff) <= least*math.Abs(r.A):
		return Same
	case diff > 0:
		return Regressed
	}
	return Improved
}

// spreadOf returns the largest ratio-1 between values; infinite when only some are 0.
func spreadOf(v []float64) float64 {
	low, high := slices.Min(v), slices.Max(v)
	if low == high {
		return 0
	}
	if low <= 0 {
		return math.Inf(1)
	}
	return high/low - 1
}

func logs(a, b []float64) (la, lb []float64, ok bool) {
	for _, list := range []struct {
		from []float64
		to   *[]float64
	}{{a, &la}, {b, &lb}} {
		for _, v := range list.from {
			if v <= 0 {
				return nil, nil, false
			}
			*list.to = append(*list.to, math.Log(v))
		}
	}
	return la, lb, true
}

// correct corrects the tests for their number and draws the verdicts.
func (c *Comparison) correct() {
	var tested []*Benchmark
	var p []float64
	for i := range c.Benchmarks {
		if r := &c.Benchmarks[i]; r.P != nil {
			tested = append(tested, r)
			p = append(p, *r.P)
		}
	}
	for i, q := range statistics.Holm(p) {
		tested[i].P = statistics.Finite(q)
		tested[i].Verdict = tested[i].judge()
	}
}

// judge returns the verdict of a tested unit.
func (r *Benchmark) judge() Verdict {
	if *r.P < alpha && (r.Ratio == nil || *r.Ratio != 1) {
		up := r.B > r.A
		if r.Ratio != nil {
			up = *r.Ratio > 1
		}
		switch more, isKnown := better(r.Unit); {
		case !isKnown:
			return Changed
		case up == more:
			return Improved
		}
		return Regressed
	}
	if r.Low != nil && r.High != nil && *r.Low >= 1/(1+Margin) && *r.High <= 1+Margin {
		return Same
	}
	return Inconclusive
}

// means adds the geometric mean of each unit, over the benchmarks in which
// both sides are above zero.
func (c *Comparison) means() {
	type sum struct {
		n    int
		a, b float64
	}
	sums := map[string]*sum{}
	var order []string
	for _, r := range c.Benchmarks {
		if !(r.A > 0 && r.B > 0) {
			continue
		}
		s := sums[r.Unit]
		if s == nil {
			s = &sum{}
			sums[r.Unit] = s
			order = append(order, r.Unit)
		}
		s.n++
		s.a += math.Log(r.A)
		s.b += math.Log(r.B)
	}
	for _, unit := range order {
		if s := sums[unit]; s.n > 1 {
			n := float64(s.n)
			c.Means = append(c.Means, Mean{unit, s.n, math.Exp(s.a / n), math.Exp(s.b / n), math.Exp((s.b - s.a) / n)})
		}
	}
}

// benchmarkWords says in a sentence what came of the benchmarks.
func (c *Comparison) benchmarkWords() string {
	if len(c.Benchmarks) == 0 {
		return "no benchmark is in both"
	}
	n := map[Verdict]int{}
	for _, r := range c.Benchmarks {
		n[r.Verdict]++
	}
	var parts []string
	for _, v := range []Verdict{Regressed, Improved, Changed, Same, Inconclusive} {
		if n[v] > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n[v], v))
		}
	}
	return strings.Join(parts, ", ") + fmt.Sprintf(" of %d measured", len(c.Benchmarks))
}

// Metric returns the name by which limits know a row.
func (r *Benchmark) Metric() diagnosis.Metric { return diagnosis.Metric(r.Unit) }

// Worse returns how much worse B is, as a ratio-1; infinite when something comes from
// nothing.
func (r *Benchmark) Worse() float64 {
	if r.Ratio == nil {
		if r.B > r.A {
			return math.Inf(1)
		}
		return 0
	}
	return worse(*r.Ratio, r.More)
}
