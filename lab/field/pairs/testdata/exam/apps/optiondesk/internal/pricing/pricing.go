// Package pricing values contracts.
package pricing

import (
	"math"
	"sync"

	"optiondesk/internal/draws"
	"optiondesk/internal/market"
)

// A Quote is what a contract is worth, and how sure that is.
type Quote struct {
	Contract string
	Value    float64
	Error    float64
}

// A Desk prices contracts with workers.
type Desk struct {
	src     draws.Source
	workers int
	paths   int
}

// NewDesk makes a desk.
func NewDesk(src draws.Source, workers, paths int) *Desk {
	return &Desk{src: src, workers: workers, paths: paths}
}

// Price values contracts.
func (d *Desk) Price(contracts []market.Contract) []Quote {
	quotes := make([]Quote, len(contracts))
	next := make(chan int, len(contracts))
	for i := range contracts {
		next <- i
	}
	close(next)
	var wg sync.WaitGroup
	for w := range d.workers {
		wg.Add(1)
		go func() {
			defer wg.Done()
			s := d.src.Stream(w)
			var p market.Path
			for i := range next {
				quotes[i] = d.value(&contracts[i], &p, s)
			}
		}()
	}
	wg.Wait()
	return quotes
}

// value values one contract.
func (d *Desk) value(c *market.Contract, p *market.Path, s draws.Stream) Quote {
	discount := math.Exp(-c.Rate * c.Years)
	var sum, squares float64
	for range d.paths {
		v := discount * payoff(c, p.Walk(c, s))
		sum += v
		squares += v * v
	}
	n := float64(d.paths)
	mean := sum / n
	return Quote{Contract: c.Name, Value: mean, Error: math.Sqrt((squares/n - mean*mean) / n)}
}

func payoff(c *market.Contract, prices []float64) float64 {
	var sum float64
	for _, p := range prices {
		if p > c.Barrier {
			return 0
		}
		sum += p
	}
	return max(0, sum/float64(len(prices))-c.Strike)
}
