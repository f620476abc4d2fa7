package model

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

func TestHistogramBuckets(t *testing.T) {
	last := -1
	for _, d := range []time.Duration{-5, 0, 1, 7, 8, 9, 15, 16, 17, 31, 32, 1000, time.Second, time.Hour, math.MaxInt64 - 1, math.MaxInt64} {
		i := HistogramBucket(d)
		low, high := HistogramBounds(i)
		d = max(d, 0)
		if d < low || d >= high && d != math.MaxInt64 {
			t.Errorf("%d is in bucket %d, which is [%d, %d), want it inside", d, i, low, high)
		}
		if i < last {
			t.Errorf("%d is in bucket %d, below that of a smaller duration", d, i)
		}
		last = i
	}
	for i := range last {
		_, high := HistogramBounds(i)
		if low, _ := HistogramBounds(i + 1); low != high {
			t.Fatalf("bucket %d ends at %d, the next begins at %d; want them to touch", i, high, low)
		}
		if low, high := HistogramBounds(i); i >= 8 && float64(high-low) > float64(low)/8 {
			t.Fatalf("bucket %d is wider than an eighth: [%d, %d)", i, low, high)
		}
	}
}

func TestHistogramQuantile(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 4))
	var whole, a, b Histogram
	var all []time.Duration
	for i := range 10_000 {
		d := time.Duration(math.Exp(rnd.Float64() * 25))
		all = append(all, d)
		whole.Add(d)
		if i%3 == 0 {
			a.Add(d)
		} else {
			b.Add(d)
		}
	}
	a.Merge(b)
	slices.Sort(all)
	for _, q := range []float64{0, 0.01, 0.25, 0.5, 0.9, 0.99, 0.999, 1} {
		want := all[min(max(int(q*10_000+0.5), 1), 10_000)-1]
		got := whole.Quantile(q)
		if math.Abs(float64(got-want)) > float64(want)/8+1 {
			t.Errorf("quantile %v: %v, want %v within an eighth", q, got, want)
		}
		if m := a.Quantile(q); m != got {
			t.Errorf("quantile %v of the merged halves: %v, want %v as of the whole", q, m, got)
		}
	}
	if got := whole.Quantile(1); got > whole.Max {
		t.Errorf("largest quantile %v is above Max %v", got, whole.Max)
	}
	var empty Histogram
	if empty.Quantile(0.5) != 0 || empty.Mean() != 0 {
		t.Error("an empty histogram has a quantile or a mean")
	}
}

// A share of more than all is all, and of what no bucket has the largest is told.
func TestHistogramEnds(t *testing.T) {
	var h Histogram
	h.AddN(1000, 3)
	h.Add(1030)
	for q, want := range map[float64]time.Duration{-1: 992, 0: 992, 1: 1030, 2: 1030} {
		if got := h.Quantile(q); got != want {
			t.Errorf("Quantile(%v) = %d, want %d", q, got, want)
		}
	}
	if got := len(h.Counts); got != 65 || HistogramBucket(1030) != 64 {
		t.Errorf("1030 is in bucket %d of %d, want the last of 65", HistogramBucket(1030), got)
	}
	h.Max = 2000 // as of a value that its bucket does not tell
	if got := h.Quantile(2); got != 1088 {
		t.Errorf("Quantile(2) = %d, want 1088, the middle of the last bucket", got)
	}
	if got := (&Histogram{N: 5, Counts: []int64{2, 2}, Sum: 99, Max: 9}).Quantile(1); got != 9 {
		t.Errorf("Quantile(1) of one that no bucket has = %d, want 9", got)
	}
}

func TestHistogramNegative(t *testing.T) {
	var h Histogram
	h.Add(-time.Second)
	h.AddN(10, 3)
	if h.Sum != 30 || h.N != 4 || h.Mean() != 7 || h.Max != 10 {
		t.Errorf("sum %d of %d, mean %d, max %d; want 30 of 4, 7, 10", h.Sum, h.N, h.Mean(), h.Max)
	}
}
