// Package lockers has the lockers of a station.
package lockers

import "sync"

// A Station has lockers.
type Station struct {
	mu     sync.Mutex
	open   []bool
	opened int
}

// New makes a station.
func New(n int) *Station { return &Station{open: make([]bool, n)} }

// Open opens a locker.
func (s *Station) Open(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.open[n] {
		s.open[n] = true
		s.opened++
	}
}

// Close closes a locker.
func (s *Station) Close(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.open[n] = false
}

// Opened is how often one was opened.
func (s *Station) Opened() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.opened
}
