// Package seat is a player's place with the frames on their way to the player.
package seat

import (
	"encoding/json"
	"io"
	"sync"
	"time"
)

type Frame struct {
	Kind string `json:"k"`
	Hand []int  `json:"h,omitempty"`
	Pot  int    `json:"pot"`
}

type Seat struct {
	ID   int
	Seen time.Time

	mu    sync.Mutex
	ready *sync.Cond
	out   []Frame
	gone  bool
}

func Take(id int, w io.Writer) *Seat {
	s := &Seat{ID: id, Seen: time.Now()}
	s.ready = sync.NewCond(&s.mu)
	go s.pump(w)
	return s
}

// Push queues a frame for the player.
func (s *Seat) Push(f Frame) {
	s.mu.Lock()
	s.out = append(s.out, f)
	s.mu.Unlock()
	s.ready.Signal()
}

// Leave ends the seat after the frames that are still queued.
func (s *Seat) Leave() {
	s.mu.Lock()
	s.gone = true
	s.mu.Unlock()
	s.ready.Signal()
}

func (s *Seat) pump(w io.Writer) {
	enc := json.NewEncoder(w)
	for {
		s.mu.Lock()
		for len(s.out) == 0 && !s.gone {
			s.ready.Wait()
		}
		batch := s.out
		s.out = nil
		gone := s.gone
		s.mu.Unlock()
		for _, f := range batch {
			if enc.Encode(f) != nil {
				return
			}
		}
		if gone {
			return
		}
	}
}
