// Package limit limits how often something happens.
package limit

import (
	"sync"
	"time"
)

// A Limiter lets so many through in each second, by names.
type Limiter struct {
	rate int
	mu   sync.Mutex
	used map[string]int
}

// New makes a limiter, which begins anew each second.
func New(rate int) *Limiter {
	l := &Limiter{rate: rate, used: make(map[string]int, 64)}
	go l.refill()
	return l
}

func (l *Limiter) refill() {
	for range time.Tick(time.Second) {
		l.mu.Lock()
		clear(l.used)
		l.mu.Unlock()
	}
}

// Allow reports whether one more may pass.
func (l *Limiter) Allow(name string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.used[name] >= l.rate {
		return false
	}
	l.used[name]++
	return true
}
