package model

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"
)

func points(values ...float64) (s Series) {
	for i, v := range values {
		s = append(s, Point{time.Duration(i) * time.Second, v})
	}
	return s
}

func TestSeries(t *testing.T) {
	s := points(4, 8, 2)
	if s.Min() != 2 || s.Max() != 8 {
		t.Errorf("from %v to %v, want 2 to 8", s.Min(), s.Max())
	}
	for at, want := range map[time.Duration]float64{-time.Second: 4, 0: 4, 250 * time.Millisecond: 5, time.Second: 8, 1500 * time.Millisecond: 5, time.Hour: 2} {
		if got := s.At(at); got != want {
			t.Errorf("at %v: %v, want %v", at, got, want)
		}
	}
	if by, over, ok := s.Delta(); by != -2 || over != 2*time.Second || !ok {
		t.Errorf("Delta() = %v over %v, %v; want -2 over 2s", by, over, ok)
	}
	for at, want := range map[time.Duration]int{-time.Second: 0, 0: 0, 1: 1, time.Second: 1, 2 * time.Second: 2, time.Hour: 3} {
		if got := s.Index(at); got != want {
			t.Errorf("Index(%v) = %d, want %d", at, got, want)
		}
	}
	var none Series
	if _, _, ok := none.Delta(); ok || !math.IsNaN(none.Min()) || !math.IsNaN(none.At(0)) {
		t.Error("an empty series has values")
	}
	if _, _, ok := points(1).Delta(); ok {
		t.Error("one point has a difference")
	}
	if by, over, ok := points(1, 5).Delta(); by != 4 || over != time.Second || !ok {
		t.Errorf("Delta() of two points = %v over %v, %v; want 4 over 1s", by, over, ok)
	}
}

// By hand: of 1, 3, 2, 5, 4, 6 at 0 … 5 s the fifteen slopes in order are
// -1 -1 0.5 0.5 2/3 0.75 1 1 1 1 4/3 1.5 2 2 3. Their median is the eighth, 1.
// The variance of the score is 6·5·17/18 = 28.33, 1.96 √28.33 = 10.43, so the
// interval is from rank ⌊2.28⌋ to ⌈12.72⌉+1: -1 to 2.
func TestSlopeByHand(t *testing.T) {
	got, low, high, ok := points(1, 3, 2, 5, 4, 6).Slope()
	if !ok || got != 1 || low != -1 || high != 2 {
		t.Errorf("Slope() = %v (%v to %v), %v; want 1 (-1 to 2)", got, low, high, ok)
	}
}

// Ten points of one moment and two of the next have twenty slopes, from 20-9 to 30-0, each whole number
// once; the interval of twelve points would need 20±28.6 ranks.
func TestSlopeOfTwoMoments(t *testing.T) {
	var s Series
	for i := range 10 {
		s = append(s, Point{0, float64(i)})
	}
	s = append(s, Point{time.Second, 20}, Point{time.Second, 30})
	if got, low, high, ok := s.Slope(); !ok || got != 20.5 || low != 11 || high != 30 {
		t.Errorf("Slope() = %v (%v to %v), %v; want 20.5 (11 to 30)", got, low, high, ok)
	}
}

func TestSlope(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	line := func(n int, slope, noise float64) (s Series) {
		for i := range n {
			at := time.Duration(i) * 100 * time.Millisecond
			s = append(s, Point{at, 1000 + slope*at.Seconds() + noise*r.NormFloat64()})
		}
		return s
	}
	for _, n := range []int{6, 50, slopePoints, slopePoints + 1, 5000} {
		got, low, high, ok := line(n, 7, 0).Slope()
		if !ok || math.Abs(got-7) > 1e-6 || math.Abs(low-7) > 1e-6 || math.Abs(high-7) > 1e-6 {
			t.Errorf("Slope() of %d points of a line = %v (%v to %v), %v; want 7 (7 to 7)", n, got, low, high, ok)
		}
	}
	wild := line(60, 7, 1)
	wild[30].Value, wild[55].Value = 1e9, math.Inf(1)
	if got, low, high, _ := wild.Slope(); low > 7 || high < 7 || got < 6 || got > 8 {
		t.Errorf("two wild values of 60 move it to %v (%v to %v), want about 7, inside of the interval", got, low, high)
	}
	covered := 0
	for range 200 {
		if _, low, high, _ := line(40, 0, 1).Slope(); low <= 0 && high >= 0 {
			covered++
		}
	}
	if covered < 182 || covered > 199 { // 190 are expected
		t.Errorf("the interval holds the truth %d times of 200, want 182 to 199", covered)
	}
	if _, _, _, ok := points(1, 2, 3, 4, 5).Slope(); ok {
		t.Error("an interval of five points")
	}
	if _, _, _, ok := make(Series, 20).Slope(); ok {
		t.Error("a slope of one moment")
	}
}

func TestRises(t *testing.T) {
	var start, saw Series
	for i := range 40 {
		start = append(start, Point{time.Duration(i) * time.Second, float64(min(i, 10))})
		saw = append(saw, Point{time.Duration(i) * time.Second, float64(i % 10)})
	}
	for _, c := range []struct {
		name         string
		s            Series
		rises, known bool
	}{
		{"a line", points(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12), true, true},
		{"a line down", points(12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1), false, true},
		{"the same", points(3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3), false, true},
		{"a start", start, false, true},
		{"a saw", saw, false, true},
		{"too few", points(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11), true, true},
		{"filled up", points(0, 20, 40, 60, 80, 95, 96, 97, 98, 99, 100, 101), false, true},
		{"just enough", points(0, 3, 6, 9, 12, 15, 15, 16, 17, 18, 19, 20), true, true},
		{"nothing", nil, false, false},
	} {
		if rises, known := c.s.Rises(0.25); rises != c.rises || known != c.known {
			t.Errorf("%s: rises %v, known %v; want %v, %v", c.name, rises, known, c.rises, c.known)
		}
	}
}

func TestMetricHistogram(t *testing.T) {
	h := MetricHistogram{Bounds: []float64{math.Inf(-1), 1, 2, 4, math.Inf(1)}, Counts: []uint64{0, 5, 4, 1}}
	for q, want := range map[float64]float64{0: 2, 0.5: 2, 0.51: 4, 0.9: 4, 0.91: 4, 1: 4} {
		if got := h.Quantile(q); got != want {
			t.Errorf("Quantile(%v) = %v, want %v", q, got, want)
		}
	}
	if h.N() != 10 {
		t.Errorf("N() = %d, want 10", h.N())
	}
	if got := (MetricHistogram{Bounds: []float64{1, math.MaxFloat64}, Counts: []uint64{1}}).Quantile(1); got != math.MaxFloat64 {
		t.Errorf("Quantile(1) = %v, want the bound, which is finite", got)
	}
	if got := h.Quantile(2); got != 4 {
		t.Errorf("Quantile(2) = %v, want 4, as of all", got)
	}
	for name, h := range map[string]MetricHistogram{"nothing": {}, "no count": {Bounds: []float64{1, 2}, Counts: []uint64{0}},
		"a bound too few":  {Bounds: []float64{1, 2}, Counts: []uint64{3, 3}},
		"a bound too many": {Bounds: []float64{1, 2, 3}, Counts: []uint64{3}}} {
		if got := h.Quantile(0.5); !math.IsNaN(got) {
			t.Errorf("Quantile(0.5) of %s = %v, want NaN", name, got)
		}
	}
}
