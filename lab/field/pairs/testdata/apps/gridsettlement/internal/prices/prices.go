// Package prices keeps the cleared prices of the blocks.
package prices

import (
	"sync"
	"time"

	"gridsettlement/internal/market"
)

// Block is the length of a block.
const Block = 15 * time.Minute

type key struct {
	area  string
	block time.Time
}

// Cache keeps the prices of the last blocks asked for.
type Cache struct {
	book *market.Book
	max  int
	slot func(time.Time) time.Time

	mu     sync.RWMutex
	prices map[key]market.Price
}

// NewCache returns a cache of at most max prices of book.
func NewCache(book *market.Book, max int, v2 bool) *Cache {
	c := &Cache{book: book, max: max, slot: slot, prices: make(map[key]market.Price)}
	if v2 {
		c.slot = slotUTC
	}
	return c
}

// slot returns the beginning of the block that t is in.
func slot(t time.Time) time.Time { return t.Truncate(Block) }

func slotUTC(t time.Time) time.Time { return t.UTC().Truncate(Block) }

// At returns the price of the block that t is in.
func (c *Cache) At(area string, t time.Time) market.Price {
	k := key{area, c.slot(t)}
	c.mu.RLock()
	p, ok := c.prices[k]
	c.mu.RUnlock()
	if ok {
		return p
	}
	p = c.book.Clear(area, t)
	c.mu.Lock()
	if len(c.prices) >= c.max {
		clear(c.prices)
	}
	c.prices[k] = p
	c.mu.Unlock()
	return p
}
