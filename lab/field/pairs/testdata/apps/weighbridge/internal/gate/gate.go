// Package gate handles what the terminals at the gates send.
package gate

import (
	"encoding/json"
	"sync/atomic"

	"weighbridge/internal/axles"
	"weighbridge/internal/drivers"
	"weighbridge/internal/tickets"
)

// Arrival is sent by the terminal of the entry.
type Arrival struct {
	Plate    string `json:"plate"`
	Driver   int    `json:"driver"`
	Material string `json:"material"`
	Kilos    int    `json:"kilos"`
}

// Gate serves the terminals.
type Gate struct {
	Tickets *tickets.Registry
	Cards   *drivers.Cache
	Net     atomic.Int64
	Slips   atomic.Int64
}

// In handles an arrival.
func (g *Gate) In(raw []byte) error {
	var a Arrival
	if err := json.Unmarshal(raw, &a); err != nil {
		return err
	}
	card := g.Cards.Get(drivers.Number(a.Driver))
	g.Tickets.Enter(a.Plate, card.Name, a.Material, axles.Measure(int(card.Sum[0]), a.Kilos))
	return nil
}

// Out handles a departure.
func (g *Gate) Out(plate string, kilos int) ([]byte, error) {
	t, err := g.Tickets.Current(plate)
	if err != nil {
		return nil, err
	}
	s, err := g.Tickets.Leave(t.ID, axles.Measure(int(t.ID), kilos))
	if err != nil {
		return nil, err
	}
	g.Net.Add(int64(s.Net))
	g.Slips.Add(1)
	return json.Marshal(s)
}
