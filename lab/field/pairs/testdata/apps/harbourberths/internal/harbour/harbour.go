// Package harbour has berths.
package harbour

import "sync"

// A Harbour has a number of berths.
type Harbour struct {
	callAll bool
	mu      sync.Mutex
	free    *sync.Cond
	berths  int
	visits  int
}

// New makes a harbour, which may call all who wait or the next.
func New(berths int, all bool) *Harbour {
	h := &Harbour{callAll: all, berths: berths}
	h.free = sync.NewCond(&h.mu)
	return h
}

// Enter waits for a berth.
func (h *Harbour) Enter() {
	h.mu.Lock()
	defer h.mu.Unlock()
	for h.berths == 0 {
		h.free.Wait()
	}
	h.berths--
	h.visits++
}

// Leave gives a berth back.
func (h *Harbour) Leave() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.berths++
	if h.callAll {
		h.free.Broadcast()
	} else {
		h.free.Signal()
	}
}

// Visits is how many there were.
func (h *Harbour) Visits() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.visits
}
