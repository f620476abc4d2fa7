// Package members keeps the list of collectors and spreads its changes.
package members

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"sync"
	"time"

	"fridgewards/internal/ring"
)

// List is the shared member list.
type List struct {
	mu      sync.Mutex
	current ring.Desc
	watcher func(ring.Desc)
}

// NewList returns an empty list that calls watcher after each change.
func NewList(watcher func(ring.Desc)) *List {
	return &List{current: ring.Desc{Instances: map[string]ring.Instance{}}, watcher: watcher}
}

func (l *List) change(f func(d ring.Desc)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	next := ring.Desc{Instances: maps.Clone(l.current.Instances)}
	f(next)
	l.current = next
	l.watcher(next)
}

// Collector is one instance that joins the list.
type Collector struct {
	id   string
	list *List
}

// Join adds a collector with the given number of tokens.
func Join(l *List, n, tokens int) *Collector {
	rng := rand.New(rand.NewPCG(uint64(n), 77))
	in := ring.Instance{
		Addr: fmt.Sprintf("10.4.%d.%d:9400", n/250, n%250),
		Zone: fmt.Sprintf("ward-%c", 'a'+n%3),
	}
	for range tokens {
		in.Tokens = append(in.Tokens, rng.Uint32())
	}
	c := &Collector{id: fmt.Sprintf("collector-%02d", n), list: l}
	l.change(func(d ring.Desc) { d.Instances[c.id] = in })
	return c
}

// Run renews the collector's registration until ctx ends.
func (c *Collector) Run(ctx context.Context, every time.Duration) {
	t := time.NewTicker(every)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case now := <-t.C:
			c.list.change(func(d ring.Desc) {
				in := d.Instances[c.id]
				in.Heartbeat = now.UnixMilli()
				d.Instances[c.id] = in
			})
		}
	}
}
