package main

import (
	"context"
	"sync"
	"time"
)

// work leaves contexts and timers behind and sleeps, ticks and times out.
func work(ctx context.Context, size int) {
	stop := stopped(ctx)
	var wg sync.WaitGroup
	for i := 0; i < size; i++ {
		wg.Add(1)
		go func(i int) {
			defer wg.Done()
			tick := time.NewTicker(time.Millisecond)
			defer tick.Stop()
			for n := 0; !stop.Load(); n++ {
				leak, cancel := context.WithTimeout(context.Background(), time.Hour)
				if n%2 == 0 {
					cancel()
				} else {
					leaked.Store(leak, cancel)
				}
				select {
				case <-tick.C:
				case <-time.After(500 * time.Microsecond):
				}
				short, cancel := context.WithTimeout(ctx, 200*time.Microsecond)
				<-short.Done()
				cancel()
			}
		}(i)
	}
	wg.Wait()
}

var leaked sync.Map
