// Package world is the arena and who fights in it.
package world

import (
	"encoding/binary"
	"hash/fnv"
	"math"
	"math/rand/v2"
)

// Size is that of the arena, in metres.
const Size = 120.0

// A Vec is a place or a direction.
type Vec struct{ X, Y float64 }

// Add adds a vector, scaled.
func (v Vec) Add(o Vec, by float64) Vec { return Vec{v.X + o.X*by, v.Y + o.Y*by} }

// Distance is that between places.
func (v Vec) Distance(o Vec) float64 { return math.Hypot(v.X-o.X, v.Y-o.Y) }

// A Fighter is somebody in the arena.
type Fighter struct {
	At, Heading Vec
	Health      int
	Target      int // whom he sees, -1 if nobody
	Cooldown    int // frames until he may strike
}

// A World is all fighters.
type World struct {
	Fighters []Fighter
	Frame    int
}

// New places fighters.
func New(n int, seed uint64) *World {
	rng := rand.New(rand.NewPCG(seed, 1))
	w := &World{Fighters: make([]Fighter, n)}
	for i := range w.Fighters {
		a := rng.Float64() * 2 * math.Pi
		w.Fighters[i] = Fighter{
			At:      Vec{rng.Float64() * Size, rng.Float64() * Size},
			Heading: Vec{math.Cos(a), math.Sin(a)},
			Health:  100, Target: -1,
		}
	}
	return w
}

// Digest is a sum of what the world looks like.
func (w *World) Digest() uint64 {
	h := fnv.New64a()
	var b [8]byte
	for i := range w.Fighters {
		f := &w.Fighters[i]
		for _, x := range []float64{f.At.X, f.At.Y, float64(f.Health)} {
			binary.LittleEndian.PutUint64(b[:], math.Float64bits(x))
			h.Write(b[:])
		}
	}
	return h.Sum64()
}
