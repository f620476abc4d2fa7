// Package watch keeps the arrival times of shipments up to date while
// somebody looks at them.
package watch

import (
	"sync"
	"time"

	"shipmentetas/internal/roads"
)

// Options of the center.
type Options struct {
	Every time.Duration
	V2    bool
}

// Center makes watches.
type Center struct {
	net  *roads.Net
	opts Options

	mu   sync.Mutex
	open map[*Watch]struct{}
}

func NewCenter(net *roads.Net, opts Options) *Center {
	return &Center{net: net, opts: opts, open: make(map[*Watch]struct{})}
}

// Open counts the watches that are open.
func (c *Center) Open() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.open)
}

// Watch follows one shipment.
type Watch struct {
	center *Center
	route  []roads.Leg
	left   time.Time

	mu      sync.Mutex
	timer   *time.Timer
	closed  bool
	eta     time.Time
	changes []time.Time
}

// Watch opens a watch for a shipment that left at the given time.
func (c *Center) Watch(route []roads.Leg, left time.Time) *Watch {
	w := &Watch{center: c, route: route, left: left}
	w.eta = left.Add(c.net.Travel(route, left))
	c.mu.Lock()
	c.open[w] = struct{}{}
	c.mu.Unlock()
	w.mu.Lock()
	w.timer = time.AfterFunc(c.opts.Every, w.refresh)
	w.mu.Unlock()
	return w
}

// ETA is the last estimate, and how often it has changed.
func (w *Watch) ETA() (time.Time, int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.eta, len(w.changes)
}

// refresh estimates anew, and again after the interval.
func (w *Watch) refresh() {
	now := time.Now()
	gone := min(int(now.Sub(w.left)/(4*time.Minute)), len(w.route)-1)
	eta := now.Add(w.center.net.Travel(w.route[gone:], now))

	w.mu.Lock()
	defer w.mu.Unlock()
	if w.center.opts.V2 && w.closed {
		return
	}
	if d := eta.Sub(w.eta); d > time.Minute || d < -time.Minute {
		w.changes = append(w.changes, now)
	}
	w.eta = eta
	next := time.AfterFunc(w.center.opts.Every, w.refresh)
	if w.center.opts.V2 {
		w.timer = next
	}
}

// Close ends the watch.
func (w *Watch) Close() {
	w.mu.Lock()
	w.closed = true
	w.timer.Stop()
	w.mu.Unlock()
	w.center.mu.Lock()
	delete(w.center.open, w)
	w.center.mu.Unlock()
}
