// Package quote answers customers.
package quote

import (
	"context"
	"fmt"
	"slices"

	"lenscatalog/internal/pricing"
	"lenscatalog/internal/supplier"
)

// Desk makes quotes.
type Desk struct {
	Lab *supplier.Client
	Key []byte
}

// Quote is an offer.
type Quote struct {
	SKU   string
	Cents int
	Seal  string
}

// Make gives the offer for a customer.
func (d *Desk) Make(ctx context.Context, customer string, p pricing.Prescription, want string) (Quote, error) {
	l, err := d.Lab.First(ctx, "L"+customer, 12, func(l supplier.Lens) bool {
		return slices.Contains(l.Coatings, want) && pricing.Thickness(p, l.Index, 65) < 6
	})
	if err != nil {
		return Quote{}, fmt.Errorf("quote for %s: %w", customer, err)
	}
	total := pricing.Total(l.Cents, pricing.Thickness(p, l.Index, 65), 9900)
	return Quote{SKU: l.SKU, Cents: total, Seal: pricing.Seal(d.Key, customer, total)}, nil
}
