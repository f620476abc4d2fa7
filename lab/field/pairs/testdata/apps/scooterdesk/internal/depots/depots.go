// Package depots knows where scooters are charged.
package depots

import (
	"fmt"
	"math"
)

// Depot is one depot.
type Depot struct {
	Name     string
	Lat, Lon float64
	Expired  int
}

// City lays out n depots.
func City(n int) []*Depot {
	out := make([]*Depot, n)
	for i := range out {
		a := float64(i) * 2.399963
		r := 0.05 * math.Sqrt(float64(i)/float64(n))
		out[i] = &Depot{Name: fmt.Sprintf("depot-%02d", i), Lat: 52.5 + r*math.Sin(a), Lon: 13.4 + r*math.Cos(a)}
	}
	return out
}

// Nearest returns the depot that is nearest to a place and its distance.
func Nearest(city []*Depot, lat, lon float64) (best *Depot, meters float64) {
	meters = math.Inf(1)
	for _, d := range city {
		if m := distance(lat, lon, d.Lat, d.Lon); m < meters {
			best, meters = d, m
		}
	}
	return best, meters
}

func distance(lat1, lon1, lat2, lon2 float64) float64 {
	const rad = math.Pi / 180
	a := math.Sin((lat2 - lat1) * rad / 2)
	b := math.Sin((lon2 - lon1) * rad / 2)
	h := a*a + math.Cos(lat1*rad)*math.Cos(lat2*rad)*b*b
	return 2 * 6371000 * math.Asin(math.Sqrt(h))
}
