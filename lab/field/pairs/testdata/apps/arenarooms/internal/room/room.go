// Package room is one arena in which players fight for a few rounds.
package room

import (
	"math"
	"math/rand/v2"
	"sync/atomic"
)

const side = 96

// Fighter is one player in the arena.
type Fighter struct {
	ID     uint32
	X, Y   float64
	VX, VY float64
	Health int
	Score  int
}

// Room is one arena.
type Room struct {
	Name     string
	Fighters []Fighter
	heat     [side * side]int32
	alive    atomic.Int64
	rounds   atomic.Int64
	peak     atomic.Int64
	rnd      *rand.Rand
}

// New makes an arena for n fighters.
func New(name string, n int, seed uint64) *Room {
	r := &Room{Name: name, Fighters: make([]Fighter, n), rnd: rand.New(rand.NewPCG(seed, 5))}
	for i := range r.Fighters {
		r.Fighters[i] = Fighter{ID: uint32(seed)<<8 | uint32(i), X: r.rnd.Float64() * side, Y: r.rnd.Float64() * side,
			VX: r.rnd.NormFloat64(), VY: r.rnd.NormFloat64(), Health: 100}
	}
	r.alive.Store(int64(n))
	return r
}

// Alive is how many still stand.
func (r *Room) Alive() int { return int(r.alive.Load()) }

// Rounds is how many rounds have been fought.
func (r *Room) Rounds() int { return int(r.rounds.Load()) }

// Round moves everyone and lets those that meet strike.
func (r *Room) Round() {
	for i := range r.Fighters {
		f := &r.Fighters[i]
		if f.Health <= 0 {
			continue
		}
		f.X = math.Mod(f.X+f.VX+side, side)
		f.Y = math.Mod(f.Y+f.VY+side, side)
		at := &r.heat[int(f.Y)%side*side+int(f.X)%side]
		*at++
		r.peak.Store(max(r.peak.Load(), int64(*at)))
	}
	for i := range r.Fighters {
		f := &r.Fighters[i]
		for j := range r.Fighters {
			o := &r.Fighters[j]
			if i == j || f.Health <= 0 || o.Health <= 0 || math.Hypot(f.X-o.X, f.Y-o.Y) > 6 {
				continue
			}
			if o.Health -= r.rnd.IntN(30); o.Health <= 0 {
				f.Score++
				r.alive.Add(-1)
			}
		}
	}
	r.rounds.Add(1)
}

// Peak is how often the busiest tile was trodden.
func (r *Room) Peak() int { return int(r.peak.Load()) }
