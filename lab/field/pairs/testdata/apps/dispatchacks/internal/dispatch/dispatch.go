// Package dispatch sends rides to the drivers.
package dispatch

import (
	"log"
	"math/rand/v2"
	"time"

	"dispatchacks/internal/driver"
	"dispatchacks/internal/order"
	"dispatchacks/internal/pending"
)

// Centre has the radios of all drivers.
type Centre struct {
	radios []*driver.Radio
	window *pending.Window
	next   uint64
}

// Open starts a centre for drivers radios.
func Open(drivers int, patience time.Duration, v2 bool) *Centre {
	c := &Centre{}
	c.window = pending.NewWindow(patience, v2, c.transmit)
	for range drivers {
		c.radios = append(c.radios, driver.Start(func(id uint64) {
			if !c.window.Acked(id) {
				log.Printf("dispatch: ride %d is not open", id)
			}
		}))
	}
	return c
}

func (c *Centre) transmit(id uint64, frame []byte) {
	c.radios[id%uint64(len(c.radios))].Send(frame)
}

// Send dispatches one ride.
func (c *Centre) Send(r *order.Ride) error {
	f, err := order.Frame(r)
	if err != nil {
		return err
	}
	c.window.Sent(r.ID, f)
	c.transmit(r.ID, f)
	return nil
}

// Work sends rate rides a second until the deadline.
func (c *Centre) Work(rate int, length time.Duration) (uint64, error) {
	rnd := rand.New(rand.NewPCG(2, 2))
	t := time.NewTicker(5 * time.Millisecond)
	defer t.Stop()
	start := time.Now()
	for now := start; now.Sub(start) < length; now = <-t.C {
		for due := uint64(now.Sub(start).Seconds() * float64(rate)); c.next < due; c.next++ {
			if err := c.Send(order.Sample(rnd, c.next)); err != nil {
				return c.next, err
			}
		}
	}
	return c.next, nil
}

// Close ends the radios and returns the distance of all rides and the frames that were sent again.
func (c *Centre) Close() (float64, int64) {
	km := 0.0
	for _, r := range c.radios {
		km += r.Close()
	}
	return km, c.window.Resent.Load()
}
