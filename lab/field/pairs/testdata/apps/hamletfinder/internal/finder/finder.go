// Package finder answers questions about places.
package finder

import (
	"encoding/json"
	"math"
	"sort"
	"strings"

	"hamletfinder/internal/places"
)

// Finder knows places by the parts of their names and by their squares.
type Finder struct {
	words map[string][]*places.Place
	grid  map[[2]int][]*places.Place
}

// New indexes a tree.
func New(t *places.Tree) *Finder {
	f := &Finder{words: map[string][]*places.Place{}, grid: map[[2]int][]*places.Place{}}
	for _, p := range t.All {
		w, _, _ := strings.Cut(strings.ToLower(p.Name), " ")
		f.words[w] = append(f.words[w], p)
		f.grid[square(p.Lat, p.Lon)] = append(f.grid[square(p.Lat, p.Lon)], p)
	}
	return f
}

func square(lat, lon float64) [2]int {
	return [2]int{int(math.Floor(lat * 5)), int(math.Floor(lon * 5))}
}

// Hit is one answer.
type Hit struct {
	Code   string   `json:"code"`
	Name   string   `json:"name"`
	Km     float64  `json:"km"`
	People int      `json:"people"`
	Trail  []string `json:"trail"`
}

// Near returns the places of a name, nearest first, as JSON.
func (f *Finder) Near(name string, lat, lon float64) ([]byte, error) {
	found := f.words[strings.ToLower(name)]
	if len(found) == 0 {
		found = f.grid[square(lat, lon)]
	}
	hits := make([]Hit, 0, len(found))
	for _, p := range found {
		hits = append(hits, Hit{Code: p.Code, Name: p.Name, Km: distance(lat, lon, p.Lat, p.Lon), People: p.Total})
	}
	sort.Slice(hits, func(i, j int) bool { return hits[i].Km < hits[j].Km })
	hits = hits[:min(len(hits), 5)]
	for i := range hits {
		for _, p := range found {
			if p.Code == hits[i].Code {
				hits[i].Trail = p.Trail()
			}
		}
	}
	return json.Marshal(hits)
}

func distance(a, b, c, d float64) float64 {
	r := math.Pi / 180
	s, t := math.Sin((c-a)*r/2), math.Sin((d-b)*r/2)
	return 12742 * math.Asin(math.Sqrt(s*s+math.Cos(a*r)*math.Cos(c*r)*t*t))
}
