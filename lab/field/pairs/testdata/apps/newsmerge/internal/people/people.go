// Package people has the members that get letters.
package people

import (
	"fmt"
	"math/rand/v2"
)

// Offer is one thing that a member may like.
type Offer struct {
	Title string
	Cents int64
	Until string
	Link  string
}

// Member is one reader.
type Member struct {
	ID     int
	Name   string
	Mail   string
	Lang   string
	Points int64
	Offers []Offer
}

var (
	first  = []string{"Ana", "Bjørn", "Chloé", "Dmitri", "Eşref", "Fatima", "George", "Hélène"}
	last   = []string{"O'Neill", "Müller", "García", "Smith & Sons", "Łukasz", "de Boer"}
	goods  = []string{"Espresso <beans>", "Weekend \"Harbour\"", "Two tickets & drinks", "Bicycle repair", "Book of the month"}
	langs  = []string{"en", "de", "fr", "pl", "tr", "es"}
	months = []string{"03", "04", "05", "06"}
)

// Members makes n members.
func Members(n int) []Member {
	rng := rand.New(rand.NewPCG(90, 1))
	out := make([]Member, n)
	for i := range out {
		m := Member{
			ID: i, Name: first[rng.IntN(len(first))] + " " + last[rng.IntN(len(last))],
			Mail: fmt.Sprintf("m%d@mail.example", i), Lang: langs[rng.IntN(len(langs))], Points: rng.Int64N(20000),
		}
		for range 1 + rng.IntN(5) {
			id := rng.IntN(9999)
			m.Offers = append(m.Offers, Offer{
				Title: goods[rng.IntN(len(goods))], Cents: 100 + rng.Int64N(20000),
				Until: "2026-" + months[rng.IntN(len(months))] + "-28", Link: fmt.Sprintf("/o/%d?m=%d&c=spring sale", id, i),
			})
		}
		out[i] = m
	}
	return out
}
