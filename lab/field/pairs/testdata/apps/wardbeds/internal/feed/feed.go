// Package feed sends the hospital's messages and the questions of the wards to the board.
package feed

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"wardbeds/internal/adt"
	"wardbeds/internal/board"
)

// Result is what the clients saw.
type Result struct {
	Times     []time.Duration
	Free, Bad int
}

// Run lets the clients work at the rate until the end.
func Run(b *board.Board, clients, rate, wards, beds int, end time.Time) *Result {
	var (
		mu  sync.Mutex
		all Result
		wg  sync.WaitGroup
	)
	gap := time.Second * time.Duration(clients) / time.Duration(rate)
	for id := range clients {
		wg.Go(func() {
			rng := rand.New(rand.NewPCG(uint64(id), 9))
			var res Result
			next := time.Now().Add(gap * time.Duration(id) / time.Duration(clients))
			for next.Before(end) && time.Now().Before(end) {
				time.Sleep(time.Until(next))
				ward, bed := fmt.Sprintf("W%02d", rng.IntN(wards)), fmt.Sprintf("%02d", rng.IntN(beds))
				if rng.IntN(4) > 0 {
					res.Free += len(b.Free(ward))
				} else {
					kind := []string{"A01", "A02", "A03"}[rng.IntN(3)]
					msg := adt.Format(adt.Event{Kind: kind, Patient: fmt.Sprint(rng.IntN(1e7)), Ward: ward, Bed: bed, Note: "isolation " + kind})
					if e, err := adt.Parse(msg); err != nil || b.Apply(e) != nil {
						res.Bad++
					}
				}
				res.Times = append(res.Times, time.Since(next))
				next = next.Add(gap)
			}
			mu.Lock()
			defer mu.Unlock()
			all.Times = append(all.Times, res.Times...)
			all.Free += res.Free
			all.Bad += res.Bad
		})
	}
	wg.Wait()
	return &all
}
