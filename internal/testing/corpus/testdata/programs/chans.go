package main

import (
	"context"
	"sync"
)

// work plays ping-pong over size pairs of unbuffered channels, and lets a
// pipeline run beside them.
func work(ctx context.Context, size int) {
	stop := stopped(ctx)
	var wg sync.WaitGroup
	for i := 0; i < size; i++ {
		ping, pong := make(chan int), make(chan int)
		wg.Add(2)
		go func() {
			defer wg.Done()
			for v := range ping {
				pong <- v + 1
			}
		}()
		go func() {
			defer wg.Done()
			defer close(ping)
			for v := 0; !stop.Load(); {
				ping <- v
				v = <-pong
			}
		}()
	}
	wg.Add(2)
	pipe := make(chan []byte, 16)
	go func() {
		defer wg.Done()
		defer close(pipe)
		for !stop.Load() {
			pipe <- make([]byte, 64)
		}
	}()
	go func() {
		defer wg.Done()
		for range pipe {
		}
	}()
	wg.Wait()
}
