// Package diver plays the cameras.
package diver

import (
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"reefcameras/internal/event"
)

// Run lets every camera report in its interval.
func Run(cameras int, every, d time.Duration, report func(*event.Message) error) (ok, failed int64) {
	var wg sync.WaitGroup
	var n, bad atomic.Int64
	end := time.Now().Add(d)
	for c := range cameras {
		wg.Go(func() {
			rnd := rand.New(rand.NewPCG(uint64(c), 5))
			time.Sleep(time.Duration(rnd.Int64N(int64(every))))
			tick := time.NewTicker(every)
			defer tick.Stop()
			for time.Now().Before(end) {
				<-tick.C
				for range 4 {
					if report(event.Random(rnd, c)) == nil {
						n.Add(1)
					} else {
						bad.Add(1)
					}
				}
			}
		})
	}
	wg.Wait()
	return n.Load(), bad.Load()
}
