package experiment

import (
	"math"

	"github.com/gowhy/gowhy/internal/ground/statistics"
	"github.com/gowhy/gowhy/internal/judge/diagnosis"
)

// limitAt returns by which ratio-1 a metric whose median is a in A may become worse: the
// guard's share of it, or what the guard's least comes to if that is more. Less than
// the least breaks no limit, however sure it is.
func (g Guard) limitAt(a float64) float64 {
	if g.Least > 0 && a > 0 && !InfoOf(g.Metric).More {
		return max(g.Limit, g.Least/a)
	}
	return g.Limit
}

// guard holds an effect to its limit: by its interval, and to call it broken,
// which rejects a change, by a test as well.
func (j *judge) guard(e *Effect) {
	g, guarded := j.limits[e.Metric]
	if !guarded {
		return
	}
	limit := g.limitAt(e.A)
	e.Guarded, e.Guard = true, limit
	if e.fell() {
		return // whatever its interval, nothing speaks for worse
	}
	ratio, low, high := e.Worse()
	if c, exact := j.exact(e.Metric); exact {
		// What a counter varies by breaks no limit, and no pair would tell more.
		ratio -= exactTimes * c.spread
		low, high = ratio, ratio
	}
	switch {
	case low > 1+limit && (e.Exact || j.surelyOver(e.Metric, limit)):
		e.Broken = true
	case high <= 1+limit:
	default:
		e.Unclear = true
		e.Need = j.needOfGuard(*e, ratio)
	}
}

// fell says that a metric became no worse by its pairs and by its medians: few pairs or
// a wide interval then do not leave its guard open. One median alone is noise: of
// latencies that vary fourfold, the pairs may say −0.5% and the medians +82%.
func (e Effect) fell() bool {
	ratio, _, _ := e.Worse()
	medians := over(e.B, e.A)
	if InfoOf(e.Metric).More {
		medians = over(e.A, e.B)
	}
	return e.Pairs > 0 && ratio <= 1 && medians <= 1
}

// Kept reports whether a guarded metric surely keeps to its limit: its interval does,
// and not only its estimate.
func (e Effect) Kept() bool {
	_, _, high := e.Worse()
	return e.Guarded && !e.Broken && !e.Unclear && (e.Exact || high <= 1+e.Guard)
}

// surelyOver tests whether the pairs exceed a limit, at a level that leaves all
// guards together at all looks no more than one change in twenty to reject that
// keeps to its limits. Three looks at an interval would reject one in fourteen
// for each guard.
func (j *judge) surelyOver(m diagnosis.Metric, limit float64) bool {
	over := j.series(j.pairs, m).d
	for i, d := range over {
		if InfoOf(m).More {
			d = -d
		}
		over[i] = d - math.Log1p(limit)
	}
	return statistics.SignedRank(over) <= j.constant(looks(j.planned()), falsely/float64(len(j.limits)))
}

func (j *judge) needOfGuard(e Effect, worse float64) int {
	if e.Pairs < leastPairs {
		return looks(j.planned())[0]
	}
	return max(toWithin(e.pairSD(), math.Abs(math.Log1p(e.Guard)-math.Log(worse))), e.Pairs+1)
}

// hopefully returns how many pairs decide a guard if it is as far from its limit as it looks,
// or as it is without any effect: an estimate of few pairs that happens to lie at the limit
// does not end the search.
//
// One that only some of all pairs measured needs as many more of them.
func (e Effect) hopefully(all int) int {
	if e.Pairs < leastPairs {
		return max(e.Need, leastPairs*all/max(e.Pairs, 1))
	}
	worse, _, _ := e.Worse()
	limit := math.Log1p(e.Guard)
	n := toWithin(e.pairSD(), max(math.Abs(limit-math.Log(worse)), limit))
	return int(min(float64(n)*float64(max(all, e.Pairs))/float64(e.Pairs), math.MaxInt32))
}

// alarms says that a guard which is not surely broken speaks against a change all the
// same: its interval excludes that nothing became worse, and its estimate is over
// the limit. An estimate alone is noise.
func (e Effect) alarms() bool {
	ratio, low, _ := e.Worse()
	return e.Unclear && low > 1 && ratio > 1+e.Guard
}

// vague is the p value from which on the data are what arms without any difference
// give: such a metric is no news, whichever way its estimate points.
const vague = 0.5

// silent says that nothing at all is seen of the metric but noise.
func (e Effect) silent() bool { return !e.Exact && e.P >= vague }
