package main

import (
	"context"
	"sync/atomic"
	"testing"
	"time"
)

// With its habit or without, each does its work until it is told to end.
func TestHabits(t *testing.T) {
	for name, h := range habits {
		for _, healed := range []bool{false, true} {
			ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
			var count atomic.Int64
			done := make(chan error, 1)
			go func() { done <- h(ctx, healed, &count) }()
			for count.Load() == 0 && ctx.Err() == nil {
				time.Sleep(time.Millisecond)
			}
			if count.Load() == 0 {
				t.Errorf("%s, healed %v: did nothing in ten seconds", name, healed)
			}
			time.Sleep(20 * time.Millisecond) // it goes on for a while
			cancel()
			select {
			case err := <-done:
				if err != nil {
					t.Errorf("%s, healed %v: %v", name, healed, err)
				}
			case <-time.After(10 * time.Second):
				t.Fatalf("%s, healed %v: went on for ten seconds after its end", name, healed)
			}
		}
	}
}
