// Package machine keeps the state of the washers and dryers.
package machine

import (
	"context"
	"sync"
	"time"
)

// Phase is a step of a programme.
type Phase int

// Phases of a programme.
const (
	Idle Phase = iota
	Wash
	Rinse
	Spin
	Finished
)

func (p Phase) String() string { return [...]string{"idle", "wash", "rinse", "spin", "finished"}[p] }

// State is what is known of a machine.
type State struct {
	ID       int
	Revision uint64
	Phase    Phase
	Left     time.Duration
	Shake    float64
}

// Store holds the states of all machines.
type Store struct {
	mu     sync.RWMutex
	states []State
	done   int
	watch  []chan struct{}
}

// NewStore makes a store for n machines.
func NewStore(n int, v2 bool) *Store {
	s := &Store{states: make([]State, n), watch: make([]chan struct{}, 1)}
	if v2 {
		s.watch = make([]chan struct{}, n)
	}
	for i := range s.states {
		s.states[i].ID = i
	}
	for i := range s.watch {
		s.watch[i] = make(chan struct{})
	}
	return s
}

// Update changes a machine's state and tells those who wait.
func (s *Store) Update(id int, change func(*State)) {
	s.mu.Lock()
	st := &s.states[id]
	change(st)
	st.Revision++
	if st.Phase == Finished {
		s.done++
	}
	w := &s.watch[id%len(s.watch)]
	close(*w)
	*w = make(chan struct{})
	s.mu.Unlock()
}

// Await returns the state of a machine once it is newer than a revision.
func (s *Store) Await(ctx context.Context, id int, after uint64) (State, error) {
	for {
		s.mu.RLock()
		st, w := s.states[id], s.watch[id%len(s.watch)]
		s.mu.RUnlock()
		if st.Revision > after {
			return st, nil
		}
		select {
		case <-w:
		case <-ctx.Done():
			return st, ctx.Err()
		}
	}
}

// Done counts the programmes that ended.
func (s *Store) Done() int {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.done
}

// Len is the number of machines.
func (s *Store) Len() int { return len(s.states) }
