package experiment

import (
	"math"
	"slices"

	"github.com/gowhy/gowhy/diagnosis"
	"github.com/gowhy/gowhy/internal/statistics"
)

// A counter is exact when its values in each arm lie within exactSpread of their
// median. It is then different when the medians are apart by exactLeast, and by
// exactTimes the greater of both spreads.
const (
	exactSpread = 0.002
	exactLeast  = 0.005
	exactTimes  = 4
)

// exact is the effect of a counter that hardly varies: of the runs with
// everything counted, or of the pairs when there were none. Never of both: what
// varied in the first is not given a second chance to look exact.
func (t *Trial) exact(m diagnosis.Metric) (Effect, bool) {
	if !InfoOf(m).Counter {
		return Effect{}, false
	}
	if arms := t.counted(m); len(arms[0]) > 0 || len(arms[1]) > 0 {
		return exactEffect(m, arms)
	}
	s := t.series(t.pairs(), m)
	e, ok := exactEffect(m, [2][]float64{s.a, s.b})
	e.Pairs = len(s.a)
	return e, ok
}

// counted are a metric's values of both arms in the runs with everything
// counted that came first.
func (t *Trial) counted(m diagnosis.Metric) (arms [2][]float64) {
	for _, r := range t.Rounds {
		v, ok := r.Values[m]
		if ok && r.Count && r.Pair == 0 && r.Dropped == "" {
			i := index(r.Arm == "B")
			arms[i] = append(arms[i], v)
		}
	}
	return arms
}

// exactEffect decides a counter by its spread.
func exactEffect(m diagnosis.Metric, arms [2][]float64) (Effect, bool) {
	spread := 0.0
	for _, x := range arms {
		if len(x) < 2 {
			return Effect{}, false
		}
		spread = max(spread, spreadOf(x))
	}
	if spread > exactSpread {
		return Effect{}, false
	}
	e := Effect{Metric: m, Exact: true, Verdict: Same, P: math.NaN()}
	e.A, e.MinA = medianMin(arms[0])
	e.B, e.MinB = medianMin(arms[1])
	e.Ratio = over(e.B, e.A)
	e.Low, e.High = over(e.MinB, slices.Max(arms[0])), over(slices.Max(arms[1]), e.MinA)
	if math.Abs(e.Ratio-1) >= max(exactLeast, exactTimes*spread) {
		e.Verdict = verdictOf(m, e.Ratio-1)
	}
	return e, true
}

// spreadOf is the range relative to the median.
func spreadOf(x []float64) float64 {
	width := slices.Max(x) - slices.Min(x)
	if width == 0 {
		return 0
	}
	return width / statistics.Median(x)
}

// over is b/a, 1 when both are zero.
func over(b, a float64) float64 {
	if a == b {
		return 1
	}
	return b / a
}
