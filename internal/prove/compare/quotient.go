package compare

import (
	"math"

	"github.com/gowhy/gowhy/internal/ground/statistics"
)

// What became of a ratio.
//
// Each of two results has a ratio with an interval of its own. Where their rounds
// are at hand, these are compared themselves. Where they are not, the intervals
// have to do, on the log scale, on which a ratio of ratios is a difference of
// independent estimates: its deviation is the root of the sum of both squares
// (Altman and Bland, "Interaction revisited: the difference between two
// estimates", BMJ 326:219, 2003), taken for each end by itself, because intervals
// of few runs are wider to one side (Zou and Donner, "Construction of confidence
// limits about effect measures", Statistics in Medicine 27:1693, 2008). P is read
// off the interval so (Altman and Bland, "How to obtain the P value from a
// confidence interval", BMJ 343:d2304, 2011).

// An estimate is a ratio with its 95% interval, or with the least and the
// greatest that there was.
type estimate struct{ ratio, low, high float64 }

// usable reports whether an estimate has a place on the log scale.
func (e estimate) usable() bool {
	return e.low > 0 && sane(e.low) && e.low <= e.ratio && e.ratio <= e.high && sane(e.high)
}

// byIntervals is b divided by a, both with 95% intervals, and p of no difference.
func byIntervals(a, b estimate) (q estimate, p float64) {
	la, lb := math.Log(a.ratio), math.Log(b.ratio)
	apart := lb - la
	down := math.Hypot(lb-math.Log(b.low), math.Log(a.high)-la)
	up := math.Hypot(math.Log(b.high)-lb, la-math.Log(a.low))
	q = estimate{math.Exp(apart), math.Exp(apart - down), math.Exp(apart + up)}
	towards := down // the side on which "no difference" is
	if apart < 0 {
		towards = up
	}
	switch {
	case apart == 0:
		return q, 1
	case towards == 0:
		return q, 0
	}
	return q, 2 * statistics.Tail(math.Abs(apart)/towards*statistics.Normal(1-alpha/2))
}

// byRanges is b divided by a, both with the least and the greatest that there was.
func byRanges(a, b estimate) estimate {
	return estimate{b.ratio / a.ratio, b.low / a.high, b.high / a.low}
}

// meet reports whether two estimates have a ratio in common.
func meet(a, b estimate) bool { return a.low <= b.high && b.low <= a.high }
