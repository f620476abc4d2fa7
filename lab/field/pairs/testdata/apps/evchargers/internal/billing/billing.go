// Package billing prices energy.
package billing

import (
	"sync/atomic"
	"time"
)

type Prices struct {
	byHour [24]float64
	cents  atomic.Int64
}

func New() *Prices {
	p := &Prices{}
	for h := range p.byHour {
		p.byHour[h] = 28 + float64((h*7)%19)
	}
	return p
}

// Add bills energy and gives the price in cents.
func (p *Prices) Add(wh float64, at time.Time) int {
	c := int(wh / 1000 * p.byHour[at.Hour()])
	p.cents.Add(int64(c))
	return c
}

func (p *Prices) Total() float64 { return float64(p.cents.Load()) / 100 }
