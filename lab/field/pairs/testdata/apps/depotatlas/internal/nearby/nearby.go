// Package nearby answers which places are close.
package nearby

import (
	"cmp"
	"encoding/json"
	"slices"

	"depotatlas/internal/atlas"
	"depotatlas/internal/geo"
)

// Hit is a place with its distance.
type Hit struct {
	ID     uint32  `json:"id"`
	Name   string  `json:"name"`
	Street string  `json:"street"`
	Kind   string  `json:"kind"`
	Lat    float64 `json:"lat"`
	Lon    float64 `json:"lon"`
	Metres int     `json:"metres"`
}

// Answer is what a client gets.
type Answer struct {
	Lat  float64 `json:"lat"`
	Lon  float64 `json:"lon"`
	Hits []Hit   `json:"hits"`
}

// Finder searches an atlas.
type Finder struct{ atlas atlas.Atlas }

// New returns a finder.
func New(a atlas.Atlas) *Finder { return &Finder{a} }

// Find writes the closest places to p as JSON.
func (f *Finder) Find(p geo.Point, limit int) ([]byte, int, error) {
	hits := make([]Hit, 0, 256)
	for _, c := range geo.CellOf(p).Around() {
		f.atlas.Each(c, func(e atlas.Entry) {
			hits = append(hits, Hit{e.ID, e.Name, e.Street, e.Kind, e.Point.Lat, e.Point.Lon, int(geo.Metres(p, e.Point))})
		})
	}
	slices.SortFunc(hits, func(a, b Hit) int { return cmp.Compare(a.Metres, b.Metres) })
	if len(hits) > limit {
		hits = hits[:limit]
	}
	body, err := json.Marshal(Answer{p.Lat, p.Lon, hits})
	return body, len(hits), err
}
