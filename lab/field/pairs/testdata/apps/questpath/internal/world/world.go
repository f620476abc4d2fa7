// Package world holds the terrain of a game map.
package world

import "math/rand"

type Cell struct{ X, Y int }

// Map is a rectangular terrain; 0 is impassable, otherwise the cost of a step.
type Map struct {
	W, H int
	cost []uint8
}

// Generate makes up a map of hills, woods and lakes.
func Generate(w, h int, seed int64) *Map {
	rng := rand.New(rand.NewSource(seed))
	m := &Map{W: w, H: h, cost: make([]uint8, w*h)}
	for i := range m.cost {
		m.cost[i] = uint8(2 + rng.Intn(3))
	}
	for range w * h / 90 {
		x, y, r := rng.Intn(w), rng.Intn(h), 1+rng.Intn(4)
		c := uint8(rng.Intn(9))
		for dy := -r; dy <= r; dy++ {
			for dx := -r; dx <= r; dx++ {
				if dx*dx+dy*dy <= r*r && m.Inside(x+dx, y+dy) {
					m.cost[(y+dy)*w+x+dx] = c
				}
			}
		}
	}
	return m
}

func (m *Map) Inside(x, y int) bool { return x >= 0 && y >= 0 && x < m.W && y < m.H }

func (m *Map) Cost(x, y int) int {
	if !m.Inside(x, y) {
		return 0
	}
	return int(m.cost[y*m.W+x])
}

// Visible tells whether the straight line between two cells is passable.
func (m *Map) Visible(a, b Cell) bool {
	dx, sx := split(b.X - a.X)
	dy, sy := split(b.Y - a.Y)
	dy = -dy
	for e := dx + dy; ; {
		if m.Cost(a.X, a.Y) == 0 {
			return false
		}
		if a == b {
			return true
		}
		e2 := 2 * e
		if e2 >= dy {
			e += dy
			a.X += sx
		}
		if e2 <= dx {
			e += dx
			a.Y += sy
		}
	}
}

func split(n int) (size, sign int) {
	if n < 0 {
		return -n, -1
	}
	return n, 1
}
