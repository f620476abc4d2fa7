// Package hub hands positions on to those who follow them.
package hub

import (
	"net"
	"sync"
	"time"

	"pilotboats/internal/chart"
)

const patience = 30 * time.Millisecond

type follower struct {
	conn  net.Conn
	queue chan []byte
}

// Hub keeps the last fix of every boat and the followers.
type Hub struct {
	mu        sync.Mutex
	last      map[string]chart.Fix
	followers map[*follower]struct{}
	queued    bool
	sent      int
	missed    int
}

// New makes a hub.
func New(queued bool) *Hub {
	return &Hub{last: map[string]chart.Fix{}, followers: map[*follower]struct{}{}, queued: queued}
}

// Serve accepts followers until the listener is closed.
func (h *Hub) Serve(ln net.Listener) {
	for {
		c, err := ln.Accept()
		if err != nil {
			return
		}
		if tc, ok := c.(*net.TCPConn); ok {
			tc.SetWriteBuffer(8 << 10)
		}
		h.follow(c)
	}
}

func (h *Hub) follow(c net.Conn) {
	f := &follower{conn: c}
	if h.queued {
		f.queue = make(chan []byte, 32)
		go f.drain()
	}
	h.mu.Lock()
	h.followers[f] = struct{}{}
	h.mu.Unlock()
}

func (f *follower) drain() {
	for line := range f.queue {
		f.deliver(line)
	}
}

func (f *follower) deliver(line []byte) error {
	f.conn.SetWriteDeadline(time.Now().Add(patience))
	_, err := f.conn.Write(line)
	return err
}

// Report stores a fix and tells the followers.
func (h *Hub) Report(f chart.Fix) error {
	line, err := chart.Encode(f)
	if err != nil {
		return err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.last[f.Boat] = f
	for fo := range h.followers {
		h.tell(fo, line)
	}
	return nil
}

func (h *Hub) tell(f *follower, line []byte) {
	if !h.queued {
		if f.deliver(line) != nil {
			h.missed++
			return
		}
		h.sent++
		return
	}
	select {
	case f.queue <- line:
		h.sent++
	default:
		h.missed++
	}
}

// Where gives the last fix of a boat.
func (h *Hub) Where(boat string) (chart.Fix, bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	f, ok := h.last[boat]
	return f, ok
}

// Counts gives how many lines were handed on and how many were not.
func (h *Hub) Counts() (sent, missed int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.sent, h.missed
}
