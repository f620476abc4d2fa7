// Package shoppers plays the people who look for articles.
package shoppers

import (
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"branchstock/internal/search"
)

var queries = []string{"steel hammer", "White paint", "cordless drill", "brass hinge", "outdoor hose", "long ladder", "quiet valve", "small brush"}

// Crowd counts what its people found.
type Crowd struct {
	Asked, Hits, Bytes atomic.Int64
}

// Shop lets rate people a second look for articles until the end.
func (c *Crowd) Shop(e *search.Engine, branches, rate int, end time.Time) {
	const lanes = 4
	gap := time.Second * lanes / time.Duration(rate)
	var wg sync.WaitGroup
	for n := range lanes {
		wg.Go(func() {
			rnd := rand.New(rand.NewPCG(uint64(n), 4))
			for next := time.Now(); next.Before(end); next = next.Add(gap) {
				time.Sleep(time.Until(next))
				out, hits := e.Find(queries[rnd.IntN(len(queries))], rnd.IntN(branches))
				c.Asked.Add(1)
				c.Hits.Add(int64(hits))
				c.Bytes.Add(int64(len(out)))
			}
		})
	}
	wg.Wait()
}
