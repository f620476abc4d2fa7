// Package watch keeps the calls of all gates and lets screens wait for changes.
package watch

import (
	"sync"

	"gatedisplays/internal/flight"
)

type entry struct {
	call    flight.Call
	version int
	changed chan struct{}
}

// Board has the current call of each gate.
type Board struct {
	mu      sync.Mutex
	perGate bool
	gates   []entry
	changed chan struct{}
}

// NewBoard returns a board for n gates.
func NewBoard(n int, perGate bool) *Board {
	b := &Board{perGate: perGate, gates: make([]entry, n), changed: make(chan struct{})}
	for i := range b.gates {
		b.gates[i].changed = make(chan struct{})
	}
	return b
}

// Set puts a call on the board.
func (b *Board) Set(c flight.Call) {
	b.mu.Lock()
	defer b.mu.Unlock()
	e := &b.gates[c.Gate]
	e.call = c
	e.version++
	if b.perGate {
		close(e.changed)
		e.changed = make(chan struct{})
		return
	}
	close(b.changed)
	b.changed = make(chan struct{})
}

func (b *Board) look(gate int) (flight.Call, int, <-chan struct{}) {
	b.mu.Lock()
	defer b.mu.Unlock()
	e := &b.gates[gate]
	if b.perGate {
		return e.call, e.version, e.changed
	}
	return e.call, e.version, b.changed
}

// Next waits until a gate has a newer call than the one of version v. It returns
// false when done is closed.
func (b *Board) Next(gate, v int, done <-chan struct{}) (flight.Call, int, bool) {
	for {
		c, version, changed := b.look(gate)
		if version > v {
			return c, version, true
		}
		select {
		case <-changed:
		case <-done:
			return c, version, false
		}
	}
}
