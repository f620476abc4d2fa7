// Package survey plans the masts of one area after the other.
package survey

import (
	"math/rand/v2"
	"time"

	"terrainline/internal/terrain"
	"terrainline/internal/tiles"
)

type Report struct {
	Areas, Links, Clear int
	Loss                float64
}

const (
	areaTiles = 3
	masts     = 100
)

// Run surveys areas from the n x n tiles until end.
func Run(s *tiles.Set, n int, seed uint64, end time.Time) (rep Report, err error) {
	r := rand.New(rand.NewPCG(seed, 13))
	for time.Now().Before(end) {
		bx, by := r.IntN(n-areaTiles+1)*tiles.Side, r.IntN(n-areaTiles+1)*tiles.Side
		span := float64(areaTiles*tiles.Side - 1)
		var ms [masts]terrain.Point
		for i := range ms {
			ms[i] = terrain.Point{X: float64(bx) + r.Float64()*span, Y: float64(by) + r.Float64()*span}
		}
		for i := range ms {
			for j := range ms[:i] {
				if j%32 == 0 && time.Now().After(end) {
					return rep, nil
				}
				l, err := terrain.Profile(s, ms[i], ms[j])
				if err != nil {
					return rep, err
				}
				rep.Links++
				rep.Loss += l.LossDB
				if l.Clear {
					rep.Clear++
				}
			}
		}
		rep.Areas++
	}
	return rep, nil
}
