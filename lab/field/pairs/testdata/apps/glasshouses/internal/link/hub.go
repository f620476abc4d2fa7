// Package link keeps the connections of the controllers.
package link

import (
	"bufio"
	"errors"
	"net"
	"strings"
	"sync"
	"sync/atomic"
)

// ErrOffline is returned for a house without a connection.
var ErrOffline = errors.New("link: controller offline")

// Options of a hub.
type Options struct {
	Secret []byte
	V2     bool
}

// Hub knows the session of each house.
type Hub struct {
	opts     Options
	mu       sync.RWMutex
	sessions map[string]*Session
	Joined   atomic.Int64
}

// NewHub makes an empty hub.
func NewHub(o Options) *Hub {
	return &Hub{opts: o, sessions: make(map[string]*Session)}
}

// Serve accepts controllers until the listener is closed.
func (h *Hub) Serve(ln net.Listener) {
	for {
		c, err := ln.Accept()
		if err != nil {
			return
		}
		go h.attach(c)
	}
}

func (h *Hub) attach(c net.Conn) {
	defer c.Close()
	r := bufio.NewReader(c)
	hello, err := r.ReadString('\n')
	name, ok := strings.CutPrefix(strings.TrimSpace(hello), "HELLO ")
	if err != nil || !ok {
		return
	}
	s := &Session{House: name, conn: c, opts: h.opts, pending: make(map[uint64]chan Reply)}
	h.mu.Lock()
	h.sessions[name] = s
	h.mu.Unlock()
	h.Joined.Add(1)

	s.readLoop(r)

	h.mu.Lock()
	if h.sessions[name] == s {
		delete(h.sessions, name)
	}
	h.mu.Unlock()
}

// Session returns the live session of a house.
func (h *Hub) Session(name string) (*Session, error) {
	h.mu.RLock()
	defer h.mu.RUnlock()
	if s, ok := h.sessions[name]; ok {
		return s, nil
	}
	return nil, ErrOffline
}
