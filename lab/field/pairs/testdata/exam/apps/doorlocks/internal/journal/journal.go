// Package journal has the events of one door, as they are folded to what is noted of it.
package journal

import "doorlocks/internal/report"

// Most is how many events a lock remembers that was without a network.
const Most = 7500

// A Day has whatever a lock may send at once.
type Day struct {
	n      int
	events [Most]report.Event
}

// Add takes an event.
func (d *Day) Add(e report.Event) {
	if d.n < Most {
		d.events[d.n] = e
		d.n++
	}
}

// Sum folds the events.
func (d *Day) Sum() Sum { return fold(d.events[:d.n]) }

// Last is the time of the last event.
func (d *Day) Last() uint32 { return last(d.events[:d.n]) }

// A List has the events that a report announces.
type List struct{ events []report.Event }

// NewList makes a list for so many events.
func NewList(n int) *List { return &List{make([]report.Event, 0, min(n, Most))} }

// Add takes an event.
func (l *List) Add(e report.Event) {
	if len(l.events) < Most {
		l.events = append(l.events, e)
	}
}

// Sum folds the events.
func (l *List) Sum() Sum { return fold(l.events) }

// Last is the time of the last event.
func (l *List) Last() uint32 { return last(l.events) }

// A Sum is what is noted of a door.
type Sum struct {
	Opened  int
	Forced  int
	Seconds int // that it was open
}

// Plus adds another.
func (s Sum) Plus(o Sum) Sum {
	return Sum{s.Opened + o.Opened, s.Forced + o.Forced, s.Seconds + o.Seconds}
}

func fold(events []report.Event) (s Sum) {
	since, open := uint32(0), false
	for _, e := range events {
		switch e.Code {
		case report.Forced:
			s.Forced++
			fallthrough
		case report.Opened:
			s.Opened++
			if !open {
				since, open = e.At, true
			}
		case report.Closed:
			if open {
				s.Seconds += int(e.At - since)
				open = false
			}
		}
	}
	return s
}

func last(events []report.Event) uint32 {
	if len(events) == 0 {
		return 0
	}
	return events[len(events)-1].At
}
