package loadresult

import (
	"time"

	hdr "github.com/HdrHistogram/hdrhistogram-go"
)

// Latencies keep nanoseconds, exact to a microsecond below two
// milliseconds and to three digits above, up to an hour.
const (
	finest  = int64(time.Microsecond)
	longest = int64(time.Hour)
	digits  = 3
)

// Latencies are a histogram with what a histogram does not keep: the exact
// mean and extremes.
type Latencies struct {
	h        *hdr.Histogram
	sum      float64 // ns
	min, max time.Duration
}

// NewLatencies makes room for latencies.
func NewLatencies() *Latencies { return &Latencies{h: hdr.New(finest, longest, digits)} }

// Add counts one.
func (l *Latencies) Add(d time.Duration) {
	d = max(d, 0)
	if l.h.TotalCount() == 0 || d < l.min {
		l.min = d
	}
	l.max = max(l.max, d)
	l.sum += float64(d)
	_ = l.h.RecordValue(min(int64(d), longest)) // it fails for values out of range only
}

// N returns how many there are.
func (l *Latencies) N() int64 { return l.h.TotalCount() }

// Mean is 0 when there is nothing.
func (l *Latencies) Mean() time.Duration {
	return time.Duration(l.sum / float64(max(l.N(), 1)))
}

// Quantile returns a quantile; 0 when there is nothing.
func (l *Latencies) Quantile(q float64) time.Duration {
	switch {
	case l.N() == 0:
		return 0
	case q <= 0:
		return l.min
	case q >= 1:
		return l.max
	}
	return min(max(time.Duration(l.h.ValueAtPercentile(100*q)), l.min), l.max)
}

// Quantiles returns those that a [Result] has; none when there is nothing.
func (l *Latencies) Quantiles() (all []Quantile) {
	if l.N() == 0 {
		return nil
	}
	for _, q := range sampled {
		all = append(all, Quantile{q, l.Quantile(q)})
	}
	return all
}

// Reset forgets them all.
func (l *Latencies) Reset() {
	l.h.Reset()
	l.sum, l.min, l.max = 0, 0, 0
}

// SetLatency gives a result its latencies since due, with their mean.
func (r *Result) SetLatency(l *Latencies) {
	r.Latency, r.Mean, r.histogram = l.Quantiles(), l.Mean(), l.h
}
