// Package geo has places on the map and cells that contain them.
package geo

import "math"

// Point is a place in degrees.
type Point struct{ Lat, Lon float64 }

// Cell is a square of a tenth of a degree.
type Cell uint32

// CellOf returns the cell of a point.
func CellOf(p Point) Cell {
	return Cell(uint32((p.Lat+90)*10)*3600 + uint32((p.Lon+180)*10))
}

// Around lists a cell and its eight neighbours.
func (c Cell) Around() [9]Cell {
	return [9]Cell{c, c - 1, c + 1, c - 3600, c + 3600, c - 3601, c - 3599, c + 3599, c + 3601}
}

// Metres is the distance between two points that are not far apart.
func Metres(a, b Point) float64 {
	const r = math.Pi / 180
	x := (b.Lon - a.Lon) * r * math.Cos((a.Lat+b.Lat)*r/2)
	y := (b.Lat - a.Lat) * r
	return 6371e3 * math.Hypot(x, y)
}
