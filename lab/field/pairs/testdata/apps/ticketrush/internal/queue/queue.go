// Package queue is the waiting room of a sale.
package queue

import (
	"sync"
	"time"
)

type visitor struct {
	since int64
	area  uint8
}

type Room struct {
	mu      sync.Mutex
	waiting map[uint64]visitor
	peak    int
	v2      bool
	Gone    int
}

func New(v2 bool) *Room { return &Room{waiting: make(map[uint64]visitor), v2: v2} }

func (q *Room) Enter(id uint64, area uint8, now time.Time) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.waiting[id] = visitor{now.UnixNano(), area}
	q.peak = max(q.peak, len(q.waiting))
}

// Open lets everybody in who is in the room when the sale starts.
func (q *Room) Open() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	n := len(q.waiting)
	for id := range q.waiting {
		delete(q.waiting, id)
	}
	q.settle()
	return n
}

func (q *Room) settle() {
	if !q.v2 || len(q.waiting)*8 > q.peak {
		return
	}
	m := make(map[uint64]visitor, len(q.waiting))
	for id, v := range q.waiting {
		m[id] = v
	}
	q.waiting, q.peak = m, len(m)
}

// Admit lets those in who have waited long enough and tells the counts per area.
func (q *Room) Admit(now time.Time, wait time.Duration) (in []uint64, areas [8]int) {
	limit := now.Add(-wait).UnixNano()
	q.mu.Lock()
	defer q.mu.Unlock()
	for id, v := range q.waiting {
		if v.since < limit {
			in = append(in, id)
			delete(q.waiting, id)
			continue
		}
		areas[v.area%8]++
	}
	q.Gone += len(in)
	return in, areas
}

func (q *Room) Len() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.waiting)
}
