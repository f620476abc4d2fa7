// Package cars are the trams, which report where they are.
package cars

import (
	"math"
	"time"

	"tramfeed/internal/hub"
	"tramfeed/internal/wire"
)

// A Fleet reports to a hub.
type Fleet struct {
	Hub  *hub.Hub
	Rate int
}

var stops = []string{"Central Station, platform C", "Market Square", "University, west gate", "Harbour Bridge", "Stadium, by way of the cemetery"}

// At is the n-th position.
func At(n int) wire.Position {
	car := n % 90
	along := float64(n/90) / 50
	return wire.Position{
		Line: uint16(car % 3), Car: uint16(car), Serial: uint32(n),
		Lat: 47.3 + 0.05*math.Sin(along+float64(car)), Lon: 8.5 + 0.05*math.Cos(along+float64(car)),
		Destination: stops[car%len(stops)], Next: stops[(car+n/90)%len(stops)],
	}
}

// Run reports positions at the rate of the fleet.
func (f *Fleet) Run(positions int) {
	start := time.Now()
	for n := range positions {
		time.Sleep(time.Until(start.Add(time.Duration(n) * time.Second / time.Duration(f.Rate))))
		f.Hub.Publish(At(n))
	}
}
