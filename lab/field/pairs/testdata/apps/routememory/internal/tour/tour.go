// Package tour plans tours.
package tour

import "routememory/internal/network"

// A Tour is the stops of a van.
type Tour struct {
	Stops  []int
	Metres int
}

// A Planner plans on a network.
type Planner struct{ Network *network.Network }

type visit struct {
	at     *network.Crossing
	metres int
	before *visit
}

// Plan visits crossings that are near, up to a number of them.
func (p *Planner) Plan(from, limit int) Tour {
	seen := map[int]*visit{}
	queue := []*visit{{at: p.Network.At(from)}}
	for len(queue) > 0 && len(seen) < limit {
		v := queue[0]
		queue = queue[1:]
		if _, ok := seen[v.at.ID]; ok {
			continue
		}
		seen[v.at.ID] = v
		for _, r := range v.at.Roads {
			queue = append(queue, &visit{r.To, v.metres + r.Metres, v})
		}
	}
	var t Tour
	for id, v := range seen {
		t.Stops = append(t.Stops, id)
		t.Metres = max(t.Metres, v.metres)
	}
	return t
}
