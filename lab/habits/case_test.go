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
			ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
			var count atomic.Int64
			begin := time.Now()
			if err := h(ctx, healed, &count); err != nil {
				t.Errorf("%s, healed %v: %v", name, healed, err)
			}
			cancel()
			if count.Load() == 0 {
				t.Errorf("%s, healed %v: did nothing", name, healed)
			}
			if d := time.Since(begin); d > 10*time.Second {
				t.Errorf("%s, healed %v: went on for %v, want at most 10s", name, healed, d)
			}
		}
	}
}
