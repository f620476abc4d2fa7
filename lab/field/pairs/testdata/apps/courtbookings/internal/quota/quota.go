// Package quota limits how often a club may call.
package quota

import (
	"sync"
	"time"
)

// Limiter says whether one more call is allowed now.
type Limiter interface {
	Allow() bool
	Close()
}

// Bucket is a limiter that is filled at a steady pace.
type Bucket struct {
	tokens chan struct{}
	stop   chan struct{}
	once   sync.Once
}

// NewBucket allows perSecond calls a second and bursts of up to burst.
func NewBucket(perSecond, burst int) *Bucket {
	b := &Bucket{tokens: make(chan struct{}, burst), stop: make(chan struct{})}
	for i := 0; i < burst; i++ {
		b.tokens <- struct{}{}
	}
	go b.fill(time.Second / time.Duration(perSecond))
	return b
}

func (b *Bucket) fill(every time.Duration) {
	t := time.NewTicker(every)
	defer t.Stop()
	for {
		select {
		case <-t.C:
			select {
			case b.tokens <- struct{}{}:
			default:
			}
		case <-b.stop:
			return
		}
	}
}

// Allow takes a token if there is one.
func (b *Bucket) Allow() bool {
	select {
	case <-b.tokens:
		return true
	default:
		return false
	}
}

// Close ends the bucket.
func (b *Bucket) Close() { b.once.Do(func() { close(b.stop) }) }

// Meter is a limiter that reckons at the call.
type Meter struct {
	mu    sync.Mutex
	level float64
	burst float64
	pace  float64
	last  time.Time
}

// NewMeter allows perSecond calls a second and bursts of up to burst.
func NewMeter(perSecond, burst int) *Meter {
	return &Meter{level: float64(burst), burst: float64(burst), pace: float64(perSecond), last: time.Now()}
}

// Allow takes a token if there is one.
func (m *Meter) Allow() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	now := time.Now()
	m.level = min(m.burst, m.level+now.Sub(m.last).Seconds()*m.pace)
	m.last = now
	if m.level < 1 {
		return false
	}
	m.level--
	return true
}

// Close does nothing.
func (m *Meter) Close() {}
