// Package order has the rides that are sent to drivers.
package order

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"math/rand/v2"
)

// Stop is a point of a route.
type Stop struct {
	Lat  float64 `json:"lat"`
	Lon  float64 `json:"lon"`
	Text string  `json:"text"`
}

// Ride is one order.
type Ride struct {
	ID    uint64 `json:"id"`
	Rider string `json:"rider"`
	Route []Stop `json:"route"`
}

// Frame encodes a ride for the radio: length, checksum, JSON.
func Frame(r *Ride) ([]byte, error) {
	body, err := json.Marshal(r)
	if err != nil {
		return nil, err
	}
	f := make([]byte, 8, 8+len(body))
	binary.BigEndian.PutUint32(f, uint32(len(body)))
	binary.BigEndian.PutUint32(f[4:], crc32.ChecksumIEEE(body))
	return append(f, body...), nil
}

// Read decodes a frame.
func Read(f []byte) (*Ride, error) {
	if len(f) < 8 || int(binary.BigEndian.Uint32(f)) != len(f)-8 {
		return nil, fmt.Errorf("order: frame of %d bytes is cut", len(f))
	}
	if crc32.ChecksumIEEE(f[8:]) != binary.BigEndian.Uint32(f[4:]) {
		return nil, fmt.Errorf("order: checksum differs")
	}
	var r Ride
	if err := json.Unmarshal(f[8:], &r); err != nil {
		return nil, err
	}
	return &r, nil
}

// Sample makes a ride.
func Sample(rnd *rand.Rand, id uint64) *Ride {
	r := &Ride{ID: id, Rider: fmt.Sprintf("rider-%d", rnd.IntN(9000))}
	lat, lon := 52+rnd.Float64(), 13+rnd.Float64()
	for i := range 24 {
		lat += rnd.Float64() / 500
		lon += rnd.Float64() / 500
		r.Route = append(r.Route, Stop{Lat: lat, Lon: lon, Text: fmt.Sprintf("turn %d into street %d", i, rnd.IntN(3000))})
	}
	return r
}
