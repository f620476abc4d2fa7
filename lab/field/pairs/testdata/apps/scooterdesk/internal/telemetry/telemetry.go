// Package telemetry reads the messages of scooters.
package telemetry

import (
	"encoding/json"
	"fmt"
)

const (
	Hold    = "hold"
	Release = "release"
)

// Message is one message.
type Message struct {
	Kind    string  `json:"kind"`
	Ride    string  `json:"ride"`
	Scooter string  `json:"scooter"`
	Lat     float64 `json:"lat"`
	Lon     float64 `json:"lon"`
	Battery int     `json:"battery"`
}

// Parse reads a message.
func Parse(line []byte) (m Message, err error) {
	if err := json.Unmarshal(line, &m); err != nil {
		return m, fmt.Errorf("telemetry: %w", err)
	}
	if m.Kind != Hold && m.Kind != Release {
		return m, fmt.Errorf("telemetry: kind %q", m.Kind)
	}
	return m, nil
}
