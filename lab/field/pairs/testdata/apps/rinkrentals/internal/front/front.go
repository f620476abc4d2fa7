// Package front has the guests at the counter.
package front

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"rinkrentals/internal/rental"
)

// Report says how it went.
type Report struct {
	mu     sync.Mutex
	Took   []time.Duration
	Failed int
}

// Open lets guests come for a while, on average rate a second.
func Open(d *rental.Desk, dur time.Duration, rate float64) *Report {
	rep := &Report{}
	var wg sync.WaitGroup
	next, r := time.Now(), rand.New(rand.NewPCG(45, 4))
	for i, end := 0, next.Add(dur); next.Before(end); i++ {
		wg.Go(func() {
			t0 := time.Now()
			_, err := d.Rent(context.Background(), fmt.Sprintf("g%06d", i), 28+i%20)
			took := time.Since(t0)
			rep.mu.Lock()
			defer rep.mu.Unlock()
			rep.Took = append(rep.Took, took)
			if err != nil {
				rep.Failed++
			}
		})
		next = next.Add(time.Duration(r.ExpFloat64() / rate * float64(time.Second)))
		time.Sleep(time.Until(next))
	}
	wg.Wait()
	slices.Sort(rep.Took)
	return rep
}

// Quantile gives the q-quantile of the times.
func (r *Report) Quantile(q float64) time.Duration {
	if len(r.Took) == 0 {
		return 0
	}
	return r.Took[int(q*float64(len(r.Took)-1))]
}
