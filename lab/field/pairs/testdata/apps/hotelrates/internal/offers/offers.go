// Package offers ranks rates and signs what is shown.
package offers

import (
	"cmp"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"

	"hotelrates/internal/hotel"
)

// Offer is a rate that a guest may book.
type Offer struct {
	hotel.Rate
	Token string
}

var bonus = map[string]int{"none": 0, "breakfast": 1200, "half board": 3100, "full board": 4800}

// Best returns the n best offers, each with a token.
func Best(key []byte, id, night string, rates []hotel.Rate, n int) []Offer {
	rates = slices.DeleteFunc(slices.Clone(rates), func(r hotel.Rate) bool { return r.Left == 0 })
	slices.SortFunc(rates, func(a, b hotel.Rate) int {
		return cmp.Compare(a.Cents-bonus[a.Meals], b.Cents-bonus[b.Meals])
	})
	out := make([]Offer, 0, n)
	for _, r := range rates[:min(n, len(rates))] {
		m := hmac.New(sha256.New, key)
		fmt.Fprintf(m, "%s|%s|%s|%d|%s", id, night, r.Room, r.Cents, r.Meals)
		out = append(out, Offer{r, hex.EncodeToString(m.Sum(nil))})
	}
	return out
}
