// Package zones turns instants into the wall clock of a clinic.
package zones

import (
	"fmt"
	"sync"
	"time"
)

// Clock gives the local time at a place.
type Clock interface {
	At(t time.Time, zone string) (time.Time, error)
}

// System resolves zone names with the zone database of the host.
type System struct{}

// At returns t on the wall clock of zone.
func (System) At(t time.Time, zone string) (time.Time, error) {
	loc, err := time.LoadLocation(zone)
	if err != nil {
		return time.Time{}, fmt.Errorf("zone %q: %w", zone, err)
	}
	return t.In(loc), nil
}

// Table resolves zone names with what it has seen before.
type Table struct {
	mu   sync.RWMutex
	seen map[string]*time.Location
}

// NewTable returns an empty table.
func NewTable() *Table { return &Table{seen: make(map[string]*time.Location)} }

// At returns t on the wall clock of zone.
func (tb *Table) At(t time.Time, zone string) (time.Time, error) {
	tb.mu.RLock()
	loc := tb.seen[zone]
	tb.mu.RUnlock()
	if loc != nil {
		return t.In(loc), nil
	}
	loc, err := time.LoadLocation(zone)
	if err != nil {
		return time.Time{}, fmt.Errorf("zone %q: %w", zone, err)
	}
	tb.mu.Lock()
	tb.seen[zone] = loc
	tb.mu.Unlock()
	return t.In(loc), nil
}
