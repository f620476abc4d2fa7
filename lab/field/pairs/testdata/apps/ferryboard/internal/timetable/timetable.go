// Package timetable keeps the sailings of the day as they really are.
package timetable

import (
	"fmt"
	"sync"
	"time"
)

type Sailing struct {
	ID     string
	Vessel int
	Leaves time.Duration
	Delay  time.Duration
	LaneCM int
	Fares  [6]int
}

// Board is the timetable of all routes.
type Board struct {
	mu      sync.RWMutex
	routes  [][]Sailing
	changes int
}

func New(routes, perDay int) *Board {
	b := &Board{routes: make([][]Sailing, routes)}
	for r := range b.routes {
		for i := range perDay {
			s := Sailing{
				ID: fmt.Sprintf("R%02d-%02d", r, i), Vessel: (r + i) % 4,
				Leaves: time.Duration(i) * time.Hour, LaneCM: 42000,
			}
			for f := range s.Fares {
				s.Fares[f] = 900 + 310*f + 7*r
			}
			b.routes[r] = append(b.routes[r], s)
		}
	}
	return b
}

// View calls fn with a sailing, which stays as it is until fn returns.
func (b *Board) View(route, i int, fn func(*Sailing) error) error {
	b.mu.RLock()
	defer b.mu.RUnlock()
	if route < 0 || route >= len(b.routes) || i < 0 || i >= len(b.routes[route]) {
		return fmt.Errorf("no sailing %d/%d", route, i)
	}
	return fn(&b.routes[route][i])
}

// Shift sets the delay of everything that a vessel sails.
func (b *Board) Shift(vessel int, delay time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for r := range b.routes {
		for i := range b.routes[r] {
			if s := &b.routes[r][i]; s.Vessel == vessel {
				s.Delay = delay
			}
		}
	}
	b.changes++
}

func (b *Board) Changes() int {
	b.mu.RLock()
	defer b.mu.RUnlock()
	return b.changes
}
