package findings

import (
	"math"
	"slices"
	"time"

	"github.com/gowhy/gowhy/internal/ground/statistics"
)

const (
	// leastSide bins are on each side of a step: with half an hour a batch job or a
	// collection of garbage that came late is none.
	leastSide = 6
	// mostSide are compared at most: an hour, in which the load of a day hardly moves.
	mostSide = 12
	// sideKnown of them must have been sent.
	sideKnown = 4
	// stepLeast is the least step that is claimed. What a version may differ by (2%) is
	// of two moments that are known; here the moment is looked for, too.
	stepLeast = 0.05
	// stepUsual is how many times what is usual between two hours a step must be, in the
	// window and in the day before: the cost of an operation moves with the load, and of
	// some programs in steps all day, or each day. Of costs that wander by 5%, all processes
	// together, 10% have a step in one window alone, and none of 2,000 beside a day.
	stepUsual = 2.0
	// leastDay bins of the day before must be known: half of it.
	leastDay = dayBins / 2
	// edge bins after a step must have half of it, as the last half hour must: it came at
	// once, and it is there.
	edge = 3
	// mostStepped processes or a few more are compared.
	mostStepped = 400
)

// tried are the moments at which a step is looked for.
const tried = float64(bins - 2*leastSide + 1)

// dayBins are those of a day.
const dayBins = int(24 * time.Hour / bin)

// A cost is what a process cost in bins, as logarithms: a host that is twice as slow is so
// all the time. It is NaN where nothing was sent.
type cost []float64

// A step is where costs change at once.
type step struct {
	at   int       // the first bin after it
	size float64   // of the median process, as a logarithm
	each []float64 // of all processes
	// p is how likely such a step is where there is none, for all moments together: by
	// times, and where there are enough processes by these, too. What moves all processes
	// at once is one move, however many they are.
	p float64
}

// ratio returns how many times what it was the cost is.
func (s *step) ratio() float64 { return math.Exp(s.size) }

// dearer returns the processes in which the cost rose.
func (s *step) dearer() (n int) {
	for _, d := range s.each {
		if d > 0 {
			n++
		}
	}
	return n
}

// sides returns the bins that are compared at bin i of n.
func sides(at, n int) (before, after [2]int) {
	return [2]int{max(0, at-mostSide), at}, [2]int{at, min(n, at+mostSide)}
}

// difference returns by how much the cost of a process is higher after a bin than before.
func (c cost) difference(at int) (float64, bool) {
	before, after := sides(at, len(c))
	was, is := known(c[before[0]:before[1]]), known(c[after[0]:after[1]])
	if len(was) < sideKnown || len(is) < sideKnown {
		return 0, false
	}
	return statistics.Median(is) - statistics.Median(was), true
}

func known(x []float64) []float64 {
	return slices.DeleteFunc(slices.Clone(x), math.IsNaN)
}

// differences returns those of all processes at a bin, and the median.
func differences(costs []cost, at int) (each []float64, median float64) {
	for _, c := range costs {
		if d, ok := c.difference(at); ok {
			each = append(each, d)
		}
	}
	return each, statistics.Median(each)
}

// moves returns the differences at all bins; NaN where there is nothing to compare.
func moves(costs []cost) []float64 {
	sizes := make([]float64, len(costs[0]))
	for b := range sizes {
		sizes[b] = math.NaN()
		if b >= leastSide && b <= len(sizes)-leastSide {
			_, sizes[b] = differences(costs, b)
		}
	}
	return sizes
}

// stepOf returns the largest step up in a window; false where none stands out, or it is over.
func stepOf(costs []cost) (s step, ok bool) {
	if len(costs) == 0 {
		return s, false
	}
	sizes := moves(costs)
	s.size = math.Inf(-1)
	for b, size := range sizes {
		if size > s.size {
			s.at, s.size = b, size
		}
	}
	var others []float64
	for b, size := range sizes {
		if b <= s.at-mostSide || b >= s.at+mostSide {
			others = append(others, size)
		}
	}
	if others = known(others); len(others) == 0 {
		return s, false
	}
	// The load of a day moves all the time; what it moves by in an hour is no step.
	drift := statistics.Median(others)
	s.size -= drift
	for i := range others {
		others[i] -= drift
	}
	if s.size < math.Log1p(stepLeast) || !s.unusual(others) {
		return s, false
	}
	s.each, _ = differences(costs, s.at)
	for i := range s.each {
		s.each[i] -= drift
	}
	mean := meanCost(costs)
	before, after := sides(s.at, bins)
	was, is := known(mean[before[0]:before[1]]), known(mean[after[0]:after[1]])
	for _, span := range [][2]int{{s.at, s.at + edge}, {bins - leastSide, bins}} {
		if now := known(mean[span[0]:span[1]]); len(now) == 0 || statistics.Median(now)-statistics.Median(was) < s.size/2 {
			return s, false
		}
	}
	for i := range is {
		is[i] -= drift
	}
	s.p = statistics.MannWhitney(was, is)
	if len(s.each) >= manyProcesses {
		s.p = max(s.p, statistics.SignedRank(s.each))
	}
	s.p = min(1, s.p*tried)
	return s, true
}

// unusual tells whether a step is one beside other moves of the same service.
func (s *step) unusual(others []float64) bool {
	return !slices.ContainsFunc(others, func(other float64) bool { return s.size < stepUsual*math.Abs(other) })
}

// unusualInDay tells whether it is one beside the day before; false where too little is
// known of that.
func (s *step) unusualInDay(costs []cost) bool {
	if len(costs) == 0 {
		return false
	}
	others := known(moves(costs))
	return len(others) >= leastDay && s.unusual(others)
}

// meanCost returns the mean of all processes by bin, each beside its own median: one that is
// silent for a while moves nothing.
func meanCost(costs []cost) cost {
	mean, n := make(cost, len(costs[0])), make([]float64, len(costs[0]))
	for _, c := range costs {
		middle := statistics.Median(known(c))
		for b, x := range c {
			if !math.IsNaN(x) {
				mean[b], n[b] = mean[b]+x-middle, n[b]+1
			}
		}
	}
	for b := range mean {
		mean[b] /= n[b] // NaN where nobody sent anything
	}
	return mean
}
