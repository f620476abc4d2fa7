// Package gate is the hub to which the beacons connect.
package gate

import (
	"bufio"
	"errors"
	"io"
	"net"
	"sync"
	"time"

	"tollbeacons/internal/beacon"
	"tollbeacons/internal/plates"
)

// Options are the settings of a hub.
type Options struct {
	Tidy bool
}

// Hub serves the beacons.
type Hub struct {
	opts  Options
	ln    net.Listener
	index *plates.Index

	mu       sync.Mutex
	sessions map[*session]struct{}
}

type session struct {
	conn  net.Conn
	name  string
	since time.Time
	seen  int
}

// Listen starts a hub on the loopback.
func Listen(index *plates.Index, opts Options) (*Hub, error) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	h := &Hub{opts: opts, ln: ln, index: index, sessions: make(map[*session]struct{})}
	go h.accept()
	return h, nil
}

// Addr returns the hub's address.
func (h *Hub) Addr() string { return h.ln.Addr().String() }

// Sessions returns the number of sessions.
func (h *Hub) Sessions() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.sessions)
}

// Shutdown ends all sessions.
func (h *Hub) Shutdown() {
	h.ln.Close()
	h.mu.Lock()
	defer h.mu.Unlock()
	for s := range h.sessions {
		s.conn.Close()
	}
}

func (h *Hub) accept() {
	for {
		c, err := h.ln.Accept()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil {
			time.Sleep(5 * time.Millisecond)
			continue
		}
		s := &session{conn: c, since: time.Now()}
		h.mu.Lock()
		h.sessions[s] = struct{}{}
		h.mu.Unlock()
		go h.serve(s)
	}
}

func (h *Hub) serve(s *session) {
	if h.opts.Tidy {
		defer h.leave(s)
	}
	r := bufio.NewReader(s.conn)
	for {
		f, err := beacon.Read(r)
		if err != nil {
			if err != io.EOF {
				h.index.Trouble(s.name)
			}
			return
		}
		switch f.Kind {
		case beacon.KindHello:
			s.name = string(f.Data)
		case beacon.KindSighting:
			s.seen++
			receipt := h.index.Sighted(s.name, f.Data)
			if err := beacon.Write(s.conn, beacon.Frame{Kind: beacon.KindAck, Data: receipt}); err != nil {
				h.index.Trouble(s.name)
				return
			}
		case beacon.KindBye:
			h.leave(s)
			return
		}
	}
}

func (h *Hub) leave(s *session) {
	h.mu.Lock()
	delete(h.sessions, s)
	h.mu.Unlock()
	s.conn.Close()
}
