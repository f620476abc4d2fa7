// Package shelf keeps the events that are on sale.
package shelf

import (
	"errors"
	"sync"

	"venueseats/internal/venue"
)

var ErrUnknown = errors.New("no such event")

type slot struct {
	mu    sync.RWMutex
	event *venue.Event
}

type Shelf struct {
	slots  map[int]*slot
	shared bool
}

func New(events []*venue.Event, shared bool) *Shelf {
	s := &Shelf{slots: make(map[int]*slot), shared: shared}
	for _, e := range events {
		s.slots[e.ID] = &slot{event: e}
	}
	return s
}

// Read calls f with the event as it is now.
func (s *Shelf) Read(id int, f func(*venue.Event)) error {
	sl := s.slots[id]
	if sl == nil {
		return ErrUnknown
	}
	if s.shared {
		sl.mu.RLock()
		defer sl.mu.RUnlock()
		f(sl.event)
		return nil
	}
	f(sl.snapshot())
	return nil
}

func (sl *slot) snapshot() *venue.Event {
	sl.mu.RLock()
	defer sl.mu.RUnlock()
	return sl.event.Clone()
}

// Update changes the event.
func (s *Shelf) Update(id int, f func(*venue.Event) bool) (bool, error) {
	sl := s.slots[id]
	if sl == nil {
		return false, ErrUnknown
	}
	sl.mu.Lock()
	defer sl.mu.Unlock()
	if !f(sl.event) {
		return false, nil
	}
	sl.event.Version++
	return true, nil
}
