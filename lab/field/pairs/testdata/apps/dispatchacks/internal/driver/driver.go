// Package driver plays the drivers' radios.
package driver

import (
	"log"
	"math"

	"dispatchacks/internal/order"
)

// Radio receives frames and acknowledges them.
type Radio struct {
	in   chan []byte
	ack  func(uint64)
	km   float64
	done chan struct{}
}

// Start makes a radio that reports to ack.
func Start(ack func(uint64)) *Radio {
	r := &Radio{in: make(chan []byte, 8), ack: ack, done: make(chan struct{})}
	go r.listen()
	return r
}

// Send hands a frame to the radio.
func (r *Radio) Send(frame []byte) { r.in <- frame }

func (r *Radio) listen() {
	defer close(r.done)
	for f := range r.in {
		ride, err := order.Read(f)
		if err != nil {
			log.Print(err)
			continue
		}
		r.km += length(ride.Route)
		r.ack(ride.ID)
	}
}

// Close ends the radio and returns the distance of its rides.
func (r *Radio) Close() float64 {
	close(r.in)
	<-r.done
	return r.km
}

func length(route []order.Stop) float64 {
	km := 0.0
	for i := 1; i < len(route); i++ {
		a, b := route[i-1], route[i]
		x := (b.Lon - a.Lon) * math.Cos((a.Lat+b.Lat)/2*math.Pi/180)
		km += 111.2 * math.Hypot(x, b.Lat-a.Lat)
	}
	return km
}
