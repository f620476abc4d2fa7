// Package recent keeps the values that were used last.
package recent

import (
	"container/list"
	"sync"
	"time"
)

type item[V any] struct {
	key   string
	value V
	used  time.Time
	at    *list.Element
}

// Cache holds at most size values.
type Cache[V any] struct {
	mu      sync.Mutex
	size    int
	items   map[string]*item[V]
	order   *list.List
	hits    int64
	misses  int64
	evicted int64
}

// New returns an empty cache; ordered selects the list.
func New[V any](size int, ordered bool) *Cache[V] {
	c := &Cache[V]{size: size, items: make(map[string]*item[V], size)}
	if ordered {
		c.order = list.New()
	}
	return c
}

func (c *Cache[V]) touch(it *item[V]) {
	if c.order != nil {
		if it.at == nil {
			it.at = c.order.PushFront(it)
		} else {
			c.order.MoveToFront(it.at)
		}
		return
	}
	it.used = time.Now()
}

// Get returns the value of key.
func (c *Cache[V]) Get(key string) (V, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	it, ok := c.items[key]
	if !ok {
		c.misses++
		var none V
		return none, false
	}
	c.hits++
	c.touch(it)
	return it.value, true
}

// Put stores a value and makes room for it.
func (c *Cache[V]) Put(key string, v V) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if it, ok := c.items[key]; ok {
		it.value = v
		c.touch(it)
		return
	}
	for len(c.items) >= c.size {
		c.evict()
	}
	it := &item[V]{key: key, value: v}
	c.touch(it)
	c.items[key] = it
}

func (c *Cache[V]) evict() {
	c.evicted++
	if c.order != nil {
		it := c.order.Remove(c.order.Back()).(*item[V])
		delete(c.items, it.key)
		return
	}
	var oldest *item[V]
	for _, it := range c.items {
		if oldest == nil || it.used.Before(oldest.used) {
			oldest = it
		}
	}
	delete(c.items, oldest.key)
}

// Stats returns the counters.
func (c *Cache[V]) Stats() (hits, misses, evicted int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.hits, c.misses, c.evicted
}
