// Package places finds what lies near a point.
package places

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"sync"

	"kiosks/internal/grid"
)

// A Place is a kiosk.
type Place struct {
	ID    int        `json:"id"`
	Kind  string     `json:"kind"`
	Point grid.Point `json:"point"`
}

// A Near is a place and how far it is.
type Near struct {
	Place
	KM float64 `json:"km"`
}

// An Index has the cells of some levels, from coarse to fine. It is safe for concurrent use.
type Index struct {
	levels []int
	mu     sync.RWMutex
	cells  map[grid.Cell][]Place
}

// New returns an empty index.
func New(levels []int) *Index {
	return &Index{levels: levels, cells: map[grid.Cell][]Place{}}
}

// Add puts a place into the index.
func (x *Index) Add(p Place) {
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, l := range x.levels {
		c := grid.At(p.Point, l)
		x.cells[c] = append(x.cells[c], p)
	}
}

// level returns the finest level at which a circle is no more than some cells wide, or the
// coarsest that there is.
func (x *Index) level(p grid.Point, km float64) int {
	const cells = 6
	for i := len(x.levels) - 1; i > 0; i-- {
		if 2*km <= cells*grid.Width(p.Lat, x.levels[i]) {
			return x.levels[i]
		}
	}
	return x.levels[0]
}

// Within returns the nearest places of a circle.
func (x *Index) Within(p grid.Point, km float64, limit int) []Near {
	x.mu.RLock()
	defer x.mu.RUnlock()
	var out []Near
	for _, c := range grid.Cover(p, km, x.level(p, km)) {
		for _, place := range x.cells[c] {
			if d := grid.Distance(p, place.Point); d <= km {
				out = append(out, Near{place, d})
			}
		}
	}
	slices.SortFunc(out, func(a, b Near) int { return cmp.Or(cmp.Compare(a.KM, b.KM), cmp.Compare(a.ID, b.ID)) })
	return out[:min(limit, len(out))]
}

// Centre is where the city lies that Fill makes.
var Centre = grid.Point{Lat: 52.52, Lon: 13.405}

// Fill adds the kiosks of a city and the country around it.
func Fill(x *Index, n int) {
	r := rand.New(rand.NewPCG(2, 8))
	kinds := []string{"newspapers", "coffee", "tickets", "flowers"}
	for i := range n {
		p := grid.Point{Lat: Centre.Lat + r.NormFloat64()*0.3, Lon: Centre.Lon + r.NormFloat64()*0.5}
		x.Add(Place{ID: i, Kind: kinds[r.IntN(len(kinds))], Point: p})
	}
}
