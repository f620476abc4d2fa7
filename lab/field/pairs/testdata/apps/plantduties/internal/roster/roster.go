// Package roster knows all duties, and which one comes next.
package roster

import (
	"container/heap"
	"fmt"
	"sync"
	"time"

	"plantduties/internal/spec"
)

// Duty is something to be done again and again.
type Duty struct {
	ID      string
	Machine string
	Title   string
	When    spec.Spec
	Due     time.Time
	place   int
}

type queue []*Duty

func (q queue) Len() int           { return len(q) }
func (q queue) Less(i, j int) bool { return q[i].Due.Before(q[j].Due) }
func (q queue) Swap(i, j int) {
	q[i], q[j] = q[j], q[i]
	q[i].place, q[j].place = i, j
}
func (q *queue) Push(x any) {
	d := x.(*Duty)
	d.place = len(*q)
	*q = append(*q, d)
}
func (q *queue) Pop() any {
	old := *q
	d := old[len(old)-1]
	*q = old[:len(old)-1]
	return d
}

// Roster is the duties of a plant.
type Roster struct {
	v2    bool
	mu    sync.Mutex
	queue queue
}

// New returns an empty roster.
func New(v2 bool) *Roster { return &Roster{v2: v2} }

// Add puts a duty in.
func (r *Roster) Add(id, machine, title, when string, now time.Time) error {
	s, err := spec.Parse(when)
	if err != nil {
		return fmt.Errorf("duty %s: %w", id, err)
	}
	d := &Duty{ID: id, Machine: machine, Title: title, When: s}
	d.Due = r.after(d, now)
	r.mu.Lock()
	defer r.mu.Unlock()
	heap.Push(&r.queue, d)
	return nil
}

func (r *Roster) after(d *Duty, now time.Time) time.Time {
	next := d.When.Next
	if r.v2 {
		next = d.When.Following
	}
	t, ok := next(now)
	if !ok {
		return now.AddDate(2, 0, 0)
	}
	return t
}

// Take returns the duty that is due first, and puts it in again for its next time.
func (r *Roster) Take() (id, machine, title string, due time.Time) {
	r.mu.Lock()
	d := heap.Pop(&r.queue).(*Duty)
	id, machine, title, due = d.ID, d.Machine, d.Title, d.Due
	r.mu.Unlock()

	next := r.after(d, due)

	r.mu.Lock()
	d.Due = next
	heap.Push(&r.queue, d)
	r.mu.Unlock()
	return id, machine, title, due
}
