// Package pricebook has the prices of articles.
package pricebook

import "sync"

// A Book may be read and changed at once.
type Book struct {
	mu    sync.RWMutex
	cents []int
}

// New makes prices up.
func New(articles int) *Book {
	b := &Book{cents: make([]int, articles)}
	for i := range b.cents {
		b.cents[i] = 100 + i*31%5000
	}
	return b
}

// Set sets a price.
func (b *Book) Set(article, cents int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.cents[article] = cents
}

// Cents is the price of an article, 0 when there is none.
func (b *Book) Cents(article int) int {
	b.mu.RLock()
	defer b.mu.RUnlock()
	return b.get(article)
}

func (b *Book) get(article int) int {
	if article < 0 || article >= len(b.cents) {
		return 0
	}
	return b.cents[article]
}

// Total is the price of articles together.
func (b *Book) Total(articles []int) (sum int) {
	b.mu.RLock()
	defer b.mu.RUnlock()
	for _, a := range articles {
		sum += b.get(a)
	}
	return sum
}
