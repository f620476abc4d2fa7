// Package depot stores the readings; it confirms each when its replica has it.
package depot

import (
	"bufio"
	"crypto/sha256"
	"net"
	"sync/atomic"
	"time"

	"lockkeepers/internal/wire"
)

// Depot is the far side.
type Depot struct {
	ln     net.Listener
	delay  time.Duration
	stored atomic.Int64
}

type confirmation struct {
	number uint64
	digest [32]byte
	due    time.Time
}

// Listen starts a depot whose replica takes delay to confirm.
func Listen(delay time.Duration) (*Depot, error) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	d := &Depot{ln: ln, delay: delay}
	go func() {
		for {
			c, err := ln.Accept()
			if err != nil {
				return
			}
			go d.serve(c)
		}
	}()
	return d, nil
}

// Addr returns the depot's address.
func (d *Depot) Addr() string { return d.ln.Addr().String() }

// Close stops the depot.
func (d *Depot) Close() error { return d.ln.Close() }

// Stored returns the number of stored readings.
func (d *Depot) Stored() int64 { return d.stored.Load() }

func (d *Depot) serve(c net.Conn) {
	defer c.Close()
	replicated := make(chan confirmation, 256)
	defer close(replicated)
	go func() {
		var out []byte
		for f := range replicated {
			time.Sleep(time.Until(f.due))
			out = wire.Append(out[:0], f.number, f.digest[:8])
			if _, err := c.Write(out); err != nil {
				c.Close()
			}
		}
	}()
	in := bufio.NewReader(c)
	for {
		number, body, err := wire.Read(in)
		if err != nil {
			return
		}
		d.stored.Add(1)
		replicated <- confirmation{number, sha256.Sum256(body), time.Now().Add(d.delay)}
	}
}
