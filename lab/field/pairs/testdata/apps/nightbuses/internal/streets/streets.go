// Package streets holds the stops of a region and the ways between them.
package streets

import (
	"math"
	"math/rand/v2"
)

// Way leads to another stop.
type Way struct {
	To      int32
	Seconds float32
	Metres  float32
}

// Stop is a place where buses stop.
type Stop struct {
	X, Y float64
	Zone int
	Ways []Way
}

// Region has stops.
type Region struct {
	Stops []Stop
}

// Read makes the region of a timetable with n stops.
func Read(n int) *Region {
	rnd := rand.New(rand.NewPCG(44, 1))
	r := &Region{Stops: make([]Stop, n)}
	side := int(math.Sqrt(float64(n)))
	for i := range r.Stops {
		x, y := float64(i%side)+rnd.Float64()*0.7, float64(i/side)+rnd.Float64()*0.7
		r.Stops[i] = Stop{X: x, Y: y, Zone: (i/side)/10*10 + (i%side)/10}
	}
	for i := range r.Stops {
		for _, j := range [...]int{i + 1, i + side, i + side + 1, i + 2*side + rnd.IntN(4)} {
			if j < n && rnd.IntN(10) > 0 {
				r.link(i, j, rnd)
			}
		}
	}
	return r
}

func (r *Region) link(i, j int, rnd *rand.Rand) {
	a, b := &r.Stops[i], &r.Stops[j]
	m := float32(math.Hypot(a.X-b.X, a.Y-b.Y) * 420)
	if m > 3000 {
		return
	}
	s := m/float32(6+rnd.Float64()*5) + 20
	a.Ways = append(a.Ways, Way{int32(j), s, m})
	b.Ways = append(b.Ways, Way{int32(i), s, m})
}
