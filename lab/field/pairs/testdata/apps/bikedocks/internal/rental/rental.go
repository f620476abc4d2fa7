// Package rental lets riders find, hold and take bicycles.
package rental

import (
	"fmt"
	"math/rand/v2"
	"sync/atomic"
	"time"

	"bikedocks/internal/dock"
	"bikedocks/internal/fare"
	"bikedocks/internal/lease"
)

// Office serves riders.
type Office struct {
	Docks   []dock.Dock
	Desk    *lease.Desk
	Key     []byte
	TTL     time.Duration
	held    []atomic.Pointer[lease.Lease]
	Expired atomic.Int64
	Bytes   int
}

// Open gives the office its bicycles and holds those already asked for.
func (o *Office) Open(bikes int) {
	o.held = make([]atomic.Pointer[lease.Lease], bikes)
	for i := range bikes {
		o.hold(i)
	}
}

func (o *Office) hold(bike int) {
	ttl := o.TTL + time.Duration(bike%1000)*o.TTL/1000
	o.held[bike].Store(o.Desk.Hold(bike, ttl, func(*lease.Lease) { o.Expired.Add(1) }))
}

// Serve answers a rider: the phone says where it is and the lease goes on.
func (o *Office) Serve(rng *rand.Rand) error {
	bike := rng.IntN(len(o.held))
	near := dock.Nearest(o.Docks, 59.85+rng.Float64()/8, 10.6+rng.Float64()/4, 5)
	t := fare.Ticket{Bike: bike, Cents: 190 + rng.IntN(900), Rider: fmt.Sprintf("R%06d", rng.IntN(1e6))}
	for _, d := range near {
		t.Docks = append(t.Docks, d.ID)
	}
	s, err := fare.Seal(o.Key, t)
	if err != nil {
		return err
	}
	o.Bytes += len(s)
	if !o.held[bike].Load().Renew(o.TTL) {
		o.hold(bike)
	}
	return nil
}
