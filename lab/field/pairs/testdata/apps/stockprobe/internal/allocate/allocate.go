// Package allocate decides which depot sends what.
package allocate

import (
	"errors"
	"slices"

	"stockprobe/internal/depot"
	"stockprobe/internal/faults"
)

// Line is an article of an order.
type Line struct {
	SKU   string `json:"sku"`
	Units int    `json:"units"`
}

// Order is what a customer wants.
type Order struct {
	ID       string `json:"id"`
	Postcode int    `json:"postcode"`
	Lines    []Line `json:"lines"`
}

// Pick is a line with its place.
type Pick struct {
	SKU   string `json:"sku"`
	Units int    `json:"units"`
	Depot string `json:"depot"`
	Bin   int    `json:"bin"`
}

// Plan is the answer to an order.
type Plan struct {
	Order string `json:"order"`
	Picks []Pick `json:"picks"`
	Back  []Line `json:"back,omitempty"`
}

// Planner knows the depots.
type Planner struct{ depots []*depot.Depot }

// New returns a planner.
func New(depots []*depot.Depot) *Planner { return &Planner{depots} }

// Plan finds a depot for each line, the closest one first.
func (p *Planner) Plan(o *Order) (*Plan, error) {
	plan := &Plan{Order: o.ID, Picks: make([]Pick, 0, len(o.Lines))}
	first := o.Postcode % len(p.depots)
	for _, l := range o.Lines {
		pick, err := p.source(l, first)
		switch {
		case err == nil:
			plan.Picks = append(plan.Picks, pick)
		case errors.Is(err, faults.ErrNone):
			plan.Back = append(plan.Back, l)
		default:
			return nil, err
		}
	}
	// pickers walk along the bins of one depot
	slices.SortFunc(plan.Picks, func(a, b Pick) int {
		if a.Depot != b.Depot {
			if a.Depot < b.Depot {
				return -1
			}
			return 1
		}
		return a.Bin - b.Bin
	})
	return plan, nil
}

func (p *Planner) source(l Line, first int) (Pick, error) {
	var last error
	for i := range p.depots {
		d := p.depots[(first+i)%len(p.depots)]
		bin, err := d.Reserve(l.SKU, l.Units)
		if err == nil {
			return Pick{SKU: l.SKU, Units: l.Units, Depot: d.Name, Bin: bin}, nil
		}
		if !errors.Is(err, faults.ErrNone) {
			return Pick{}, err
		}
		last = err
	}
	return Pick{}, last
}
