// Package rates keeps rates while they are good.
package rates

import (
	"context"
	"sync"
	"time"
)

// A Source knows rates.
type Source interface {
	Ask(ctx context.Context, currency string) (float64, error)
}

type rate struct {
	mu    sync.Mutex
	value float64
	until time.Time
}

// A Board keeps the rate of each currency.
type Board struct {
	source Source
	fresh  time.Duration
	apart  bool
	mu     sync.Mutex
	rates  map[string]*rate
}

// NewBoard keeps what a source says for a time.
func NewBoard(s Source, fresh time.Duration, apart bool) *Board {
	return &Board{source: s, fresh: fresh, apart: apart, rates: map[string]*rate{}}
}

func (b *Board) entry(currency string) *rate {
	r := b.rates[currency]
	if r == nil {
		r = &rate{}
		b.rates[currency] = r
	}
	return r
}

func (b *Board) load(ctx context.Context, r *rate, currency string) (float64, error) {
	if time.Now().Before(r.until) {
		return r.value, nil
	}
	v, err := b.source.Ask(ctx, currency)
	if err == nil {
		r.value, r.until = v, time.Now().Add(b.fresh)
	}
	return v, err
}

// Rate is the rate of a currency.
func (b *Board) Rate(ctx context.Context, currency string) (float64, error) {
	b.mu.Lock()
	r := b.entry(currency)
	if !b.apart {
		defer b.mu.Unlock()
		return b.load(ctx, r, currency)
	}
	b.mu.Unlock()
	r.mu.Lock()
	defer r.mu.Unlock()
	return b.load(ctx, r, currency)
}
