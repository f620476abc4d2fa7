// Package flatten turns curves into lines.
package flatten

import (
	"math"

	"plottershop/internal/artwork"
)

// Curve appends the corners of a line that follows c closely enough.
func Curve(dst []artwork.Point, c artwork.Curve, tolerance float64) []artwork.Point {
	if flat(c) <= tolerance {
		return append(dst, c[3])
	}
	a, b := split(c)
	return Curve(Curve(dst, a, tolerance), b, tolerance)
}

func flat(c artwork.Curve) float64 {
	dx, dy := c[3].X-c[0].X, c[3].Y-c[0].Y
	n := math.Hypot(dx, dy)
	if n == 0 {
		return math.Hypot(c[1].X-c[0].X, c[1].Y-c[0].Y)
	}
	d1 := math.Abs((c[1].X-c[3].X)*dy - (c[1].Y-c[3].Y)*dx)
	d2 := math.Abs((c[2].X-c[3].X)*dy - (c[2].Y-c[3].Y)*dx)
	return (d1 + d2) / n
}

func mid(a, b artwork.Point) artwork.Point {
	return artwork.Point{X: (a.X + b.X) / 2, Y: (a.Y + b.Y) / 2}
}

func split(c artwork.Curve) (artwork.Curve, artwork.Curve) {
	ab, bc, cd := mid(c[0], c[1]), mid(c[1], c[2]), mid(c[2], c[3])
	abc, bcd := mid(ab, bc), mid(bc, cd)
	m := mid(abc, bcd)
	return artwork.Curve{c[0], ab, abc, m}, artwork.Curve{m, bcd, cd, c[3]}
}
