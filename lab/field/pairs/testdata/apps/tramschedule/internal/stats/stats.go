// Package stats collects the delays of a simulated day.
package stats

import (
	"math"
	"slices"
)

// Delays is a histogram of delays and their moments.
type Delays struct {
	bins      [128]int
	n         int
	mean, m2  float64
	recent    [63]float64
	Smoothest float64
}

// Add adds a delay in seconds.
func (d *Delays) Add(s float64) {
	d.n++
	diff := s - d.mean
	d.mean += diff / float64(d.n)
	d.m2 += diff * (s - d.mean)
	d.bins[min(int(math.Sqrt(max(s, 0))*4), len(d.bins)-1)]++
	d.recent[d.n%len(d.recent)] = s
	if d.n%len(d.recent) == 0 {
		m := d.recent
		slices.Sort(m[:])
		d.Smoothest = d.Smoothest*0.9 + m[len(m)/2]*0.1
	}
}

// Summary returns mean, deviation and the 95th percentile.
func (d *Delays) Summary() (mean, dev, p95 float64) {
	sum := 0
	for i, b := range d.bins {
		if sum += b; sum*100 >= d.n*95 {
			p95 = float64(i*i) / 16
			break
		}
	}
	return d.mean, math.Sqrt(d.m2 / float64(max(d.n-1, 1))), p95
}
