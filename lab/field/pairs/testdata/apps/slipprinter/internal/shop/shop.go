// Package shop plays the tills of shops.
package shop

import (
	"math/rand/v2"
	"sync"
	"time"

	"slipprinter/internal/slip"
	"slipprinter/internal/spool"
	"slipprinter/internal/till"
)

// Open lets tills print rate slips a second altogether.
func Open(l *till.Layout, slips []*slip.Slip, rate, tills int, d time.Duration) []*spool.Queue {
	const batch = 16
	gap := time.Second * time.Duration(batch*tills) / time.Duration(rate)
	end := time.Now().Add(d)
	queues := make([]*spool.Queue, tills)
	var wg sync.WaitGroup
	for n := range queues {
		q := new(spool.Queue)
		queues[n] = q
		wg.Go(func() {
			rnd := rand.New(rand.NewPCG(uint64(n), 2))
			for next := time.Now(); next.Before(end); next = next.Add(gap) {
				time.Sleep(time.Until(next))
				for range batch {
					if l.Print(slips[rnd.IntN(len(slips))], q.Send) != nil {
						return
					}
				}
			}
		})
	}
	wg.Wait()
	return queues
}
