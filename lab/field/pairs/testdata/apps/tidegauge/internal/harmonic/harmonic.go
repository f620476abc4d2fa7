// Package harmonic predicts the tide of a station.
package harmonic

import "math"

type Constituent struct{ Speed, Amp, Phase float64 }

type Model struct{ parts []Constituent }

func New(station int) *Model {
	m := &Model{}
	for k := 0; k < 37; k++ {
		m.parts = append(m.parts, Constituent{
			Speed: 0.0411 + 0.5*float64(k),
			Amp:   120 / float64(1+k),
			Phase: float64(station*17+k*29) * 0.1,
		})
	}
	return m
}

// At gives the predicted level in millimetres at hour t.
func (m *Model) At(t float64) float64 {
	h := 0.0
	for _, c := range m.parts {
		h += c.Amp * math.Cos(c.Speed*t-c.Phase)
	}
	return h * 10
}
