// Package accession holds the records of the seed bank.
package accession

import (
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"strconv"
)

// Accession is one sample of seed in the cold store.
type Accession struct {
	ID        string `json:"id"`
	Species   string `json:"species"`
	Collected string `json:"collected"`
	Shelf     int    `json:"shelf"`
	Viability []int  `json:"viability"`
}

// Key returns the number by which an accession is found.
func Key(id string) uint64 {
	h := fnv.New64a()
	h.Write([]byte(id))
	return h.Sum64()
}

var genera = []string{"Triticum", "Hordeum", "Secale", "Avena", "Phaseolus", "Lens", "Pisum", "Cicer"}

// ID names the n-th accession of a station.
func ID(station, n int) string { return fmt.Sprintf("SB-%02d-%06d", station, n) }

// Sample makes an accession for a station.
func Sample(station, n int, rnd *rand.Rand) Accession {
	a := Accession{
		ID:        ID(station, n),
		Species:   genera[rnd.IntN(len(genera))] + " " + strconv.Itoa(rnd.IntN(400)),
		Collected: fmt.Sprintf("%d-%02d-%02d", 1960+rnd.IntN(60), 1+rnd.IntN(12), 1+rnd.IntN(28)),
		Shelf:     rnd.IntN(2000),
	}
	for range 12 + rnd.IntN(12) {
		a.Viability = append(a.Viability, 40+rnd.IntN(60))
	}
	return a
}
