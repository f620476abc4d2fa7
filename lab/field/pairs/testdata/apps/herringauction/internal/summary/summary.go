// Package summary writes the bills of a day.
package summary

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"hash"

	"herringauction/internal/catch"
)

// Day sums up a day.
type Day struct {
	Lots    int                `json:"lots"`
	Kilos   map[string]float64 `json:"kilos"`
	Vessels map[string]float64 `json:"vessels"`
	Buyers  map[string]float64 `json:"buyers"`
	Fees    float64            `json:"fees"`
	seal    hash.Hash
}

// New returns an empty day.
func New() *Day {
	return &Day{Kilos: map[string]float64{}, Vessels: map[string]float64{}, Buyers: map[string]float64{}, seal: sha256.New()}
}

// Add books a lot.
func (d *Day) Add(l *catch.Lot, fee float64) error {
	sum := l.Kilos * l.Price
	d.Lots++
	d.Kilos[l.Species] += l.Kilos
	d.Vessels[l.Vessel] += sum - fee
	d.Buyers[l.Buyer] += sum
	d.Fees += fee
	b, err := json.Marshal(l)
	if err != nil {
		return err
	}
	d.seal.Write(b)
	return nil
}

// Bill returns the day as JSON and its seal.
func (d *Day) Bill() ([]byte, string, error) {
	b, err := json.MarshalIndent(d, "", "  ")
	return b, hex.EncodeToString(d.seal.Sum(nil)), err
}
