package server

import (
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"
)

// connections bounds how many a server has: a silent one takes 20 kB, and one that sends the
// most headers 80 kB, before anybody knows who it is. One that nobody uses makes room for a
// new one, the longest first; where each is in use, the new one is closed.
type connections struct {
	most   int // 0 is no bound
	closed atomic.Int64

	mu   sync.Mutex
	idle map[net.Conn]time.Time // since when; zero of those in use
}

const (
	// connectionBytes is the memory of a server for each connection, of which it takes a
	// half at most, and leastConnections what the smallest has.
	connectionBytes  = 128 << 10
	leastConnections = 512
)

func connectionsOf(memory int64) *connections {
	c := &connections{idle: map[net.Conn]time.Time{}}
	if memory > 0 {
		c.most = max(leastConnections, int(memory/connectionBytes))
	}
	return c
}

// state counts connections, as an [http.Server]'s ConnState.
func (c *connections) state(conn net.Conn, s http.ConnState) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch s {
	case http.StateNew:
		c.idle[conn] = time.Time{}
		if c.most > 0 && len(c.idle) > c.most {
			c.closed.Add(1)
			_ = c.leastUsed(conn).Close() // whoever is at its other end begins anew
		}
	case http.StateActive:
		c.idle[conn] = time.Time{}
	case http.StateIdle:
		c.idle[conn] = time.Now()
	case http.StateClosed, http.StateHijacked:
		delete(c.idle, conn)
	}
}

// leastUsed returns the connection that has been idle for longest, or else the new one.
func (c *connections) leastUsed(conn net.Conn) net.Conn {
	var since time.Time
	for one, at := range c.idle {
		if !at.IsZero() && (since.IsZero() || at.Before(since)) {
			conn, since = one, at
		}
	}
	if !since.IsZero() {
		c.idle[conn] = time.Time{} // closed once
	}
	return conn
}
