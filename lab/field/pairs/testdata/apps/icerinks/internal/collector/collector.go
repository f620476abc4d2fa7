// Package collector takes the readings of all rinks.
package collector

import (
	"context"
	"io"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"icerinks/internal/reading"
)

// Collector keeps the last values; it takes none while it compacts.
type Collector struct {
	compacting atomic.Bool
	mu         sync.Mutex
	last       map[string]reading.Reading

	Batches, Readings atomic.Int64
}

// New makes an empty collector.
func New() *Collector { return &Collector{last: make(map[string]reading.Reading)} }

// Maintain compacts now and then.
func (c *Collector) Maintain(ctx context.Context) {
	t := time.NewTicker(900 * time.Millisecond)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-t.C:
			c.compacting.Store(true)
			time.Sleep(350 * time.Millisecond)
			c.compacting.Store(false)
		}
	}
}

// ServeHTTP takes a batch.
func (c *Collector) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if c.compacting.Load() {
		io.Copy(io.Discard, r.Body)
		http.Error(w, "compacting", http.StatusServiceUnavailable)
		return
	}
	b, err := reading.Decode(r.Body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	c.mu.Lock()
	for _, v := range b.Readings {
		k := b.Rink + "/" + v.Sensor
		if v.At >= c.last[k].At {
			c.last[k] = v
		}
	}
	c.mu.Unlock()
	c.Batches.Add(1)
	c.Readings.Add(int64(len(b.Readings)))
	w.WriteHeader(http.StatusNoContent)
}

// Coldest is the lowest of the last values.
func (c *Collector) Coldest() float64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	low := 100.0
	for _, v := range c.last {
		low = min(low, v.Value)
	}
	return low
}
