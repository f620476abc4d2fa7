// Package axles turns the cells' samples into a weight.
package axles

import "math"

// Samples is what the bridge's cells measured.
type Samples struct {
	Cells [8][]float64
}

// Measure simulates a vehicle on the bridge.
func Measure(seed, kilos int) *Samples {
	s := &Samples{}
	for c := range s.Cells {
		s.Cells[c] = make([]float64, 96)
		for i := range s.Cells[c] {
			s.Cells[c][i] = float64(kilos)/8 + 40*math.Sin(float64(seed+i*(c+1))/7)
		}
	}
	return s
}

// Weight filters the samples.
func (s *Samples) Weight() int {
	var total float64
	for _, cell := range s.Cells {
		avg, dev := 0.0, 0.0
		for _, v := range cell {
			avg += v
		}
		avg /= float64(len(cell))
		for _, v := range cell {
			dev += (v - avg) * (v - avg)
		}
		dev = math.Sqrt(dev / float64(len(cell)))
		n, sum := 0, 0.0
		for _, v := range cell {
			if math.Abs(v-avg) <= 2*dev {
				sum += v
				n++
			}
		}
		total += sum / float64(max(n, 1))
	}
	return int(math.Round(total))
}
