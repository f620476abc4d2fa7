package main

import (
	"context"
	"crypto/sha256"
	"sync"
)

// work keeps more goroutines busy than there are Ps, without a pause: only
// preemption lets the others run.
func work(ctx context.Context, size int) {
	stop := stopped(ctx)
	var wg sync.WaitGroup
	for i := 0; i < size; i++ {
		wg.Add(1)
		go func() {
			defer wg.Done()
			buf := make([]byte, 4096)
			for !stop.Load() {
				sum := sha256.Sum256(buf)
				copy(buf, sum[:])
			}
		}()
	}
	wg.Wait()
}
