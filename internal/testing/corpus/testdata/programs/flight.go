package main

import (
	"context"
	"runtime/trace"
	"time"
)

// A flight recorder's snapshot begins in the middle of the run.
func init() {
	record = func(w *output, f func()) error {
		r := trace.NewFlightRecorder(trace.FlightRecorderConfig{MinAge: 100 * time.Millisecond})
		if err := r.Start(); err != nil {
			return err
		}
		f()
		_, err := r.WriteTo(w)
		r.Stop()
		return err
	}
}

// work passes tokens around a ring of size goroutines.
func work(ctx context.Context, size int) {
	stop := stopped(ctx)
	first := make(chan int)
	last := first
	for i := 0; i < size; i++ {
		next := make(chan int)
		go func(in, out chan int) {
			for v := range in {
				out <- v + 1
			}
			close(out)
		}(last, next)
		last = next
	}
	for !stop.Load() {
		first <- 0
		<-last
		time.Sleep(10 * time.Microsecond)
	}
	close(first)
}
