// Package window sums what happens in zones over windows that slide along event time.
package window

import "fmt"

// A Layout is how long windows are and how far apart they begin, in seconds.
type Layout struct{ Size, Slide int64 }

// A Total is what is known of a zone in a window.
type Total struct {
	Rides int64
	Seats int64
	Cents int64
}

func (t *Total) add(o Total) {
	t.Rides += o.Rides
	t.Seats += o.Seats
	t.Cents += o.Cents
}

func (t *Total) sub(o Total) {
	t.Rides -= o.Rides
	t.Seats -= o.Seats
	t.Cents -= o.Cents
}

// An Aggregator takes what happens and gives the totals of windows that have ended.
type Aggregator interface {
	// Add counts one ride at a time in a zone.
	Add(at int64, zone int, t Total)
	// Close ends the window that ends at a time, and calls f for its zones. Windows
	// are closed one after the other.
	Close(end int64, f func(zone int, t Total))
}

// New returns an aggregator that keeps windows or panes.
func New(state string, l Layout) (Aggregator, error) {
	switch state {
	case "windows":
		return &byWindow{Layout: l, open: map[int64]zones{}}, nil
	case "panes":
		return &byPane{Layout: l, panes: map[int64]zones{}, sum: zones{}}, nil
	}
	return nil, fmt.Errorf("state %q: want windows or panes", state)
}

type zones map[int]*Total

func (z zones) add(zone int, t Total) {
	have := z[zone]
	if have == nil {
		have = &Total{}
		z[zone] = have
	}
	have.add(t)
}

// byWindow has an entry for each window that is open, by its begin.
type byWindow struct {
	Layout
	open map[int64]zones
}

func (w *byWindow) Add(at int64, zone int, t Total) {
	for begin := at - at%w.Slide; begin > at-w.Size; begin -= w.Slide {
		z := w.open[begin]
		if z == nil {
			z = zones{}
			w.open[begin] = z
		}
		z.add(zone, t)
	}
}

func (w *byWindow) Close(end int64, f func(zone int, t Total)) {
	begin := end - w.Size
	for zone, t := range w.open[begin] {
		f(zone, *t)
	}
	delete(w.open, begin)
}

// byPane has an entry for each slide, and the sum of those in the window that ended last.
type byPane struct {
	Layout
	panes map[int64]zones
	sum   zones
}

func (p *byPane) Add(at int64, zone int, t Total) {
	begin := at - at%p.Slide
	z := p.panes[begin]
	if z == nil {
		z = zones{}
		p.panes[begin] = z
	}
	z.add(zone, t)
}

func (p *byPane) Close(end int64, f func(zone int, t Total)) {
	for zone, t := range p.panes[end-p.Slide] {
		p.sum.add(zone, *t)
	}
	for zone, t := range p.sum {
		if t.Rides > 0 {
			f(zone, *t)
		}
	}
	first := end - p.Size
	for zone, t := range p.panes[first] {
		p.sum[zone].sub(*t)
	}
	delete(p.panes, first)
}
