// Package tariff prices consignments by lane, weight break and fuel.
package tariff

import (
	"math"
	"sort"

	"consignments/internal/orders"
)

type lane struct {
	breaks []float64
	rates  []float64
	days   int
}

// Book has the rates of all lanes.
type Book struct {
	lanes []lane
}

// NewBook makes the rates of n lanes.
func NewBook(n int) *Book {
	b := &Book{lanes: make([]lane, n)}
	for i := range b.lanes {
		l := &b.lanes[i]
		l.days = 1 + i%5
		for k := range 14 {
			l.breaks = append(l.breaks, 5*math.Pow(1.5, float64(k)))
			l.rates = append(l.rates, 1.9*math.Pow(0.93, float64(k))*(1+float64(i%17)/20))
		}
	}
	return b
}

// Transit returns the working days that the lane takes.
func (b *Book) Transit(o *orders.Order) int {
	return b.lanes[o.Lane].days + 1
}

// Price returns the price in cents.
func (b *Book) Price(o *orders.Order) int64 {
	l := &b.lanes[o.Lane]
	best := math.Inf(1)
	for j := sort.SearchFloat64s(l.breaks, o.Kilos); j < len(l.breaks); j++ {
		w := math.Max(o.Kilos, l.breaks[max(j-1, 0)])
		best = math.Min(best, w*l.rates[j])
	}
	fuel := 1 + 0.08*math.Sqrt(float64(l.days))
	return int64(math.Round((best*fuel + 0.35*float64(o.Parcels)) * 100))
}
