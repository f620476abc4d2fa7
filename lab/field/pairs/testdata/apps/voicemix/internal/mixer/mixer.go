// Package mixer adds the legs of a conference.
package mixer

import (
	"math"

	"voicemix/internal/codec"
)

// Mixer has the hold music that fills silent rooms.
type Mixer struct{ music []int16 }

func New(samples int) *Mixer {
	m := &Mixer{music: make([]int16, samples)}
	for i := range m.music {
		m.music[i] = int16((i*37)%4001 - 2000)
	}
	return m
}

// Mix adds the legs with a window and soft clipping.
func (m *Mixer) Mix(legs [][]int16, at int) []int16 {
	out := make([]int16, codec.Frame)
	for i := range out {
		v := float64(m.music[(at+i)%len(m.music)]) * 0.05
		for _, l := range legs {
			v += float64(l[i])
		}
		out[i] = int16(30000 * math.Tanh(v/40000))
	}
	return out
}

func Level(f []int16) float64 {
	e := 0.0
	for _, v := range f {
		e += float64(v) * float64(v)
	}
	return 10 * math.Log10(e/float64(len(f))+1)
}
