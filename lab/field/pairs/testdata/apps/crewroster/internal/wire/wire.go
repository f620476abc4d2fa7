// Package wire holds the messages that the planning system sends.
package wire

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"
)

// Leg is one stretch of work of a duty.
type Leg struct {
	Train    string    `json:"train"`
	From     string    `json:"from"`
	To       string    `json:"to"`
	Departs  time.Time `json:"departs"`
	Arrives  time.Time `json:"arrives"`
	Metres   int       `json:"metres"`
	Role     string    `json:"role"`
	Deadhead bool      `json:"deadhead,omitempty"`
}

// Assignment gives a duty to a member of the crew.
type Assignment struct {
	Crew  string `json:"crew"`
	Depot string `json:"depot"`
	Legs  []Leg  `json:"legs"`
}

// Release takes a duty away again.
type Release struct {
	Crew   string `json:"crew"`
	Reason string `json:"reason"`
}

// ErrKind says that a message is of no known kind.
var ErrKind = errors.New("wire: unknown kind")

// Decoder reads messages of the planning system.
type Decoder struct {
	Version int
}

// Message is a decoded message with one of its parts set.
type Message struct {
	Kind       string
	Serial     int64
	Assignment *Assignment
	Release    *Release
}

type envelope struct {
	Kind   string          `json:"kind"`
	Serial int64           `json:"serial"`
	Data   json.RawMessage `json:"data"`
}

// Decode reads one message.
func (d *Decoder) Decode(body []byte) (*Message, error) {
	if d.Version >= 2 {
		var e envelope
		if err := json.Unmarshal(body, &e); err != nil {
			return nil, fmt.Errorf("wire: %w", err)
		}
		m := &Message{Kind: e.Kind, Serial: e.Serial}
		return m, m.fill(e.Data)
	}
	var doc map[string]any
	if err := json.Unmarshal(body, &doc); err != nil {
		return nil, fmt.Errorf("wire: %w", err)
	}
	kind, _ := doc["kind"].(string)
	serial, _ := doc["serial"].(float64)
	m := &Message{Kind: kind, Serial: int64(serial)}
	data, err := json.Marshal(doc["data"])
	if err != nil {
		return nil, fmt.Errorf("wire: %w", err)
	}
	return m, m.fill(data)
}

func (m *Message) fill(data []byte) error {
	switch m.Kind {
	case "assign":
		m.Assignment = new(Assignment)
		return json.Unmarshal(data, m.Assignment)
	case "release":
		m.Release = new(Release)
		return json.Unmarshal(data, m.Release)
	}
	return ErrKind
}
