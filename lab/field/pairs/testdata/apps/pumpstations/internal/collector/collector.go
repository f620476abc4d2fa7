// Package collector receives the streams of all stations.
package collector

import (
	"crypto/sha256"
	"errors"
	"io"
	"log"
	"net"
	"sync"

	"pumpstations/internal/station"
	"pumpstations/internal/wire"
)

// Totals sums up what a station sent.
type Totals struct {
	Frames  int
	Samples int
	Gaps    int
	Peak    int64
	last    uint64
	chain   [sha256.Size]byte
}

// Collector holds the totals of all stations.
type Collector struct {
	v2       bool
	mu       sync.Mutex
	stations map[uint64]*Totals
	wg       sync.WaitGroup
}

// New returns a collector.
func New(v2 bool) *Collector {
	return &Collector{v2: v2, stations: map[uint64]*Totals{}}
}

// Serve accepts n stations and returns when all have ended.
func (c *Collector) Serve(l net.Listener, n int) error {
	for range n {
		conn, err := l.Accept()
		if err != nil {
			return err
		}
		c.wg.Go(func() {
			defer conn.Close()
			if err := c.stream(conn); err != nil && !errors.Is(err, io.EOF) {
				log.Print(err)
			}
		})
	}
	c.wg.Wait()
	return nil
}

func (c *Collector) totals(id uint64) *Totals {
	c.mu.Lock()
	defer c.mu.Unlock()
	t := c.stations[id]
	if t == nil {
		t = &Totals{}
		c.stations[id] = t
	}
	return t
}

func (c *Collector) stream(conn net.Conn) error {
	r := wire.NewReader(conn, c.v2)
	for {
		f, err := r.Next()
		if err != nil {
			return err
		}
		t := c.totals(f.Station)
		t.add(f)
	}
}

func (t *Totals) add(f wire.Frame) {
	if f.Seq != t.last+1 {
		t.Gaps++
	}
	t.last = f.Seq
	t.Frames++
	t.Samples += station.Decode(f.Body, func(s station.Sample) {
		t.Peak = max(t.Peak, s.Flow)
	})
	h := sha256.New()
	h.Write(t.chain[:])
	h.Write(f.Body)
	h.Sum(t.chain[:0])
}

// Sum returns the totals of all stations.
func (c *Collector) Sum() Totals {
	c.mu.Lock()
	defer c.mu.Unlock()
	var s Totals
	for _, t := range c.stations {
		s.Frames += t.Frames
		s.Samples += t.Samples
		s.Gaps += t.Gaps
		s.Peak = max(s.Peak, t.Peak)
	}
	return s
}
