// Package tariff keeps the tariffs and their compiled formulas.
package tariff

import (
	"fmt"
	"sync"

	"quarryweigh/internal/formula"
)

// Tariff prices one kind of stone for one customer group.
type Tariff struct {
	ID      string
	Version int
	Price   string
	Levy    string
}

// Store holds the tariffs in force.
type Store struct {
	mu   sync.RWMutex
	rows map[string]Tariff
}

// NewStore fills a store for the given materials.
func NewStore(materials, groups int) *Store {
	s := &Store{rows: map[string]Tariff{}}
	for m := range materials {
		for g := range groups {
			id := fmt.Sprintf("m%02d/g%d", m, g)
			s.rows[id] = Tariff{
				ID:      id,
				Version: 1,
				Price:   fmt.Sprintf("max(%d.50, (gross - tare) / 1000 * (%d.25 - %d * 0.15) + min(distance * 0.%02d, 40) - (gross - tare) / 1000 * moisture * 0.3) * (1 + vat)", 20+m, 9+m%7, g, 12+m),
				Levy:    fmt.Sprintf("(gross - tare) / 1000 * 2.%02d + max(0, axles - 3) * 1.75 + min(moisture * %d, 6)", m, 10+g),
			}
		}
	}
	return s
}

// Get returns a copy, so that callers may not change the store's tariff.
func (s *Store) Get(id string) (*Tariff, bool) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	t, ok := s.rows[id]
	return &t, ok
}

// Compiled is a tariff with formulas that are ready to run.
type Compiled struct {
	Price, Levy formula.Node
}

// Cache keeps the compiled tariffs.
type Cache struct {
	mu      sync.Mutex
	entries map[any]*Compiled
	limit   int
	byName  bool
}

// NewCache returns a cache of at most limit tariffs.
func NewCache(limit int, byName bool) *Cache {
	return &Cache{entries: map[any]*Compiled{}, limit: limit, byName: byName}
}

type nameKey struct {
	id      string
	version int
}

// Compiled returns the compiled form of t.
func (c *Cache) Compiled(t *Tariff) (*Compiled, error) {
	var key any = t
	if c.byName {
		key = nameKey{t.ID, t.Version}
	}
	c.mu.Lock()
	e, ok := c.entries[key]
	c.mu.Unlock()
	if ok {
		return e, nil
	}
	price, err := formula.Compile(t.Price)
	if err != nil {
		return nil, err
	}
	levy, err := formula.Compile(t.Levy)
	if err != nil {
		return nil, err
	}
	e = &Compiled{Price: price, Levy: levy}
	c.mu.Lock()
	if len(c.entries) >= c.limit {
		clear(c.entries)
	}
	c.entries[key] = e
	c.mu.Unlock()
	return e, nil
}
