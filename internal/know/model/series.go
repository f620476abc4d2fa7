package model

import (
	"cmp"
	"math"
	"slices"
	"time"

	"github.com/gowhy/gowhy/internal/ground/statistics"
)

// First returns the first point; false when there is none.
func (s Series) First() (Point, bool) {
	if len(s) == 0 {
		return Point{}, false
	}
	return s[0], true
}

// Last returns the last point; false when there is none.
func (s Series) Last() (Point, bool) {
	if len(s) == 0 {
		return Point{}, false
	}
	return s[len(s)-1], true
}

// Index returns where in a series the first point is that is not before a moment; its length
// when all are.
func (s Series) Index(t time.Duration) int {
	i, _ := slices.BinarySearchFunc(s, t, func(p Point, t time.Duration) int { return cmp.Compare(p.At, t) })
	return i
}

// At returns the value at a moment, between two points by a straight line and
// beyond the ends the nearest one; NaN for an empty series.
func (s Series) At(t time.Duration) float64 {
	if len(s) == 0 {
		return math.NaN()
	}
	i := s.Index(t)
	switch {
	case i == 0:
		return s[0].Value
	case i == len(s):
		return s[i-1].Value
	}
	a, b := s[i-1], s[i]
	if b.At == a.At {
		return b.Value
	}
	return a.Value + (b.Value-a.Value)*float64(t-a.At)/float64(b.At-a.At)
}

// nearest returns the value of the point nearest to a moment, of the later of two; 0 for an
// empty series.
func (s Series) nearest(t time.Duration) float64 {
	if len(s) == 0 {
		return 0
	}
	i := s.Index(t)
	if i == len(s) || i > 0 && t-s[i-1].At < s[i].At-t {
		i--
	}
	return s[i].Value
}

// Delta returns the last value less the first and the time between them; false
// without two points at different times.
func (s Series) Delta() (by float64, over time.Duration, ok bool) {
	if len(s) == 0 || s[len(s)-1].At <= s[0].At {
		return 0, 0, false
	}
	return s[len(s)-1].Value - s[0].Value, s[len(s)-1].At - s[0].At, true
}

// Rate returns the mean change a second from the first point to the last; false
// without two points at different times.
func (s Series) Rate() (perSecond float64, ok bool) {
	by, over, ok := s.Delta()
	if !ok {
		return 0, false
	}
	return by / over.Seconds(), true
}

// Min returns the smallest value, NaN for an empty series.
func (s Series) Min() float64 { return s.fold(math.Min) }

// Max returns the largest value, NaN for an empty series.
func (s Series) Max() float64 { return s.fold(math.Max) }

func (s Series) fold(f func(a, b float64) float64) float64 {
	if len(s) == 0 {
		return math.NaN()
	}
	v := s[0].Value
	for _, p := range s[1:] {
		v = f(v, p.Value)
	}
	return v
}

// What separates growth from drift and from what fills up, in one process and in many.
const (
	// WarmUp is the part of a window that is left out at its begin.
	WarmUp = 0.25
	// LeastGrowth is the growth from which it is no drift, beside the level after the warm-up.
	LeastGrowth = 0.2
	// SteadyGrowth is how fast the second half must grow, as a part of the whole: a leak is
	// at 1, a cache that fills up with a time constant of a third of the window at 0.15 to 0.3.
	SteadyGrowth = 0.6
)

const (
	// slopePoints bounds the pairs that Slope looks at: 200 points are 19,900
	// of them, and their interval is already far narrower than what a rule
	// acts on.
	slopePoints = 200
	// slopeLeast is the fewest points of which a 95% interval can be given:
	// five agree by chance once in 60, and the normal approximation that the
	// interval uses is still off there.
	slopeLeast = 6
)

// Slope returns the trend of the series in units a second, with its 95% interval:
// Theil's and Sen's estimator, the median of the slopes between all pairs of
// points, which a few wild values do not move. The interval is Sen's (1968),
// from the variance of Kendall's tau. Of more than a few hundred points each
// block of neighbours counts as one, by its medians. False for fewer than six
// points.
//
// The interval takes the points for independent; a saw-tooth that is sampled
// many times in each tooth makes it too narrow.
func (s Series) Slope() (perSecond, low, high float64, ok bool) {
	points := s.thinned()
	n := len(points)
	if n < slopeLeast {
		return 0, 0, 0, false
	}
	slopes := make([]float64, 0, n*(n-1)/2)
	for i, a := range points {
		for _, b := range points[i+1:] {
			if dt := (b.At - a.At).Seconds(); dt > 0 {
				slopes = append(slopes, (b.Value-a.Value)/dt)
			}
		}
	}
	if len(slopes) < slopeLeast*(slopeLeast-1)/2 {
		return 0, 0, 0, false
	}
	slices.Sort(slopes)
	pairs := float64(len(slopes))
	const z = 1.959964 // of the normal distribution: 2.5% above
	c := z * math.Sqrt(float64(n)*float64(n-1)*float64(2*n+5)/18)
	at := func(rank float64) float64 { // ranks count from 1
		return slopes[min(max(int(rank)-1, 0), len(slopes)-1)]
	}
	return statistics.Median(slopes), at(math.Floor((pairs - c) / 2)), at(math.Ceil((pairs+c)/2) + 1), true
}

// Rises tells whether the values become more and more: the interval of the slope is above
// 0, the second half goes up too and has that part of all that came. A start and a burst do
// not rise, nor do values that go up and down. Known is false for too few points.
func (s Series) Rises(part float64) (rises, known bool) {
	by, _, ok := s.Delta()
	if !ok {
		return false, false
	}
	half := s[len(s)/2:]
	_, low, _, _ := s.Slope()
	_, later, _, ok := half.Slope()
	return ok && low > 0 && later > 0 && s[len(s)-1].Value-half[0].Value >= part*by, ok
}

// thinned returns at most slopePoints finite points.
func (s Series) thinned() Series {
	finite := make(Series, 0, len(s))
	for _, p := range s {
		if math.Abs(p.Value) <= math.MaxFloat64 { // which NaN is not
			finite = append(finite, p)
		}
	}
	if len(finite) <= slopePoints {
		return finite
	}
	out := make(Series, slopePoints)
	for i := range out {
		block := finite[i*len(finite)/slopePoints : (i+1)*len(finite)/slopePoints]
		values := make([]float64, len(block))
		for j, p := range block {
			values[j] = p.Value
		}
		out[i] = Point{block[len(block)/2].At, statistics.Median(values)}
	}
	return out
}

// Rate returns the mean increase a second of a cumulative metric; false when it
// was not read twice.
func (m *Metrics) Rate(name string) (perSecond float64, ok bool) {
	if m == nil {
		return 0, false
	}
	return m.Series[name].Rate()
}

// Delta returns the increase of a cumulative metric between its first and its last
// sample, and the time between them.
func (m *Metrics) Delta(name string) (by float64, over time.Duration, ok bool) {
	if m == nil {
		return 0, 0, false
	}
	return m.Series[name].Delta()
}

// Last returns the last value of a metric; false when it was not read.
func (m *Metrics) Last(name string) (float64, bool) {
	if m == nil {
		return 0, false
	}
	p, ok := m.Series[name].Last()
	return p.Value, ok
}

// N returns how many values the histogram counts.
func (h MetricHistogram) N() (n uint64) {
	for _, c := range h.Counts {
		n += c
	}
	return n
}

// Quantile returns the value that the share q of the counts lies at or below: the
// upper bound of their bucket, its lower one where that is infinite. NaN for
// an empty histogram.
func (h MetricHistogram) Quantile(q float64) float64 {
	n := h.N()
	if n == 0 || len(h.Bounds) != len(h.Counts)+1 {
		return math.NaN()
	}
	rank := uint64(math.Ceil(q * float64(n)))
	rank = min(max(rank, 1), n)
	for i, c := range h.Counts {
		if c < rank {
			rank -= c
			continue
		}
		if math.IsInf(h.Bounds[i+1], 1) {
			return h.Bounds[i]
		}
		return h.Bounds[i+1]
	}
	return math.NaN()
}
