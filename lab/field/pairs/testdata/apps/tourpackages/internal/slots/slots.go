// Package slots bounds how much is done at the same time.
package slots

import "time"

// Slots is a fixed number of places.
type Slots struct{ c chan struct{} }

// New returns n places.
func New(n int) *Slots { return &Slots{c: make(chan struct{}, n)} }

// Take waits for a place.
func (s *Slots) Take() { s.c <- struct{}{} }

// TakeWithin waits for a place, but not longer than d.
func (s *Slots) TakeWithin(d time.Duration) bool {
	select {
	case s.c <- struct{}{}:
		return true
	default:
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case s.c <- struct{}{}:
		return true
	case <-t.C:
		return false
	}
}

// Give returns a place.
func (s *Slots) Give() { <-s.c }
