// Package yard keeps where the containers are.
package yard

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"sync"

	"quayevents/internal/manifest"
	"quayevents/internal/trace"
)

// Books is the state of the yard.
type Books struct {
	mu     sync.Mutex
	places map[string]place
	sum    uint64
}

type place struct {
	Terminal string   `json:"terminal"`
	Bay      int      `json:"bay"`
	Weight   int      `json:"weight"`
	Seals    []string `json:"seals"`
}

// New makes empty books.
func New() *Books { return &Books{places: make(map[string]place)} }

// Apply notes a movement.
func (b *Books) Apply(ctx context.Context, m manifest.Movement) {
	p := place{Terminal: trace.Terminal(ctx), Bay: m.Bay, Weight: m.Weight, Seals: m.Seals}
	line, err := json.Marshal(p)
	if err != nil {
		trace.Annotate(ctx, "not encoded")
		return
	}
	digest := sha256.Sum256(line)
	for range 24 {
		digest = sha256.Sum256(digest[:])
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.sum ^= binary.BigEndian.Uint64(digest[:])
	if m.Kind == "GATEOUT" {
		delete(b.places, m.Container)
		return
	}
	b.places[m.Container] = p
}

// Len returns the number of containers in the yard.
func (b *Books) Len() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.places)
}

// Checksum returns the sum over all movements.
func (b *Books) Checksum() uint64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.sum
}
