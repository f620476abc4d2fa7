package main

import "sync"

// A cache keeps the values that were asked for last, as many as have room.
type cache struct {
	mu         sync.Mutex
	entries    map[string]*entry
	ring       entry // next is the newest, prev the oldest
	size, most int
}

type entry struct {
	key        string
	value      []byte
	prev, next *entry
}

func newCache(most int) *cache {
	c := &cache{entries: map[string]*entry{}, most: most}
	c.ring.prev, c.ring.next = &c.ring, &c.ring
	return c
}

func (e *entry) unlink() { e.prev.next, e.next.prev = e.next, e.prev }

func (c *cache) front(e *entry) {
	e.prev, e.next = &c.ring, c.ring.next
	e.prev.next, e.next.prev = e, e
}

func (c *cache) get(key string) ([]byte, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e, ok := c.entries[key]
	if !ok {
		return nil, false
	}
	e.unlink()
	c.front(e)
	return e.value, true
}

func (c *cache) add(key string, value []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, ok := c.entries[key]; ok {
		return
	}
	e := &entry{key: key, value: value}
	c.entries[key] = e
	c.front(e)
	for c.size += len(value); c.size > c.most; {
		oldest := c.ring.prev
		oldest.unlink()
		delete(c.entries, oldest.key)
		c.size -= len(oldest.value)
	}
}

func (c *cache) len() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.entries)
}
