// Package fares has the connections that can be sold.
package fares

import (
	"fmt"
	"math/rand/v2"
)

// Fare is one connection with its price.
type Fare struct {
	Carrier string `json:"carrier"`
	Number  string `json:"number"`
	Departs int    `json:"departs"`
	Minutes int    `json:"minutes"`
	Stops   int    `json:"stops"`
	Cabin   string `json:"cabin"`
	Bags    int    `json:"bags"`
	Cents   int    `json:"cents"`
	Refund  bool   `json:"refund"`
}

// Table finds fares by route.
type Table struct{ routes map[string][]Fare }

// Cities are the places that are served.
var Cities = []string{"BER", "LIS", "OSL", "ATH", "DUB", "WAW", "MAD", "HEL", "ZRH", "VIE"}

var (
	carriers = []string{"AX", "BQ", "CV", "DN", "EK"}
	cabins   = []string{"economy", "premium", "business"}
)

// Fill makes a table.
func Fill(perRoute int) *Table {
	rng := rand.New(rand.NewPCG(64, 65))
	t := &Table{routes: make(map[string][]Fare)}
	for _, a := range Cities {
		for _, b := range Cities {
			if a == b {
				continue
			}
			list := make([]Fare, perRoute)
			for i := range list {
				c := carriers[rng.IntN(len(carriers))]
				list[i] = Fare{
					Carrier: c, Number: fmt.Sprintf("%s%d", c, 100+rng.IntN(900)), Departs: rng.IntN(1440), Minutes: 60 + rng.IntN(600),
					Stops: rng.IntN(3), Cabin: cabins[rng.IntN(3)], Bags: rng.IntN(3), Cents: 3000 + rng.IntN(90000), Refund: rng.IntN(3) == 0,
				}
			}
			t.routes[a+b] = list
		}
	}
	return t
}

// Route lists the fares of a route.
func (t *Table) Route(from, to string) []Fare { return t.routes[from+to] }
