// Package room is the lobby: who sits where, and the hands played.
package room

import (
	"io"
	"math/rand/v2"
	"sync"
	"time"

	"cardroom/internal/cards"
	"cardroom/internal/seat"
)

type Room struct {
	idle  time.Duration
	notes bool

	mu     sync.Mutex
	seats  map[int]*seat.Seat
	seq    int
	Hands  int
	Swept  int
	Scores map[int]int
}

func New(idle time.Duration, notes bool) *Room {
	return &Room{idle: idle, notes: notes, seats: make(map[int]*seat.Seat), Scores: make(map[int]int)}
}

func (m *Room) Join(w io.Writer) *seat.Seat {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.seq++
	s := seat.Take(m.seq, w)
	m.seats[s.ID] = s
	return s
}

// Play deals one hand to a seat and tells its outcome.
func (m *Room) Play(s *seat.Seat, r *rand.Rand) {
	c := cards.Deal(r, 7)
	v := cards.Best(c)
	hand := make([]int, len(c))
	for i := range c {
		hand[i] = int(c[i])
	}
	s.Push(seat.Frame{Kind: "hand", Hand: hand, Pot: v})
	m.mu.Lock()
	s.Seen = time.Now()
	m.Hands++
	m.Scores[v]++
	m.mu.Unlock()
}

// Leave is called when a player says good-bye.
func (m *Room) Leave(s *seat.Seat) {
	m.mu.Lock()
	delete(m.seats, s.ID)
	m.mu.Unlock()
	s.Leave()
}

// Sweep frees the seats of players that have been silent.
func (m *Room) Sweep(now time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for id, s := range m.seats {
		if now.Sub(s.Seen) < m.idle {
			continue
		}
		delete(m.seats, id)
		m.Swept++
		if m.notes {
			s.Push(seat.Frame{Kind: "idle"})
			s.Leave()
		}
	}
}

func (m *Room) Seated() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.seats)
}
