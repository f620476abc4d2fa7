// Package quota limits how much somebody gets in a second.
package quota

import (
	"context"
	"sync/atomic"
	"time"
)

// A Ticking quota puts tokens into a channel.
type Ticking struct{ tokens chan struct{} }

// NewTicking gives so many a second, and holds some.
func NewTicking(ctx context.Context, rate, hold int) *Ticking {
	t := &Ticking{make(chan struct{}, hold)}
	go t.fill(ctx, time.Second/time.Duration(rate))
	return t
}

func (t *Ticking) fill(ctx context.Context, every time.Duration) {
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		select {
		case t.tokens <- struct{}{}:
		default: // it is full
		}
	}
}

// Take reports whether there was a token.
func (t *Ticking) Take() bool {
	select {
	case <-t.tokens:
		return true
	default:
		return false
	}
}

// A Counting quota computes how many tokens there are when somebody asks.
type Counting struct {
	start       time.Time
	every, hold time.Duration
	next        atomic.Int64 // when the bucket was empty, since the start
}

// NewCounting gives so many a second, and holds some.
func NewCounting(rate, hold int) *Counting {
	every := time.Second / time.Duration(rate)
	return &Counting{start: time.Now(), every: every, hold: every * time.Duration(hold)}
}

// Take reports whether there was a token.
func (c *Counting) Take() bool {
	now := int64(time.Since(c.start))
	for {
		old := c.next.Load()
		from := max(old, now-int64(c.hold))
		if from+int64(c.every) > now {
			return false
		}
		if c.next.CompareAndSwap(old, from+int64(c.every)) {
			return true
		}
	}
}
