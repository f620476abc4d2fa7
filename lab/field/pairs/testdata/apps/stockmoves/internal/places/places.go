// Package places knows what lies where.
package places

import (
	"errors"
	"sync"
)

// ErrTooFew says that there are not as many pieces.
var ErrTooFew = errors.New("too few pieces")

// A Stock is the pieces at each place.
type Stock struct {
	mu     sync.Mutex
	pieces []int
}

// NewStock puts as many pieces at each place.
func NewStock(places, each int) *Stock {
	s := &Stock{pieces: make([]int, places)}
	for i := range s.pieces {
		s.pieces[i] = each
	}
	return s
}

// Move moves pieces and returns how many are left where they came from.
func (s *Stock) Move(from, to, amount int) (left int, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.pieces[from] < amount {
		return s.pieces[from], ErrTooFew
	}
	s.pieces[from] -= amount
	s.pieces[to] += amount
	return s.pieces[from], nil
}

// Total is all pieces.
func (s *Stock) Total() (n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, p := range s.pieces {
		n += p
	}
	return n
}
