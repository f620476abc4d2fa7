// Package pool keeps connections to one server.
package pool

import (
	"bufio"
	"net"
	"sync"
	"time"
)

// A Conn is a connection with its buffers.
type Conn struct {
	net.Conn
	R *bufio.Reader
	W *bufio.Writer
}

// A Pool keeps idle connections; it is safe for concurrent use.
type Pool struct {
	addr  string
	limit int
	mu    sync.Mutex
	idle  []*Conn
}

// New makes a pool that keeps up to limit connections to the address.
func New(addr string, limit int) *Pool { return &Pool{addr: addr, limit: limit} }

// Get returns the connection that was used last, or a new one.
func (p *Pool) Get(patience time.Duration) (*Conn, error) {
	p.mu.Lock()
	if n := len(p.idle); n > 0 {
		c := p.idle[n-1]
		p.idle = p.idle[:n-1]
		p.mu.Unlock()
		return c, nil
	}
	p.mu.Unlock()
	c, err := net.DialTimeout("tcp", p.addr, patience)
	if err != nil {
		return nil, err
	}
	return &Conn{c, bufio.NewReader(c), bufio.NewWriter(c)}, nil
}

// Put gives a connection back; one that cannot be used again is closed.
func (p *Pool) Put(c *Conn, reusable bool) {
	if reusable {
		p.mu.Lock()
		if len(p.idle) < p.limit {
			p.idle = append(p.idle, c)
			p.mu.Unlock()
			return
		}
		p.mu.Unlock()
	}
	c.Close()
}
