package main

import (
	"context"
	"sync"
)

// work starts goroutines that live for a moment, size at a time.
func work(ctx context.Context, size int) {
	stop := stopped(ctx)
	sum := make([]int, size)
	for !stop.Load() {
		var wg sync.WaitGroup
		for i := 0; i < size; i++ {
			wg.Add(1)
			go func(i int) {
				defer wg.Done()
				for k := 0; k < 200; k++ {
					sum[i] += k
				}
			}(i)
		}
		wg.Wait()
	}
}
