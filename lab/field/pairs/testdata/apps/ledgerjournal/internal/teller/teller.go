// Package teller books.
package teller

import (
	"encoding/json"
	"fmt"
)

// A Log takes entries.
type Log interface{ Append(entry []byte) error }

// A Booking is what a teller writes.
type Booking struct {
	Teller  int    `json:"teller"`
	Number  int    `json:"number"`
	Account string `json:"account"`
	Cents   int    `json:"cents"`
}

// A Teller books into a log.
type Teller struct {
	id  int
	log Log
}

// New makes a teller.
func New(id int, l Log) *Teller { return &Teller{id, l} }

// Work books n times.
func (t *Teller) Work(n int) error {
	for i := range n {
		entry, err := json.Marshal(Booking{t.id, i, fmt.Sprintf("CH-%06d", i*7919%100000), 100 + i})
		if err != nil {
			return err
		}
		if err := t.log.Append(entry); err != nil {
			return fmt.Errorf("teller %d: %w", t.id, err)
		}
	}
	return nil
}
