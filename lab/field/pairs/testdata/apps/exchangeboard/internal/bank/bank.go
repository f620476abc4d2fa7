// Package bank stands for the bank, which takes a while.
package bank

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"
)

var currencies = []string{"CHF", "EUR", "USD", "GBP", "JPY", "SEK", "NOK", "DKK", "PLN", "CZK", "HUF", "TRY"}

// Pick is any currency.
func Pick() string { return currencies[rand.IntN(len(currencies))] }

// A Bank knows rates.
type Bank struct{ Think time.Duration }

// Ask asks for a rate.
func (b Bank) Ask(ctx context.Context, currency string) (float64, error) {
	select {
	case <-time.After(b.Think):
		return 0.5 + rand.Float64(), nil
	case <-ctx.Done():
		return 0, fmt.Errorf("asking for %s: %w", currency, ctx.Err())
	}
}
