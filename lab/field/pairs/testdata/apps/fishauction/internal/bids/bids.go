// Package bids checks the bids of a fish auction.
package bids

import (
	"errors"
	"sync"
)

// Bid is an offer for a crate.
type Bid struct {
	Crate   int      `json:"crate"`
	Buyer   string   `json:"buyer"`
	Cents   int      `json:"cents"`
	Species string   `json:"species"`
	Grade   string   `json:"grade"`
	Kilos   float64  `json:"kilos"`
	Vessel  string   `json:"vessel"`
	Notes   []string `json:"notes"`
}

// ErrLow is returned for a bid that is below the best one.
var ErrLow = errors.New("bids: below the best bid")

// Book has the best bid of each crate.
type Book struct {
	mu   sync.Mutex
	best map[int]int
}

// New returns an empty book.
func New() *Book { return &Book{best: map[int]int{}} }

// Accept takes a bid if it is the best for its crate.
func (b *Book) Accept(bid Bid) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if bid.Cents <= b.best[bid.Crate] {
		return ErrLow
	}
	b.best[bid.Crate] = bid.Cents
	return nil
}

// Close sells a crate and makes its number free.
func (b *Book) Close(crate int) int {
	b.mu.Lock()
	defer b.mu.Unlock()
	cents := b.best[crate]
	delete(b.best, crate)
	return cents
}
