package main

import (
	"context"
	"runtime"
	"sync"
	"time"
)

// work contends for a Mutex, an RWMutex and a Cond.
func work(ctx context.Context, size int) {
	stop := stopped(ctx)
	var mu sync.Mutex
	var rw sync.RWMutex
	cond := sync.NewCond(new(sync.Mutex))
	n := 0
	var wg sync.WaitGroup
	for i := 0; i < size; i++ {
		wg.Add(2)
		go func(i int) {
			defer wg.Done()
			for !stop.Load() {
				mu.Lock()
				n++
				runtime.Gosched() // makes the others queue up
				mu.Unlock()
				if i == 0 {
					rw.Lock()
					time.Sleep(50 * time.Microsecond)
					rw.Unlock()
				} else {
					rw.RLock()
					runtime.Gosched()
					rw.RUnlock()
				}
			}
		}(i)
		go func() {
			defer wg.Done()
			for !stop.Load() {
				cond.L.Lock()
				cond.Wait()
				cond.L.Unlock()
			}
		}()
	}
	done := make(chan bool)
	go func() { wg.Wait(); close(done) }()
	for {
		select {
		case <-done:
			return
		case <-time.After(200 * time.Microsecond):
			cond.Broadcast()
		}
	}
}
