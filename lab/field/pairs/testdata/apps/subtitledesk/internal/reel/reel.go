// Package reel cuts films into scenes.
package reel

import "math/rand/v2"

// Scene is a piece of a film.
type Scene struct {
	No      int
	Film    int
	Seconds int
	Dialect bool
	Sound   []byte
}

// Film makes the scenes of a film; numbers go on from first.
func Film(rng *rand.Rand, film, first, n int) []Scene {
	out := make([]Scene, n)
	for i := range out {
		s := Scene{No: first + i, Film: film, Seconds: 2 + rng.IntN(9), Dialect: rng.IntN(14) == 0}
		s.Sound = make([]byte, 400*s.Seconds)
		for j := range s.Sound {
			s.Sound[j] = byte(rng.IntN(32) * rng.IntN(8))
		}
		out[i] = s
	}
	return out
}
