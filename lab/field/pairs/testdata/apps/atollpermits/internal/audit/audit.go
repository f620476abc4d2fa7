// Package audit makes rule files for trial runs and sums up permits.
package audit

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"

	"atollpermits/internal/policy"
)

// File writes the rule file of an island.
func File(seed uint64, permits int) string {
	rnd := rand.New(rand.NewPCG(seed, 11))
	species := []string{"trevally", "bonefish", "goatfish", "parrotfish", "octopus", "giant_clam", "wahoo"}
	var b strings.Builder
	for i := range permits {
		fmt.Fprintf(&b, "# form %06d\npermit \"vaka %d\" in lagoon.%d {\n", i, rnd.IntN(5000), rnd.IntN(30))
		for _, k := range rnd.Perm(len(species))[:2+rnd.IntN(4)] {
			fmt.Fprintf(&b, "\t%s = %d\n", species[k], 5+rnd.IntN(200))
		}
		b.WriteString("}\n")
	}
	return b.String()
}

// Summary is what the island's office gets.
type Summary struct {
	Permits int            `json:"permits"`
	Lagoons map[string]int `json:"lagoons"`
	Species map[string]int `json:"species"`
}

// Digest sums up permits and seals the sum with all of them.
func Digest(permits []policy.Permit) ([32]byte, error) {
	s := Summary{Permits: len(permits), Lagoons: map[string]int{}, Species: map[string]int{}}
	for _, p := range permits {
		for name, kilos := range p.Species {
			s.Lagoons[p.Lagoon] += kilos
			s.Species[name] += kilos
		}
	}
	all, err := json.Marshal(struct {
		Summary
		All []policy.Permit
	}{s, permits})
	return sha256.Sum256(all), err
}
