// Package slots keeps the reservations of hangar bays.
package slots

import (
	"cmp"
	"fmt"
	"iter"
	"slices"
	"sync"

	"hangarslots/internal/seq"
)

// Slot is a reservation of a bay, in minutes since the plan's first day.
type Slot struct {
	ID        int
	Bay       string
	Tail      string
	From, To  int
	Cancelled bool
}

func onBay(bay string) func(*Slot) bool { return func(s *Slot) bool { return s.Bay == bay } }

func live(s *Slot) bool { return !s.Cancelled }

func during(from, to int) func(*Slot) bool {
	return func(s *Slot) bool { return s.From < to && from < s.To }
}

// Store has all slots.
type Store struct {
	mu    sync.RWMutex
	v2    bool
	byID  []*Slot
	bays  map[string][]*Slot
	width int
}

// New returns an empty store.
func New(v2 bool) *Store { return &Store{v2: v2, bays: map[string][]*Slot{}} }

func (st *Store) all() iter.Seq[*Slot] { return slices.Values(st.byID) }

func (st *Store) bay(bay string, from, to int) iter.Seq[*Slot] {
	if !st.v2 {
		return seq.Filter(st.all(), onBay(bay), live, during(from, to))
	}
	of := st.bays[bay]
	i, _ := slices.BinarySearchFunc(of, from-st.width, func(s *Slot, t int) int { return cmp.Compare(s.From, t) })
	j, _ := slices.BinarySearchFunc(of, to, func(s *Slot, t int) int { return cmp.Compare(s.From, t) })
	return seq.Filter(slices.Values(of[i:max(i, j)]), live, during(from, to))
}

// Conflicts returns who has the bay in a time.
func (st *Store) Conflicts(bay string, from, to int) []string {
	st.mu.RLock()
	defer st.mu.RUnlock()
	return slices.Sorted(seq.Map(st.bay(bay, from, to), func(s *Slot) string { return s.Tail }))
}

// Reserve takes a bay if nobody has it.
func (st *Store) Reserve(bay, tail string, from, to int) (int, error) {
	st.mu.Lock()
	defer st.mu.Unlock()
	if n := seq.Count(st.bay(bay, from, to)); n > 0 {
		return 0, fmt.Errorf("%s is taken by %d", bay, n)
	}
	s := &Slot{ID: len(st.byID), Bay: bay, Tail: tail, From: from, To: to}
	st.byID = append(st.byID, s)
	of := st.bays[bay]
	i, _ := slices.BinarySearchFunc(of, from, func(s *Slot, t int) int { return cmp.Compare(s.From, t) })
	st.bays[bay] = slices.Insert(of, i, s)
	st.width = max(st.width, to-from)
	return s.ID, nil
}

// Cancel gives a slot back.
func (st *Store) Cancel(id int) bool {
	st.mu.Lock()
	defer st.mu.Unlock()
	if id < 0 || id >= len(st.byID) || st.byID[id].Cancelled {
		return false
	}
	st.byID[id].Cancelled = true
	return true
}

// Len is the number of slots ever reserved.
func (st *Store) Len() int {
	st.mu.RLock()
	defer st.mu.RUnlock()
	return len(st.byID)
}
