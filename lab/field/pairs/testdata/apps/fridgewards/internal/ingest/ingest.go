// Package ingest routes batches of readings to the collectors that own them.
package ingest

import (
	"hash/fnv"

	"fridgewards/internal/readings"
	"fridgewards/internal/ring"
)

// Distributor spreads readings.
type Distributor struct {
	ring  *ring.Ring
	store *readings.Store
}

// New returns a distributor.
func New(r *ring.Ring, s *readings.Store) *Distributor {
	return &Distributor{ring: r, store: s}
}

// Push takes the body of one batch.
func (d *Distributor) Push(body []byte) error {
	b, err := readings.Decode(body)
	if err != nil {
		return err
	}
	var buf [4]ring.Instance
	for _, r := range b.Readings {
		h := fnv.New32a()
		h.Write([]byte(b.Gateway))
		h.Write([]byte(r.Fridge))
		owners := d.ring.Get(h.Sum32(), 3, buf[:0])
		for _, o := range owners {
			d.store.Add(o.Addr, r)
		}
	}
	return nil
}
