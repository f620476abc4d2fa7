// Package route finds the order of the stops in a street grid.
package route

import (
	"container/heap"
)

// Grid is a town's streets with the time each takes.
type Grid struct {
	Side int
	Cost []int
}

// NewGrid returns a grid of side*side crossings.
func NewGrid(side int) *Grid {
	g := &Grid{Side: side, Cost: make([]int, side*side)}
	for i := range g.Cost {
		g.Cost[i] = 1 + (i*7919)%13
	}
	return g
}

type item struct{ at, dist int }
type queue []item

func (q queue) Len() int           { return len(q) }
func (q queue) Less(i, j int) bool { return q[i].dist < q[j].dist }
func (q queue) Swap(i, j int)      { q[i], q[j] = q[j], q[i] }
func (q *queue) Push(x any)        { *q = append(*q, x.(item)) }
func (q *queue) Pop() any {
	old := *q
	x := old[len(old)-1]
	*q = old[:len(old)-1]
	return x
}

// Time returns how long the way between two crossings takes.
func (g *Grid) Time(from, to int) int {
	dist := make([]int, len(g.Cost))
	for i := range dist {
		dist[i] = 1 << 30
	}
	dist[from] = 0
	q := queue{{from, 0}}
	for len(q) > 0 {
		it := heap.Pop(&q).(item)
		if it.at == to {
			return it.dist
		}
		if it.dist > dist[it.at] {
			continue
		}
		x, y := it.at%g.Side, it.at/g.Side
		for _, d := range [][2]int{{1, 0}, {-1, 0}, {0, 1}, {0, -1}} {
			nx, ny := x+d[0], y+d[1]
			if nx < 0 || ny < 0 || nx >= g.Side || ny >= g.Side {
				continue
			}
			n := ny*g.Side + nx
			if nd := it.dist + g.Cost[n]; nd < dist[n] {
				dist[n] = nd
				heap.Push(&q, item{n, nd})
			}
		}
	}
	return -1
}
