// Package yard is the map of the terminal.
package yard

import "math/rand/v2"

type Spot struct{ Row, Bay int }

// Yard knows how hard it is to pass each spot.
type Yard struct {
	Rows, Bays int
	Cost       []int32
}

func New(rows, bays int) *Yard {
	r := rand.New(rand.NewPCG(8, 8))
	y := &Yard{Rows: rows, Bays: bays, Cost: make([]int32, rows*bays)}
	for i := range y.Cost {
		y.Cost[i] = 8 + r.Int32N(30)
	}
	return y
}

func (y *Yard) Index(s Spot) int { return s.Row*y.Bays + s.Bay }
