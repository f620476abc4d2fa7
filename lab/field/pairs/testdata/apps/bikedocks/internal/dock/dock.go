// Package dock knows the docks of the city and how far they are apart.
package dock

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
)

// Dock is a place where bicycles stand.
type Dock struct {
	ID       int
	Lat, Lon float64
	Places   int
}

// City makes n docks.
func City(n int) []Dock {
	rng := rand.New(rand.NewPCG(3, 9))
	out := make([]Dock, n)
	for i := range out {
		out[i] = Dock{i, 59.85 + rng.Float64()/8, 10.6 + rng.Float64()/4, 8 + rng.IntN(24)}
	}
	return out
}

// Metres returns the distance between two points.
func Metres(lat1, lon1, lat2, lon2 float64) float64 {
	const rad = math.Pi / 180
	a := math.Sin((lat2 - lat1) * rad / 2)
	b := math.Sin((lon2 - lon1) * rad / 2)
	h := a*a + math.Cos(lat1*rad)*math.Cos(lat2*rad)*b*b
	return 2 * 6371000 * math.Asin(math.Sqrt(h))
}

// Nearest returns the k docks that are nearest to a point.
func Nearest(docks []Dock, lat, lon float64, k int) []Dock {
	type at struct {
		d Dock
		m float64
	}
	all := make([]at, len(docks))
	for i, d := range docks {
		all[i] = at{d, Metres(lat, lon, d.Lat, d.Lon)}
	}
	slices.SortFunc(all, func(a, b at) int { return cmp.Compare(a.m, b.m) })
	out := make([]Dock, min(k, len(all)))
	for i := range out {
		out[i] = all[i].d
	}
	return out
}
