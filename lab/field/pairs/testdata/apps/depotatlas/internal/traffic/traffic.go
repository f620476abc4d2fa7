// Package traffic plays couriers that ask for places.
package traffic

import (
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"depotatlas/internal/geo"
	"depotatlas/internal/nearby"
)

// Totals is what couriers got.
type Totals struct{ Asked, Hits, Bytes, Failed int64 }

// Run asks at a rate.
func Run(f *nearby.Finder, rate, couriers int, length time.Duration) Totals {
	var asked, found, bytes, failed atomic.Int64
	start := time.Now()
	var wg sync.WaitGroup
	for c := range couriers {
		wg.Go(func() {
			rng := rand.New(rand.NewPCG(uint64(c), 6))
			gap := time.Second * time.Duration(couriers) / time.Duration(rate)
			next := start.Add(time.Duration(rng.Int64N(int64(gap))))
			for next.Sub(start) < length {
				if d := time.Until(next); d > 0 {
					time.Sleep(d)
				}
				next = next.Add(gap)
				p := geo.Point{Lat: 37 + 22*rng.Float64(), Lon: -8 + 37*rng.Float64()}
				body, n, err := f.Find(p, 15)
				if err != nil {
					failed.Add(1)
					continue
				}
				asked.Add(1)
				found.Add(int64(n))
				bytes.Add(int64(len(body)))
			}
		})
	}
	wg.Wait()
	return Totals{asked.Load(), found.Load(), bytes.Load(), failed.Load()}
}
