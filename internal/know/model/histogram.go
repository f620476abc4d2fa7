package model

import (
	"math"
	"math/bits"
	"time"
)

// A Histogram counts durations in buckets whose width grows with the value:
// eight to each power of two of nanoseconds, so any quantile is known within 1/8.
// The zero Histogram is empty and ready to use.
type Histogram struct {
	Counts []int64 // by bucket; see [HistogramBounds]
	N      int64
	Sum    time.Duration
	Max    time.Duration
}

const histSub = 3 // log2 of the buckets per power of two

// HistogramBucket returns the bucket that d belongs to. Negative durations
// count as zero.
func HistogramBucket(d time.Duration) int {
	if d < 1<<histSub {
		return int(max(0, d))
	}
	e := bits.Len64(uint64(d)) - 1 - histSub
	return e<<histSub + int(uint64(d)>>e)
}

// HistogramBounds returns the durations of bucket i: low <= d < high. The
// last bucket of all also holds the largest duration, which is its high.
func HistogramBounds(i int) (low, high time.Duration) {
	if i < 1<<histSub {
		return time.Duration(i), time.Duration(i + 1)
	}
	e := i>>histSub - 1
	low = time.Duration(uint64(i-e<<histSub) << e)
	if high = low + 1<<e; high < low {
		high = math.MaxInt64
	}
	return low, high
}

// Add counts one duration.
func (h *Histogram) Add(d time.Duration) { h.AddN(d, 1) }

// AddN counts a duration n times.
func (h *Histogram) AddN(d time.Duration, n int64) {
	d = max(d, 0)
	i := HistogramBucket(d)
	for len(h.Counts) <= i {
		h.Counts = append(h.Counts, make([]int64, i+1-len(h.Counts))...)
	}
	h.Counts[i] += n
	h.N += n
	h.Sum += d * time.Duration(n)
	h.Max = max(h.Max, d)
}

// Merge adds all of o.
func (h *Histogram) Merge(o Histogram) {
	for len(h.Counts) < len(o.Counts) {
		h.Counts = append(h.Counts, 0)
	}
	for i, n := range o.Counts {
		h.Counts[i] += n
	}
	h.N += o.N
	h.Sum += o.Sum
	h.Max = max(h.Max, o.Max)
}

// Quantile returns the duration below which the share q of the counts lies,
// within an eighth, and never above Max. It is 0 for an empty histogram.
func (h *Histogram) Quantile(q float64) time.Duration {
	if h.N == 0 {
		return 0
	}
	rank := int64(q*float64(h.N) + 0.5)
	rank = min(max(rank, 1), h.N)
	for i, n := range h.Counts {
		if rank -= n; rank <= 0 {
			low, high := HistogramBounds(i)
			return min(low+(high-low)/2, h.Max)
		}
	}
	return h.Max
}

// Mean returns the average, 0 for an empty histogram.
func (h *Histogram) Mean() time.Duration {
	if h.N == 0 {
		return 0
	}
	return h.Sum / time.Duration(h.N)
}
