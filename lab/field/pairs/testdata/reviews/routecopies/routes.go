// Package routes finds the way of parcels over a network of depots.
package routes

import "encoding/json"

// A Network has the depots and what lies between them.
type Network struct {
	Depots map[string]Depot `json:"depots"`
	Closed []string         `json:"closed"`
}

// A Depot is where parcels are handed on.
type Depot struct {
	Lat, Lon float64
	Next     []Leg
}

// A Leg leads to another depot.
type Leg struct {
	To      string
	Minutes int
}

// Copy is a network that can be changed by itself.
func (n *Network) Copy() (*Network, error) {
	text, err := json.Marshal(n)
	if err != nil {
		return nil, err
	}
	out := &Network{}
	return out, json.Unmarshal(text, out)
}

// Minutes is how long a parcel takes by the quickest way.
func (n *Network) Minutes(from, to string) int {
	best := map[string]int{from: 0}
	queue := []string{from}
	for len(queue) > 0 {
		at := queue[0]
		queue = queue[1:]
		for _, leg := range n.Depots[at].Next {
			m := best[at] + leg.Minutes
			if old, ok := best[leg.To]; ok && old <= m {
				continue
			}
			best[leg.To] = m
			queue = append(queue, leg.To)
		}
	}
	return best[to]
}

// A Planner answers for how long parcels take.
type Planner struct {
	Network *Network
	Private bool // each answer has a network of its own
}

// Plan is the time between two depots.
func (p *Planner) Plan(from, to string) (int, error) {
	n := p.Network
	if p.Private {
		c, err := n.Copy()
		if err != nil {
			return 0, err
		}
		n = c
	}
	return n.Minutes(from, to), nil
}
