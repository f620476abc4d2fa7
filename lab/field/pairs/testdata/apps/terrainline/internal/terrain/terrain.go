// Package terrain answers whether two masts see each other.
package terrain

import (
	"math"

	"terrainline/internal/tiles"
)

type Point struct{ X, Y float64 }

type Link struct {
	A, B    Point
	Clear   bool
	Margin  float64
	LossDB  float64
	Samples int
}

const mast = 45.0

func height(s *tiles.Set, p Point) (float64, error) {
	x, y := int(p.X), int(p.Y)
	t, err := s.Get(x/tiles.Side, y/tiles.Side)
	if err != nil {
		return 0, err
	}
	return float64(t.At(x%tiles.Side, y%tiles.Side)), nil
}

// Profile walks the line between two points and compares it with the Fresnel zone.
func Profile(s *tiles.Set, a, b Point) (Link, error) {
	l := Link{A: a, B: b, Margin: math.Inf(1)}
	ha, err := height(s, a)
	if err != nil {
		return l, err
	}
	hb, err := height(s, b)
	if err != nil {
		return l, err
	}
	d := math.Hypot(b.X-a.X, b.Y-a.Y)
	n := max(8, int(d))
	for i := 1; i < n; i++ {
		f := float64(i) / float64(n)
		h, err := height(s, Point{a.X + (b.X-a.X)*f, a.Y + (b.Y-a.Y)*f})
		if err != nil {
			return l, err
		}
		d1, d2 := d*f*30, d*(1-f)*30
		fresnel := 0.6 * math.Sqrt(0.05*d1*d2/(d1+d2))
		bulge := d1 * d2 / (2 * 8.5e6)
		l.Margin = min(l.Margin, ha+mast+(hb-ha)*f-h-fresnel-bulge)
	}
	l.Samples = n
	l.Clear = l.Margin > 0
	l.LossDB = 32.4 + 20*math.Log10(d*0.03+0.001)
	if !l.Clear {
		l.LossDB += 6.9 + 20*math.Log10(1-l.Margin)
	}
	return l, nil
}
