// Package travellers arrives at the gates.
package travellers

import (
	"slices"
	"sync"
	"time"

	"passportcheck/internal/passport"
	"passportcheck/internal/station"
)

// Log of the arrivals.
type Log struct {
	mu      sync.Mutex
	Checked []time.Duration
	Away    int
}

func (l *Log) add(d time.Duration, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err != nil {
		l.Away++
		return
	}
	l.Checked = append(l.Checked, d)
}

// P99 of the times of checks.
func (l *Log) P99() time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.Checked) == 0 {
		return 0
	}
	slices.Sort(l.Checked)
	return l.Checked[len(l.Checked)*99/100]
}

// Arrive sends rate travellers a second for length to the row, closes it and waits for all.
func Arrive(row *station.Row, docs []*passport.Document, rate int, length time.Duration) *Log {
	var wg sync.WaitGroup
	l := &Log{}
	t := time.NewTicker(5 * time.Millisecond)
	defer t.Stop()
	start, n := time.Now(), 0
	for now := start; now.Sub(start) < length; now = <-t.C {
		for due := int(now.Sub(start).Seconds() * float64(rate)); n < due; n++ {
			d := docs[n*31%len(docs)]
			wg.Go(func() {
				came := time.Now()
				_, err := row.Check(d)
				l.add(time.Since(came), err)
			})
		}
	}
	row.Close()
	wg.Wait()
	return l
}
