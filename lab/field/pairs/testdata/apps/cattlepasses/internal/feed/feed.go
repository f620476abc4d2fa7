// Package feed reads the messages that farms and markets send.
package feed

import (
	"encoding/json"
	"fmt"

	"cattlepasses/internal/bus"
)

// Movement tells that animals went from one holding to another.
type Movement struct {
	From    string   `json:"from"`
	To      string   `json:"to"`
	Haulier string   `json:"haulier"`
	Plate   string   `json:"plate"`
	Tags    []string `json:"tags"`
	Km      float64  `json:"km"`
}

// Birth tells of a calf.
type Birth struct {
	Tag     string `json:"tag"`
	Dam     string `json:"dam"`
	Holding string `json:"holding"`
	Breed   string `json:"breed"`
}

// Test is a vet's test of some animals.
type Test struct {
	Holding string             `json:"holding"`
	Disease string             `json:"disease"`
	Values  map[string]float64 `json:"values"`
}

// Read decodes a message.
func Read(line []byte) (*bus.Event, error) {
	ev := new(bus.Event)
	if err := json.Unmarshal(line, ev); err != nil {
		return nil, fmt.Errorf("feed: %w", err)
	}
	return ev, nil
}

// ReadLazy decodes a message's envelope.
func ReadLazy(line []byte) (*bus.Event, error) {
	ev := &bus.Event{Data: new(bus.Lazy)}
	if err := json.Unmarshal(line, ev); err != nil {
		return nil, fmt.Errorf("feed: %w", err)
	}
	return ev, nil
}

// Messages makes n messages of a typical week.
func Messages(n int) [][]byte {
	tag := func(i int) string { return fmt.Sprintf("UK%06d%05d", 100000+i%700, i%40000) }
	holding := func(i int) string { return fmt.Sprintf("%02d/%03d/%04d", i%50, i%400, i%900) }
	out := make([][]byte, n)
	for i := range out {
		ev := bus.Event{ID: fmt.Sprintf("m-%08d", i), At: 1_700_000_000 + int64(i)*13}
		switch i % 5 {
		case 0, 1, 2:
			m := Movement{From: holding(i), To: holding(i*7 + 3), Haulier: fmt.Sprintf("H%04d", i%120), Plate: fmt.Sprintf("FX%02d KLM", i%90), Km: float64(i%300) + 0.5}
			for k := range 8 {
				m.Tags = append(m.Tags, tag(i*11+k))
			}
			ev.Type, ev.Data = "movement", m
		case 3:
			ev.Type, ev.Data = "birth", Birth{Tag: tag(i * 11), Dam: tag(i * 5), Holding: holding(i), Breed: "HF"}
		case 4:
			t := Test{Holding: holding(i), Disease: "BVD", Values: map[string]float64{}}
			for k := range 6 {
				t.Values[tag(i*11+k)] = float64((i*k)%97) / 100
			}
			ev.Type, ev.Data = "test", t
		}
		out[i], _ = json.Marshal(ev)
	}
	return out
}
