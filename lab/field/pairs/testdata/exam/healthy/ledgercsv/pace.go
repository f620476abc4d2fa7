package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"os"
	"os/signal"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

var (
	rate   = flag.Float64("rate", 100, "operations a second, 0 for as many as there can be")
	length = flag.Duration("for", time.Minute, "how long at most")
)

// burst is the shortest pause between two bursts of a worker.
const burst = 10 * time.Millisecond

// pace lets workers do something at the rate, and returns when the time is up, somebody
// interrupts or something failed.
func pace(workers int, do func(ctx context.Context, worker, n int) error) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	ctx, cancel := context.WithTimeout(ctx, *length)
	defer cancel()
	var wg sync.WaitGroup
	var done atomic.Int64
	for w := range workers {
		wg.Go(func() {
			n, err := work(ctx, *rate/float64(workers), float64(w)/float64(workers), func(n int) error { return do(ctx, w, n*workers+w) })
			done.Add(int64(n))
			if err != nil && ctx.Err() == nil {
				log.Print(err)
				cancel()
			}
		})
	}
	wg.Wait()
	fmt.Printf("operations: %d\n", done.Load())
}

// work does something rate times a second, in bursts; phase is when it is due first.
func work(ctx context.Context, rate, phase float64, do func(n int) error) (n int, err error) {
	if rate == 0 {
		for ; ctx.Err() == nil; n++ {
			if err := do(n); err != nil {
				return n, err
			}
		}
		return n, nil
	}
	start, timer := time.Now(), time.NewTimer(burst)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return n, nil
		case <-timer.C:
		}
		for due := int(time.Since(start).Seconds()*rate + phase); n < due && ctx.Err() == nil; n++ {
			if err := do(n); err != nil {
				return n, err
			}
		}
		next := start.Add(time.Duration((float64(n+1) - phase) / rate * float64(time.Second)))
		timer.Reset(max(time.Until(next), burst))
	}
}
