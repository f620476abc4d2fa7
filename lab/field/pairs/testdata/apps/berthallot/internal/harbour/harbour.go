// Package harbour holds the vessels and berths of the port and reads arrival notices.
package harbour

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strconv"
)

// Term is one condition that a vessel's agent puts on a berth.
type Term struct {
	Key, Op string
	Values  []string
}

// Vessel is an announced arrival.
type Vessel struct {
	IMO, ETA, Stay int
	Name           string
	Length, Draft  float64
	Terms          []Term
}

// Berth is a place at a quay.
type Berth struct {
	ID                      string
	Length, Depth, Lat, Lon float64
	Attrs                   map[string]string
	Window                  [96]float64
}

// ParseNotice reads an agent's notice.
func ParseNotice(line []byte) (*Vessel, error) {
	v := new(Vessel)
	return v, json.Unmarshal(line, v)
}

// Berths lays out the quays.
func Berths(n int) []*Berth {
	rng := rand.New(rand.NewPCG(7, 11))
	var out []*Berth
	for i := range n {
		b := &Berth{
			ID:     fmt.Sprintf("Q%02d-%c", i/4, 'A'+i%4),
			Length: 120 + rng.Float64()*280,
			Depth:  8 + rng.Float64()*10,
			Lat:    53.5 + rng.Float64()/10,
			Lon:    9.9 + rng.Float64()/5,
			Attrs: map[string]string{
				"crane":  []string{"none", "mobile", "gantry", "super"}[rng.IntN(4)],
				"cargo":  []string{"bulk", "box", "roro", "liquid", "general"}[rng.IntN(5)],
				"zone":   []string{"north", "south", "east", "inner"}[rng.IntN(4)],
				"reefer": strconv.Itoa(rng.IntN(80)),
			},
		}
		for j := range b.Window {
			b.Window[j] = rng.Float64() * 3
		}
		out = append(out, b)
	}
	return out
}

// Notices makes arrival notices like those of the agents.
func Notices(n int) (out [][]byte, err error) {
	rng := rand.New(rand.NewPCG(3, 5))
	for i := range n {
		cargo := []string{"bulk", "roro", "general"}[rng.IntN(3)]
		b, err := json.Marshal(Vessel{
			IMO: 9100000 + i, Name: fmt.Sprintf("MV Carrier %d", i),
			Length: 90 + rng.Float64()*200, Draft: 5 + rng.Float64()*7,
			ETA: rng.IntN(96), Stay: 18 + rng.IntN(36),
			Terms: []Term{
				{"crane", "in", []string{"gantry", "mobile", "super"}},
				{"cargo", "notin", []string{"liquid", cargo}},
				{"reefer", "gt", []string{strconv.Itoa(rng.IntN(20))}},
			},
		})
		if err != nil {
			return nil, err
		}
		out = append(out, b)
	}
	return out, nil
}
