// Package market clears the offers of an area for a block of fifteen minutes.
package market

import (
	"hash/maphash"
	"math/rand/v2"
	"sort"
	"time"
)

// Offer is a producer's offer.
type Offer struct {
	Plant string
	MW    float64
	Paise float64 // per kWh
	From  int     // blocks of the day
	To    int
}

// Price is what a block settles at.
type Price struct {
	Marginal float64
	Surplus  float64
	Last     string
}

// Book has the offers of the areas.
type Book struct {
	areas map[string][]Offer
	seed  maphash.Seed
}

// NewBook makes a book with n offers in each area.
func NewBook(areas []string, n int) *Book {
	b := &Book{areas: map[string][]Offer{}, seed: maphash.MakeSeed()}
	rnd := rand.New(rand.NewPCG(1, 2))
	for _, a := range areas {
		for i := range n {
			from := rnd.IntN(60)
			b.areas[a] = append(b.areas[a], Offer{
				Plant: a + string(rune('A'+i%26)), MW: 20 + rnd.Float64()*80,
				Paise: 180 + rnd.Float64()*900, From: from, To: from + 36,
			})
		}
	}
	return b
}

// Clear stacks the offers for a block by price up to the demand.
func (b *Book) Clear(area string, block time.Time) Price {
	slot := (block.Hour()*60 + block.Minute()) / 15
	stack := make([]*Offer, 0, len(b.areas[area]))
	for i := range b.areas[area] {
		if o := &b.areas[area][i]; o.From <= slot && slot < o.To {
			stack = append(stack, o)
		}
	}
	sort.Slice(stack, func(i, j int) bool { return stack[i].Paise < stack[j].Paise })
	demand := 250 + 4*float64(48-max(slot-48, 48-slot))
	p := Price{Marginal: 1000}
	for _, o := range stack {
		if demand <= o.MW {
			return Price{Marginal: o.Paise, Surplus: o.MW - demand, Last: o.Plant}
		}
		demand -= o.MW
	}
	return p
}
