// Package event holds the sightings that cameras report.
package event

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
)

// Message is a sighting on its way through the service.
type Message struct {
	Topic string
	Body  []byte
	doc   map[string]any
}

// Update calls f with the document of the message and keeps what it changed.
func (m *Message) Update(f func(doc map[string]any) error) error {
	doc := map[string]any{}
	if err := json.Unmarshal(m.Body, &doc); err != nil {
		return fmt.Errorf("%s: %w", m.Topic, err)
	}
	if err := f(doc); err != nil {
		return err
	}
	body, err := json.Marshal(doc)
	if err != nil {
		return fmt.Errorf("%s: %w", m.Topic, err)
	}
	m.Body = body
	return nil
}

// Edit is Update on an opened document; Close writes it back.
func (m *Message) Edit(f func(doc map[string]any) error) error {
	if m.doc == nil {
		if err := json.Unmarshal(m.Body, &m.doc); err != nil {
			return fmt.Errorf("%s: %w", m.Topic, err)
		}
	}
	return f(m.doc)
}

// Close writes an opened document back.
func (m *Message) Close() error {
	if m.doc == nil {
		return nil
	}
	body, err := json.Marshal(m.doc)
	m.Body, m.doc = body, nil
	return err
}

type box struct {
	X, Y, W, H int
	Species    string  `json:"species"`
	Score      float64 `json:"score"`
}

// Random makes a camera's report.
func Random(rnd *rand.Rand, camera int) *Message {
	names := []string{"grouper", "moray", "ray", "turtle", "wrasse", "lionfish"}
	boxes := make([]box, 4+rnd.IntN(8))
	for i := range boxes {
		boxes[i] = box{rnd.IntN(1920), rnd.IntN(1080), rnd.IntN(300), rnd.IntN(300), names[rnd.IntN(len(names))], rnd.Float64()}
	}
	body, err := json.Marshal(map[string]any{
		"camera": camera, "frame": rnd.IntN(1 << 30), "depth": 3 + rnd.Float64()*25,
		"temperature": 18 + rnd.Float64()*10, "boxes": boxes,
	})
	if err != nil {
		panic(err)
	}
	return &Message{Topic: fmt.Sprintf("reef.%d", camera), Body: body}
}
