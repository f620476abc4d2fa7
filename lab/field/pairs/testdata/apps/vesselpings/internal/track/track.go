// Package track keeps the last positions of each vessel.
package track

import (
	"math"

	"vesselpings/internal/ais"
)

// Report is a position with what the chart wants to know about it.
type Report struct {
	ais.Position
	Trail   []Point `json:"trail"`
	Nearest int     `json:"nearest"`
	Miles   float64 `json:"miles"`
}

// Point of a trail.
type Point struct{ Lat, Lon float64 }

// Store has a trail for each vessel.
type Store struct {
	n      int
	trails map[int][]Point
	last   map[int]ais.Position
}

func NewStore(n int) *Store {
	return &Store{n: n, trails: make(map[int][]Point), last: make(map[int]ais.Position)}
}

// Len counts the vessels.
func (s *Store) Len() int { return len(s.last) }

// Enrich adds the position to the trail and reports it.
func (s *Store) Enrich(p ais.Position) Report {
	t := append(s.trails[p.Vessel], Point{p.Lat, p.Lon})
	if len(t) > s.n {
		t = append(t[:0], t[len(t)-s.n:]...)
	}
	s.trails[p.Vessel] = t
	r := Report{Position: p, Trail: append([]Point(nil), t...), Nearest: -1, Miles: 99}
	s.last[p.Vessel] = p
	for id := p.Vessel + 1; id < p.Vessel+60; id++ {
		if o, ok := s.last[id]; ok {
			if m := miles(p, o); m < r.Miles {
				r.Nearest, r.Miles = id, m
			}
		}
	}
	return r
}

func miles(a, b ais.Position) float64 {
	const rad = math.Pi / 180
	h := math.Pow(math.Sin((b.Lat-a.Lat)*rad/2), 2) + math.Cos(a.Lat*rad)*math.Cos(b.Lat*rad)*math.Pow(math.Sin((b.Lon-a.Lon)*rad/2), 2)
	return 2 * 3440 * math.Asin(math.Sqrt(h))
}
