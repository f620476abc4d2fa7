package exchange

import (
	"bufio"
	"errors"
	"net"
	"os"
	"sync"
	"time"

	"pagers/internal/proto"
)

// A session is the connection of a pager.
type session struct {
	x     *Exchange
	c     net.Conn
	in    *bufio.Reader
	line  []byte // the part of a line that was read
	heard time.Time
	pager int

	mu     sync.Mutex
	outbox []byte
	ring   chan struct{} // has something when the outbox has
	gone   chan struct{}
}

func newSession(x *Exchange, c net.Conn) *session {
	return &session{
		x: x, c: c, in: bufio.NewReaderSize(c, 512), heard: time.Now(),
		ring: make(chan struct{}, 1), gone: make(chan struct{}),
	}
}

// enqueue puts a call into the outbox.
func (s *session) enqueue(id int, text string) {
	s.mu.Lock()
	s.outbox = proto.Message{Verb: "CALL", ID: id, Text: text}.Append(s.outbox)
	s.mu.Unlock()
	select {
	case s.ring <- struct{}{}:
	default:
	}
}

// flush sends what is in the outbox.
func (s *session) flush() error {
	s.mu.Lock()
	out := s.outbox
	s.outbox = nil
	s.mu.Unlock()
	if len(out) == 0 {
		return nil
	}
	_ = s.c.SetWriteDeadline(time.Now().Add(5 * time.Second))
	_, err := s.c.Write(out)
	return err
}

// run serves the pager until it is gone.
func (s *session) run() {
	defer s.c.Close()
	defer close(s.gone)
	defer func() { s.x.leave(s.pager, s) }()
	if s.x.opt.Turn == 0 {
		go s.send()
	}
	for s.turn() == nil {
	}
}

// send empties the outbox whenever there is something in it.
func (s *session) send() {
	for {
		select {
		case <-s.ring:
			if s.flush() != nil {
				s.c.Close()
				return
			}
		case <-s.gone:
			return
		}
	}
}

// turn listens for a line, and sends.
func (s *session) turn() error {
	span := s.x.opt.Turn
	if span == 0 {
		span = s.x.opt.Silence
	}
	if err := s.c.SetReadDeadline(time.Now().Add(span)); err != nil {
		return err
	}
	part, err := s.in.ReadSlice('\n')
	s.line = append(s.line, part...)
	switch {
	case err == nil:
		s.heard = time.Now()
		err = s.take(string(s.line))
		s.line = s.line[:0]
	case errors.Is(err, os.ErrDeadlineExceeded) && time.Since(s.heard) < s.x.opt.Silence:
		err = nil
	}
	if err == nil && s.x.opt.Turn > 0 {
		err = s.flush()
	}
	return err
}

// take does what a pager asks for.
func (s *session) take(line string) error {
	m, err := proto.Parse(line)
	if err != nil {
		return err
	}
	switch m.Verb {
	case "HERE":
		s.pager = m.ID
		s.x.enter(m.ID, s)
	case "ACK":
		s.x.acknowledge(m.ID)
	}
	return nil
}
