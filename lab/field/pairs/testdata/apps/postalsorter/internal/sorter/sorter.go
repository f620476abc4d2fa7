// Package sorter sends each scan to its chute.
package sorter

import (
	"context"
	"sync"
	"sync/atomic"

	"postalsorter/internal/parcel"
	"postalsorter/internal/routing"
	"postalsorter/internal/stats"
)

// Sorter works on several lanes.
type Sorter struct {
	dir   routing.Directory
	board *stats.Board
	lanes int
}

// New makes a sorter.
func New(d routing.Directory, b *stats.Board, lanes int) *Sorter {
	return &Sorter{dir: d, board: b, lanes: lanes}
}

// Replay sorts the labels again and again until the context ends.
func (s *Sorter) Replay(ctx context.Context, labels []string) int64 {
	var n atomic.Int64
	var wg sync.WaitGroup
	for lane := range s.lanes {
		wg.Go(func() {
			for i := lane; ctx.Err() == nil; i += s.lanes {
				s.sort(labels[i%len(labels)])
				n.Add(1)
			}
		})
	}
	wg.Wait()
	return n.Load()
}

func (s *Sorter) sort(label string) {
	sc, err := parcel.Parse(label)
	if err != nil {
		s.board.Miss()
		return
	}
	to, ok := s.dir.Lookup(sc.To, sc.Service)
	from, known := s.dir.Lookup(sc.From, sc.Service)
	if !ok || !known {
		s.board.Miss()
		return
	}
	seal, err := parcel.Sticker(sc, to.Depot, from.Depot, to.Chute)
	if err != nil {
		s.board.Miss()
		return
	}
	s.board.Count(to.Depot, to.Chute, seal, sc.Grams)
}
