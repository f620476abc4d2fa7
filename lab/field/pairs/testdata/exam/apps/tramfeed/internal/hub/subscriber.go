package hub

import (
	"bytes"
	"net"
	"sync/atomic"
	"time"
)

const patience = 10 * time.Second

// A subscriber gets the positions of a line.
type subscriber struct {
	c      net.Conn
	outbox chan []byte
	failed atomic.Pointer[error]
	missed int
}

func newSubscriber(c net.Conn, outbox int) *subscriber {
	s := &subscriber{c: c}
	if outbox > 0 {
		s.outbox = make(chan []byte, outbox)
		go s.drain()
	}
	return s
}

// deliver sends a position, or puts it into the outbox; if that is full there will be a
// newer position.
func (s *subscriber) deliver(frame []byte) error {
	if s.outbox == nil {
		return s.write(frame)
	}
	if err := s.failed.Load(); err != nil {
		return *err
	}
	select {
	case s.outbox <- bytes.Clone(frame):
	default:
		s.missed++
	}
	return nil
}

// drain sends what is in the outbox.
func (s *subscriber) drain() {
	for frame := range s.outbox {
		if err := s.write(frame); err != nil {
			s.failed.Store(&err)
			return
		}
	}
}

func (s *subscriber) write(frame []byte) error {
	if err := s.c.SetWriteDeadline(time.Now().Add(patience)); err != nil {
		return err
	}
	_, err := s.c.Write(frame)
	return err
}

func (s *subscriber) close() {
	if s.outbox != nil {
		close(s.outbox)
	}
	s.c.Close()
}
