// Package quote answers what a shipment costs.
package quote

import (
	"errors"
	"sort"

	"freightquote/internal/tariff"
	"freightquote/internal/zones"
)

type Address struct {
	Country  string `json:"country"`
	Postcode string `json:"postcode"`
}

type Parcel struct {
	To    Address `json:"to"`
	Grams int     `json:"grams"`
	Size  [3]int  `json:"size"`
}

type Request struct {
	From    Address  `json:"from"`
	Parcels []Parcel `json:"parcels"`
}

type Offer struct {
	Level  tariff.Level   `json:"level"`
	Total  tariff.Cents   `json:"total"`
	Each   []tariff.Cents `json:"each"`
	Remote int            `json:"remote"`
}

var ErrNotServed = errors.New("destination not served")

type Service struct {
	Zones zones.Locator
	Card  *tariff.Card
}

type leg struct {
	from, to zones.Zone
	grams    int
}

func (s *Service) legs(req *Request) ([]leg, error) {
	legs := make([]leg, 0, len(req.Parcels))
	from, ok := s.Zones.Locate(req.From.Country, req.From.Postcode)
	if !ok {
		return nil, ErrNotServed
	}
	for i := range req.Parcels {
		p := &req.Parcels[i]
		to, ok := s.Zones.Locate(p.To.Country, p.To.Postcode)
		if !ok {
			return nil, ErrNotServed
		}
		legs = append(legs, leg{from, to, max(p.Grams, p.Size[0]*p.Size[1]*p.Size[2]/5)})
	}
	return legs, nil
}

// Quote prices all parcels at all levels, the cheapest level first.
func (s *Service) Quote(req *Request) ([]Offer, error) {
	legs, err := s.legs(req)
	if err != nil {
		return nil, err
	}
	offers := make([]Offer, 0, len(tariff.Levels))
	for _, l := range tariff.Levels {
		o := Offer{Level: l, Each: make([]tariff.Cents, 0, len(legs))}
		for _, g := range legs {
			p := s.Card.Price(l, g.grams, g.from.Hub, g.to.Hub, g.to.Remote)
			o.Each = append(o.Each, p)
			o.Total += p
			if g.to.Remote {
				o.Remote++
			}
		}
		offers = append(offers, o)
	}
	sort.Slice(offers, func(i, j int) bool { return offers[i].Total < offers[j].Total })
	return offers, nil
}
