// Package quality marks readings that cannot be right.
package quality

import (
	"math"

	"rainrecords/internal/station"
)

// Checker knows what is usual at each station.
type Checker struct {
	mean, vari map[int]float64
	Doubtful   int
}

// New returns a checker that knows nothing yet.
func New() *Checker {
	return &Checker{mean: map[int]float64{}, vari: map[int]float64{}}
}

// Check returns the reading with its flags set.
func (c *Checker) Check(r station.Reading) station.Reading {
	x := math.Log1p(float64(r.Micro))
	m, v := c.mean[r.Station], c.vari[r.Station]
	d := x - m
	if v > 0 && d*d > 9*v {
		r.Flags |= 0x80
		c.Doubtful++
	}
	c.mean[r.Station] = m + d/64
	c.vari[r.Station] = v + (d*d-v)/64
	return r
}
