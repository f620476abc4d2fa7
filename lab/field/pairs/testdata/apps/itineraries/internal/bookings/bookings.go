// Package bookings has the legs of journeys, as they are booked.
package bookings

import (
	"fmt"
	"time"
)

// A Leg is a part of a journey.
type Leg struct {
	From, To string
	Starts   string
}

var towns = []string{"Basel", "Lyon", "Turin", "Ulm", "Graz", "Brno"}

// Legs makes legs up, in no order.
func Legs(journey, n int) []Leg {
	base := time.Date(2025, 3, 1, 6, 0, 0, 0, time.UTC)
	out := make([]Leg, n)
	for i := range out {
		at := base.Add(time.Duration((i*7919+journey*31)%100000) * time.Minute)
		out[i] = Leg{towns[i%6], towns[(i+1)%6], at.Format("Mon, 02 Jan 2006 15:04 MST")}
	}
	if n == 0 {
		panic(fmt.Sprint("journey without legs: ", journey))
	}
	return out
}
