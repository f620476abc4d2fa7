package experiment

import (
	"fmt"
	"math"

	"github.com/gowhy/gowhy/internal/ground/figures"
	"github.com/gowhy/gowhy/internal/ground/statistics"
)

// A program compared with itself has nothing to confirm or to reject. What it tells is
// how small a difference such a trial finds here, and, when it finds one, that
// something beside the program tells the arms apart, or chance.

// concludeIdentical returns the conclusion of arms that are the same.
func (t *Trial) concludeIdentical(e Effect) (Conclusion, string) {
	if e.Verdict == Improved || e.Verdict == Regressed {
		return Undecided, fmt.Sprintf("A and B are the same, and yet %s: chance does this in one trial of twenty; "+
			"if it comes back, something beside the program tells them apart", t.says(e))
	}
	least := t.detectable(e)
	if math.IsNaN(least) {
		return Undecided, t.says(e)
	}
	seen := "; it " + change(e.Ratio)
	if !e.Exact {
		seen += fmt.Sprintf(", 95%% interval %s to %s, %s", figures.Change(e.Low), figures.Change(e.High), figures.Plural(e.Pairs, "pair"))
	}
	return NoDifference, fmt.Sprintf("of %s one of more than %s would have been seen%s", e.Metric, figures.Percent(least), seen)
}

// detectable returns the least ratio-1 that the trial would have called a difference of its
// primary: of a counter that hardly varies for sure, else with the probability power,
// by the spread of its pairs, at the level of the look that it ended with, and never
// below the machine's noise. NaN when it could have called none.
func (t *Trial) detectable(e Effect) float64 {
	if c, exact := t.exact(e.Metric); exact {
		return max(exactLeast, exactTimes*c.spread)
	}
	if e.Pairs < leastPairs {
		return math.NaN()
	}
	planned := looks(t.planned())
	level := t.boundaries(planned, t.alpha(e.Metric))[max(0, len(t.Looks)-1)]
	least := math.Expm1(statistics.Detectable(e.pairSD(), e.Pairs, level, power))
	if InfoOf(e.Metric).timed() {
		least = max(least, t.noise(e.Pairs))
	}
	return least
}
