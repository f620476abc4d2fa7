// Package plant hands quotes to whoever has subscribed.
package plant

import (
	"fmt"
	"sync/atomic"

	"tickerplant/internal/quote"
)

// A Delivery is what subscribers get.
type Delivery string

// The deliveries.
const (
	Every  Delivery = "every"  // each quote
	Latest Delivery = "latest" // the newest quote of each symbol that they have not seen
)

// A Desk works on quotes.
type Desk interface {
	Name() string
	On(quote.Quote)
	Summary() string
}

// A Subscription is how a desk gets quotes.
type Subscription interface {
	Next() (quote.Quote, bool)
	offer(quote.Quote)
	end()
}

// A Plant publishes.
type Plant struct {
	delivery  Delivery
	subs      []Subscription
	published atomic.Int64
}

// New makes a plant.
func New(d Delivery) (*Plant, error) {
	if d != Every && d != Latest {
		return nil, fmt.Errorf("plant: no delivery is called %q", d)
	}
	return &Plant{delivery: d}, nil
}

// Subscribe makes a subscription, before Run.
func (p *Plant) Subscribe(name string) Subscription {
	var s Subscription = newQueue(name)
	if p.delivery == Latest {
		s = newBoard(name)
	}
	p.subs = append(p.subs, s)
	return s
}

// Run publishes a feed until it ends.
func (p *Plant) Run(feed <-chan quote.Quote) {
	for q := range feed {
		for _, s := range p.subs {
			s.offer(q)
		}
		p.published.Add(1)
	}
	for _, s := range p.subs {
		s.end()
	}
}

// Published is how many quotes were.
func (p *Plant) Published() int64 { return p.published.Load() }

// Serve gives a desk what its subscription has, until that ends.
func Serve(s Subscription, d Desk) {
	for {
		q, ok := s.Next()
		if !ok {
			return
		}
		d.On(q)
	}
}
