// Package listing has the flats and finds the ones that fit.
package listing

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
)

// Flat is an offer.
type Flat struct {
	ID    int
	Title string
	Rooms int
	Rent  int
	Text  string
}

// Book is all offers.
type Book struct{ flats []Flat }

var words = strings.Fields("bright quiet balcony garden attic cellar lift parquet renovated kitchen bath station park school view south")

// Load makes a book of n flats.
func Load(n int) *Book {
	r := rand.New(rand.NewPCG(3, 9))
	b := &Book{}
	for i := range n {
		var t []string
		for range 24 {
			t = append(t, words[r.IntN(len(words))])
		}
		b.flats = append(b.flats, Flat{ID: i, Title: fmt.Sprintf("%s flat %d", t[0], i), Rooms: 1 + r.IntN(5), Rent: 400 + r.IntN(1600), Text: strings.Join(t, " ")})
	}
	return b
}

// Find gives the best flats for a wish.
func (b *Book) Find(rooms, rent int, wish string, limit int) []Flat {
	type hit struct {
		at    int
		score int
	}
	var hits []hit
	for i := range b.flats {
		f := &b.flats[i]
		if f.Rooms < rooms || f.Rent > rent {
			continue
		}
		hits = append(hits, hit{i, strings.Count(f.Text, wish)*100 - f.Rent/20})
	}
	slices.SortFunc(hits, func(a, b hit) int { return cmp.Compare(b.score, a.score) })
	var out []Flat
	for _, h := range hits[:min(limit, len(hits))] {
		out = append(out, b.flats[h.at])
	}
	return out
}
