package main

import (
	"context"
	"sync"
	"time"
)

// work closes channels on which size goroutines wait, and leaves one
// goroutine blocked for good.
func work(ctx context.Context, size int) {
	stop := stopped(ctx)
	go func() { select {} }()
	for !stop.Load() {
		start, other := make(chan bool), make(chan int)
		var wg sync.WaitGroup
		for i := 0; i < size; i++ {
			wg.Add(1)
			go func() {
				defer wg.Done()
				select {
				case <-start:
				case <-other:
				}
			}()
		}
		time.Sleep(100 * time.Microsecond)
		close(start)
		wg.Wait()
	}
}
