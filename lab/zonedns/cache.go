package main

import (
	"hash/maphash"
	"sync"
	"sync/atomic"
	"time"
)

// A cache keeps the records of names, as many as it may; the least recently
// used make room. It does not look at the time: that is for who asks.
type cache interface {
	get(cacheKey) *item // nil when it is not there
	put(cacheKey, *node, time.Time)
	close()
}

// A cacheKey is a name in a zone, or with a type and no zone a name of somebody else.
type cacheKey struct {
	zone, name string
	qtype      uint16
}

// An item is what is kept of one name. It is not changed but for its
// refreshing mark and the links.
type item struct {
	key        cacheKey
	node       *node // nil: the name was not there
	expires    time.Time
	refreshing atomic.Bool
	prev, next *item // in the order of use, guarded by who keeps that
}

func newCache(how string, entries, promotes int) cache {
	if how == "funnel" {
		return newFunnel(entries, promotes)
	}
	return newLRU(entries)
}

// An order is a ring of items from the most to the least recently used. Its
// zero value is not ready: see clear.
type order struct {
	root item
	size int
}

func (o *order) clear() { o.root.prev, o.root.next, o.size = &o.root, &o.root, 0 }

func (o *order) insert(it *item) {
	it.prev, it.next = &o.root, o.root.next
	it.prev.next, it.next.prev = it, it
	o.size++
}

func (o *order) remove(it *item) {
	it.prev.next, it.next.prev = it.next, it.prev
	it.prev, it.next = nil, nil
	o.size--
}

func (o *order) oldest() *item { return o.root.prev }

// has tells whether the item is linked: one that was removed is not.
func (o *order) has(it *item) bool { return it.next != nil }

// shards is how many locks the LRU has. Two readers then rarely meet at one.
const shards = 16

// An lru is shards of a map and an order, each with a lock of its own.
type lru struct {
	seed   maphash.Seed
	shards [shards]shard
}

type shard struct {
	mu      sync.Mutex
	entries int
	items   map[cacheKey]*item
	order   order
	_       [64]byte // the next shard's lock is in another cache line
}

func newLRU(entries int) *lru {
	c := &lru{seed: maphash.MakeSeed()}
	for i := range c.shards {
		s := &c.shards[i]
		s.entries, s.items = max((entries+shards-1)/shards, 1), map[cacheKey]*item{}
		s.order.clear()
	}
	return c
}

func (c *lru) shard(k cacheKey) *shard { return &c.shards[maphash.Comparable(c.seed, k)%shards] }

func (c *lru) get(k cacheKey) *item {
	s := c.shard(k)
	s.mu.Lock()
	defer s.mu.Unlock()
	it := s.items[k]
	if it != nil && s.order.root.next != it {
		s.order.remove(it)
		s.order.insert(it)
	}
	return it
}

func (c *lru) put(k cacheKey, n *node, expires time.Time) {
	s := c.shard(k)
	s.mu.Lock()
	defer s.mu.Unlock()
	if old := s.items[k]; old != nil {
		s.order.remove(old)
	} else if s.order.size >= s.entries {
		oldest := s.order.oldest()
		delete(s.items, oldest.key)
		s.order.remove(oldest)
	}
	it := &item{key: k, node: n, expires: expires}
	s.items[k] = it
	s.order.insert(it)
}

func (*lru) close() {}

// A funnel keeps the order in one goroutine, which every hit tells about
// through one channel; when that is full, the one who asked waits. The cache
// library of the story did so at the time.
type funnel struct {
	entries  int
	mu       sync.RWMutex
	items    map[cacheKey]*item
	promotes chan *item
	done     chan struct{}
	ended    chan struct{}
	order    order // of the goroutine alone
}

func newFunnel(entries, length int) *funnel {
	f := &funnel{entries: entries, items: map[cacheKey]*item{}, promotes: make(chan *item, length), done: make(chan struct{}), ended: make(chan struct{})}
	f.order.clear()
	go f.promote()
	return f
}

func (f *funnel) get(k cacheKey) *item {
	f.mu.RLock()
	it := f.items[k]
	f.mu.RUnlock()
	if it != nil {
		f.tell(it)
	}
	return it
}

func (f *funnel) put(k cacheKey, n *node, expires time.Time) {
	it := &item{key: k, node: n, expires: expires}
	f.mu.Lock()
	f.items[k] = it
	f.mu.Unlock()
	f.tell(it)
}

func (f *funnel) tell(it *item) {
	select {
	case f.promotes <- it:
	case <-f.done:
	}
}

// promote is the one who knows the order.
func (f *funnel) promote() {
	defer close(f.ended)
	for {
		select {
		case it := <-f.promotes:
			f.moveToFront(it)
		case <-f.done:
			return
		}
	}
}

func (f *funnel) moveToFront(it *item) {
	if f.order.has(it) {
		f.order.remove(it)
	}
	f.order.insert(it)
	for f.order.size > f.entries {
		oldest := f.order.oldest()
		f.order.remove(oldest)
		f.mu.Lock()
		if f.items[oldest.key] == oldest {
			delete(f.items, oldest.key)
		}
		f.mu.Unlock()
	}
}

func (f *funnel) close() {
	close(f.done)
	<-f.ended
}
