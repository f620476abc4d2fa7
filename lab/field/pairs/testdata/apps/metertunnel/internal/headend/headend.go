// Package headend takes batches of register values.
package headend

import (
	"bufio"
	"encoding/binary"
	"math"
	"math/rand/v2"
	"net"
	"sync"
	"time"

	"metertunnel/internal/wire"
)

// Options of the head-end; links are asked to reconnect after about Rotate.
type Options struct {
	Meters int
	Rotate time.Duration
}

type profile struct {
	last uint32
	n    int
	load [16]float64
}

// Server is the head-end.
type Server struct {
	ln   net.Listener
	opts Options

	mu      sync.Mutex
	meters  []profile
	batches int
	energy  float64
}

func Listen(addr string, opts Options) (*Server, error) {
	ln, err := net.Listen("tcp", addr)
	if err != nil {
		return nil, err
	}
	return &Server{ln: ln, opts: opts, meters: make([]profile, opts.Meters)}, nil
}

func (s *Server) Addr() string { return s.ln.Addr().String() }

// Serve takes links until the listener is closed.
func (s *Server) Serve() {
	for {
		c, err := s.ln.Accept()
		if err != nil {
			return
		}
		go s.link(c)
	}
}

func (s *Server) link(c net.Conn) {
	defer c.Close()
	r := bufio.NewReader(c)
	until := time.Now().Add(s.opts.Rotate/2 + rand.N(s.opts.Rotate))
	var buf []byte
	for {
		kind, body, err := wire.Read(r, buf)
		if err != nil {
			return
		}
		buf = body[:0]
		if kind == wire.Batch {
			s.take(body)
		} else if wire.Write(c, wire.Ping, nil) != nil {
			return
		}
		if time.Now().After(until) {
			wire.Write(c, wire.Rotate, nil)
			return
		}
	}
}

func (s *Server) take(body []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.batches++
	for ; len(body) >= 8; body = body[8:] {
		p := &s.meters[int(binary.BigEndian.Uint32(body))%len(s.meters)]
		milli := binary.BigEndian.Uint32(body[4:])
		d := float64(milli-p.last) / 1000
		if p.n == 0 || d < 0 || d > 10 {
			d = 0
		}
		p.last = milli
		for h := range p.load {
			p.load[h] += (d*math.Exp2(-float64(h)/4) - p.load[h]) * 0.1
		}
		p.n++
		s.energy += d
	}
}

// Totals returns batches and kilowatt hours so far.
func (s *Server) Totals() (int, float64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.batches, s.energy
}
