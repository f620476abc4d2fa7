// Package readings holds temperatures of medicine fridges.
package readings

import (
	"encoding/json"
	"sync"
)

// Reading is one sample of one fridge.
type Reading struct {
	Fridge string  `json:"fridge"`
	At     int64   `json:"at"`
	Temp   float64 `json:"temp"`
	Door   bool    `json:"door"`
}

// Batch is what a ward's gateway sends.
type Batch struct {
	Gateway  string    `json:"gateway"`
	Readings []Reading `json:"readings"`
}

// Decode reads a batch.
func Decode(b []byte) (*Batch, error) {
	var out Batch
	if err := json.Unmarshal(b, &out); err != nil {
		return nil, err
	}
	return &out, nil
}

// Store counts readings and alarms for each collector.
type Store struct {
	mu     sync.Mutex
	counts map[string]int
	alarms int
}

// NewStore returns an empty store.
func NewStore() *Store { return &Store{counts: map[string]int{}} }

// Add records a reading at a collector.
func (s *Store) Add(addr string, r Reading) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.counts[addr]++
	if !r.Door && (r.Temp > 8 || r.Temp < 2) {
		s.alarms++
	}
}

// Totals returns the number of collectors in use and of alarms.
func (s *Store) Totals() (collectors, alarms int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.counts), s.alarms
}
