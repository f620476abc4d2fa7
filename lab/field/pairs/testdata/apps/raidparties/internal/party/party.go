// Package party is the players that want to go on a raid, and their rating.
package party

import (
	"encoding/json"
	"fmt"
	"math"
)

// Gear is one thing that a player wears.
type Gear struct {
	Item  int `json:"item"`
	Level int `json:"level"`
}

// Player is one player of a party.
type Player struct {
	Name   string `json:"name"`
	Class  string `json:"class"`
	Wins   int    `json:"wins"`
	Losses int    `json:"losses"`
	Gear   []Gear `json:"gear"`
}

// Party is a group that queues together.
type Party struct {
	ID      uint64   `json:"id"`
	Region  string   `json:"region"`
	Players []Player `json:"players"`
	Rating  int      `json:"-"`
}

// Decode reads a party as the gateway gets it and rates it.
func Decode(data []byte) (*Party, error) {
	p := new(Party)
	if err := json.Unmarshal(data, p); err != nil {
		return nil, err
	}
	if len(p.Players) == 0 {
		return nil, fmt.Errorf("party %d is empty", p.ID)
	}
	sum := 0.0
	for _, pl := range p.Players {
		worn := 0
		for _, g := range pl.Gear {
			worn += g.Level
		}
		sum += 1500 + 400*math.Log10((float64(pl.Wins)+1)/(float64(pl.Losses)+1)) + float64(worn)
	}
	p.Rating = int(sum) / len(p.Players)
	return p, nil
}
