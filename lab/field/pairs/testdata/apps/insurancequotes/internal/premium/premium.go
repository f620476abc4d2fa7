// Package premium computes premiums.
package premium

import "math"

// Terms are what somebody wants to insure.
type Terms struct {
	Age, Years int
	Sum        int
}

// A Table has how likely it is to live a year longer.
type Table struct{ survive [120]float64 }

// NewTable makes one by Gompertz' law.
func NewTable() *Table {
	t := &Table{}
	for age := range t.survive {
		t.survive[age] = math.Exp(-0.00003 * math.Exp(0.095*float64(age)))
	}
	return t
}

// Monthly is what somebody pays a month, found by trying rates of interest.
func (t *Table) Monthly(terms Terms) float64 {
	best := 0.0
	for step := range 400 {
		rate := 1 + float64(step)/20000
		value, alive := 0.0, 1.0
		for year := range terms.Years {
			age := min(terms.Age+year, len(t.survive)-1)
			value += alive * (1 - t.survive[age]) * math.Pow(rate, -float64(year))
			alive *= t.survive[age]
		}
		best = max(best, value*float64(terms.Sum)/float64(12*terms.Years))
	}
	return best
}
