// Package dial finds the replica that is nearest just now, by a race.
package dial

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
)

// A Late is what becomes of a connection that is made after the first.
type Late int

// What may become of it.
const (
	Register Late = iota
	HangUp
)

// ParseLate reads one by its name.
func ParseLate(name string) (Late, error) {
	switch name {
	case "register":
		return Register, nil
	case "hang-up":
		return HangUp, nil
	}
	return 0, fmt.Errorf("late connections cannot %q", name)
}

// A Conn is a connection to a replica that has said hello.
type Conn struct {
	net.Conn
	In    *bufio.Reader
	racer *Racer
}

// Close ends it.
func (c *Conn) Close() error {
	c.racer.forget(c)
	return c.Conn.Close()
}

// A Racer makes connections.
type Racer struct {
	addrs []string
	late  Late

	mu   sync.Mutex
	open map[*Conn]bool // for Shutdown
}

// NewRacer makes one for replicas at some addresses.
func NewRacer(addrs []string, late Late) *Racer {
	return &Racer{addrs: addrs, late: late, open: map[*Conn]bool{}}
}

type result struct {
	conn *Conn
	err  error
}

// Connect dials all replicas and returns the first that says hello.
func (r *Racer) Connect(ctx context.Context) (*Conn, error) {
	results := make(chan result, len(r.addrs))
	for _, addr := range r.addrs {
		go func() {
			c, err := r.one(ctx, addr)
			results <- result{c, err}
		}()
	}
	var errs []error
	for i := range r.addrs {
		got := <-results
		if got.err != nil {
			errs = append(errs, got.err)
			continue
		}
		if r.late == HangUp {
			go hangUp(results, len(r.addrs)-i-1)
		}
		return got.conn, nil
	}
	return nil, errors.Join(errs...)
}

func hangUp(results <-chan result, n int) {
	for range n {
		if late := <-results; late.err == nil {
			late.conn.Close()
		}
	}
}

func (r *Racer) one(ctx context.Context, addr string) (*Conn, error) {
	var d net.Dialer
	c, err := d.DialContext(ctx, "tcp", addr)
	if err != nil {
		return nil, err
	}
	in := bufio.NewReader(c)
	if _, err := in.ReadString('\n'); err != nil {
		c.Close()
		return nil, fmt.Errorf("hello of %s: %w", addr, err)
	}
	conn := &Conn{Conn: c, In: in, racer: r}
	r.mu.Lock()
	r.open[conn] = true
	r.mu.Unlock()
	return conn, nil
}

func (r *Racer) forget(c *Conn) {
	r.mu.Lock()
	delete(r.open, c)
	r.mu.Unlock()
}

// Shutdown ends all connections.
func (r *Racer) Shutdown() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for c := range r.open {
		c.Conn.Close()
	}
	clear(r.open)
}
