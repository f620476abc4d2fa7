// Package chart computes positions and approaches.
package chart

import (
	"encoding/json"
	"math"
)

// Fix is the position of a boat.
type Fix struct {
	Boat    string  `json:"boat"`
	Lat     float64 `json:"lat"`
	Lon     float64 `json:"lon"`
	Course  float64 `json:"course"`
	Track   []Leg   `json:"track"`
	Arrival float64 `json:"arrival"`
}

// Leg is a part of the planned way.
type Leg struct {
	Lat float64 `json:"lat"`
	Lon float64 `json:"lon"`
	NM  float64 `json:"nm"`
}

// Distance gives the great-circle distance in nautical miles.
func Distance(lat1, lon1, lat2, lon2 float64) float64 {
	const rad = math.Pi / 180
	a := math.Sin((lat2-lat1)*rad/2)*math.Sin((lat2-lat1)*rad/2) +
		math.Cos(lat1*rad)*math.Cos(lat2*rad)*math.Sin((lon2-lon1)*rad/2)*math.Sin((lon2-lon1)*rad/2)
	return 2 * 3440.065 * math.Asin(math.Sqrt(a))
}

// Plan fills in the legs and the arrival of a fix.
func Plan(f Fix, legs int) Fix {
	lat, lon := f.Lat, f.Lon
	for i := range legs {
		nlat := lat + 0.01*math.Cos(f.Course+float64(i)/7)
		nlon := lon + 0.01*math.Sin(f.Course+float64(i)/7)
		d := Distance(lat, lon, nlat, nlon)
		f.Track = append(f.Track, Leg{nlat, nlon, d})
		f.Arrival += d / 18
		lat, lon = nlat, nlon
	}
	return f
}

// Encode gives the line that subscribers receive.
func Encode(f Fix) ([]byte, error) {
	b, err := json.Marshal(f)
	return append(b, '\n'), err
}
