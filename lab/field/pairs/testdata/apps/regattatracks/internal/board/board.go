// Package board keeps the distances the boats have sailed.
package board

import (
	"math"
	"sync"

	"regattatracks/internal/fix"
)

type boat struct {
	lat, lon float64
	miles    float64
	fixes    int
}

// Board is the state of a race.
type Board struct {
	mu    sync.Mutex
	boats map[uint32]*boat
}

// New makes a board.
func New() *Board { return &Board{boats: make(map[uint32]*boat)} }

// Move adds a position.
func (b *Board) Move(r fix.Report) {
	b.mu.Lock()
	defer b.mu.Unlock()
	t := b.boats[r.Boat]
	if t == nil {
		t = &boat{lat: r.Lat, lon: r.Lon}
		b.boats[r.Boat] = t
	}
	t.miles += miles(t.lat, t.lon, r.Lat, r.Lon)
	t.lat, t.lon = r.Lat, r.Lon
	t.fixes++
}

func miles(lat1, lon1, lat2, lon2 float64) float64 {
	const rad = math.Pi / 180
	s1, s2 := math.Sin((lat2-lat1)*rad/2), math.Sin((lon2-lon1)*rad/2)
	a := s1*s1 + math.Cos(lat1*rad)*math.Cos(lat2*rad)*s2*s2
	return 2 * 3440 * math.Asin(math.Min(1, math.Sqrt(a)))
}

// Leader returns the boat that sailed furthest.
func (b *Board) Leader() (number uint32, distance float64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for n, t := range b.boats {
		if t.miles > distance {
			number, distance = n, t.miles
		}
	}
	return number, distance
}
