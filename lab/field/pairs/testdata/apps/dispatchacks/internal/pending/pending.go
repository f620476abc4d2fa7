// Package pending watches over frames that wait for an acknowledgement.
package pending

import (
	"sync"
	"sync/atomic"
	"time"
)

type entry struct {
	timer *time.Timer
}

// Window holds what has been sent and not been acknowledged.
type Window struct {
	patience time.Duration
	resend   func(id uint64, frame []byte)
	v2       bool

	mu   sync.Mutex
	open map[uint64]*entry

	Resent atomic.Int64
}

// NewWindow calls resend for a frame that is not acknowledged within patience.
func NewWindow(patience time.Duration, v2 bool, resend func(uint64, []byte)) *Window {
	return &Window{patience: patience, resend: resend, v2: v2, open: map[uint64]*entry{}}
}

// Sent takes note of a frame.
func (w *Window) Sent(id uint64, frame []byte) {
	e := &entry{}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.open[id] = e
	e.timer = time.AfterFunc(w.patience, func() {
		w.mu.Lock()
		_, waiting := w.open[id]
		w.mu.Unlock()
		if waiting {
			w.Resent.Add(1)
			w.resend(id, frame)
		}
	})
}

// Acked ends the wait for a frame; it is false if the frame is not known.
func (w *Window) Acked(id uint64) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	e, ok := w.open[id]
	if !ok {
		return false
	}
	if w.v2 {
		e.timer.Stop()
	}
	delete(w.open, id)
	return true
}

// Len is the number of open frames.
func (w *Window) Len() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.open)
}
