// Package metrics keeps the gauges of the server and prints them for scrapers.
package metrics

import (
	"io"
	"strconv"
	"sync"
	"sync/atomic"
)

// Counter only goes up.
type Counter struct{ n atomic.Int64 }

// Add adds to the counter.
func (c *Counter) Add(n int) { c.n.Add(int64(n)) }

// Value returns the counter's value.
func (c *Counter) Value() int64 { return c.n.Load() }

// Gauge is a value that is asked for when somebody scrapes.
type Gauge struct {
	name  string
	label string
	read  func() float64
}

// Registry knows all gauges.
type Registry struct {
	mu     sync.Mutex
	gauges []*Gauge
}

// GaugeFunc registers a gauge; read is called for every scrape.
func (r *Registry) GaugeFunc(name, label string, read func() float64) *Gauge {
	g := &Gauge{name: name, label: label, read: read}
	r.mu.Lock()
	r.gauges = append(r.gauges, g)
	r.mu.Unlock()
	return g
}

// Drop takes gauges out of the registry.
func (r *Registry) Drop(gone ...*Gauge) {
	r.mu.Lock()
	defer r.mu.Unlock()
	kept := r.gauges[:0]
next:
	for _, g := range r.gauges {
		for _, d := range gone {
			if g == d {
				continue next
			}
		}
		kept = append(kept, g)
	}
	clear(r.gauges[len(kept):])
	r.gauges = kept
}

// Expose writes all gauges that are not zero in the text format.
func (r *Registry) Expose(w io.Writer) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	var line []byte
	n := 0
	for _, g := range r.gauges {
		v := g.read()
		if v == 0 {
			continue
		}
		line = append(line[:0], g.name...)
		line = append(line, `{room="`...)
		line = append(line, g.label...)
		line = append(line, `"} `...)
		line = strconv.AppendFloat(line, v, 'g', -1, 64)
		line = append(line, '\n')
		if _, err := w.Write(line); err != nil {
			return n, err
		}
		n++
	}
	return n, nil
}
