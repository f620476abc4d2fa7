// Package central is the central system.
package central

import (
	"net"
	"sync"

	"evchargers/internal/billing"
)

type System struct {
	ln     net.Listener
	prices *billing.Prices
	nudge  bool
	wg     sync.WaitGroup
}

func Listen(p *billing.Prices, nudge bool) (*System, error) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	s := &System{ln: ln, prices: p, nudge: nudge}
	s.wg.Go(s.accept)
	return s, nil
}

func (s *System) Addr() string    { return s.ln.Addr().String() }
func (s *System) Billed() float64 { return s.prices.Total() }

// Close waits for the sessions, which end when their points hang up.
func (s *System) Close() {
	s.ln.Close()
	s.wg.Wait()
}

func (s *System) accept() {
	for {
		nc, err := s.ln.Accept()
		if err != nil {
			return
		}
		ses := newSession(s, nc)
		s.wg.Go(ses.read)
		s.wg.Go(ses.deliver)
	}
}
