// Package climate computes what the houses need.
package climate

import (
	"math"
	"sync"
)

// Model holds the recent readings of all houses.
type Model struct {
	mu     sync.Mutex
	houses []series
}

type series struct {
	deficit [96]float64
	at      int
}

// NewModel makes a model for n houses.
func NewModel(n int) *Model { return &Model{houses: make([]series, n)} }

// Record takes a reading and returns the smoothed vapour pressure deficit.
func (m *Model) Record(house int, temp, humid float64) float64 {
	sat := 0.6108 * math.Exp(17.27*temp/(temp+237.3))
	vpd := sat * (1 - humid/100)
	m.mu.Lock()
	defer m.mu.Unlock()
	s := &m.houses[house%len(m.houses)]
	s.deficit[s.at%len(s.deficit)] = vpd
	s.at++
	var acc, w float64
	for i := range s.deficit {
		k := math.Exp(-float64(i) / 24)
		acc += k * s.deficit[(s.at+len(s.deficit)-1-i)%len(s.deficit)]
		w += k
	}
	return acc / w
}

// Level turns a deficit into a valve position.
func (m *Model) Level(deficit float64) int {
	return min(max(int(100*(1-math.Exp(-deficit))), 0), 100)
}
