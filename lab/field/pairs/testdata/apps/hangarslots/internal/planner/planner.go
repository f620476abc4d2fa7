// Package planner handles the orders of the maintenance companies.
package planner

import (
	"sync/atomic"

	"hangarslots/internal/manifest"
	"hangarslots/internal/slots"
)

// Planner books bays.
type Planner struct {
	store    *slots.Store
	key      []byte
	Booked   atomic.Int64
	Refused  atomic.Int64
	Answered atomic.Int64
}

// New books in store.
func New(store *slots.Store, key string) *Planner { return &Planner{store: store, key: []byte(key)} }

// Handle answers one order.
func (p *Planner) Handle(raw []byte) (int, error) {
	o, err := manifest.Read(raw)
	if err != nil {
		return -1, err
	}
	to := o.From + o.Hours*60
	c := manifest.Confirmation{Order: o, Slot: -1}
	if c.Taken = p.store.Conflicts(o.Bay, o.From, to); len(c.Taken) == 0 {
		id, err := p.store.Reserve(o.Bay, o.Tail, o.From, to)
		if err != nil {
			c.Error = err.Error()
		} else {
			c.Slot = id
		}
	}
	if c.Slot >= 0 {
		p.Booked.Add(1)
	} else {
		p.Refused.Add(1)
	}
	body, _, err := manifest.Sign(p.key, c)
	p.Answered.Add(int64(len(body)))
	return c.Slot, err
}
