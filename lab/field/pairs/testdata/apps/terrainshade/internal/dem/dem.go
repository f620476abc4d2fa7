// Package dem holds elevation models.
package dem

import "math"

// Grid is an elevation model in metres, row by row.
type Grid struct {
	W, H int
	Z    []float32
}

func New(w, h int) *Grid { return &Grid{W: w, H: h, Z: make([]float32, w*h)} }

func (g *Grid) Row(y int) []float32 { return g.Z[y*g.W : (y+1)*g.W] }

// Fill makes up mountains; the offset chooses the tile.
func (g *Grid) Fill(tx, ty int) {
	colX := make([]float64, g.W)
	colZ := make([]float64, g.W)
	for x := range g.W {
		u := float64(tx*g.W+x) / 180
		colX[x] = math.Sin(u) + 0.5*math.Sin(2.7*u+1)
		colZ[x] = math.Cos(5.1 * u)
	}
	seed := uint32(tx*7919+ty*104729) | 1
	for y := range g.H {
		v := float64(ty*g.H+y) / 210
		a, b := math.Cos(v)+0.4*math.Cos(3.3*v), math.Sin(4.7*v)
		row := g.Row(y)
		for x := range row {
			seed ^= seed << 13
			seed ^= seed >> 17
			seed ^= seed << 5
			row[x] = float32(900+420*(colX[x]*a)+60*colZ[x]*b) + float32(seed&15)
		}
	}
}
