package loadresult

import (
	"cmp"
	"math"
	"math/bits"
	"slices"
	"time"
)

// A tally adds up single operations: the memory it takes does not depend on
// how many there are.
type tally struct {
	ops, failed, bytes int64
	total              float64 // of latencies, ns
	first, last        time.Time
	all                histogram

	width  time.Duration
	pieces map[int64]*piece // by their begin, in widths since 1970
}

// A piece is one interval in the making.
type piece struct {
	ops, failed int64
	latencies   histogram
}

const firstWidth = time.Second

// Times that an operation can have: outside, nanoseconds since 1970 overflow.
var (
	earliest = time.Unix(0, 0)
	latest   = time.Date(2200, 1, 1, 0, 0, 0, 0, time.UTC)
)

// add takes one operation by its end.
func (t *tally) add(end time.Time, latency time.Duration, failed bool) {
	begin := end.Add(-latency)
	if latency < 0 || begin.Before(earliest) || end.After(latest) {
		return
	}
	if t.ops == 0 || begin.Before(t.first) {
		t.first = begin
	}
	if t.ops == 0 || end.After(t.last) {
		t.last = end
	}
	t.ops++
	t.total += float64(latency)
	t.all.add(latency, 1)
	p := t.piece(end)
	p.ops++
	p.latencies.add(latency, 1)
	if failed {
		t.failed++
		p.failed++
	}
}

func (t *tally) piece(at time.Time) *piece {
	if t.pieces == nil {
		t.pieces, t.width = map[int64]*piece{}, firstWidth
	}
	p := t.pieces[at.UnixNano()/int64(t.width)]
	for p == nil {
		if len(t.pieces) < MaxPieces {
			p = &piece{}
			t.pieces[at.UnixNano()/int64(t.width)] = p
			break
		}
		t.widen()
		p = t.pieces[at.UnixNano()/int64(t.width)]
	}
	return p
}

// widen joins every two intervals.
func (t *tally) widen() {
	t.width *= 2
	wide := map[int64]*piece{}
	for i, p := range t.pieces {
		w := wide[i/2]
		if w == nil {
			wide[i/2] = p
			continue
		}
		w.ops += p.ops
		w.failed += p.failed
		w.latencies.join(p.latencies)
	}
	t.pieces = wide
}

// sampled are the quantiles that are given for single operations.
var sampled = []float64{0, 0.5, 0.75, 0.9, 0.95, 0.99, 0.999, 0.9999, 1}

// result gives the sums. Without wall-clock times, wall is false.
func (t *tally) result(wall bool) *Result {
	r := &Result{Ops: t.ops, Failed: t.failed, Bytes: t.bytes}
	if t.ops == 0 {
		return r
	}
	if wall {
		r.Start = t.first
	}
	r.Duration = t.last.Sub(t.first)
	r.Mean = time.Duration(t.total / float64(t.ops))
	for _, q := range sampled {
		r.add(q, t.all.quantile(q))
	}
	for i, p := range t.pieces {
		at, width := time.Unix(0, i*int64(t.width)).Sub(t.first), t.width
		// Intervals begin and end with seconds of the clock, the run did not.
		if at < 0 {
			at, width = 0, width+at
		}
		if rest := r.Duration - at; rest > 0 && rest < width {
			width = rest
		}
		r.Over = append(r.Over, Interval{At: at, Width: width, Ops: p.ops, Failed: p.failed,
			P50: p.latencies.quantile(0.5), P99: p.latencies.quantile(0.99)})
	}
	slices.SortFunc(r.Over, func(a, b Interval) int { return cmp.Compare(a.At, b.At) })
	return r
}

// A histogram counts times in buckets that are 1/128 of their value wide, so
// its quantiles are at most 0.8% too high.
type histogram struct {
	counts map[uint16]int64
	n      int64
	min    time.Duration
	max    time.Duration
}

// steps is the number of buckets for each power of two.
const steps = 128

func bucket(d time.Duration) uint16 {
	if d < steps {
		return uint16(d)
	}
	shift := bits.Len64(uint64(d)) - 8 // steps has 8 bits
	return uint16(shift*steps) + uint16(uint64(d)>>shift)
}

// upper returns the greatest time in a bucket.
func upper(b uint16) time.Duration {
	if b < 2*steps {
		return time.Duration(b)
	}
	shift := b/steps - 1
	return time.Duration((uint64(b%steps)+steps+1)<<shift - 1)
}

func (h *histogram) add(d time.Duration, n int64) {
	if h.counts == nil {
		h.counts = map[uint16]int64{}
	}
	if h.n == 0 || d < h.min {
		h.min = d
	}
	h.max = max(h.max, d)
	h.n += n
	h.counts[bucket(d)] += n
}

func (h *histogram) join(o histogram) {
	h.min, h.max, h.n = min(h.min, o.min), max(h.max, o.max), h.n+o.n
	for b, n := range o.counts {
		h.counts[b] += n
	}
}

// quantile returns the least time that the share q of all do not exceed; -1 when
// there are none.
func (h *histogram) quantile(q float64) time.Duration {
	if h.n == 0 {
		return -1
	}
	if q == 0 {
		return h.min
	}
	rank := int64(math.Ceil(q * float64(h.n)))
	buckets := make([]uint16, 0, len(h.counts))
	for b := range h.counts {
		buckets = append(buckets, b)
	}
	slices.Sort(buckets)
	for _, b := range buckets {
		if rank -= h.counts[b]; rank <= 0 {
			return min(upper(b), h.max)
		}
	}
	return h.max
}
