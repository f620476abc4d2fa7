// Package replica answers for a timetable, a line for a line.
package replica

import (
	"bufio"
	"fmt"
	"net"
	"sync"
	"time"

	"ferrytimes/internal/timetable"
)

// A Server is one replica.
type Server struct {
	table *timetable.Table
	far   time.Duration
	l     net.Listener

	mu    sync.Mutex
	conns map[net.Conn]bool
}

// Start begins to listen on loopback. Answers take as long as the replica is far.
func Start(table *timetable.Table, far time.Duration) (*Server, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	s := &Server{table: table, far: far, l: l, conns: map[net.Conn]bool{}}
	go s.accept()
	return s, nil
}

// Addr is where it listens.
func (s *Server) Addr() string { return s.l.Addr().String() }

// Close ends it with its connections.
func (s *Server) Close() {
	s.l.Close()
	s.mu.Lock()
	defer s.mu.Unlock()
	for c := range s.conns {
		c.Close()
	}
}

func (s *Server) accept() {
	for {
		c, err := s.l.Accept()
		if err != nil {
			return
		}
		s.mu.Lock()
		s.conns[c] = true
		s.mu.Unlock()
		go s.serve(c)
	}
}

func (s *Server) serve(c net.Conn) {
	defer func() {
		s.mu.Lock()
		delete(s.conns, c)
		s.mu.Unlock()
		c.Close()
	}()
	time.Sleep(s.far / 2)
	if _, err := fmt.Fprintln(c, "ferries"); err != nil {
		return
	}
	in := bufio.NewScanner(c)
	for in.Scan() {
		var pier string
		var minute int
		if _, err := fmt.Sscan(in.Text(), &pier, &minute); err != nil {
			fmt.Fprintln(c, "what")
			continue
		}
		time.Sleep(s.far)
		d, ok := s.table.Next(pier, minute)
		if !ok {
			fmt.Fprintln(c, "none")
			continue
		}
		if _, err := fmt.Fprintln(c, d.Minute, d.Ship); err != nil {
			return
		}
	}
}
