// Package summary computes what the waterway office publishes.
package summary

import (
	"slices"

	"canalsluices/internal/table"
)

// Sluice is the day of one sluice.
type Sluice struct {
	Name     string  `json:"name"`
	Boats    int64   `json:"boats"`
	Volume   float64 `json:"volume"`
	Low      float64 `json:"low"`
	Median   float64 `json:"median"`
	High     float64 `json:"high"`
	Openings int     `json:"openings"`
	Busiest  int64   `json:"busiest"`
	levels   []float64
	hours    [24]int64
}

// Of summarises a table by sluice.
func Of(t table.Table) []*Sluice {
	by := map[string]*Sluice{}
	t.Each(func(r table.Row) {
		name := r.Text("sluice")
		s := by[name]
		if s == nil {
			s = &Sluice{Name: name}
			by[name] = s
		}
		s.Boats += r.Int("boats")
		s.hours[r.Int("minute")/60%24] += r.Int("boats")
		s.levels = append(s.levels, r.Float("level"))
		if r.Text("gate") == "open" {
			s.Volume += r.Float("flow") * 60
			s.Openings++
		}
	})
	out := make([]*Sluice, 0, len(by))
	for _, s := range by {
		slices.Sort(s.levels)
		s.Low, s.High = s.levels[0], s.levels[len(s.levels)-1]
		s.Median = s.levels[len(s.levels)/2]
		for h, n := range s.hours {
			if n > s.hours[s.Busiest] {
				s.Busiest = int64(h)
			}
		}
		out = append(out, s)
	}
	slices.SortFunc(out, func(a, b *Sluice) int { return int(b.Boats - a.Boats) })
	return out
}
