package statistics

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
)

// BootstrapOptions are the options of [Bootstrap]; the zero value is ready.
type BootstrapOptions struct {
	Draws int    // resamples; 0 means 10,000
	Seed  uint64 // of the generator; the same seed, the same interval
}

// DefaultDraws is how many resamples [Bootstrap] draws.
const DefaultDraws = 10_000

// Bootstrap returns the interval of an estimate that holds its true value with the probability
// level, such as 0.95. n observations (pairs, for paired data) are drawn again and again with
// replacement; estimate is given their numbers, from 0, in a slice that it may not keep, and
// that has n-1 of them when one is left out.
//
// The interval is corrected for bias and skewness (BCa, Efron 1987), and widened
// for small n as Hesterberg (2015) proposes: the normal quantile becomes
// Student's times √(n/(n-1)). Without that, ten pairs give 95% intervals that
// hold the truth in nine of ten cases.
//
// Draws in which the estimate is not a number do not count. The interval is NaN
// when n < 3 or when there is no estimate.
func Bootstrap(n int, estimate func(index []int) float64, level float64, o BootstrapOptions) (low, high float64) {
	if n < 3 {
		return math.NaN(), math.NaN()
	}
	index := make([]int, n)
	for i := range index {
		index[i] = i
	}
	value := estimate(index)
	if math.IsNaN(value) {
		return value, value
	}
	acceleration := acceleration(index, estimate)
	drawn := resample(index, estimate, o)
	if len(drawn) == 0 {
		return math.NaN(), math.NaN()
	}
	bias := bias(drawn, value)
	z := Normal((1 + level) / 2)
	z = student(z, float64(n-1)) * math.Sqrt(float64(n)/float64(n-1))
	at := func(z float64) float64 {
		z += bias
		// From 1 on the acceleration would turn the interval round.
		return sortedQuantile(drawn, 1-Tail(bias+z/max(1-acceleration*z, 0.1)))
	}
	return at(-z), at(z)
}

// resample returns the estimates of the draws, in order.
func resample(index []int, estimate func([]int) float64, o BootstrapOptions) []float64 {
	draws := o.Draws
	if draws <= 0 {
		draws = DefaultDraws
	}
	random := rand.New(rand.NewPCG(o.Seed, 0x9e3779b97f4a7c15))
	drawn := make([]float64, 0, draws)
	for range draws {
		for i := range index {
			index[i] = random.IntN(len(index))
		}
		if v := estimate(index); !math.IsNaN(v) {
			drawn = append(drawn, v)
		}
	}
	slices.Sort(drawn)
	return drawn
}

// bias returns how far the value is from the draws' median, in normal quantiles. Draws that
// equal it are half below, which keeps an estimate of few values from looking biased.
func bias(sorted []float64, value float64) float64 {
	below, _ := slices.BinarySearch(sorted, value)
	upTo := below
	for upTo < len(sorted) && sorted[upTo] == value {
		upTo++
	}
	n := float64(len(sorted))
	share := (float64(below) + float64(upTo)) / 2 / n
	return Normal(min(max(share, 0.5/n), 1-0.5/n))
}

// acceleration returns the skewness that leaving out one observation after the other
// shows.
func acceleration(index []int, estimate func([]int) float64) float64 {
	values := make([]float64, 0, len(index))
	mean := 0.0
	without := make([]int, 0, len(index))
	for i := range index {
		without = append(append(without[:0], index[:i]...), index[i+1:]...)
		v := estimate(without)
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return 0
		}
		values = append(values, v)
		mean += v / float64(len(index))
	}
	var squares, cubes float64
	for _, v := range values {
		d := mean - v
		squares += d * d
		cubes += d * d * d
	}
	if squares == 0 {
		return 0
	}
	a := cubes / (6 * math.Pow(squares, 1.5))
	if math.IsNaN(a) {
		return 0
	}
	return a
}

// A walsh is the mean of two of the numbers.
type walsh struct {
	i, j  int
	value float64
}

// Centre returns the estimate of [HodgesLehmann] over chosen numbers, for
// [Bootstrap]. The Walsh averages are sorted once; a draw then only weighs them,
// which makes 10,000 draws of 40 pairs a matter of milliseconds.
func Centre(d []float64) func(index []int) float64 {
	averages := make([]walsh, 0, len(d)*(len(d)+1)/2)
	for i := range d {
		for j := i; j < len(d); j++ {
			averages = append(averages, walsh{i, j, d[i]/2 + d[j]/2})
		}
	}
	slices.SortFunc(averages, func(a, b walsh) int { return cmp.Compare(a.value, b.value) })
	times := make([]int, len(d))
	return func(index []int) float64 {
		clear(times)
		for _, i := range index {
			times[i]++
		}
		return weighed(averages, times, len(index)*(len(index)+1)/2)
	}
}

// weighed returns the median of all averages of which each number takes part in as
// many as it was drawn times.
func weighed(averages []walsh, times []int, all int) float64 {
	seen := 0
	for k, w := range averages {
		if w.i == w.j {
			seen += times[w.i] * (times[w.i] + 1) / 2
		} else {
			seen += times[w.i] * times[w.j]
		}
		switch {
		case 2*seen > all:
			return w.value
		case 2*seen == all:
			return w.value/2 + following(averages[k+1:], times)/2
		}
	}
	return math.NaN()
}

// following returns the next average that was drawn.
func following(averages []walsh, times []int) float64 {
	for _, w := range averages {
		if times[w.i] > 0 && times[w.j] > 0 {
			return w.value
		}
	}
	return math.NaN()
}
