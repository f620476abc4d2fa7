// Package recipe holds dyes and how colours are mixed from them.
package recipe

import (
	"fmt"
	"math"
	"math/rand/v2"
)

// Lab is a colour in the CIE Lab space.
type Lab struct{ L, A, B float64 }

// Distance is the colour difference of two colours.
func (c Lab) Distance(o Lab) float64 {
	return math.Sqrt((c.L-o.L)*(c.L-o.L) + (c.A-o.A)*(c.A-o.A) + (c.B-o.B)*(c.B-o.B))
}

// Recipe is a mixture that has been dyed before.
type Recipe struct {
	Code   string
	Colour Lab
	Grams  [4]float64
}

// Book is the collection of known recipes.
type Book struct {
	recipes []*Recipe
}

// NewBook makes a book of n recipes.
func NewBook(n int) *Book {
	r := rand.New(rand.NewPCG(31, 2))
	b := &Book{}
	for i := range n {
		rc := &Recipe{Code: fmt.Sprintf("D%05d", i), Colour: Any(r)}
		for k := range rc.Grams {
			rc.Grams[k] = 12 * r.Float64()
		}
		b.recipes = append(b.recipes, rc)
	}
	return b
}

// Any is a random colour.
func Any(r *rand.Rand) Lab {
	return Lab{100 * r.Float64(), 120*r.Float64() - 60, 120*r.Float64() - 60}
}

// Nearest returns the recipe with the smallest difference.
func (b *Book) Nearest(c Lab) (*Recipe, float64) {
	var best *Recipe
	least := math.Inf(1)
	for _, r := range b.recipes {
		if d := c.Distance(r.Colour); d < least {
			best, least = r, d
		}
	}
	return best, least
}
