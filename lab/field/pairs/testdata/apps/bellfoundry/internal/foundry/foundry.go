// Package foundry casts bells to order.
package foundry

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"bellfoundry/internal/lease"
	"bellfoundry/internal/moulds"
)

// Order asks for a bell.
type Order struct {
	Mould string
	Tin   float64
}

// Ticket is the answer to an order.
type Ticket struct {
	Number int64
	Size   int
	Stamp  string
}

// Foundry owns the moulds.
type Foundry struct {
	leases *lease.Client
	moulds map[string]*moulds.Mould
	furn   furnace
	number atomic.Int64
}

// New makes a foundry with n moulds.
func New(leases *lease.Client, n int) *Foundry {
	f := &Foundry{leases: leases, moulds: map[string]*moulds.Mould{}}
	for i := range n {
		name := Name(i)
		f.moulds[name] = moulds.New(name, 110*float64(i+1))
	}
	return f
}

// Name is the name of the i-th mould.
func Name(i int) string { return fmt.Sprintf("mould-%02d", i) }

// Cast casts one bell; a mould is in use by one order at a time.
func (f *Foundry) Cast(ctx context.Context, o Order) (Ticket, error) {
	m, ok := f.moulds[o.Mould]
	if !ok {
		return Ticket{}, fmt.Errorf("foundry: no %s", o.Mould)
	}
	l, err := f.leases.Acquire(ctx, o.Mould)
	if err != nil {
		return Ticket{}, err
	}
	defer f.leases.Table.Release(l)
	m.Shape(o.Tin)
	f.furn.reserve(ctx, 4*time.Millisecond)
	b, stamp, err := m.Drawing()
	if err != nil {
		return Ticket{}, err
	}
	return Ticket{Number: f.number.Add(1), Size: len(b), Stamp: fmt.Sprintf("%x", stamp[:6])}, nil
}

type furnace struct {
	mu   sync.Mutex
	heat int
}

func (f *furnace) reserve(ctx context.Context, d time.Duration) {
	f.mu.Lock()
	f.heat++
	f.mu.Unlock()
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}
