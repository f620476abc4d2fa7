// Package inspect follows a stall as an inspector's handset does.
package inspect

import (
	"context"
	"log"
	"sync/atomic"

	"stallpermits/internal/board"
	"stallpermits/internal/permits"
)

// Handset shows the permits of one stall.
type Handset struct {
	Stall int
	Board *board.Board
	Seal  *permits.Seal
}

// Totals of all handsets.
type Totals struct {
	Seen atomic.Int64
	Fees atomic.Int64
}

// Follow runs until ctx is done.
func (h *Handset) Follow(ctx context.Context, t *Totals) {
	var rev int64
	for {
		d, err := h.Board.Next(ctx, h.Stall, rev)
		if err != nil {
			return
		}
		rev = d.Revision
		p, err := h.Seal.Check(d)
		if err != nil {
			log.Print(err)
			continue
		}
		t.Seen.Add(1)
		t.Fees.Add(int64(p.Fee))
	}
}
