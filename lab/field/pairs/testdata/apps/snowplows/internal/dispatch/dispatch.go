// Package dispatch sends orders and runs the ploughs' sessions.
package dispatch

import (
	"encoding/json"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"sync/atomic"
	"time"

	"snowplows/internal/board"
	"snowplows/internal/fleet"
	"snowplows/internal/route"
)

// Centre is the dispatching centre.
type Centre struct {
	Board   *board.Board
	Grid    *route.Grid
	Sent    atomic.Int64
	Driven  atomic.Int64
	Bytes   atomic.Int64
	Minutes atomic.Int64
}

// Session is a plough's connection.
func (c *Centre) Session(p fleet.Plough) {
	at, version := p.ID%len(c.Grid.Cost), 0
	for {
		o, ok := c.Board.Next(p.ID, version)
		if !ok {
			return
		}
		version = o.Version
		raw, err := json.Marshal(o)
		if err != nil {
			return
		}
		h := fnv.New64a()
		h.Write(raw)
		c.Bytes.Add(int64(len(raw)))
		for _, s := range o.Stops {
			c.Minutes.Add(int64(c.Grid.Time(at, s)))
			at = s
		}
		c.Driven.Add(1)
	}
}

// Run sends an order at each tick until end.
func (c *Centre) Run(ploughs []fleet.Plough, every time.Duration, end time.Time) {
	rng := rand.New(rand.NewPCG(9, 9))
	tick := time.NewTicker(every)
	defer tick.Stop()
	for time.Now().Before(end) {
		<-tick.C
		p := ploughs[rng.IntN(len(ploughs))]
		o := fleet.Order{Street: fmt.Sprintf("street %d", rng.IntN(700)), Salt: rng.IntN(30)}
		for range 3 {
			o.Stops = append(o.Stops, rng.IntN(len(c.Grid.Cost)))
		}
		c.Board.Put(p.ID, o)
		c.Sent.Add(1)
	}
}
