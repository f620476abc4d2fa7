// Package auction keeps the highest bid for each lot while bids come in.
package auction

import "sync"

// A Bid is what somebody offers.
type Bid struct{ Bidder, Cents int }

// Bids takes bids from many bidders at once.
type Bids interface {
	Bid(lot int, b Bid) bool
	Highest(lot int) Bid
}

type concurrent struct{ lots sync.Map }

// NewConcurrent keeps bids in a concurrent map.
func NewConcurrent() Bids { return &concurrent{} }

func (c *concurrent) Bid(lot int, b Bid) bool {
	for {
		old, ok := c.lots.Load(lot)
		if !ok {
			if _, there := c.lots.LoadOrStore(lot, b); !there {
				return true
			}
			continue
		}
		if old.(Bid).Cents >= b.Cents {
			return false
		}
		if c.lots.CompareAndSwap(lot, old, b) {
			return true
		}
	}
}

func (c *concurrent) Highest(lot int) Bid {
	b, ok := c.lots.Load(lot)
	if !ok {
		return Bid{}
	}
	return b.(Bid)
}

const halls = 16

type locked struct {
	halls [halls]struct {
		sync.Mutex
		lots map[int]Bid
	}
}

// NewLocked keeps bids in maps with a lock each.
func NewLocked() Bids {
	l := &locked{}
	for i := range l.halls {
		l.halls[i].lots = map[int]Bid{}
	}
	return l
}

func (l *locked) Bid(lot int, b Bid) bool {
	h := &l.halls[lot%halls]
	h.Lock()
	defer h.Unlock()
	if h.lots[lot].Cents >= b.Cents {
		return false
	}
	h.lots[lot] = b
	return true
}

func (l *locked) Highest(lot int) Bid {
	h := &l.halls[lot%halls]
	h.Lock()
	defer h.Unlock()
	return h.lots[lot]
}
