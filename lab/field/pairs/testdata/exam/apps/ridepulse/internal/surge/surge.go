// Package surge says in which zones more rides are asked for than usual.
package surge

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"ridepulse/internal/window"
)

// late is for how many seconds a window waits for phones after its end.
const late = 4

// A Zone is how much a zone is asked for.
type Zone struct {
	ID     int
	Rides  int64
	Factor float64
}

// A Board publishes zones.
type Board struct {
	agg       window.Aggregator
	side      int
	next      int64
	usual     map[int]float64
	zones     []Zone
	published int
	requests  int
}

// NewBoard returns a board of a city that is side times side zones.
func NewBoard(agg window.Aggregator, side int) *Board {
	return &Board{agg: agg, side: side, usual: map[int]float64{}}
}

// Handle takes lines of requests, and publishes the windows that end.
func (b *Board) Handle(lines []string) error {
	for _, line := range lines {
		at, zone, t, err := b.parse(line)
		if err != nil {
			return fmt.Errorf("line %q: %w", line, err)
		}
		b.requests++
		b.agg.Add(at, zone, t)
		if b.next == 0 {
			b.next = at - late
		}
		for at-late > b.next {
			b.publish(b.next)
			b.next++
		}
	}
	return nil
}

func (b *Board) parse(line string) (at int64, zone int, t window.Total, err error) {
	f := strings.SplitN(line, ",", 6)
	if len(f) != 5 {
		return 0, 0, t, fmt.Errorf("%d fields", len(f))
	}
	if at, err = strconv.ParseInt(f[0], 10, 64); err != nil {
		return 0, 0, t, err
	}
	lat, err := strconv.ParseFloat(f[1], 64)
	if err != nil {
		return 0, 0, t, err
	}
	lon, err := strconv.ParseFloat(f[2], 64)
	if err != nil {
		return 0, 0, t, err
	}
	if t.Seats, err = strconv.ParseInt(f[3], 10, 64); err != nil {
		return 0, 0, t, err
	}
	if t.Cents, err = strconv.ParseInt(f[4], 10, 64); err != nil {
		return 0, 0, t, err
	}
	t.Rides = 1
	return at, b.cell(lat, 52.25, 52.55)*b.side + b.cell(lon, 13.15, 13.65), t, nil
}

func (b *Board) cell(x, low, high float64) int {
	return min(max(int((x-low)/(high-low)*float64(b.side)), 0), b.side-1)
}

// publish compares the zones of a window with what is usual for them.
func (b *Board) publish(end int64) {
	b.zones = b.zones[:0]
	b.agg.Close(end, func(zone int, t window.Total) {
		seats := float64(t.Seats)
		u, ok := b.usual[zone]
		if !ok {
			u = seats
		}
		b.usual[zone] = 0.98*u + 0.02*seats
		fare := float64(t.Cents) / float64(t.Rides) / 2300
		b.zones = append(b.zones, Zone{ID: zone, Rides: t.Rides, Factor: (seats + 10) / (u + 10) * fare})
	})
	slices.SortFunc(b.zones, func(x, y Zone) int {
		return cmp.Or(cmp.Compare(y.Rides, x.Rides), cmp.Compare(x.ID, y.ID))
	})
	b.published++
}

// Top returns the n zones that were asked for most in the last window.
func (b *Board) Top(n int) []Zone { return slices.Clone(b.zones[:min(n, len(b.zones))]) }

// Published is how many windows have ended.
func (b *Board) Published() int { return b.published }

// Requests is how many requests came.
func (b *Board) Requests() int { return b.requests }
