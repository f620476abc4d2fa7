// Package ward has the recorders of the monitors that are in use.
package ward

import (
	"container/list"
	"sync"

	"bedsidetrends/internal/trend"
)

// Ward keeps the recorders of the monitors that reported last.
type Ward struct {
	beds int
	v2   bool

	mu    sync.Mutex
	order *list.List // of *trend.Recorder, newest first
	byID  map[string]*list.Element
	moved int
}

// New returns a ward for as many monitors.
func New(beds int, v2 bool) *Ward {
	return &Ward{beds: beds, v2: v2, order: list.New(), byID: make(map[string]*list.Element)}
}

// Recorder returns the recorder of a monitor.
func (w *Ward) Recorder(monitor string) *trend.Recorder {
	w.mu.Lock()
	defer w.mu.Unlock()
	if e, ok := w.byID[monitor]; ok {
		w.order.MoveToFront(e)
		return e.Value.(*trend.Recorder)
	}
	r := trend.NewRecorder(monitor)
	w.byID[monitor] = w.order.PushFront(r)
	if w.order.Len() > w.beds {
		old := w.remove(w.order.Back())
		if w.v2 {
			old.Close()
		}
	}
	return r
}

// Discharge takes a monitor off the ward.
func (w *Ward) Discharge(monitor string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if e, ok := w.byID[monitor]; ok {
		w.remove(e).Close()
	}
}

func (w *Ward) remove(e *list.Element) *trend.Recorder {
	r := w.order.Remove(e).(*trend.Recorder)
	delete(w.byID, r.Monitor)
	w.moved++
	return r
}

// Figures returns the monitors on the ward and those that left it.
func (w *Ward) Figures() (on, left int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.order.Len(), w.moved
}
