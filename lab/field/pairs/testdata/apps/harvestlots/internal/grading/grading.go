// Package grading decides on the grade and the price of a lot.
package grading

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"

	"harvestlots/internal/lots"
	"harvestlots/internal/scope"
)

// Receipt is what the farmer gets.
type Receipt struct {
	Grade string
	Price float64
	Text  string
	Seal  string
}

func grade(s lots.Sample) string {
	switch {
	case s.Moisture > 15.5:
		return "feed"
	case s.Protein > 12.5 && s.Broken < 2:
		return "elite"
	case s.Protein > 11:
		return "bread"
	}
	return "standard"
}

// Grade values a lot by its samples.
func Grade(ctx context.Context, l lots.Lot) Receipt {
	var r Receipt
	count := map[string]int{}
	share := l.Tonnes / float64(len(l.Samples))
	for _, s := range l.Samples {
		g := grade(s)
		count[g]++
		r.Price += share * scope.Price(ctx, g)
	}
	for _, g := range []string{"elite", "bread", "standard", "feed"} {
		if count[g] > count[r.Grade] {
			r.Grade = g
		}
	}
	var sb strings.Builder
	scope.Line(&sb, ctx)
	fmt.Fprintf(&sb, " farm=%s tonnes=%.2f grade=%s price=%.2f", l.Farm, l.Tonnes, r.Grade, r.Price)
	r.Text = sb.String()
	sum := sha256.Sum256([]byte(r.Text))
	r.Seal = hex.EncodeToString(sum[:8])
	return r
}
