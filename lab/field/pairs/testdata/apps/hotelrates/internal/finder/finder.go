// Package finder answers guests.
package finder

import (
	"context"
	"fmt"

	"hotelrates/internal/offers"
	"hotelrates/internal/upstream"
)

// Finder finds offers.
type Finder struct {
	Upstream *upstream.Client
	Key      []byte
}

// Find returns the best offers of a hotel for a stay.
func (f *Finder) Find(ctx context.Context, hotel, from, nights int) (best []offers.Offer, err error) {
	id := fmt.Sprint("H", hotel)
	for n := range nights {
		night := fmt.Sprintf("2026-%02d-%02d", 1+(from+n)/28%12, 1+(from+n)%28)
		rates, err := f.Upstream.Rates(ctx, id, night)
		if err != nil {
			return nil, fmt.Errorf("finder: %s on %s: %w", id, night, err)
		}
		best = append(best, offers.Best(f.Key, id, night, rates, 12)...)
	}
	return best, nil
}
