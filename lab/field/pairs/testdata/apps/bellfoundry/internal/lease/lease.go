// Package lease grants leases of named things to one holder at a time.
package lease

import (
	"context"
	"errors"
	"sync"
	"time"
)

// ErrHeld is returned while somebody else has the lease.
var ErrHeld = errors.New("lease: held")

// Lease is the right to use a thing until it is released or expires.
type Lease struct {
	name   string
	holder int64
	until  time.Time
	freed  chan struct{}
}

// Table is the list of leases.
type Table struct {
	mu   sync.Mutex
	next int64
	held map[string]*Lease
	ttl  time.Duration
}

// NewTable makes a table whose leases expire after ttl.
func NewTable(ttl time.Duration) *Table {
	return &Table{held: map[string]*Lease{}, ttl: ttl}
}

// Try takes a lease, or returns the one which is in the way.
func (t *Table) Try(name string) (*Lease, *Lease, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	now := time.Now()
	if l, ok := t.held[name]; ok {
		if now.Before(l.until) {
			return nil, l, ErrHeld
		}
		close(l.freed)
	}
	t.next++
	l := &Lease{name: name, holder: t.next, until: now.Add(t.ttl), freed: make(chan struct{})}
	t.held[name] = l
	return l, nil, nil
}

// Release gives a lease back.
func (t *Table) Release(l *Lease) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if cur, ok := t.held[l.name]; ok && cur.holder == l.holder {
		delete(t.held, l.name)
		close(l.freed)
	}
}

// Client takes leases on behalf of callers.
type Client struct {
	Table  *Table
	Delay  time.Duration
	Notify bool
}

// Acquire takes the lease as soon as it can be had.
func (c *Client) Acquire(ctx context.Context, name string) (*Lease, error) {
	for {
		l, other, err := c.Table.Try(name)
		if !errors.Is(err, ErrHeld) {
			return l, err
		}
		if err := c.pause(ctx, other); err != nil {
			return nil, err
		}
	}
}

func (c *Client) pause(ctx context.Context, other *Lease) error {
	var freed <-chan struct{}
	d := c.Delay
	if c.Notify {
		freed = other.freed
		d = time.Until(other.until)
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-freed:
		return nil
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
