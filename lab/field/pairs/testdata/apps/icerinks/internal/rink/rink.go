// Package rink measures the ice.
package rink

import (
	"context"
	"fmt"
	"math"
	"time"

	"icerinks/internal/reading"
	"icerinks/internal/uplink"
)

// Rink has a row of sensors in the ice.
type Rink struct {
	n    int
	name string
	up   *uplink.Uplink
	temp [40]float64
}

// New makes a rink.
func New(n int, up *uplink.Uplink) *Rink {
	return &Rink{n: n, name: fmt.Sprintf("rink-%02d", n), up: up}
}

// Run measures and sends until the context ends.
func (r *Rink) Run(ctx context.Context, every time.Duration) {
	time.Sleep(time.Duration(r.n) * every / 40)
	t := time.NewTicker(every)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-t.C:
			r.up.Send(ctx, r.measure())
		}
	}
}

func (r *Rink) measure() *reading.Batch {
	now := time.Now().UnixMilli()
	b := &reading.Batch{Rink: r.name}
	for i := range r.temp {
		wave := math.Sin(float64(now)/900+float64(i)/7) * math.Exp(-float64(i)/80)
		r.temp[i] = 0.9*r.temp[i] + 0.1*(-5+wave)
		b.Readings = append(b.Readings, reading.Reading{Sensor: fmt.Sprintf("ice-%02d", i), At: now, Value: r.temp[i]})
	}
	return b
}
