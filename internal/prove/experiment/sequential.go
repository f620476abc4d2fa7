package experiment

import (
	"math"

	"github.com/gowhy/gowhy/internal/ground/statistics"
	"github.com/gowhy/gowhy/internal/judge/diagnosis"
)

// looks returns the numbers of pairs after which a trial of at most n is looked at: the last,
// half of it and so on, as long as the rank test of so few can reach the level there. 40
// gives 10, 20, 40.
func looks(most int) []int {
	at := []int{most}
	for n := most / 2; n >= leastPairs; n /= 2 {
		spent := (falsely - falselyExact) * math.Pow(float64(n)/float64(most), statistics.Spending)
		if math.Exp2(float64(1-n)) > spent {
			break
		}
		at = append([]int{n}, at...)
	}
	return at
}

// NextLook is after how many pairs a trial of at most n is looked at next, and may end; most
// when there is no look before.
func NextLook(pairs, most int) int {
	for _, n := range looks(most) {
		if n > pairs {
			return n
		}
	}
	return most
}

// sequential returns the verdict of the primary: that of the first look that has one,
// if all pairs together do not speak against it. A trial that was ended between
// two looks is looked at with the level of the last: looking once more at a
// level that was already spent stays below what the later looks would have had.
func (j *judge) sequential(m diagnosis.Metric, s series) Verdict {
	planned := looks(j.planned())
	levels := j.boundaries(planned, j.alpha(m))
	verdict := Inconclusive
	done := 0
	for done < len(planned) && planned[done] <= len(j.pairs) && verdict == Inconclusive {
		verdict = j.look(m, j.series(j.pairs[:planned[done]], m).d, levels[done])
		done++
	}
	switch {
	case done == 0 || planned[done-1] == len(j.pairs):
		return verdict
	case verdict == Inconclusive:
		return j.look(m, s.d, levels[done-1])
	default:
		return j.stillHolds(m, s, verdict)
	}
}

// stillHolds keeps a verdict that was reached at an earlier look, before rounds
// that were run for the guards, only when all pairs agree with it.
func (j *judge) stillHolds(m diagnosis.Metric, s series, v Verdict) Verdict {
	low, high := j.interval(m, s.d)
	holds := j.direction(m, low, high, statistics.HodgesLehmann(s.d), len(s.d)) == v
	if v == Same {
		holds = j.within(m, low, high)
	}
	if !holds {
		return Inconclusive
	}
	return v
}

// nominal remembers levels, which cost a millisecond to find and are wanted at
// every look.
type nominal struct {
	most       int // pairs, that they are for
	boundaries map[float64][]float64
	constant   map[float64]float64
}

func (t *Trial) boundaries(planned []int, alpha float64) []float64 {
	if _, known := t.nominal.boundaries[alpha]; !known {
		t.nominal.boundaries[alpha] = statistics.Boundaries(planned, alpha)
	}
	return t.nominal.boundaries[alpha]
}

func (t *Trial) constant(planned []int, alpha float64) float64 {
	if _, known := t.nominal.constant[alpha]; !known {
		t.nominal.constant[alpha] = statistics.Constant(planned, alpha)
	}
	return t.nominal.constant[alpha]
}

// look returns the verdict on log ratios when p may be at most alpha.
func (j *judge) look(m diagnosis.Metric, d []float64, alpha float64) Verdict {
	if len(d) < leastPairs {
		return Inconclusive
	}
	low, high := j.interval(m, d)
	if statistics.SignedRank(d) <= alpha {
		if v := j.direction(m, low, high, statistics.HodgesLehmann(d), len(d)); v != Inconclusive {
			return v
		}
	}
	if j.within(m, low, high) {
		return Same
	}
	return Inconclusive
}

// direction is improved or regressed when the interval of log ratios excludes
// zero and the centre is beyond the machine's noise.
func (j *judge) direction(m diagnosis.Metric, low, high, centre float64, n int) Verdict {
	if !(low > 0 || high < 0) || math.Abs(centre) <= j.blur(m, n) {
		return Inconclusive
	}
	return verdictOf(m, centre)
}

// blur returns the noise of the machine in logarithms. Counters and memory have none.
func (j *judge) blur(m diagnosis.Metric, n int) float64 {
	if !InfoOf(m).timed() {
		return 0
	}
	return math.Log1p(j.noise(n))
}

// within says that log ratios between low and high are the same.
func (j *judge) within(m diagnosis.Metric, low, high float64) bool {
	margin := math.Log1p(j.sameWithin(m))
	return low >= -margin && high <= margin
}

// verdictOf returns which way a log ratio goes.
func verdictOf(m diagnosis.Metric, logRatio float64) Verdict {
	if (logRatio > 0) == InfoOf(m).More {
		return Improved
	}
	return Regressed
}
