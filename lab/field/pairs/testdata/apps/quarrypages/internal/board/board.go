// Package board keeps the last load of each truck in the quarry.
package board

import (
	"slices"
	"sync"
	"time"
)

// Load is what a truck carries.
type Load struct {
	Truck   string
	Stone   string
	Gross   int
	Tare    int
	Trips   int
	Weighed time.Time
}

// Net returns the weight of the stone.
func (l Load) Net() int { return l.Gross - l.Tare }

// Board holds the loads by truck.
type Board struct {
	mu    sync.RWMutex
	loads map[string]*Load
	kept  bool
}

// New returns an empty board.
func New(kept bool) *Board {
	return &Board{loads: map[string]*Load{}, kept: kept}
}

// Record notes a weighing and returns the load as it is now.
func (b *Board) Record(truck, stone string, gross, tare int, at time.Time) Load {
	b.mu.Lock()
	defer b.mu.Unlock()
	l := b.loads[truck]
	if l == nil {
		l = &Load{Truck: truck}
		b.loads[truck] = l
	}
	l.Stone, l.Gross, l.Tare, l.Weighed = stone, gross, tare, at
	l.Trips++
	return *l
}

// Last returns the last load of a truck.
func (b *Board) Last(truck string) (Load, bool) {
	b.mu.RLock()
	defer b.mu.RUnlock()
	l, ok := b.loads[truck]
	if !ok {
		return Load{}, false
	}
	return *l, true
}

// Each calls f for each load until f returns an error.
func (b *Board) Each(f func(Load) error) error {
	if b.kept {
		for _, l := range b.copied() {
			if err := f(l); err != nil {
				return err
			}
		}
		return nil
	}
	b.mu.RLock()
	defer b.mu.RUnlock()
	for _, l := range b.loads {
		if err := f(*l); err != nil {
			return err
		}
	}
	return nil
}

func (b *Board) copied() []Load {
	b.mu.RLock()
	out := make([]Load, 0, len(b.loads))
	for _, l := range b.loads {
		out = append(out, *l)
	}
	b.mu.RUnlock()
	slices.SortFunc(out, func(x, y Load) int { return x.Weighed.Compare(y.Weighed) })
	return out
}
