// Package vessel computes the contents of tanks from their levels.
package vessel

import (
	"math"

	"tanklevels/internal/sentence"
)

// Shape is a lying cylinder.
type Shape struct {
	Radius, Length float64
}

// Volume returns the cubic metres up to a height in metres.
func (s Shape) Volume(h float64) float64 {
	h = min(max(h, 0), 2*s.Radius)
	a := s.Radius*s.Radius*math.Acos((s.Radius-h)/s.Radius) - (s.Radius-h)*math.Sqrt(2*s.Radius*h-h*h)
	return a * s.Length
}

// Mass returns the tonnes of a level, corrected for its temperature and layers.
func (s Shape) Mass(l *sentence.Level) float64 {
	h := float64(l.Milli) / 1000
	if len(l.Curve) == 0 {
		return s.Volume(h) * correct(l.Density, l.Celsius) / 1000
	}
	var mass, below float64
	for i, c := range l.Curve {
		v := s.Volume(h * float64(i+1) / float64(len(l.Curve)))
		mass += (v - below) * correct(l.Density, float64(c)/100)
		below = v
	}
	return mass / 1000
}

func correct(density, celsius float64) float64 {
	k := 0.6278 / density
	dt := celsius - 15
	return density * math.Exp(-k*dt*(1+0.8*k*dt))
}
