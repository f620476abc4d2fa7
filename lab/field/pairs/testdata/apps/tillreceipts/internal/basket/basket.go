// Package basket makes the baskets of customers and adds them up.
package basket

import (
	"math/rand/v2"
)

// Line is one article of a basket.
type Line struct {
	EAN   uint64
	Name  string
	Count int
	Cents int
}

var names = []string{"MILK 1L", "RYE BREAD", "APPLES", "COFFEE 500G", "BUTTER", "EGGS X10", "TOMATOES", "RICE 1KG", "SOAP"}

// Random makes a basket.
func Random(rng *rand.Rand) []Line {
	b := make([]Line, 80+rng.IntN(80))
	for i := range b {
		b[i] = Line{4000000000000 + rng.Uint64N(99999999), names[rng.IntN(len(names))], 1 + rng.IntN(4), 49 + rng.IntN(1900)}
	}
	return b
}

// Valid tells whether the check digits of all articles can be right.
func Valid(b []Line) (good int) {
	for _, l := range b {
		s, w := uint64(0), uint64(1)
		for e := l.EAN; e > 0; e /= 10 {
			s += e % 10 * w
			w = 4 - w
		}
		if s%10 == 0 {
			good++
		}
	}
	return good
}

// Total returns the sum of a basket after discounts.
func Total(b []Line) (cents int) {
	per := map[string]int{}
	for _, l := range b {
		per[l.Name] += l.Count
		cents += l.Count * l.Cents
	}
	for _, n := range per {
		cents -= n / 12 * 50
	}
	return cents
}
