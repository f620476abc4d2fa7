// Package kin finds relations.
package kin

import "genealogies/internal/parish"

// Line is a person with the distance.
type Line struct {
	Person   *parish.Person
	Distance int
}

// Ancestors returns the ancestors up to a depth.
func Ancestors(p *parish.Person, depth int) []Line {
	out := make([]Line, 0, 1<<depth)
	out = append(out, Line{p, 0})
	for i := 0; i < len(out); i++ {
		l := out[i]
		if l.Distance == depth || l.Person.Father == nil {
			continue
		}
		out = append(out, Line{l.Person.Father, l.Distance + 1}, Line{l.Person.Mother, l.Distance + 1})
	}
	return out
}

// Common returns the nearest ancestor of both, or nil.
func Common(a, b *parish.Person, depth int) (*parish.Person, int) {
	dist := make(map[int]int, 256)
	for _, l := range Ancestors(a, depth) {
		if d, ok := dist[l.Person.ID]; !ok || l.Distance < d {
			dist[l.Person.ID] = l.Distance
		}
	}
	var best *parish.Person
	near := 1 << 30
	for _, l := range Ancestors(b, depth) {
		if d, ok := dist[l.Person.ID]; ok && d+l.Distance < near {
			best, near = l.Person, d+l.Distance
		}
	}
	return best, near
}
