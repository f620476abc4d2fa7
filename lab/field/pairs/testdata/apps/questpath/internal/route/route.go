// Package route finds ways over the map.
package route

import (
	"math"
	"slices"

	"questpath/internal/world"
)

type Finder struct {
	m       *world.Map
	ordered bool
	best    []int32
	from    []int32
	closed  []bool
}

func NewFinder(m *world.Map, ordered bool) *Finder {
	n := m.W * m.H
	return &Finder{m, ordered, make([]int32, n), make([]int32, n), make([]bool, n)}
}

var steps = [8][3]int{{1, 0, 10}, {-1, 0, 10}, {0, 1, 10}, {0, -1, 10}, {1, 1, 14}, {1, -1, 14}, {-1, 1, 14}, {-1, -1, 14}}

func (f *Finder) estimate(x, y int, to world.Cell) int32 {
	dx, dy := float64(x-to.X), float64(y-to.Y)
	return int32(20 * math.Sqrt(dx*dx+dy*dy))
}

// Find gives the cheapest way between two cells, or nil.
func (f *Finder) Find(from, to world.Cell) []world.Cell {
	w := f.m.W
	for i := range f.best {
		f.best[i] = math.MaxInt32
	}
	clear(f.closed)
	var open frontier = &openList{}
	if f.ordered {
		open = &openHeap{}
	}
	start, goal := int32(from.Y*w+from.X), int32(to.Y*w+to.X)
	f.best[start], f.from[start] = 0, -1
	open.add(node{at: start, est: f.estimate(from.X, from.Y, to)})
	for {
		n, ok := open.next()
		if !ok {
			return nil
		}
		if n.at == goal {
			return f.trace(goal)
		}
		if f.closed[n.at] {
			continue
		}
		f.closed[n.at] = true
		x, y := int(n.at)%w, int(n.at)/w
		for _, s := range steps {
			nx, ny := x+s[0], y+s[1]
			c := f.m.Cost(nx, ny)
			if c == 0 {
				continue
			}
			at := int32(ny*w + nx)
			cost := f.best[n.at] + int32(c*s[2])
			if f.closed[at] || cost >= f.best[at] {
				continue
			}
			f.best[at], f.from[at] = cost, n.at
			open.add(node{at: at, cost: cost, est: cost + f.estimate(nx, ny, to)})
		}
	}
}

func (f *Finder) trace(at int32) []world.Cell {
	var way []world.Cell
	for ; at >= 0; at = f.from[at] {
		way = append(way, world.Cell{X: int(at) % f.m.W, Y: int(at) / f.m.W})
	}
	slices.Reverse(way)
	return way
}

func (f *Finder) Smooth(way []world.Cell) []world.Cell {
	out := []world.Cell{way[0]}
	for i := 0; i < len(way)-1; {
		j := len(way) - 1
		for j > i+1 && !f.m.Visible(way[i], way[j]) {
			j--
		}
		out = append(out, way[j])
		i = j
	}
	return out
}
