// Package tracker knows where every bag in the hall is.
package tracker

import (
	"encoding/json"
	"errors"
	"sync"
	"time"

	"baggagetags/internal/scan"
)

// Stop is one point of a bag's journey.
type Stop struct {
	Point string    `json:"point"`
	Kind  scan.Kind `json:"kind"`
	At    time.Time `json:"at"`
}

// Bag is a bag on its way.
type Bag struct {
	Tag    string `json:"tag"`
	Flight string `json:"flight"`
	Weight int    `json:"weight"`
	Stops  []Stop `json:"stops"`

	label []byte
}

// ErrUnknown is returned for tags that are not in the hall.
var ErrUnknown = errors.New("tracker: unknown tag")

// Tracker holds the bags by tag and by flight.
type Tracker struct {
	mu       sync.Mutex
	bags     map[string]*Bag
	byFlight map[string]map[string]*Bag
	tidy     bool
	claimed  int
	weight   int
}

// New makes an empty tracker.
func New(tidy bool) *Tracker {
	return &Tracker{bags: map[string]*Bag{}, byFlight: map[string]map[string]*Bag{}, tidy: tidy}
}

// Apply takes a reading into account.
func (t *Tracker) Apply(m scan.Message, label []byte, now time.Time) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	b, ok := t.bags[m.Tag]
	if !ok {
		if m.Kind != scan.Checked {
			return ErrUnknown
		}
		b = t.admit(m, label)
	}
	b.Stops = append(b.Stops, Stop{Point: m.Point, Kind: m.Kind, At: now})
	if m.Kind == scan.Claimed {
		t.release(b)
	}
	return nil
}

func (t *Tracker) admit(m scan.Message, label []byte) *Bag {
	b := &Bag{Tag: m.Tag, Flight: m.Flight, Weight: m.Weight, label: label}
	t.bags[b.Tag] = b
	hold := t.byFlight[b.Flight]
	if hold == nil {
		hold = map[string]*Bag{}
		t.byFlight[b.Flight] = hold
	}
	hold[b.Tag] = b
	t.weight += b.Weight
	return b
}

func (t *Tracker) release(b *Bag) {
	delete(t.bags, b.Tag)
	t.weight -= b.Weight
	t.claimed++
	if !t.tidy {
		return
	}
	if hold := t.byFlight[b.Flight]; hold != nil {
		delete(hold, b.Tag)
		if len(hold) == 0 {
			delete(t.byFlight, b.Flight)
		}
	}
}

// Journey gives the journey of a bag as JSON.
func (t *Tracker) Journey(tag string) ([]byte, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	b, ok := t.bags[tag]
	if !ok {
		return nil, ErrUnknown
	}
	return json.Marshal(b)
}

// OnFlight reports whether the bag is booked on the flight.
func (t *Tracker) OnFlight(flight, tag string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	_, ok := t.byFlight[flight][tag]
	return ok
}

// Summary gives the bags in the hall, their weight and the claimed ones.
func (t *Tracker) Summary() (inside, weight, claimed int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.bags), t.weight, t.claimed
}
