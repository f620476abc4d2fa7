// Package client has the boats, the followers and the traffic desks.
package client

import (
	"bufio"
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"slices"
	"sync"
	"time"

	"pilotboats/internal/chart"
	"pilotboats/internal/hub"
)

// Follow reads lines, resting between them.
func Follow(ctx context.Context, addr string, rest time.Duration) error {
	c, err := net.Dial("tcp", addr)
	if err != nil {
		return err
	}
	defer c.Close()
	c.(*net.TCPConn).SetReadBuffer(8 << 10)
	context.AfterFunc(ctx, func() { c.Close() })
	r := bufio.NewReaderSize(c, 2048)
	for {
		if _, err := r.ReadSlice('\n'); err != nil && err != bufio.ErrBufferFull {
			return nil
		}
		if rest > 0 {
			time.Sleep(rest)
		}
	}
}

// Sail reports the way of a boat.
func Sail(ctx context.Context, h *hub.Hub, no int, every time.Duration) {
	r := rand.New(rand.NewPCG(uint64(no), 5))
	f := chart.Fix{Boat: fmt.Sprintf("pilot-%d", no), Lat: 53.5, Lon: 8.1}
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			f.Lat += r.Float64()*0.002 - 0.001
			f.Lon += r.Float64()*0.002 - 0.001
			f.Course += r.Float64() - 0.5
			h.Report(chart.Plan(f, 16))
		}
	}
}

// Desk asks for boats and keeps how long the answers took.
type Desk struct {
	mu    sync.Mutex
	Took  []time.Duration
	Miles float64
}

// Work asks until the context ends.
func (d *Desk) Work(ctx context.Context, h *hub.Hub, boats int, every time.Duration) {
	tick := time.NewTicker(every)
	defer tick.Stop()
	for ctx.Err() == nil {
		<-tick.C
		t0 := time.Now()
		f, ok := h.Where(fmt.Sprintf("pilot-%d", rand.IntN(boats)))
		took := time.Since(t0)
		d.mu.Lock()
		d.Took = append(d.Took, took)
		if ok {
			d.Miles += chart.Distance(f.Lat, f.Lon, 53.87, 8.7)
		}
		d.mu.Unlock()
	}
}

// Quantile gives the q-quantile of the times.
func (d *Desk) Quantile(q float64) time.Duration {
	if len(d.Took) == 0 {
		return 0
	}
	slices.Sort(d.Took)
	return d.Took[int(q*float64(len(d.Took)-1))]
}
