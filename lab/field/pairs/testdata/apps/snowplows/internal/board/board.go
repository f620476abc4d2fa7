// Package board shows each plough its current order.
package board

import (
	"sync"

	"snowplows/internal/fleet"
)

type slot struct {
	order fleet.Order
	ready *sync.Cond
}

// Board has the orders of all ploughs.
type Board struct {
	mu     sync.Mutex
	slots  []slot
	closed bool
}

// New returns a board for n ploughs.
func New(n int, each bool) *Board {
	b := &Board{slots: make([]slot, n)}
	shared := sync.NewCond(&b.mu)
	for i := range b.slots {
		b.slots[i].ready = shared
		if each {
			b.slots[i].ready = sync.NewCond(&b.mu)
		}
	}
	return b
}

// Put replaces the order of a plough.
func (b *Board) Put(id int, o fleet.Order) int {
	b.mu.Lock()
	defer b.mu.Unlock()
	s := &b.slots[id]
	o.Version = s.order.Version + 1
	s.order = o
	s.ready.Broadcast()
	return o.Version
}

// Next waits for an order that is newer than a version.
func (b *Board) Next(id, version int) (fleet.Order, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	s := &b.slots[id]
	for s.order.Version <= version && !b.closed {
		s.ready.Wait()
	}
	return s.order, !b.closed
}

// Close ends all waits.
func (b *Board) Close() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.closed = true
	for i := range b.slots {
		b.slots[i].ready.Broadcast()
	}
}
