package join

import (
	"math"
	"time"
)

// A Clock tells how far event time has come in all partitions.
type Clock struct {
	idle time.Duration
	seen []partition
}

type partition struct {
	at   int64     // the newest event time
	last time.Time // when something came
}

// NewClock returns a clock of partitions, which goes on without those that are idle.
func NewClock(partitions int, idle time.Duration) *Clock {
	return &Clock{idle: idle, seen: make([]partition, partitions)}
}

// Observe notes an event of a partition.
func (c *Clock) Observe(p int, at int64, now time.Time) {
	c.seen[p].at = max(c.seen[p].at, at)
	c.seen[p].last = now
}

// Watermark returns the time before which nothing is expected any more.
func (c *Clock) Watermark(now time.Time) int64 {
	mark := int64(math.MaxInt64)
	for _, p := range c.seen {
		if c.idle > 0 && now.Sub(p.last) > c.idle {
			continue
		}
		mark = min(mark, p.at)
	}
	if mark == math.MaxInt64 {
		return 0
	}
	return mark
}
