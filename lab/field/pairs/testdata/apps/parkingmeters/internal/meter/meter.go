// Package meter has the meters of a street.
package meter

import (
	"sync"
	"time"
)

// A Caller is called when time is over.
type Caller interface{ Visit(place int) }

// A Receipt is what somebody gets for a coin.
type Receipt struct {
	Place int
	Until time.Time
	Line  [80]byte
}

type place struct {
	until   time.Time
	receipt *Receipt
	end     *time.Timer
}

// A Street has places with meters.
type Street struct {
	reset  bool
	caller Caller
	mu     sync.Mutex
	places []place
	paid   time.Duration
}

// NewStreet makes a street, whose timers may be put off.
func NewStreet(n int, c Caller, reset bool) *Street {
	return &Street{reset: reset, caller: c, places: make([]place, n)}
}

// Pay buys time on a place.
func (s *Street) Pay(n int, d time.Duration) *Receipt {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := &s.places[n]
	now := time.Now()
	if p.until.Before(now) {
		p.until = now
	}
	p.until = p.until.Add(d)
	if limit := now.Add(4 * time.Hour); p.until.After(limit) {
		p.until = limit
	}
	p.receipt = &Receipt{Place: n, Until: p.until}
	s.paid += d
	if s.reset && p.end != nil {
		p.end.Reset(p.until.Sub(now))
		return p.receipt
	}
	r := p.receipt
	p.end = time.AfterFunc(p.until.Sub(now), func() { s.over(n, r) })
	return p.receipt
}

// over calls the warden if nobody has paid since.
func (s *Street) over(n int, r *Receipt) {
	s.mu.Lock()
	ended := !s.places[n].until.After(time.Now())
	s.mu.Unlock()
	if ended {
		s.caller.Visit(r.Place)
	}
}

// Paid is the time that was bought.
func (s *Street) Paid() time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.paid
}
