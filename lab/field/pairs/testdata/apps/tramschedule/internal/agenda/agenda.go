// Package agenda keeps what is to happen in the simulated day, in the order of time.
package agenda

import "container/heap"

// Kind tells what happens.
type Kind uint8

// What may happen.
const (
	Arrive Kind = iota
	Depart
	Board
	Signal
)

// Event is something that happens to a tram at a stop.
type Event struct {
	At    float64
	Order int64
	Kind  Kind
	Tram  int32
	Stop  int32
	Line  int32
	Count int32
	Delay float64
}

func before(a, b *Event) bool {
	if a.At != b.At {
		return a.At < b.At
	}
	return a.Order < b.Order
}

// Agenda gives events back in their order.
type Agenda interface {
	Put(e Event)
	Take() (Event, bool)
	Len() int
}

type events []Event

func (q events) Len() int           { return len(q) }
func (q events) Less(i, j int) bool { return before(&q[i], &q[j]) }
func (q events) Swap(i, j int)      { q[i], q[j] = q[j], q[i] }
func (q *events) Push(x any)        { *q = append(*q, x.(Event)) }
func (q *events) Pop() any {
	old := *q
	e := old[len(old)-1]
	*q = old[:len(old)-1]
	return e
}

// Heap is an agenda.
type Heap struct {
	order  int64
	events events
}

// Put puts an event into the agenda.
func (h *Heap) Put(e Event) {
	h.order++
	e.Order = h.order
	heap.Push(&h.events, e)
}

// Take takes the next event.
func (h *Heap) Take() (Event, bool) {
	if len(h.events) == 0 {
		return Event{}, false
	}
	return heap.Pop(&h.events).(Event), true
}

// Len returns how many events are to come.
func (h *Heap) Len() int { return len(h.events) }

// Wide is an agenda with four branches at each fork.
type Wide struct {
	order  int64
	events []Event
}

// Put puts an event into the agenda.
func (w *Wide) Put(e Event) {
	w.order++
	e.Order = w.order
	w.events = append(w.events, e)
	i := len(w.events) - 1
	for i > 0 {
		p := (i - 1) / 4
		if !before(&e, &w.events[p]) {
			break
		}
		w.events[i] = w.events[p]
		i = p
	}
	w.events[i] = e
}

// Take takes the next event.
func (w *Wide) Take() (Event, bool) {
	if len(w.events) == 0 {
		return Event{}, false
	}
	first, n := w.events[0], len(w.events)-1
	e := w.events[n]
	w.events = w.events[:n]
	for i := 0; n > 0; {
		c := 4*i + 1
		if c >= n {
			w.events[i] = e
			break
		}
		for k := c + 1; k < min(c+4, n); k++ {
			if before(&w.events[k], &w.events[c]) {
				c = k
			}
		}
		if !before(&w.events[c], &e) {
			w.events[i] = e
			break
		}
		w.events[i] = w.events[c]
		i = c
	}
	return first, true
}

// Len returns how many events are to come.
func (w *Wide) Len() int { return len(w.events) }
