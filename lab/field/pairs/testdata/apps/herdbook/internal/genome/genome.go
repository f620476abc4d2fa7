// Package genome compares marker panels.
package genome

import (
	"math/bits"
	"math/rand"
)

const words = 128

// Panel holds the markers of an animal.
type Panel [words]uint64

type Bank struct {
	panels []Panel
}

func NewBank(n int) *Bank {
	rng := rand.New(rand.NewSource(23))
	b := &Bank{panels: make([]Panel, n)}
	for i := range b.panels {
		for w := range b.panels[i] {
			b.panels[i][w] = rng.Uint64() & rng.Uint64()
		}
	}
	return b
}

// Of gives the panel of an animal.
func (b *Bank) Of(id int32) *Panel { return &b.panels[int(id)%len(b.panels)] }

// Similarity counts markers that two animals share.
func Similarity(a, b *Panel) int {
	n := 0
	for i := range a {
		n += bits.OnesCount64(a[i] & b[i])
	}
	return n
}
