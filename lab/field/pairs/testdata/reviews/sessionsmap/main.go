// Sessionsmap keeps the sessions of a shop, of which there were many on one morning.
package main

import (
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
)

type session struct {
	user    int
	basket  int
	expires int // a minute
}

type sessions struct {
	byID   map[uint64]session
	most   int
	shrink bool
	random *rand.Rand
}

func (s *sessions) begin(user, minute, lasts int) uint64 {
	id := s.random.Uint64()
	s.byID[id] = session{user, 0, minute + lasts}
	s.most = max(s.most, len(s.byID))
	return id
}

func (s *sessions) buy(id uint64) {
	if one, ok := s.byID[id]; ok {
		one.basket++
		s.byID[id] = one
	}
}

// expire ends the sessions whose time has come.
func (s *sessions) expire(minute int) (ended int) {
	for id, one := range s.byID {
		if one.expires <= minute {
			delete(s.byID, id)
			ended++
		}
	}
	if s.shrink && len(s.byID) < s.most/8 {
		fewer := make(map[uint64]session, len(s.byID))
		maps.Copy(fewer, s.byID)
		s.byID, s.most = fewer, len(fewer)
	}
	return ended
}

func main() {
	shrink := flag.Bool("shrink", false, "make a smaller map when most sessions have ended")
	minutes := flag.Int("minutes", 300, "how long the shop is open")
	flag.Parse()
	s := &sessions{byID: map[uint64]session{}, shrink: *shrink, random: rand.New(rand.NewPCG(11, 12))}
	for user := range 800000 { // the morning of the sale
		s.begin(user, 0, 1)
	}
	ended := 0
	for minute := 1; minute <= *minutes; minute++ {
		for user := range 200 {
			id := s.begin(user, minute, 5)
			for range user % 7 {
				s.buy(id)
			}
		}
		ended += s.expire(minute)
	}
	fmt.Println("ended:", ended, "left:", len(s.byID))
	fmt.Printf("operations: %d\n", *minutes)
}
