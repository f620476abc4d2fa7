package link

import (
	"bufio"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net"
	"sync"
)

// Reply is a controller's answer.
type Reply struct {
	OK          bool
	Temp, Humid float64
	err         error
}

// Session is one controller's connection.
type Session struct {
	House   string
	conn    net.Conn
	opts    Options
	wmu     sync.Mutex
	mu      sync.Mutex
	next    uint64
	closed  bool
	pending map[uint64]chan Reply
}

// Call sends a command and returns the answer to it.
func (s *Session) Call(verb string, level int) (Reply, error) {
	ch := make(chan Reply, 1)
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return Reply{}, ErrOffline
	}
	s.next++
	id := s.next
	s.pending[id] = ch
	s.mu.Unlock()

	if err := s.send(id, verb, level); err != nil {
		s.mu.Lock()
		delete(s.pending, id)
		s.mu.Unlock()
		return Reply{}, err
	}
	r := <-ch
	return r, r.err
}

func (s *Session) send(id uint64, verb string, level int) error {
	body := fmt.Sprintf("%d %s %d", id, verb, level)
	m := hmac.New(sha256.New, s.opts.Secret)
	m.Write([]byte(body))
	line := body + " " + hex.EncodeToString(m.Sum(nil)) + "\n"
	s.wmu.Lock()
	defer s.wmu.Unlock()
	_, err := s.conn.Write([]byte(line))
	return err
}

func (s *Session) readLoop(r *bufio.Reader) {
	for {
		line, err := r.ReadString('\n')
		if err != nil {
			s.shutdown(err)
			return
		}
		id, rep, err := parseReply(line)
		if err != nil {
			continue
		}
		s.mu.Lock()
		ch, ok := s.pending[id]
		delete(s.pending, id)
		s.mu.Unlock()
		if ok {
			ch <- rep
		}
	}
}

func (s *Session) shutdown(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	if s.opts.V2 {
		for id, ch := range s.pending {
			ch <- Reply{err: fmt.Errorf("link: %s: %w", s.House, err)}
			delete(s.pending, id)
		}
	}
	s.conn.Close()
}

func parseReply(line string) (id uint64, r Reply, err error) {
	var state string
	_, err = fmt.Sscanf(line, "%d %s %f %f", &id, &state, &r.Temp, &r.Humid)
	r.OK = state == "ok"
	return id, r, err
}
