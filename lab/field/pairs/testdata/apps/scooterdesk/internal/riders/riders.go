// Package riders plays the scooters of a city.
package riders

import (
	"context"
	"fmt"
	"iter"
	"log"
	"math/rand/v2"
	"strconv"
	"time"

	"scooterdesk/internal/holds"
	"scooterdesk/internal/telemetry"
)

// City sends the messages of all scooters to a desk.
type City struct {
	Desk *holds.Desk
	ride int
	rng  *rand.Rand
}

// Snapshot yields what the desk had open before it was restarted.
func Snapshot(n int) iter.Seq[holds.Record] {
	return func(yield func(holds.Record) bool) {
		for i := range n {
			if !yield(holds.Record{Ride: "ride-n" + strconv.Itoa(i), Scooter: "sc-" + strconv.Itoa(i%4000), Depot: i % 24}) {
				return
			}
		}
	}
}

// Ride sends messages at a rate until ctx is over.
func (c *City) Ride(ctx context.Context, rate int) {
	c.rng = rand.New(rand.NewPCG(13, 52))
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	start, sent := time.Now(), 0
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		for due := int(time.Since(start).Seconds() * float64(rate)); sent < due; sent++ {
			if sent%3 == 2 {
				c.send(telemetry.Release)
			} else {
				c.send(telemetry.Hold)
			}
		}
	}
}

func (c *City) send(kind string) {
	ride := c.ride
	if kind == telemetry.Release {
		ride -= c.rng.IntN(60)
	} else {
		c.ride++
	}
	line := fmt.Appendf(nil, `{"kind":%q,"ride":"ride-%08d","scooter":"sc-%04d","lat":%.5f,"lon":%.5f,"battery":%d}`,
		kind, ride, c.rng.IntN(4000), 52.45+c.rng.Float64()/10, 13.35+c.rng.Float64()/10, c.rng.IntN(100))
	if err := c.Desk.Handle(line); err != nil {
		log.Print(err)
	}
}
