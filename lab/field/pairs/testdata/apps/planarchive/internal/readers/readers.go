// Package readers plays the readers at the desks of the archive.
package readers

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"planarchive/internal/sheets"
	"planarchive/internal/stamp"
)

// Room is the reading room.
type Room struct {
	Tree     *sheets.Tree
	Register []string
	Copies   atomic.Int64
	Bytes    atomic.Int64
	Missing  atomic.Int64
}

// Serve hands out rate copies a second at some desks.
func (r *Room) Serve(rate, desks int, d time.Duration) {
	const batch = 20
	gap := time.Second * time.Duration(batch*desks) / time.Duration(rate)
	end := time.Now().Add(d)
	var wg sync.WaitGroup
	for n := range desks {
		wg.Go(func() {
			rnd := rand.New(rand.NewPCG(uint64(n), 1))
			reader := fmt.Sprintf("desk %d", n)
			for next := time.Now(); next.Before(end); next = next.Add(gap) {
				time.Sleep(time.Until(next))
				for range batch {
					r.copy(r.Register[rnd.IntN(len(r.Register))], reader)
				}
			}
		})
	}
	wg.Wait()
}

func (r *Room) copy(name, reader string) {
	text, err := r.Tree.Load(name)
	if err != nil {
		r.Missing.Add(1)
		return
	}
	c := stamp.Mark(name, reader, text)
	r.Bytes.Add(int64(len(c.String()) + c.Size))
	r.Copies.Add(1)
}
