// Package cards deals and ranks hands.
package cards

import "math/rand/v2"

type Card uint8

func (c Card) rank() int { return int(c) % 13 }
func (c Card) suit() int { return int(c) / 13 }

func Deal(r *rand.Rand, n int) []Card {
	p := r.Perm(52)
	out := make([]Card, n)
	for i := range out {
		out[i] = Card(p[i])
	}
	return out
}

// Best ranks the best five of seven cards.
func Best(seven []Card) int {
	best := 0
	for i := 0; i < len(seven); i++ {
		for j := i + 1; j < len(seven); j++ {
			var five [5]Card
			k := 0
			for x, c := range seven {
				if x != i && x != j {
					five[k] = c
					k++
				}
			}
			best = max(best, score(five))
		}
	}
	return best
}

func score(five [5]Card) int {
	var ranks [13]int
	flush := true
	for _, c := range five {
		ranks[c.rank()]++
		flush = flush && c.suit() == five[0].suit()
	}
	kind, high, run, longest := 0, 0, 0, 0
	for r, n := range ranks {
		if n > 0 {
			run++
			longest = max(longest, run)
			high = r
		} else {
			run = 0
		}
		kind += n * n
	}
	s := kind*20 + high
	if longest == 5 {
		s += 300
	}
	if flush {
		s += 350
	}
	return s
}
