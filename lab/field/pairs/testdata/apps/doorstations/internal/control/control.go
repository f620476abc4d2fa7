// Package control is the server that door stations ask.
package control

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"strings"
	"sync"
	"time"

	"doorstations/internal/lifecycle"
	"doorstations/internal/wire"
)

// Server decides who may enter.
type Server struct {
	Codec wire.Codec
	Join  lifecycle.Joiner

	mu      sync.Mutex
	entries map[string]int
}

// Serve answers stations until the context ends.
func (s *Server) Serve(ctx context.Context, ln net.Listener) {
	s.entries = map[string]int{}
	for {
		c, err := ln.Accept()
		if err != nil {
			return
		}
		go s.session(ctx, c)
	}
}

func (s *Server) session(server context.Context, c net.Conn) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	defer c.Close()
	r := bufio.NewReader(c)
	for {
		f, err := s.Codec.Read(r)
		if err != nil {
			return
		}
		cmd, done := s.Join.Join(ctx, server)
		answer := s.handle(cmd, string(f.Body))
		done()
		if s.Codec.Write(c, wire.Frame{Seq: f.Seq, Body: []byte(answer)}) != nil {
			return
		}
	}
}

func (s *Server) handle(ctx context.Context, cmd string) string {
	if ctx.Err() != nil {
		return "closed"
	}
	verb, rest, _ := strings.Cut(cmd, " ")
	door, badge, ok := strings.Cut(rest, " ")
	if verb != "enter" || !ok {
		return "unknown"
	}
	if err := s.lookup(ctx, badge); err != nil {
		return "refused"
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.entries[door]++
	return fmt.Sprintf("open %d", s.entries[door])
}

func (s *Server) lookup(ctx context.Context, badge string) error {
	t := time.NewTimer(time.Millisecond)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
	}
	if strings.HasSuffix(badge, "9") {
		return fmt.Errorf("badge %s is blocked", badge)
	}
	return nil
}

// Entries gives the entries of all doors.
func (s *Server) Entries() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := 0
	for _, e := range s.entries {
		n += e
	}
	return n
}
