// Package exceptions keeps the readings that a clerk has to look at.
package exceptions

import (
	"sync"

	"concentrators/internal/wire"
)

// Book has the open exceptions by meter; a meter's exception is closed
// when a clean day comes in for it.
type Book struct {
	mu   sync.Mutex
	open map[string]*wire.Register
	seen int
}

// NewBook returns an empty book.
func NewBook() *Book {
	return &Book{open: make(map[string]*wire.Register)}
}

// Open opens an exception for the register's meter, or replaces it.
func (b *Book) Open(r *wire.Register) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.seen++
	b.open[r.Meter] = r
}

// OpenDay is Open for the register as it is now.
func (b *Book) OpenDay(r wire.Register) {
	b.Open(&r)
}

// Settle closes the meter's exception, if there is one.
func (b *Book) Settle(meter string) {
	b.mu.Lock()
	delete(b.open, meter)
	b.mu.Unlock()
}

// Count returns the open exceptions by kind.
func (b *Book) Count() (gaps, resets, tampers int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, r := range b.open {
		switch {
		case r.Flags&wire.FlagTamper != 0:
			tampers++
		case r.Flags&wire.FlagReset != 0:
			resets++
		default:
			gaps++
		}
	}
	return
}
