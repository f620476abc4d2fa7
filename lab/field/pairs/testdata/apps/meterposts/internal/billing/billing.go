// Package billing books readings.
package billing

import (
	"sync"
	"time"
)

type Reading struct {
	Meter   uint32
	WattHrs uint32
	Peak    uint32
	Crest   float64
}

// Ledger is a stand-in for the billing system.
type Ledger struct {
	delay time.Duration

	mu    sync.Mutex
	by    map[uint32]uint64
	posts int
}

func NewLedger(delay time.Duration) *Ledger {
	return &Ledger{delay: delay, by: map[uint32]uint64{}}
}

func (l *Ledger) Post(rs []Reading) error {
	time.Sleep(l.delay)
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, r := range rs {
		l.by[r.Meter] += uint64(r.WattHrs)
	}
	l.posts++
	return nil
}

func (l *Ledger) Posts() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.posts
}

func (l *Ledger) KWh() (sum uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, v := range l.by {
		sum += v
	}
	return sum / 1000
}
