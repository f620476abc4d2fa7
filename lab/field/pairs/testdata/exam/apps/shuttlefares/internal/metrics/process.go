package metrics

import (
	"context"
	"fmt"
	"io"
	"runtime"
	"sync/atomic"
	"time"

	"shuttlefares/internal/rpc"
)

// Process are gauges of the process.
type Process struct {
	perCall bool
	done    chan struct{}

	heap, objects, peak atomic.Uint64
	collections         atomic.Uint32
	goroutines          atomic.Int64
}

// NewProcess returns gauges that are taken with each call, or at an interval.
func NewProcess(when string, interval time.Duration) (*Process, error) {
	p := &Process{done: make(chan struct{})}
	switch when {
	case "call":
		p.perCall = true
	case "interval":
		p.take()
		go p.watch(interval)
	default:
		return nil, fmt.Errorf("metrics: gauges cannot be taken with each %s", when)
	}
	return p, nil
}

// Intercept takes the gauges of a call.
func (p *Process) Intercept(next rpc.Handler) rpc.Handler {
	if !p.perCall {
		return next
	}
	return func(ctx context.Context, c *rpc.Call) (any, error) {
		defer p.take()
		return next(ctx, c)
	}
}

func (p *Process) watch(interval time.Duration) {
	t := time.NewTicker(interval)
	defer t.Stop()
	for {
		select {
		case <-t.C:
			p.take()
		case <-p.done:
			return
		}
	}
}

// take reads the gauges.
func (p *Process) take() {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	p.heap.Store(m.HeapAlloc)
	p.objects.Store(m.HeapObjects)
	p.collections.Store(m.NumGC)
	p.goroutines.Store(int64(runtime.NumGoroutine()))
	for {
		peak := p.peak.Load()
		if m.HeapAlloc <= peak || p.peak.CompareAndSwap(peak, m.HeapAlloc) {
			return
		}
	}
}

// Close ends the gauges.
func (p *Process) Close() { close(p.done) }

// Report writes the gauges.
func (p *Process) Report(w io.Writer) {
	fmt.Fprintf(w, "heap %d, at most %d, in %d objects, collected %d times, %d goroutines\n",
		p.heap.Load(), p.peak.Load(), p.objects.Load(), p.collections.Load(), p.goroutines.Load())
}
