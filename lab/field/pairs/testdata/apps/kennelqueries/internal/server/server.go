// Package server answers kennel commands over TCP.
package server

import (
	"bufio"
	"net"
	"sync/atomic"

	"kennelqueries/internal/registry"
	"kennelqueries/internal/wire"
)

// Server answers on one listener.
type Server struct {
	Animals *registry.Registry
	V2      bool
	Served  atomic.Int64
	Moves   atomic.Int64
}

// Serve accepts until the listener is closed.
func (s *Server) Serve(l net.Listener) {
	for {
		c, err := l.Accept()
		if err != nil {
			return
		}
		go s.session(c)
	}
}

func (s *Server) session(c net.Conn) {
	defer c.Close()
	r := bufio.NewReaderSize(c, 16<<10)
	out := wire.NewReplies(bufio.NewWriterSize(c, 16<<10))
	for {
		cmd, err := wire.ReadCommand(r)
		if err != nil {
			return
		}
		if err := s.answer(out, cmd); err != nil {
			return
		}
		if s.V2 && r.Buffered() > 0 {
			continue
		}
		if err := out.Flush(); err != nil {
			return
		}
	}
}

func (s *Server) answer(out *wire.Replies, cmd wire.Command) error {
	s.Served.Add(1)
	switch cmd.Verb {
	case "FIND":
		a, ok := s.Animals.Find(cmd.Chip)
		if !ok {
			return out.Status(false)
		}
		return out.Animal(&a)
	case "MOVE":
		s.Moves.Add(1)
		return out.Status(s.Animals.Move(cmd.Chip, cmd.Kennel))
	}
	return out.Status(false)
}
