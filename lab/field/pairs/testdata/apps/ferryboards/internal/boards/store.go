// Package boards holds the departure board of each berth.
package boards

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"
)

// Sailing is one line of a board.
type Sailing struct {
	Vessel string
	To     string
	Leaves time.Time
	Remark string
}

// Board is what a berth shows. Boards are not changed once published.
type Board struct {
	Berth    string
	Index    uint64
	Sailings []Sailing
}

const maxLines = 14

// Store keeps the current boards and lets callers wait for newer ones.
type Store struct {
	v2 bool

	mu     sync.RWMutex
	index  uint64
	boards map[string]*Board
	notify map[string]chan struct{}
}

func NewStore(v2 bool) *Store {
	return &Store{v2: v2, boards: make(map[string]*Board), notify: make(map[string]chan struct{})}
}

// Open adds a berth with an empty board.
func (s *Store) Open(berth string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.boards[berth] = &Board{Berth: berth}
	s.notify[s.watchKey(berth)] = make(chan struct{})
}

func (s *Store) watchKey(berth string) string {
	if s.v2 {
		return "boards/" + berth
	}
	return "boards"
}

// Apply puts a sailing on the board of a berth, in the order of departure.
func (s *Store) Apply(berth string, sail Sailing) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	old, ok := s.boards[berth]
	if !ok {
		return fmt.Errorf("boards: no berth %q", berth)
	}
	s.index++
	lines := make([]Sailing, 0, len(old.Sailings)+1)
	for _, l := range old.Sailings {
		if l.Vessel != sail.Vessel {
			lines = append(lines, l)
		}
	}
	lines = append(lines, sail)
	slices.SortFunc(lines, func(a, b Sailing) int { return a.Leaves.Compare(b.Leaves) })
	if len(lines) > maxLines {
		lines = lines[len(lines)-maxLines:]
	}
	s.boards[berth] = &Board{Berth: berth, Index: s.index, Sailings: lines}

	key := s.watchKey(berth)
	close(s.notify[key])
	s.notify[key] = make(chan struct{})
	return nil
}

// Wait returns the board of a berth once it is newer than index.
func (s *Store) Wait(ctx context.Context, berth string, index uint64) (*Board, error) {
	key := s.watchKey(berth)
	for {
		s.mu.RLock()
		board, ok := s.boards[berth]
		changed := s.notify[key]
		s.mu.RUnlock()
		if !ok {
			return nil, fmt.Errorf("boards: no berth %q", berth)
		}
		if board.Index > index {
			return board, nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}
