// Package desk is the desks of the house.
package desk

import (
	"fmt"
	"math"

	"tickerplant/internal/quote"
)

// A Maker keeps prices of options on what is quoted.
type Maker struct {
	name    string
	strikes int
	prices  int
	worth   float64
}

// NewMaker makes a desk with so many strikes on each side.
func NewMaker(name string, strikes int) *Maker { return &Maker{name: name, strikes: strikes} }

// Name is that of the desk.
func (m *Maker) Name() string { return m.name }

// On prices all strikes anew.
func (m *Maker) On(q quote.Quote) {
	mid := q.Mid()
	for k := -m.strikes; k <= m.strikes; k++ {
		for days := 30.0; days <= 360; days += 30 {
			m.worth = call(mid, mid*(1+float64(k)*0.02), days/365, 0.2)
			m.prices++
		}
	}
}

// Summary says what the desk did.
func (m *Maker) Summary() string {
	return fmt.Sprintf("%s: %d prices, last %.2f", m.name, m.prices, m.worth)
}

func call(s, k, t, vol float64) float64 {
	sd := vol * math.Sqrt(t)
	d := (math.Log(s/k) + sd*sd/2) / sd
	return s*normal(d) - k*normal(d-sd)
}

func normal(x float64) float64 { return math.Erfc(-x/math.Sqrt2) / 2 }

// A Tape keeps the range of each symbol.
type Tape struct {
	low, high []int64
	seen      int
}

// NewTape makes a tape.
func NewTape(symbols int) *Tape {
	return &Tape{low: make([]int64, symbols), high: make([]int64, symbols)}
}

// Name is that of the desk.
func (t *Tape) Name() string { return "tape" }

// On writes a quote down.
func (t *Tape) On(q quote.Quote) {
	t.seen++
	if l := t.low[q.Symbol]; l == 0 || q.Bid < l {
		t.low[q.Symbol] = q.Bid
	}
	t.high[q.Symbol] = max(t.high[q.Symbol], q.Ask)
}

// Summary says what the desk did.
func (t *Tape) Summary() string { return fmt.Sprintf("tape: %d quotes", t.seen) }
