// Package readings keeps what meters say.
package readings

import (
	"math"
	"sync"
)

// A Reading is what a meter of a house says.
type Reading struct {
	Meter   int     `json:"meter"`
	Seconds int     `json:"seconds"` // since the one before
	Flow    float64 `json:"flow"`    // litres an hour
	Warm    float64 `json:"warm"`    // degrees before the radiators
	Cold    float64 `json:"cold"`    // and behind them
}

// kWh returns the energy that went through the meter.
func (r Reading) kWh() float64 {
	density := 1.0 - math.Pow((r.Warm-4)/100, 2)*0.04
	return r.Flow * density * 4.186 * (r.Warm - r.Cold) * float64(r.Seconds) / 3600 / 3600
}

// An Answer is what a gateway is told.
type Answer struct {
	Taken   int     `json:"taken"`
	Energy  float64 `json:"energy"`
	Unusual []int   `json:"unusual,omitempty"` // meters
}

// A history is that of a house: the last values, and the sum of all.
type history struct {
	last  []float64
	next  int
	total float64
}

// A Book keeps the last readings of each house.
type Book struct {
	mu     sync.Mutex
	keep   int
	houses map[string]*history
}

// NewBook returns a book that keeps so many readings of a house.
func NewBook(keep int) *Book { return &Book{keep: keep, houses: map[string]*history{}} }

// Add writes readings down.
func (b *Book) Add(house string, batch []Reading) Answer {
	b.mu.Lock()
	defer b.mu.Unlock()
	h := b.houses[house]
	if h == nil {
		h = &history{last: make([]float64, 0, b.keep)}
		b.houses[house] = h
	}
	var a Answer
	mean, deviation := h.spread()
	for _, r := range batch {
		e := r.kWh()
		if len(h.last) == b.keep && math.Abs(e-mean) > 4*deviation {
			a.Unusual = append(a.Unusual, r.Meter)
		}
		h.add(e)
		a.Taken++
	}
	a.Energy = h.total
	return a
}

func (h *history) add(e float64) {
	h.total += e
	if len(h.last) < cap(h.last) {
		h.last = append(h.last, e)
		return
	}
	h.last[h.next] = e
	h.next = (h.next + 1) % len(h.last)
}

func (h *history) spread() (mean, deviation float64) {
	if len(h.last) == 0 {
		return 0, 0
	}
	for _, e := range h.last {
		mean += e
	}
	mean /= float64(len(h.last))
	for _, e := range h.last {
		deviation += (e - mean) * (e - mean)
	}
	return mean, math.Sqrt(deviation / float64(len(h.last)))
}

// Total returns the energy of all houses.
func (b *Book) Total() (sum float64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, h := range b.houses {
		sum += h.total
	}
	return sum
}
