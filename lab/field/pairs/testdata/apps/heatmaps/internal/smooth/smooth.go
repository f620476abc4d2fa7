// Package smooth smooths maps.
package smooth

import (
	"fmt"

	"heatmaps/internal/raster"
)

// A Smoother smooths in an order.
type Smoother struct{ apply func(from, to *raster.Map) }

// New makes a smoother.
func New(order string) (*Smoother, error) {
	switch order {
	case "rows":
		return &Smoother{rows}, nil
	case "columns":
		return &Smoother{columns}, nil
	}
	return nil, fmt.Errorf("there is no order %q", order)
}

// Apply makes a map of the means of neighbours.
func (s *Smoother) Apply(m *raster.Map) *raster.Map {
	out := raster.New(m.Side)
	s.apply(m, out)
	return out
}

func mean(m *raster.Map, row, column int) float64 {
	return (m.At(row, column)*2 + m.At(row-1, column) + m.At(row+1, column)) / 4
}

func rows(from, to *raster.Map) {
	for row := 1; row < from.Side-1; row++ {
		for column := range from.Side {
			to.Set(row, column, mean(from, row, column))
		}
	}
}

func columns(from, to *raster.Map) {
	for column := range from.Side {
		for row := 1; row < from.Side-1; row++ {
			to.Set(row, column, mean(from, row, column))
		}
	}
}
