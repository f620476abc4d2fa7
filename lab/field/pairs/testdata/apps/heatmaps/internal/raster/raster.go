// Package raster has maps as grids of numbers.
package raster

// A Map is a square of temperatures, row by row.
type Map struct {
	Side  int
	Cells []float64
}

// New makes a map of zeros.
func New(side int) *Map { return &Map{side, make([]float64, side*side)} }

// At is the temperature at a place.
func (m *Map) At(row, column int) float64 { return m.Cells[row*m.Side+column] }

// Set sets it.
func (m *Map) Set(row, column int, v float64) { m.Cells[row*m.Side+column] = v }

// Measure makes a map up.
func Measure(side int) *Map {
	m := New(side)
	for i := range m.Cells {
		m.Cells[i] = float64(i*7919%4000) / 100
	}
	return m
}
