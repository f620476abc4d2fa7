// Package dedupe knows which reports came in lately.
package dedupe

import (
	"sync"
	"time"

	"regattatracks/internal/fix"
)

type mark struct {
	at   time.Duration
	boat uint32
}

// Window remembers reports for a while.
type Window struct {
	keep    time.Duration
	compact bool
	began   time.Time

	mu   sync.Mutex
	seen map[fix.ID]mark
	most int
}

// NewWindow makes a window that remembers for keep.
func NewWindow(keep time.Duration, compact bool) *Window {
	return &Window{keep: keep, compact: compact, began: time.Now(), seen: make(map[fix.ID]mark)}
}

// First reports whether the report was not seen within the window, and notes it.
func (w *Window) First(r fix.Report) bool {
	now := time.Since(w.began)
	w.mu.Lock()
	defer w.mu.Unlock()
	if m, ok := w.seen[r.ID]; ok && now-m.at < w.keep {
		return false
	}
	w.seen[r.ID] = mark{now, r.Boat}
	w.most = max(w.most, len(w.seen))
	return true
}

// Expire forgets what is older than the window.
func (w *Window) Expire() (gone int) {
	now := time.Since(w.began)
	w.mu.Lock()
	defer w.mu.Unlock()
	for id, m := range w.seen {
		if now-m.at >= w.keep {
			delete(w.seen, id)
			gone++
		}
	}
	if w.compact && len(w.seen) < w.most/8 {
		w.rebuild()
	}
	return gone
}

func (w *Window) rebuild() {
	next := make(map[fix.ID]mark, 2*len(w.seen))
	for id, m := range w.seen {
		next[id] = m
	}
	w.seen = next
	w.most = max(len(next), 1000)
}

// Len returns how many reports are remembered.
func (w *Window) Len() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.seen)
}
