// Package collect counts lines.
package collect

import (
	"bytes"
	"context"
	"errors"
	"net"
	"os"
	"sync"
	"time"
)

// A Server reads packets.
type Server struct {
	Conn   *net.UDPConn
	Spread bool
	mu     sync.Mutex
	counts map[string]int
	wg     sync.WaitGroup
}

// Run reads until it is over, and counts packets.
func (s *Server) Run(ctx context.Context) (n int, err error) {
	stop := context.AfterFunc(ctx, func() { _ = s.Conn.SetReadDeadline(time.Now()) })
	defer stop()
	s.counts = map[string]int{}
	buffer := make([]byte, 2048)
	for {
		size, _, err := s.Conn.ReadFromUDPAddrPort(buffer)
		if errors.Is(err, os.ErrDeadlineExceeded) {
			s.wg.Wait()
			return n, nil
		}
		if err != nil {
			return n, err
		}
		n++
		s.take(buffer[:size])
	}
}

func (s *Server) take(packet []byte) {
	if !s.Spread {
		s.handle(packet)
		return
	}
	line := bytes.Clone(packet)
	s.wg.Go(func() { s.handle(line) })
}

func (s *Server) handle(line []byte) {
	_, rest, ok := bytes.Cut(line, []byte(" app "))
	if !ok {
		return
	}
	level, _, _ := bytes.Cut(rest, []byte(":"))
	s.mu.Lock()
	defer s.mu.Unlock()
	s.counts[string(level)]++
}

// Count is how many lines had a level.
func (s *Server) Count(level string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.counts[level]
}
