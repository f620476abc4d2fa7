// Package sheet describes the sheets of a plant collection.
package sheet

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// Sheet is one pressed plant.
type Sheet struct {
	ID      int      `json:"id"`
	Genus   string   `json:"genus"`
	Species string   `json:"species"`
	Found   string   `json:"found"`
	Label   string   `json:"label"`
	Tags    []string `json:"tags"`
}

var (
	genera = []string{"Carex", "Salix", "Rosa", "Viola", "Festuca", "Rubus", "Galium", "Silene", "Juncus", "Primula"}
	kinds  = []string{"alpina", "palustris", "vulgaris", "montana", "repens", "alba", "nigra", "elatior"}
	words  = strings.Fields("meadow wet slope lime edge of the wood above village near brook dry stones north side path pasture old quarry bank sand")
)

// Sample makes a sheet.
func Sample(rnd *rand.Rand, id int) *Sheet {
	s := &Sheet{
		ID:      id,
		Genus:   genera[rnd.IntN(len(genera))],
		Species: kinds[rnd.IntN(len(kinds))],
		Found:   fmt.Sprintf("%d-%02d-%02d", 1850+rnd.IntN(150), 1+rnd.IntN(12), 1+rnd.IntN(28)),
	}
	var b strings.Builder
	for range 30 {
		b.WriteString(words[rnd.IntN(len(words))])
		b.WriteByte(' ')
	}
	s.Label = b.String()
	for range 3 {
		s.Tags = append(s.Tags, words[rnd.IntN(len(words))])
	}
	return s
}

// Name is the scientific name.
func (s *Sheet) Name() string { return s.Genus + " " + s.Species }
