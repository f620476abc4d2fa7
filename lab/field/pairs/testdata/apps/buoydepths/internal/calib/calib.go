// Package calib corrects readings with the tables from the laboratory.
package calib

import (
	"fmt"
	"math"

	"buoydepths/internal/frames"
)

// Table holds correction curves of all sensors.
type Table struct {
	curves map[string][]curve
}

type curve struct {
	offset, slope float64
	points        [32]float64
}

// Load makes the curves of every buoy.
func Load(buoys, sensors int) *Table {
	t := &Table{curves: make(map[string][]curve, buoys)}
	for b := range buoys {
		cs := make([]curve, sensors)
		for i := range cs {
			cs[i].offset = 0.01 * math.Sin(float64(b+i))
			cs[i].slope = 1 + 0.001*math.Cos(float64(b*i))
			for p := range cs[i].points {
				cs[i].points[p] = 0.002 * math.Sin(float64(p*(b+1)))
			}
		}
		t.curves[fmt.Sprintf("BY%04d", b)] = cs
	}
	return t
}

// Correct applies the curve of the sensor and computes the density.
func (t *Table) Correct(r *frames.Reading) {
	cs := t.curves[r.Buoy]
	if len(cs) == 0 {
		return
	}
	c := &cs[r.Seq%len(cs)]
	p := int(math.Abs(r.Temperature)) % len(c.points)
	r.Temperature = r.Temperature*c.slope + c.offset + c.points[p]
	r.Density = density(r.Temperature, r.Salinity)
}

// density is the one-atmosphere equation of state of sea water.
func density(t, s float64) float64 {
	w := 999.842594 + 6.793952e-2*t - 9.095290e-3*t*t + 1.001685e-4*math.Pow(t, 3) - 1.120083e-6*math.Pow(t, 4) + 6.536332e-9*math.Pow(t, 5)
	a := 8.24493e-1 - 4.0899e-3*t + 7.6438e-5*t*t - 8.2467e-7*math.Pow(t, 3) + 5.3875e-9*math.Pow(t, 4)
	b := -5.72466e-3 + 1.0227e-4*t - 1.6546e-6*t*t
	return w + a*s + b*math.Pow(s, 1.5) + 4.8314e-4*s*s
}
