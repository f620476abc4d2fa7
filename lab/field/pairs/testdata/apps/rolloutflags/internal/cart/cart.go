// Package cart prices carts.
package cart

import "fmt"

// A Line is an article and how often it is in the cart.
type Line struct{ Cents, Amount int }

// A Cart is what a visitor wants to buy.
type Cart struct {
	Visitor string
	Lines   []Line
}

// Flags know what a visitor sees.
type Flags interface {
	On(name, visitor string) bool
}

// A Pricer prices carts.
type Pricer struct{ Flags Flags }

// Price is what a cart costs.
func (p *Pricer) Price(c *Cart) (cents int) {
	for _, l := range c.Lines {
		line := l.Cents * l.Amount
		if l.Amount > 2 && p.Flags.On("feature-13", c.Visitor) { // a discount for many
			line = line * 95 / 100
		}
		cents += line
	}
	if p.Flags.On("feature-31", c.Visitor) { // free shipping
		return cents
	}
	return cents + 490
}

// Generate makes a cart up.
func Generate(i int) Cart {
	c := Cart{Visitor: fmt.Sprint("visitor-", i%900)}
	for k := range 1 + i%6 {
		c.Lines = append(c.Lines, Line{100 + (i*31+k*17)%5000, 1 + (i+k)%4})
	}
	return c
}
