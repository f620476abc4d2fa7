// Package watch is the session of somebody who follows a lot.
package watch

import (
	"strconv"
	"sync"

	"auctionroom/internal/bus"
)

type Session struct {
	bidder int
	lot    int
	bus    *bus.Bus
	swap   bool
	stop   func()

	mu    sync.Mutex
	out   []byte
	count int
}

const outSize = 4 << 10

func Start(b *bus.Bus, bidder, lot int, swap bool) *Session {
	s := &Session{bidder: bidder, lot: lot, bus: b, swap: swap, out: make([]byte, 0, outSize)}
	s.stop = b.Subscribe(lot, s.preview)
	return s
}

// preview counts bids only.
func (s *Session) preview(e bus.Event) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.count++
	s.frame('p', e)
}

// Follow goes from the preview to the live view of the lot.
func (s *Session) Follow() {
	if s.swap {
		s.stop()
	}
	s.stop = s.bus.Subscribe(s.lot, s.live)
}

func (s *Session) live(e bus.Event) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.frame('l', e)
	if e.Bidder == s.bidder {
		s.frame('y', e)
	}
}

func (s *Session) frame(kind byte, e bus.Event) {
	if len(s.out) > outSize-64 {
		s.out = s.out[:0]
	}
	s.out = append(s.out, kind, ' ')
	s.out = strconv.AppendInt(s.out, int64(e.Seq), 10)
	s.out = append(s.out, ' ')
	s.out = strconv.AppendInt(s.out, e.Cents, 10)
	s.out = append(s.out, '\n')
}

// Close ends the session and gives what is left to send.
func (s *Session) Close() []byte {
	s.stop()
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.out
}
