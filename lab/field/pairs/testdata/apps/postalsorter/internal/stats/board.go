// Package stats counts what the chutes took.
package stats

import (
	"fmt"
	"sync/atomic"
)

// Board shows the chutes' loads.
type Board struct {
	chutes   [64]atomic.Int64
	grams    atomic.Int64
	Unrouted atomic.Int64
	seals    atomic.Int64
}

// Count adds a parcel to a chute.
func (b *Board) Count(depot string, chute int, seal string, grams int) {
	b.chutes[chute%len(b.chutes)].Add(1)
	b.grams.Add(int64(grams))
	if seal[:2] == depot[1:] {
		b.seals.Add(1)
	}
}

// Miss counts a parcel without a route.
func (b *Board) Miss() { b.Unrouted.Add(1) }

// Busiest names the chute with most parcels.
func (b *Board) Busiest() string {
	best := 0
	for i := range b.chutes {
		if b.chutes[i].Load() > b.chutes[best].Load() {
			best = i
		}
	}
	return fmt.Sprintf("C%02d", best)
}
