package exectrace

import (
	"math/bits"
	"time"
)

// A Histogram counts durations, eight buckets to each power of two
// nanoseconds: bucket i below 8 holds i ns; above, with e = i/8-1, it begins
// at (8+i%8)<<e ns.
type Histogram struct {
	Counts []int64 // by bucket, as long as needed
	N      int64
	Sum    time.Duration
	Max    time.Duration
}

// add counts one duration; negative ones count as zero.
func (h *Histogram) add(d time.Duration) {
	d = max(d, 0)
	i := int(d)
	if d >= 8 {
		e := bits.Len64(uint64(d)) - 4
		i = e<<3 + int(uint64(d)>>e)
	}
	for len(h.Counts) <= i {
		h.Counts = append(h.Counts, make([]int64, i+1-len(h.Counts))...)
	}
	h.Counts[i]++
	h.N++
	h.Sum += d
	h.Max = max(h.Max, d)
}

// merge adds all of o.
func (h *Histogram) merge(o *Histogram) {
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

// A hist is a Histogram of fixed size, in nanoseconds.
type hist struct {
	counts [62 * 8]int64
	sum    int64
	max    int64
}

func (h *hist) add(ns int64) {
	ns = max(ns, 0)
	e := uint(max(bits.Len64(uint64(ns))-4, 0))
	h.counts[e<<3+uint(ns>>e)]++
	h.sum += ns
	h.max = max(h.max, ns)
}

func (o *Histogram) addHist(h *hist) {
	last := -1
	for i, n := range h.counts {
		if n != 0 {
			last = i
		}
	}
	if last < 0 {
		return
	}
	for len(o.Counts) <= last {
		o.Counts = append(o.Counts, 0)
	}
	for i, n := range h.counts[:last+1] {
		o.Counts[i] += n
		o.N += n
	}
	o.Sum += time.Duration(h.sum)
	o.Max = max(o.Max, time.Duration(h.max))
}
