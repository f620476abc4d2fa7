// Package rank merges the offers of operators.
package rank

import (
	"cmp"
	"encoding/json"
	"math"
	"slices"

	"holidayrates/internal/search"
	"holidayrates/internal/supplier"
)

type key struct{ hotel, room, board string }

// Merge keeps the cheapest offer for each room and returns the best n.
func Merge(answers []search.Answer, n int) []supplier.Offer {
	cheapest := make(map[key]supplier.Offer)
	for _, a := range answers {
		if a.Err != nil {
			continue
		}
		var list []supplier.Offer
		if json.Unmarshal(a.Doc, &list) != nil {
			continue
		}
		for _, o := range list {
			k := key{o.Hotel, o.Room, o.Board}
			if old, ok := cheapest[k]; !ok || o.Cents < old.Cents {
				cheapest[k] = o
			}
		}
	}
	all := make([]supplier.Offer, 0, len(cheapest))
	for _, o := range cheapest {
		all = append(all, o)
	}
	slices.SortFunc(all, func(a, b supplier.Offer) int {
		return cmp.Or(cmp.Compare(score(b), score(a)), cmp.Compare(a.Hotel, b.Hotel))
	})
	return all[:min(n, len(all))]
}

func score(o supplier.Offer) float64 {
	s := o.Stars*14 - math.Log(float64(o.Cents))*6
	if o.Board == "AI" {
		s += 5
	}
	return s + float64(len(o.Tags))
}
