// Package station takes the readings of a gauge and stores what differs from the prediction.
package station

import (
	"math/rand/v2"

	"tidegauge/internal/harmonic"
	"tidegauge/internal/segment"
)

type Station struct {
	model *harmonic.Model
	Log   *segment.Log
	r     *rand.Rand
	t     float64
	surge float64
	buf   [512]byte
	Peak  float64
}

func New(id int, log *segment.Log) *Station {
	return &Station{model: harmonic.New(id), Log: log, r: rand.New(rand.NewPCG(uint64(id), 6))}
}

// Batch takes n readings.
func (s *Station) Batch(n int) error {
	for range n {
		s.t += 1.0 / 3600
		s.surge += s.r.NormFloat64()*2 - s.surge*0.001
		level := s.model.At(s.t) + s.surge
		s.Peak = max(s.Peak, level)
		if err := s.Log.Append(int64(level)); err != nil {
			return err
		}
	}
	_, err := s.Log.Recent(s.buf[:])
	return err
}
