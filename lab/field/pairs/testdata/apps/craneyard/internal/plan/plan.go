// Package plan finds ways through the yard.
package plan

import "craneyard/internal/yard"

type Move struct {
	Box      int
	From, To yard.Spot
}

// Planner keeps its tables between routes.
type Planner struct {
	y    *yard.Yard
	best []int32
}

func NewPlanner(y *yard.Yard) *Planner {
	return &Planner{y: y, best: make([]int32, len(y.Cost))}
}

// Length is the cost of the best monotone way of a move, in metres.
func (p *Planner) Length(m Move) int {
	r0, r1, dr := m.From.Row, m.To.Row, 1
	if r0 > r1 {
		dr = -1
	}
	b0, b1, db := m.From.Bay, m.To.Bay, 1
	if b0 > b1 {
		db = -1
	}
	for r := r0; ; r += dr {
		for b := b0; ; b += db {
			i := p.y.Index(yard.Spot{Row: r, Bay: b})
			v := int32(0)
			switch {
			case r == r0 && b == b0:
			case r == r0:
				v = p.best[i-db]
			case b == b0:
				v = p.best[i-dr*p.y.Bays]
			default:
				v = min(p.best[i-db], p.best[i-dr*p.y.Bays])
			}
			p.best[i] = v + p.y.Cost[i]
			if b == b1 {
				break
			}
		}
		if r == r1 {
			break
		}
	}
	return int(p.best[p.y.Index(m.To)])
}
