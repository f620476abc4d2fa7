// Package cache keeps the profiles that were asked for last, within a budget of bytes.
package cache

import (
	"container/list"
	"sync"
)

// Cost says how much of the budget an entry takes.
type Cost func(key string, value []byte) int

// Bytes is the length of what is stored.
func Bytes(key string, value []byte) int { return len(value) }

// Full is the length with what the bookkeeping of an entry takes.
func Full(key string, value []byte) int { return len(value) + len(key) + 320 }

type entry struct {
	key   string
	value []byte
	cost  int
}

// Cache is safe for use by several goroutines.
type Cache struct {
	mu     sync.Mutex
	budget int
	used   int
	cost   Cost
	order  *list.List
	byKey  map[string]*list.Element
}

// New returns a cache with a budget in bytes.
func New(budget int, cost Cost) *Cache {
	return &Cache{budget: budget, cost: cost, order: list.New(), byKey: map[string]*list.Element{}}
}

// Get returns the value of a key.
func (c *Cache) Get(key string) ([]byte, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	el, ok := c.byKey[key]
	if !ok {
		return nil, false
	}
	c.order.MoveToFront(el)
	return el.Value.(*entry).value, true
}

// Set stores a value and drops the oldest ones above the budget.
func (c *Cache) Set(key string, value []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, ok := c.byKey[key]; ok {
		return
	}
	e := &entry{key: key, value: value, cost: c.cost(key, value)}
	c.byKey[key] = c.order.PushFront(e)
	c.used += e.cost
	for c.used > c.budget {
		el := c.order.Back()
		old := c.order.Remove(el).(*entry)
		delete(c.byKey, old.key)
		c.used -= old.cost
	}
}

// Use returns the number of entries and the used part of the budget.
func (c *Cache) Use() (entries, used int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.byKey), c.used
}
