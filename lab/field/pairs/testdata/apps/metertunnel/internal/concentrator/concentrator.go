// Package concentrator collects meters of a street and sends their values.
package concentrator

import (
	"bufio"
	"context"
	"encoding/binary"
	"math/rand/v2"
	"net"
	"sync"
	"time"

	"metertunnel/internal/wire"
)

// Config of a concentrator.
type Config struct {
	Addr  string
	Every time.Duration
	Ping  time.Duration
	V2    bool
}

// Concentrator keeps one link to the head-end.
type Concentrator struct {
	cfg  Config
	id   int
	rnd  *rand.Rand
	regs [200]uint32

	mu          sync.Mutex
	conn        net.Conn
	pong        time.Time
	sent, links int
}

func New(cfg Config, id int) *Concentrator {
	return &Concentrator{cfg: cfg, id: id, rnd: rand.New(rand.NewPCG(uint64(id), 2))}
}

// Counts returns batches sent and links made.
func (c *Concentrator) Counts() (sent, links int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.sent, c.links
}

// Run keeps the link up until the context is done.
func (c *Concentrator) Run(ctx context.Context) {
	for ctx.Err() == nil {
		if err := c.session(ctx); err != nil {
			time.Sleep(50 * time.Millisecond)
		}
	}
}

// session is one link, from dialling to its end.
func (c *Concentrator) session(ctx context.Context) error {
	conn, err := net.DialTimeout("tcp", c.cfg.Addr, time.Second)
	if err != nil {
		return err
	}
	defer conn.Close()
	c.mu.Lock()
	c.conn, c.pong = conn, time.Now()
	c.links++
	c.mu.Unlock()

	link, cancel := context.WithCancel(ctx)
	defer cancel()
	alive := ctx
	if c.cfg.V2 {
		alive = link
	}
	go c.keepalive(alive)
	go func() {
		defer cancel()
		c.listen(conn)
	}()
	return c.report(link, conn)
}

// keepalive sends pings, so that the gateways on the way keep the link.
func (c *Concentrator) keepalive(ctx context.Context) {
	t := time.NewTicker(c.cfg.Ping)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-t.C:
		}
		c.mu.Lock()
		conn, idle := c.conn, time.Since(c.pong)
		c.mu.Unlock()
		if idle > 20*c.cfg.Ping {
			conn.Close()
			continue
		}
		wire.Write(conn, wire.Ping, nil)
	}
}

// listen reads what the head-end sends.
func (c *Concentrator) listen(conn net.Conn) {
	r := bufio.NewReader(conn)
	for {
		kind, _, err := wire.Read(r, nil)
		if err != nil || kind == wire.Rotate {
			return
		}
		c.mu.Lock()
		c.pong = time.Now()
		c.mu.Unlock()
	}
}

// report sends the values of the meters in turns.
func (c *Concentrator) report(ctx context.Context, conn net.Conn) error {
	t := time.NewTicker(c.cfg.Every)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-t.C:
		}
		body := make([]byte, 0, 8*len(c.regs))
		for i := range c.regs {
			c.regs[i] += uint32(c.rnd.IntN(40))
			body = binary.BigEndian.AppendUint32(body, uint32(c.id*len(c.regs)+i))
			body = binary.BigEndian.AppendUint32(body, c.regs[i])
		}
		if err := wire.Write(conn, wire.Batch, body); err != nil {
			return err
		}
		c.mu.Lock()
		c.sent++
		c.mu.Unlock()
	}
}
