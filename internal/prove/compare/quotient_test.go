package compare

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/gowhy/gowhy/internal/ground/statistics"
)

// The example of Altman and Bland (BMJ 326:219): relative risks of 0.67 (0.46 to
// 0.98) and 0.88 (0.71 to 1.08) are apart by a ratio of 0.76 (0.49 to 1.17), p 0.2 (0.216).
func TestByIntervalsAsPublished(t *testing.T) {
	q, p := byIntervals(estimate{0.88, 0.71, 1.08}, estimate{0.67, 0.46, 0.98})
	if math.Abs(q.ratio-0.76) > 0.005 || math.Abs(q.low-0.49) > 0.01 || math.Abs(q.high-1.17) > 0.015 || math.Abs(p-0.216) > 0.01 {
		t.Errorf("byIntervals() = %+v, p %.3f; want 0.76 (0.49 to 1.17), p 0.216", q, p)
	}
	// The other way around everything is inverse.
	r, p2 := byIntervals(estimate{0.67, 0.46, 0.98}, estimate{0.88, 0.71, 1.08})
	if math.Abs(r.ratio*q.ratio-1) > 1e-12 || math.Abs(r.low*q.high-1) > 1e-12 || math.Abs(p-p2) > 1e-12 {
		t.Errorf("byIntervals() the other way around = %+v, p %v, want the inverse of %+v, p %v", r, p2, q, p)
	}
}

// Of two estimates with normal noise the interval contains the true ratio in 95%
// of cases, and p is below 0.05 as often as the interval excludes no change.
func TestByIntervalsCoverage(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 9))
	z := statistics.Normal(0.975)
	draw := func(centre, sd float64) estimate {
		x := centre + sd*rng.NormFloat64()
		return estimate{math.Exp(x), math.Exp(x - z*sd), math.Exp(x + z*sd)}
	}
	const draws = 20000
	inside, significant := 0, 0
	for range draws {
		q, p := byIntervals(draw(-0.3, 0.05), draw(-0.3, 0.12))
		if q.low <= 1 && 1 <= q.high {
			inside++
		}
		if p < 0.05 {
			significant++
		}
	}
	if share := float64(inside) / draws; math.Abs(share-0.95) > 0.006 || inside+significant != draws {
		t.Errorf("%.3f of intervals contain the ratio, %d of %d significant; want 0.95 and all others", share, significant, draws)
	}
}

func TestByIntervalsEdges(t *testing.T) {
	sure, wide := estimate{2, 2, 2}, estimate{1, 0.5, 2}
	if q, p := byIntervals(sure, sure); q.ratio != 1 || p != 1 {
		t.Errorf("byIntervals(the same) = %+v, %v; want 1 and 1", q, p)
	}
	if q, p := byIntervals(estimate{1, 1, 1}, sure); q != (estimate{2, 2, 2}) || p != 0 {
		t.Errorf("byIntervals(two that are certain) = %+v, %v; want 2 (2 to 2), 0", q, p)
	}
	if q := byRanges(wide, sure); q != (estimate{2, 1, 4}) {
		t.Errorf("byRanges() = %+v, want 2 (1 to 4)", q)
	}
	for _, e := range []estimate{{0, 0, 0}, {1, 0, 2}, {1, 1, math.Inf(1)}, {math.NaN(), 1, 2}, {1, 2, 3}, {-1, -2, 3}} {
		if e.usable() {
			t.Errorf("usable() of %+v = true, want false", e)
		}
	}
	if !wide.usable() || !meet(wide, sure) || meet(wide, estimate{3, 2.1, 4}) {
		t.Error("what overlaps")
	}
}
