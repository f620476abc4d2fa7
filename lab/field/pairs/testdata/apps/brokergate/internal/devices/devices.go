// Package devices plays sensors that publish readings.
package devices

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"

	"brokergate/internal/packet"
)

type reading struct {
	Celsius  float64 `json:"celsius"`
	Humidity float64 `json:"humidity"`
	Battery  int     `json:"battery"`
	Uptime   int64   `json:"uptime"`
	Firmware string  `json:"firmware"`
}

// Fleet is the sensors of some sites.
type Fleet struct {
	rng  *rand.Rand
	size int
	seq  []uint16
	kind []string
}

// NewFleet makes n sensors.
func NewFleet(n int, seed uint64) *Fleet {
	return &Fleet{rng: rand.New(rand.NewPCG(seed, 8)), size: n, seq: make([]uint16, n), kind: []string{"climate", "door", "meter", "leak"}}
}

// Next makes the frame of the next reading.
func (f *Fleet) Next(dst []byte) ([]byte, error) {
	i := f.rng.IntN(f.size)
	if f.rng.IntN(50) != 0 {
		f.seq[i]++
	}
	payload, err := json.Marshal(reading{
		Celsius: float64(f.rng.IntN(400)) / 10, Humidity: float64(f.rng.IntN(1000)) / 10,
		Battery: f.rng.IntN(100), Uptime: f.rng.Int64N(1e7), Firmware: "4.1.7",
	})
	if err != nil {
		return dst, err
	}
	p := packet.Packet{
		Device: uint32(i), Seq: f.seq[i], QoS: uint8(i % 2), Retain: i%3 == 0, Payload: payload,
		Topic: fmt.Sprintf("site/%d/floor/%d/%s/%d", i%40, i%7, f.kind[i%4], i),
	}
	return packet.Append(dst, &p), nil
}
