// Package network holds the lines of the town.
package network

import "math/rand/v2"

// Line is the way of trams through stops.
type Line struct {
	Stops   []int32
	Seconds []float64
	Headway float64
}

// Town has lines.
type Town struct {
	Stops int
	Lines []Line
}

// Lay lays lines over the stops of a town.
func Lay(stops, lines int) *Town {
	rnd := rand.New(rand.NewPCG(8, 80))
	t := &Town{Stops: stops}
	for range lines {
		l := Line{Headway: 240 + 60*float64(rnd.IntN(12))}
		for range 18 + rnd.IntN(20) {
			l.Stops = append(l.Stops, int32(rnd.IntN(stops)))
			l.Seconds = append(l.Seconds, 50+rnd.Float64()*110)
		}
		t.Lines = append(t.Lines, l)
	}
	return t
}
