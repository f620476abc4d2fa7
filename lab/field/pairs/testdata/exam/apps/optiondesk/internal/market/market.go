// Package market has contracts and how prices move.
package market

import (
	"fmt"
	"math"

	"optiondesk/internal/draws"
)

// A Contract is an Asian option with a barrier.
type Contract struct {
	Name          string
	Spot, Strike  float64
	Barrier       float64 // the contract ends without value above it
	Years, Rate   float64
	Vol, VolOfVol float64
	Days          int
}

// Contracts makes those of a desk.
func Contracts(n int) []Contract {
	out := make([]Contract, n)
	for i := range out {
		spot := 40 + float64(i%25)*3
		out[i] = Contract{
			Name: fmt.Sprintf("ASN-%04d", i), Spot: spot, Strike: spot * (0.9 + float64(i%5)*0.05),
			Barrier: spot * 1.8, Years: 0.5 + float64(i%4)*0.25, Rate: 0.03,
			Vol: 0.18 + float64(i%7)*0.02, VolOfVol: 0.3, Days: 126,
		}
	}
	return out
}

// A Path is the prices of an underlying, day by day.
type Path struct{ prices []float64 }

// Walk simulates a path of a contract's underlying, with jumps and a moving volatility.
func (p *Path) Walk(c *Contract, s draws.Stream) []float64 {
	p.prices = p.prices[:0]
	dt := c.Years / float64(c.Days)
	root := math.Sqrt(dt)
	x, v := math.Log(c.Spot), c.Vol*c.Vol
	for range c.Days {
		a, b := s.NormFloat64(), s.NormFloat64()
		vol := math.Sqrt(max(v, 0))
		x += (c.Rate-v/2)*dt + vol*root*a
		v += 1.5*(c.Vol*c.Vol-v)*dt + c.VolOfVol*vol*root*(-0.6*a+0.8*b)
		if s.Float64() < 0.4*dt {
			x -= 0.05
		}
		p.prices = append(p.prices, math.Exp(x))
	}
	return p.prices
}
