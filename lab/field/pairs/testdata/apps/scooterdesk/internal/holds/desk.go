// Package holds keeps the holds that riders have on scooters.
package holds

import (
	"context"
	"iter"
	"sync"
	"time"

	"scooterdesk/internal/depots"
	"scooterdesk/internal/telemetry"
)

// Life is how long a hold lasts unless it is released.
const Life = 250 * time.Millisecond

type hold struct {
	scooter string
	depot   *depots.Depot
	until   time.Time
}

// Stats sums up what the desk has done.
type Stats struct {
	Handled, Expired, Released, Refused, Open int
	Meters                                    float64
}

// Desk handles the messages of the scooters.
type Desk struct {
	city []*depots.Depot
	v2   bool

	mu    sync.Mutex
	open  map[string]hold // by ride
	room  int
	stats Stats
}

func NewDesk(city []*depots.Depot, v2 bool) *Desk {
	return &Desk{city: city, v2: v2, open: make(map[string]hold)}
}

// Record is a hold in a snapshot.
type Record struct {
	Ride, Scooter string
	Depot         int
}

// Restore opens the holds of a snapshot.
func (d *Desk) Restore(records iter.Seq[Record]) {
	d.mu.Lock()
	defer d.mu.Unlock()
	until := time.Now().Add(Life)
	for r := range records {
		d.open[r.Ride] = hold{r.Scooter, d.city[r.Depot], until}
	}
	d.room = len(d.open)
}

// Handle takes one message.
func (d *Desk) Handle(line []byte) error {
	m, err := telemetry.Parse(line)
	if err != nil {
		d.mu.Lock()
		d.stats.Refused++
		d.mu.Unlock()
		return err
	}
	depot, meters := depots.Nearest(d.city, m.Lat, m.Lon)

	d.mu.Lock()
	defer d.mu.Unlock()
	d.stats.Handled++
	d.stats.Meters += meters
	switch m.Kind {
	case telemetry.Hold:
		d.open[m.Ride] = hold{m.Scooter, depot, time.Now().Add(Life)}
		d.room = max(d.room, len(d.open))
	case telemetry.Release:
		if _, ok := d.open[m.Ride]; ok {
			delete(d.open, m.Ride)
			d.stats.Released++
		}
	}
	return nil
}

// ExpireEvery ends the holds that are over, at an interval.
func (d *Desk) ExpireEvery(ctx context.Context, every time.Duration) {
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case now := <-tick.C:
			d.expire(now)
		}
	}
}

func (d *Desk) expire(now time.Time) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for ride, h := range d.open {
		if now.After(h.until) {
			h.depot.Expired++
			delete(d.open, ride)
			d.stats.Expired++
		}
	}
	if d.v2 && d.room > 4096 && len(d.open) < d.room/8 {
		d.resize()
	}
}

func (d *Desk) resize() {
	d.room = 2 * len(d.open)
	open := make(map[string]hold, d.room)
	for ride, h := range d.open {
		open[ride] = h
	}
	d.open = open
}

// Stats returns the sums.
func (d *Desk) Stats() Stats {
	d.mu.Lock()
	defer d.mu.Unlock()
	s := d.stats
	s.Open = len(d.open)
	return s
}
