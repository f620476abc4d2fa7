// Package tunnel carries connections to another address.
package tunnel

import (
	"net"
	"sync"
	"sync/atomic"
	"time"
)

// Options of a tunnel.
type Options struct {
	HalfClose bool
	Linger    time.Duration
}

// A Tunnel leads to an address.
type Tunnel struct {
	to       string
	opt      Options
	up, down atomic.Int64
}

// New makes a tunnel.
func New(to string, opt Options) *Tunnel { return &Tunnel{to: to, opt: opt} }

// Moved is how much went up to the address, and down.
func (t *Tunnel) Moved() (up, down int64) { return t.up.Load(), t.down.Load() }

// Serve takes connections until the listener is closed.
func (t *Tunnel) Serve(l net.Listener) error {
	for {
		c, err := l.Accept()
		if err != nil {
			return err
		}
		go t.carry(c.(*net.TCPConn))
	}
}

// carry connects a caller with the address until both have said all.
func (t *Tunnel) carry(caller *net.TCPConn) {
	defer caller.Close()
	c, err := net.DialTimeout("tcp", t.to, 3*time.Second)
	if err != nil {
		return
	}
	callee := c.(*net.TCPConn)
	defer callee.Close()

	var wg sync.WaitGroup
	wg.Add(2)
	go func() {
		defer wg.Done()
		t.stream(callee, caller, &t.up)
	}()
	go func() {
		defer wg.Done()
		t.stream(caller, callee, &t.down)
	}()
	wg.Wait()
}
