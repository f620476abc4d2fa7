// Package shard is a cache in parts, each with a lock of its own. What is missing is loaded
// once, however many ask for it. Of a key with braces only what is in them chooses the part,
// so that keys which are dropped together can be kept together.
package shard

import (
	"container/list"
	"hash/fnv"
	"strings"
	"sync"
)

type entry struct {
	key   string
	value []byte
}

type part struct {
	mu    sync.Mutex
	items map[string]*list.Element
	order *list.List
	bytes int
}

// A Cache is safe for concurrent use.
type Cache struct {
	parts []part
	limit int
}

// New returns a cache of some parts that may hold so many bytes together.
func New(parts, limit int) *Cache {
	c := &Cache{parts: make([]part, parts), limit: limit / parts}
	for i := range c.parts {
		c.parts[i].items = map[string]*list.Element{}
		c.parts[i].order = list.New()
	}
	return c
}

// tag returns what of a key chooses its part.
func tag(key string) string {
	if _, rest, ok := strings.Cut(key, "{"); ok {
		if t, _, ok := strings.Cut(rest, "}"); ok && t != "" {
			return t
		}
	}
	return key
}

func (c *Cache) part(key string) *part {
	h := fnv.New32a()
	h.Write([]byte(tag(key)))
	return &c.parts[h.Sum32()%uint32(len(c.parts))]
}

// Get returns the value of a key, which is loaded if it is not there.
func (c *Cache) Get(key string, load func() ([]byte, error)) (value []byte, hit bool, err error) {
	p := c.part(key)
	p.mu.Lock()
	defer p.mu.Unlock()
	if e, ok := p.items[key]; ok {
		p.order.MoveToFront(e)
		return e.Value.(*entry).value, true, nil
	}
	value, err = load()
	if err != nil {
		return nil, false, err
	}
	p.items[key] = p.order.PushFront(&entry{key, value})
	p.bytes += len(value)
	for p.bytes > c.limit && p.order.Len() > 1 {
		last := p.order.Remove(p.order.Back()).(*entry)
		delete(p.items, last.key)
		p.bytes -= len(last.value)
	}
	return value, false, nil
}
