// Package lanes routes alerts to the lanes of delivery.
package lanes

import (
	"pagerroute/internal/alert"
	"pagerroute/internal/gateway"
)

type Config struct {
	Name    string
	Gateway gateway.Gateway
	Workers int
	Depth   int
}

// Router decides for each alert which lane it takes. One goroutine does so, as
// the order of the alerts of a service must be kept.
type Router struct {
	in    chan alert.Alert
	end   chan struct{}
	lanes []*lane
	last  map[string]alert.Severity
	v2    bool
}

func NewRouter(v2 bool, cfg []Config) *Router {
	r := &Router{in: make(chan alert.Alert), end: make(chan struct{}), last: map[string]alert.Severity{}, v2: v2}
	for _, c := range cfg {
		r.lanes = append(r.lanes, newLane(c))
	}
	go r.route()
	return r
}

// Raise hands an alert over.
func (r *Router) Raise(a alert.Alert) { r.in <- a }

func (r *Router) route() {
	defer close(r.end)
	for a := range r.in {
		l := r.lanes[r.pick(a)]
		if r.v2 {
			l.park(a)
		} else {
			l.ch <- a
		}
	}
}

// pick: whoever got worse since the last time goes a lane up.
func (r *Router) pick(a alert.Alert) int {
	before := r.last[a.Service]
	r.last[a.Service] = a.Severity
	switch {
	case a.Severity == alert.Critical:
		return len(r.lanes) - 1
	case a.Severity > before:
		return min(int(a.Severity), len(r.lanes)-2)
	default:
		return int(a.Severity) % 2
	}
}

func (r *Router) Close() {
	close(r.in)
	<-r.end
	for _, l := range r.lanes {
		l.close()
	}
}

// Sent is the number of notices by lane.
func (r *Router) Sent() map[string]int64 {
	m := map[string]int64{}
	for _, l := range r.lanes {
		m[l.cfg.Name] = l.sent.Load()
	}
	return m
}
