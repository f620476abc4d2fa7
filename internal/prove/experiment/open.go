package experiment

import (
	"fmt"
	"math"

	"github.com/gowhy/gowhy/internal/ground/figures"
)

// reason says in a few words why a metric is not decided although its numbers point one
// way: its interval excludes "no change", or there is none. Tested is how many metrics
// were tested together; empty where the interval itself is the reason.
func (j *judge) reason(e *Effect, tested int) string {
	switch {
	case e.Exact:
		return "varies too much"
	case e.Pairs == 0 && math.IsNaN(e.A):
		return ""
	case e.Pairs == 0:
		return "only counted twice"
	case e.Pairs < leastPairs:
		return "only " + figures.Plural(e.Pairs, "pair")
	case e.Low <= 1 && e.High >= 1:
		return ""
	case math.Abs(math.Log(e.Ratio)) <= j.blur(e.Metric, e.Pairs):
		return "machine's noise is " + figures.Percent(j.noise(e.Pairs))
	case e.Metric != j.Primary && tested > 1:
		return fmt.Sprintf("one of %d metrics", tested)
	case e.Metric != j.Primary:
		return fmt.Sprintf("p is above %.2g", j.constant(looks(j.planned()), falsely-falselyExact))
	}
	return fmt.Sprintf("p is above %.2g", j.levelNow())
}

// levelNow returns the p value that the primary must reach at the look that it had last.
func (j *judge) levelNow() float64 {
	planned := looks(j.planned())
	done := 0
	for done < len(planned)-1 && planned[done] < len(j.pairs) {
		done++
	}
	return j.boundaries(planned, j.alpha(j.Primary))[done]
}
