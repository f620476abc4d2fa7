package main

import (
	"context"
	"fmt"
	"runtime/trace"
	"sync"
	"time"
)

var early *trace.Task

// A task and a region from before the trace.
func init() {
	before = func(int) {
		_, early = trace.NewTask(context.Background(), "early")
		go func() {
			defer trace.StartRegion(context.Background(), "early region").End()
			time.Sleep(30 * time.Millisecond)
		}()
		time.Sleep(time.Millisecond)
	}
}

// work annotates itself in all ways: nested tasks, regions over goroutines,
// logs, and some that never end.
func work(ctx context.Context, size int) {
	stop := stopped(ctx)
	var wg sync.WaitGroup
	for i := 0; i < size; i++ {
		wg.Add(1)
		go func(i int) {
			defer wg.Done()
			for n := 0; !stop.Load(); n++ {
				request(ctx, i, n)
			}
		}(i)
	}
	go func() {
		trace.StartRegion(ctx, "never ends")
		select {}
	}()
	wg.Wait()
	early.End()
}

func request(ctx context.Context, i, n int) {
	ctx, task := trace.NewTask(ctx, "request")
	if n%10 != 9 {
		defer task.End()
	}
	trace.Log(ctx, "client", fmt.Sprint(i))
	trace.WithRegion(ctx, "decode", func() {
		defer trace.StartRegion(ctx, "parse").End()
		time.Sleep(100 * time.Microsecond)
	})
	done := make(chan bool)
	trace.WithRegion(ctx, "store", func() {
		go func() {
			ctx, sub := trace.NewTask(ctx, "write")
			defer sub.End()
			trace.Logf(ctx, "row", "%d of %d", n, i)
			if n%5 == 0 {
				trace.StartRegion(ctx, "open at the end")
			}
			close(done)
		}()
		<-done
	})
}
