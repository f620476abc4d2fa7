// Package schedule issues the commands of the day's plan.
package schedule

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"glasshouses/internal/climate"
	"glasshouses/internal/link"
)

var verbs = [...]string{"vent", "screen", "valve", "lamp"}

// Plan drives the houses at a steady rate.
type Plan struct {
	hub   *link.Hub
	model *climate.Model
	rate  int

	Issued, Applied, Refused atomic.Int64
}

// NewPlan makes a plan of rate commands per second.
func NewPlan(h *link.Hub, m *climate.Model, rate int) *Plan {
	return &Plan{hub: h, model: m, rate: rate}
}

// Run issues commands until the context ends.
func (p *Plan) Run(ctx context.Context) {
	start, gap := time.Now(), time.Second/time.Duration(p.rate)
	for n := 0; ctx.Err() == nil; n++ {
		time.Sleep(time.Until(start.Add(time.Duration(n) * gap)))
		p.Issued.Add(1)
		go p.apply(n*7%60, verbs[n%len(verbs)])
	}
}

func (p *Plan) apply(house int, verb string) {
	s, err := p.hub.Session(fmt.Sprintf("house-%03d", house))
	if err != nil {
		p.Refused.Add(1)
		return
	}
	level := p.model.Level(p.model.Record(house, 21, 70))
	r, err := s.Call(verb, level)
	if err != nil || !r.OK {
		p.Refused.Add(1)
		return
	}
	p.model.Record(house, r.Temp, r.Humid)
	p.Applied.Add(1)
}
