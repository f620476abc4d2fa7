// Package slip holds what was bought.
package slip

import (
	"fmt"
	"math/rand/v2"
	"time"
)

// Item is one line of a slip.
type Item struct {
	Code  string
	Name  string
	Cents int64
	Count int
	Rate  int
}

// Slip is what a customer bought.
type Slip struct {
	Shop  int
	Till  int
	No    int64
	At    time.Time
	Items []Item
}

// Totals returns the sum and the tax by rate, in cents.
func (s *Slip) Totals() (sum int64, tax map[int]int64) {
	tax = make(map[int]int64, 3)
	for _, it := range s.Items {
		c := it.Cents * int64(it.Count)
		sum += c
		tax[it.Rate] += c * int64(it.Rate) / int64(100+it.Rate)
	}
	return sum, tax
}

var goods = []string{"rye bread", "butter", "apples, loose", "coffee 500 g", "oat milk", "light bulb E27", "soap", "newspaper"}

// Stock makes n different slips.
func Stock(n int) []*Slip {
	rnd := rand.New(rand.NewPCG(6, 6))
	out := make([]*Slip, n)
	for i := range out {
		s := &Slip{Shop: rnd.IntN(40), Till: rnd.IntN(9), No: int64(100000 + i), At: time.Date(2026, 5, 4, 9, i%600, 0, 0, time.UTC)}
		for range 20 + rnd.IntN(60) {
			s.Items = append(s.Items, Item{Code: fmt.Sprintf("%013d", rnd.Int64N(1e13)), Name: goods[rnd.IntN(len(goods))],
				Cents: int64(49 + rnd.IntN(2000)), Count: 1 + rnd.IntN(4), Rate: []int{5, 8, 19}[rnd.IntN(3)]})
		}
		out[i] = s
	}
	return out
}
