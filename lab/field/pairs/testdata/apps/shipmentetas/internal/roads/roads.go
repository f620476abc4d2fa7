// Package roads knows the road network and the traffic on it.
package roads

import (
	"math"
	"math/rand/v2"
	"time"
)

// Leg is a piece of road.
type Leg struct {
	From, To int32
	Metres   float64
	Usual    float64 // metres per second
}

// Net is the network; traffic changes with the time of day.
type Net struct {
	legs []Leg
	jam  []float64
}

// Load makes a network of n legs.
func Load(n int) *Net {
	rnd := rand.New(rand.NewPCG(8, 15))
	r := &Net{legs: make([]Leg, n), jam: make([]float64, n)}
	for i := range r.legs {
		r.legs[i] = Leg{From: int32(i), To: int32((i + 1 + rnd.IntN(3)) % n), Metres: 200 + 5000*rnd.Float64(), Usual: 8 + 25*rnd.Float64()}
		r.jam[i] = rnd.Float64()
	}
	return r
}

// Route collects the legs from a start, up to a length.
func (r *Net) Route(start, legs int) []Leg {
	out := make([]Leg, 0, legs)
	at := start % len(r.legs)
	for range legs {
		l := r.legs[at]
		out = append(out, l)
		at = int(l.To)
	}
	return out
}

// Travel estimates the time for the legs, beginning at t.
func (r *Net) Travel(route []Leg, t time.Time) time.Duration {
	sec := float64(t.Hour()*3600 + t.Minute()*60 + t.Second())
	var total float64
	for _, l := range route {
		h := math.Mod(sec+total, 86400) / 3600
		rush := math.Exp(-math.Pow(h-8, 2)/2) + math.Exp(-math.Pow(h-17, 2)/3)
		total += l.Metres / (l.Usual / (1 + r.jam[l.From]*rush))
	}
	return time.Duration(total * float64(time.Second))
}
