package main

import (
	"context"
	"iter"
	"sync"
)

func count(yield func(int) bool) {
	for i := 0; yield(i); i++ {
	}
}

// work pulls from iterators: coroutine switches, some left in the middle.
func work(ctx context.Context, size int) {
	stop := stopped(ctx)
	var wg sync.WaitGroup
	for i := 0; i < size; i++ {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for n := 0; !stop.Load(); n++ {
				next, end := iter.Pull(iter.Seq[int](count))
				for k := 0; k < n%50; k++ {
					next()
				}
				end()
			}
		}()
	}
	wg.Wait()
}
