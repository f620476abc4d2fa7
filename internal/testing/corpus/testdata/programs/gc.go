package main

import (
	"context"
	"runtime"
	"runtime/debug"
	"sync"
)

type node struct {
	left, right *node
	payload     [4]int
}

func tree(depth int) *node {
	if depth == 0 {
		return &node{}
	}
	return &node{left: tree(depth - 1), right: tree(depth - 1)}
}

// work allocates trees faster than the collector likes, so that it asks for
// assistance, and stops the world in other ways too.
func work(ctx context.Context, size int) {
	stop := stopped(ctx)
	debug.SetGCPercent(20)
	kept := make([]*node, size)
	var wg sync.WaitGroup
	for i := 0; i < size; i++ {
		wg.Add(1)
		go func(i int) {
			defer wg.Done()
			for n := 0; !stop.Load(); n++ {
				kept[i] = tree(11)
				if i == 0 && n%16 == 0 {
					var m runtime.MemStats
					runtime.ReadMemStats(&m)
				}
				if i == 0 && n%64 == 63 {
					runtime.GC()
				}
			}
		}(i)
	}
	wg.Wait()
	runtime.KeepAlive(kept)
}
