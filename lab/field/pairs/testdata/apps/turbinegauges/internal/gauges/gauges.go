// Package gauges has the last reading of each turbine.
package gauges

import (
	"encoding/json"
	"slices"
	"sync"
	"time"
)

// A Reading is what a gauge shows.
type Reading struct {
	Turns   int       `json:"turns"`
	Celsius float64   `json:"celsius"`
	At      time.Time `json:"at"`
}

// A Table has all turbines.
type Table struct {
	copies bool
	mu     sync.Mutex
	last   []Reading
}

// NewTable makes one; reports may work on a copy.
func NewTable(turbines int, copies bool) *Table {
	return &Table{copies: copies, last: make([]Reading, turbines)}
}

// Set takes a reading.
func (t *Table) Set(turbine int, r Reading) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.last[turbine] = r
}

func (t *Table) snapshot() []Reading {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Clone(t.last)
}

// Report is all readings as JSON.
func (t *Table) Report() ([]byte, error) {
	if t.copies {
		return json.Marshal(t.snapshot())
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	return json.Marshal(t.last)
}
