// Package planner finds the best berth for an arrival.
package planner

import (
	"math"

	"berthallot/internal/harbour"
	"berthallot/internal/match"
)

// anchorage takes the vessels that no berth admits.
var anchorage = &harbour.Berth{ID: "anchorage"}

// Filter rules berths out.
type Filter interface {
	Prepare(v *harbour.Vessel) (any, error)
	Admits(state any, v *harbour.Vessel, b *harbour.Berth) (bool, error)
}

// Terms admits berths that meet the agent's terms.
type Terms struct{}

func (Terms) Prepare(*harbour.Vessel) (any, error) { return nil, nil }

func (Terms) Admits(_ any, v *harbour.Vessel, b *harbour.Berth) (bool, error) {
	sel, err := match.FromTerms(v.Terms)
	if err != nil {
		return false, err
	}
	return sel.Matches(b.Attrs), nil
}

// TermsV2 is Terms for the two-phase planner.
type TermsV2 struct{}

func (TermsV2) Prepare(v *harbour.Vessel) (any, error) { return match.FromTerms(v.Terms) }

func (TermsV2) Admits(state any, _ *harbour.Vessel, b *harbour.Berth) (bool, error) {
	return state.(match.Selector).Matches(b.Attrs), nil
}

// Planner scores the berths that its filter leaves.
type Planner struct {
	Berths []*harbour.Berth
	Filter Filter
}

// Place returns the best berth and its score.
func (p *Planner) Place(v *harbour.Vessel) (*harbour.Berth, float64, error) {
	state, err := p.Filter.Prepare(v)
	if err != nil {
		return nil, 0, err
	}
	best := anchorage
	top := math.Inf(-1)
	for _, b := range p.Berths {
		if b.Length < v.Length*0.9 || b.Depth < v.Draft-1 {
			continue
		}
		if ok, err := p.Filter.Admits(state, v, b); err != nil {
			return nil, 0, err
		} else if !ok {
			continue
		}
		if s := score(v, b); s > top {
			best, top = b, s
		}
	}
	return best, top, nil
}

func score(v *harbour.Vessel, b *harbour.Berth) float64 {
	const lat, lon = 53.54, 9.96
	dx := (b.Lon - lon) * math.Cos(lat*math.Pi/180)
	s := -math.Hypot(dx, b.Lat-lat) * 10
	for k := range v.Stay {
		slot := (v.ETA + k) % len(b.Window)
		tide := math.Sin(float64(slot) * math.Pi / 24.8)
		s -= math.Exp(-(b.Depth + tide - v.Draft)) + b.Window[slot]/10
	}
	return s - math.Abs(b.Length-v.Length)/100
}
