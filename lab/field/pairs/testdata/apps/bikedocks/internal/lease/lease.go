// Package lease holds a bicycle for who is on the way to it.
package lease

import (
	"sync"
	"time"
)

// Lease is a held bicycle.
type Lease struct {
	Bike    int
	mu      sync.Mutex
	until   time.Time
	ended   bool
	timer   *time.Timer
	Expired func(*Lease)
}

// Desk has all leases.
type Desk struct {
	grain time.Duration
	mu    sync.Mutex
	live  map[int]*Lease
}

// NewDesk returns a desk that sees the end of a lease to within grain. When
// swept it looks at all of them in turn.
func NewDesk(grain time.Duration, swept bool) *Desk {
	d := &Desk{grain: grain, live: map[int]*Lease{}}
	if swept {
		go d.sweep()
		d.grain = 0
	}
	return d
}

// Hold takes a lease; its end is put off by each Renew.
func (d *Desk) Hold(bike int, ttl time.Duration, expired func(*Lease)) *Lease {
	l := &Lease{Bike: bike, until: time.Now().Add(ttl), Expired: expired}
	d.mu.Lock()
	d.live[bike] = l
	d.mu.Unlock()
	if d.grain > 0 {
		l.mu.Lock()
		l.timer = time.AfterFunc(d.grain, func() { d.check(l) })
		l.mu.Unlock()
	}
	return l
}

// Renew puts the end of a lease off. It is false when the lease has ended.
func (l *Lease) Renew(ttl time.Duration) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ended {
		return false
	}
	l.until = time.Now().Add(ttl)
	return true
}

func (l *Lease) over(now time.Time) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ended || now.Before(l.until) {
		return l.ended
	}
	l.ended = true
	l.Expired(l)
	return true
}

func (d *Desk) check(l *Lease) {
	if l.over(time.Now()) {
		d.drop(l)
		return
	}
	l.mu.Lock()
	l.timer.Reset(d.grain)
	l.mu.Unlock()
}

func (d *Desk) drop(l *Lease) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.live[l.Bike] == l {
		delete(d.live, l.Bike)
	}
}

func (d *Desk) sweep() {
	for now := range time.Tick(250 * time.Millisecond) {
		d.mu.Lock()
		for bike, l := range d.live {
			if l.over(now) {
				delete(d.live, bike)
			}
		}
		d.mu.Unlock()
	}
}

// Live returns the number of leases.
func (d *Desk) Live() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return len(d.live)
}
