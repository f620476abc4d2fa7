// Package quality flags observations that cannot be.
package quality

import (
	"math"

	"buoyreports/internal/report"
)

// Flags are the doubts about an observation.
type Flags uint8

// The doubts.
const (
	Drift Flags = 1 << iota
	Range
	Steep
	Jump
)

type anchor struct{ lat, lon float64 }

// Checker knows where buoys lie and what they last sent.
type Checker struct {
	anchors map[int]anchor
	last    map[int]report.Report
}

// NewChecker returns a checker that takes the first position of each buoy for its anchor.
func NewChecker() *Checker {
	return &Checker{anchors: map[int]anchor{}, last: map[int]report.Report{}}
}

// Check returns the doubts about o.
func (c *Checker) Check(o report.Report) Flags {
	var f Flags
	a, ok := c.anchors[o.Buoy]
	if !ok {
		a = anchor{o.Lat, o.Lon}
		c.anchors[o.Buoy] = a
	}
	if metres(a.lat, a.lon, o.Lat, o.Lon) > 900 {
		f |= Drift
	}
	if o.Wind < 0 || o.Gust < o.Wind || o.Pressure < 880 || o.Pressure > 1080 || o.Water < -3 || o.Water > 40 {
		f |= Range
	}
	if k := wavenumber(o.Period, 120); o.Wave*k > 0.9 {
		f |= Steep
	}
	if p, ok := c.last[o.Buoy]; ok && o.At.Sub(p.At).Hours() < 2 && math.Abs(o.Pressure-p.Pressure) > 15 {
		f |= Jump
	}
	c.last[o.Buoy] = o
	return f
}

func metres(lat1, lon1, lat2, lon2 float64) float64 {
	const rad = math.Pi / 180
	dLat, dLon := (lat2-lat1)*rad, (lon2-lon1)*rad
	h := math.Pow(math.Sin(dLat/2), 2) + math.Cos(lat1*rad)*math.Cos(lat2*rad)*math.Pow(math.Sin(dLon/2), 2)
	return 2 * 6371000 * math.Asin(math.Sqrt(h))
}

// wavenumber solves the dispersion relation of water waves for a depth.
func wavenumber(period, depth float64) float64 {
	w2 := math.Pow(2*math.Pi/period, 2) / 9.81
	k := w2 / math.Sqrt(math.Tanh(w2*depth))
	for range 8 {
		t := math.Tanh(k * depth)
		d := (k*t - w2) / (t + k*depth*(1-t*t))
		k -= d
		if math.Abs(d) < 1e-12 {
			break
		}
	}
	return k
}
