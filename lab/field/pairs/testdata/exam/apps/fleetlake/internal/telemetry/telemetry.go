// Package telemetry stands for the gateway that lorries send their readings to.
package telemetry

import (
	"encoding/json"
	"math/rand/v2"
	"time"
)

// A Reading is what a lorry was doing at a time.
type Reading struct {
	Vehicle int       `json:"vehicle"`
	Region  string    `json:"region"`
	At      time.Time `json:"at"`
	Speed   float64   `json:"speed"`
	Fuel    float64   `json:"fuel"`
	Odo     int64     `json:"odo"`
}

var regions = []string{"baltic", "benelux", "iberia", "nordic"}

// A Gateway makes readings up. A lorry sends a few at a time, some of them of earlier days
// when it was out of reach.
type Gateway struct {
	rnd  *rand.Rand
	odo  []int64
	now  time.Time
	left []Reading
}

// NewGateway returns the gateway of a fleet.
func NewGateway(vehicles int) *Gateway {
	return &Gateway{rnd: rand.New(rand.NewPCG(41, 43)), odo: make([]int64, vehicles), now: time.Date(2025, 3, 10, 6, 0, 0, 0, time.UTC)}
}

// Next returns the next reading, as JSON.
func (g *Gateway) Next() ([]byte, error) {
	if len(g.left) == 0 {
		g.upload()
	}
	r := g.left[0]
	g.left = g.left[1:]
	return json.Marshal(r)
}

func (g *Gateway) upload() {
	v := g.rnd.IntN(len(g.odo))
	at := g.now
	if g.rnd.IntN(3) == 0 {
		at = at.AddDate(0, 0, -1-g.rnd.IntN(3))
	}
	for range 12 + g.rnd.IntN(24) {
		g.odo[v] += int64(g.rnd.IntN(900))
		g.left = append(g.left, Reading{
			Vehicle: v, Region: regions[v%len(regions)], At: at,
			Speed: float64(g.rnd.IntN(900)) / 10, Fuel: float64(g.rnd.IntN(1000)) / 10, Odo: g.odo[v],
		})
		at = at.Add(time.Second)
	}
	g.now = g.now.Add(500 * time.Millisecond)
}
