// Package cache keeps values, the newest of them.
package cache

import "sync"

// A Cache has room for a number of values.
type Cache struct {
	mu    sync.Mutex
	limit int
	all   map[string]float64
	order []string
}

// New makes an empty cache.
func New(limit int) *Cache { return &Cache{limit: limit, all: map[string]float64{}} }

// Get finds a value.
func (c *Cache) Get(key string) (float64, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	v, ok := c.all[key]
	return v, ok
}

// Put keeps a value in place of the oldest.
func (c *Cache) Put(key string, v float64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, ok := c.all[key]; !ok {
		c.order = append(c.order, key)
	}
	c.all[key] = v
	if len(c.order) > c.limit {
		delete(c.all, c.order[0])
		c.order = c.order[1:]
	}
}
