// Package seating finds good places for groups.
package seating

import "cinemaseats/internal/venue"

type Block struct {
	Row, Col, Size int
	Value          float64
}

// Best gives the best free block for each group size up to most.
func Best(l *venue.Layout, taken []int, most int) []Block {
	free := make([]bool, l.Rows*l.Cols)
	for i := range free {
		free[i] = true
	}
	for _, t := range taken {
		if t < len(free) {
			free[t] = false
		}
	}
	out := make([]Block, 0, most)
	for size := 1; size <= most; size++ {
		best := Block{Row: -1, Size: size}
		for r := 0; r < l.Rows; r++ {
			for c := 0; c+size <= l.Cols; c++ {
				v, ok := 0.0, true
				for k := 0; k < size && ok; k++ {
					i := r*l.Cols + c + k
					ok = free[i]
					v += l.Weight[i]
				}
				if ok && v > best.Value {
					best.Row, best.Col, best.Value = r, c, v
				}
			}
		}
		out = append(out, best)
	}
	return out
}
