// Package board lists the alarms of the last days.
package board

import (
	"sync"
	"time"

	"gaugealarms/internal/intake"
)

// Settings of the board.
type Settings struct {
	Days    int
	Record2 bool
}

// Alarm is a reading above a warning level, and what became of it.
type Alarm struct {
	Reading  *intake.Reading
	Raised   time.Time
	Answered bool
}

// Board keeps alarms until their day has passed.
type Board struct {
	set Settings

	mu     sync.Mutex
	alarms []Alarm
	levels map[int]int
	mean   map[string]float64
}

func New(set Settings) *Board {
	return &Board{set: set, levels: make(map[int]int), mean: make(map[string]float64)}
}

// Take looks through the readings of a file.
func (b *Board) Take(rs []intake.Reading) {
	now := time.Now()
	b.mu.Lock()
	defer b.mu.Unlock()
	b.expire(now)
	for i := range rs {
		r := &rs[i]
		b.levels[r.Gauge] = r.Level
		if r.Quality == 0 {
			continue
		}
		b.mean[r.River] += (r.Flow - b.mean[r.River]) / 100
		if r.Stage >= 2 {
			b.raise(r, now)
		}
	}
}

func (b *Board) raise(r *intake.Reading, now time.Time) {
	if b.set.Record2 {
		c := *r
		r = &c
	}
	b.alarms = append(b.alarms, Alarm{Reading: r, Raised: now})
}

func (b *Board) expire(now time.Time) {
	limit := now.AddDate(0, 0, -b.set.Days)
	n := 0
	for n < len(b.alarms) && b.alarms[n].Raised.Before(limit) {
		n++
	}
	if n > 0 {
		b.alarms = append([]Alarm(nil), b.alarms[n:]...)
	}
}

// Worst returns the highest alarm, and how many there are.
func (b *Board) Worst() (intake.Reading, int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	var worst intake.Reading
	for _, a := range b.alarms {
		if a.Reading.Level > worst.Level {
			worst = *a.Reading
		}
	}
	return worst, len(b.alarms)
}
