// Package kitchen writes recipes.
package kitchen

import (
	"fmt"
	"math/rand/v2"
	"strings"

	"recipes/internal/segment"
)

// A Cook writes recipes out of some thousand words, the first of which are the most usual.
type Cook struct {
	rand  *rand.Rand
	zipf  *rand.Zipf
	words []string
	next  uint32
}

// NewCook returns a cook.
func NewCook(seed uint64, words int) *Cook {
	r := rand.New(rand.NewPCG(seed, 9))
	c := &Cook{rand: r, zipf: rand.NewZipf(r, 1.1, 20, uint64(words-1))}
	syllables := []string{"bas", "ta", "ri", "mo", "cur", "len", "ok", "pe", "sa", "ul", "fi", "gor", "den", "wa", "chi", "ne"}
	for i := range words {
		var b strings.Builder
		for n := i + 16; n > 0; n /= len(syllables) {
			b.WriteString(syllables[n%len(syllables)])
		}
		c.words = append(c.words, b.String())
	}
	return c
}

func (c *Cook) text(n int) string {
	var b strings.Builder
	for i := range n {
		if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(c.words[c.zipf.Uint64()])
	}
	return b.String()
}

// Recipe returns the next recipe.
func (c *Cook) Recipe() segment.Document {
	c.next++
	return segment.Document{ID: c.next, Text: fmt.Sprintf("%s, %s.", c.text(3), c.text(20+c.rand.IntN(20)))}
}

// Question returns what a guest asks for.
func (c *Cook) Question() string { return c.text(1 + c.rand.IntN(2)) }
