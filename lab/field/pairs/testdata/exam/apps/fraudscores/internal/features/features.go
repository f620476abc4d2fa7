// Package features is the store of what is known about cards, merchants and devices.
package features

import (
	"context"
	"hash/fnv"
	"time"
)

// Width is how many numbers are known of a key.
const Width = 48

// A Vector is what is known of a key.
type Vector [Width]float64

// A Store answers for many keys at once.
type Store struct{ takes time.Duration }

// NewStore makes a store, which takes so long for an answer.
func NewStore(takes time.Duration) *Store { return &Store{takes: takes} }

// Get returns the vectors of keys.
func (s *Store) Get(ctx context.Context, keys []string) ([]Vector, error) {
	out := make([]Vector, len(keys))
	for i, k := range keys {
		fill(&out[i], k)
	}
	t := time.NewTimer(s.takes)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-t.C:
		return out, nil
	}
}

func fill(v *Vector, key string) {
	h := fnv.New64a()
	h.Write([]byte(key))
	x := h.Sum64()
	for i := range v {
		x ^= x << 13
		x ^= x >> 7
		x ^= x << 17
		v[i] = float64(x>>40) / (1 << 24)
	}
}
