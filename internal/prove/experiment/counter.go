package experiment

import (
	"math"
	"slices"

	"github.com/gowhy/gowhy/internal/ground/statistics"
	"github.com/gowhy/gowhy/internal/judge/diagnosis"
)

// A counter is exact when its values in each arm lie within exactSpread of the
// greater median: six goroutines instead of nine thousand may be seven. It is
// then different when the medians are apart by exactLeast, and by exactTimes the
// greater of both spreads.
//
// One that varies more is decided in the same way when its medians are apart by
// clearTimes the greater spread: 126 allocations that may be 127 are not 71, and no
// test of ten pairs says so among twenty metrics. Of normal noise two values of each arm
// are so far apart by chance in 0.9% of trials, whatever its size; where exact
// counters use up what may be wrong, with noise of 0.2%, next to none are. When
// things happen is no normal noise: counters that chance has a part in are left to tests.
const (
	exactSpread = 0.002
	exactLeast  = 0.005
	exactTimes  = 4
	clearTimes  = 6
)

// A counter is the values of a metric that hardly varies.
type counter struct {
	arms   [2][]float64
	spread float64 // the greater one of both arms, as a ratio-1
	pairs  int     // that measured it, 0 when only counting did
}

// exact returns the values of a counter that hardly varies, or by little beside what its
// arms are apart: of the runs with everything counted, or of the pairs when there
// were none. Never of both: what varied in the first is not given a second chance to
// look exact.
func (t *Trial) exact(m diagnosis.Metric) (c counter, ok bool) { return t.exactAmong(m, 1) }

// exactAmong is exact for a metric that is read together with others, all of them counted.
func (t *Trial) exactAmong(m diagnosis.Metric, counters int) (c counter, ok bool) {
	if !InfoOf(m).Counter {
		return c, false
	}
	c.arms = t.counted(m)
	if len(c.arms[0]) == 0 && len(c.arms[1]) == 0 {
		s := t.series(t.pairs(), m)
		c.arms, c.pairs = [2][]float64{s.a, s.b}, len(s.a)
	}
	if len(c.arms[0]) < 2 || len(c.arms[1]) < 2 {
		return c, false
	}
	c.spread = t.spread(m, c.arms)
	return c, c.spread <= exactSpread || !InfoOf(m).Chance && c.apart() >= timesAmong(clearTimes, counters)*c.spread
}

// apart returns how far the medians of both arms are from each other, relative to the greater
// one, as the spread is.
func (c counter) apart() float64 {
	a, b := statistics.Median(c.arms[0]), statistics.Median(c.arms[1])
	return math.Abs(b-a) / max(a, b)
}

// timesAmong returns by how many of its spreads a counter must differ that is read together
// with others. By chance both spreads are as small as that with a probability that
// falls with the square of the factor: the root of the number of counters keeps all
// of them together to what one is allowed.
func timesAmong(times float64, counters int) float64 {
	return times * math.Sqrt(float64(max(counters, 1)))
}

// counted returns a metric's values of both arms in the runs with everything
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

// unit returns the change that one event more would have made to a metric that is left to
// chance, 0 for one that is not. Ten collections in two runs of A and eleven in two of B look
// exact, and are what identical arms do in one trial of eight.
func (t *Trial) unit(m diagnosis.Metric) (unit float64) {
	if !InfoOf(m).Chance {
		return 0
	}
	for _, r := range t.Rounds {
		if _, ok := r.Values[m]; ok {
			unit = max(unit, 1/max(r.Ops, 1))
		}
	}
	return unit
}

// spread returns the greater range of both arms, and at least the unit, relative to
// the greater median.
func (t *Trial) spread(m diagnosis.Metric, arms [2][]float64) float64 {
	width, scale, happened := t.unit(m), 0.0, false
	for _, x := range arms {
		width = max(width, slices.Max(x)-slices.Min(x))
		scale = max(scale, statistics.Median(x))
		happened = happened || slices.Max(x) > 0
	}
	if width == 0 || !happened { // without chance, or nothing happened in any run
		return 0
	}
	return width / scale
}

// effect returns the counter's effect when the arms are different from times the spread on. A
// metric that is read together with others needs more than exactTimes; what is in between is
// then open.
func (c counter) effect(m diagnosis.Metric, times float64) Effect {
	e := Effect{Metric: m, Exact: true, Verdict: Inconclusive, P: math.NaN(), Pairs: c.pairs}
	e.A, e.MinA = medianMin(c.arms[0])
	e.B, e.MinB = medianMin(c.arms[1])
	e.Ratio = over(e.B, e.A)
	e.Low, e.High = over(e.MinB, slices.Max(c.arms[0])), over(slices.Max(c.arms[1]), e.MinA)
	switch apart := math.Abs(e.Ratio - 1); {
	case apart >= max(exactLeast, times*c.spread):
		e.Verdict = verdictOf(m, e.Ratio-1)
	case apart < max(exactLeast, exactTimes*c.spread):
		e.Verdict = Same
	}
	return e
}

// over is b/a, 1 when both are zero.
func over(b, a float64) float64 {
	if a == b {
		return 1
	}
	return b / a
}
