// Package tour describes tours and the parts they are made of.
package tour

import (
	"fmt"
	"math/rand/v2"
)

// Part is something that a partner has to confirm.
type Part struct {
	Kind string
	Ref  string
	Day  int
}

// Tour is a trip of several days.
type Tour struct {
	ID    int
	Parts []Part
}

var kinds = []string{"hotel", "coach", "guide", "museum", "ferry"}

// Season makes the tours of a season without end.
func Season(rng *rand.Rand, each func(Tour) bool) {
	for id := 1; ; id++ {
		t := Tour{ID: id}
		for d := range 2 + rng.IntN(3) {
			k := kinds[rng.IntN(len(kinds))]
			t.Parts = append(t.Parts, Part{k, fmt.Sprintf("%s-%04d", k, rng.IntN(9000)), d})
		}
		if !each(t) {
			return
		}
	}
}
