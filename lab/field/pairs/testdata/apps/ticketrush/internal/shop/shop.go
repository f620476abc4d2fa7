// Package shop serves visitors before and during a sale.
package shop

import (
	"encoding/json"
	"math/rand/v2"
	"time"

	"ticketrush/internal/queue"
	"ticketrush/internal/token"
)

type Page struct {
	Token string `json:"token"`
	Areas [8]int `json:"areas"`
	Ahead int    `json:"ahead"`
}

type Shop struct {
	Room  *queue.Room
	r     *rand.Rand
	areas [8]int
	Pages int
	Bytes int
	Sold  int
}

func New(q *queue.Room) *Shop { return &Shop{Room: q, r: rand.New(rand.NewPCG(41, 5))} }

// Presale fills the room with those who come before the start.
func (s *Shop) Presale(n int) {
	now := time.Now()
	for range n {
		s.Room.Enter(s.r.Uint64(), uint8(s.r.IntN(8)), now)
	}
}

// Visit registers a visitor and shows the waiting page three times.
func (s *Shop) Visit(now time.Time) error {
	t := token.Sign(s.r.Uint64())
	for range 3 {
		id, err := token.Open(t)
		if err != nil {
			return err
		}
		s.Room.Enter(id, uint8(id>>3), now)
		b, err := json.Marshal(Page{Token: t, Areas: s.areas, Ahead: s.Room.Len()})
		if err != nil {
			return err
		}
		s.Pages++
		s.Bytes += len(b)
	}
	return nil
}

// Step admits those whose time has come.
func (s *Shop) Step(now time.Time) {
	in, areas := s.Room.Admit(now, 400*time.Millisecond)
	s.areas = areas
	for _, id := range in {
		if id%3 != 0 {
			s.Sold++
		}
	}
}
