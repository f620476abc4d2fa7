// Package dispatch hands moves to carriers.
package dispatch

import (
	"sync"
	"time"

	"craneyard/internal/plan"
)

type job struct {
	m  plan.Move
	at time.Time
}

// Desk is the list of moves that nobody drives yet.
type Desk struct {
	onecall bool

	mu     sync.Mutex
	call   *sync.Cond
	jobs   []job
	closed bool
	waited time.Duration
	given  int
}

func New(onecall bool) *Desk {
	d := &Desk{onecall: onecall}
	d.call = sync.NewCond(&d.mu)
	return d
}

// Put adds a move and calls the carriers.
func (d *Desk) Put(m plan.Move) {
	d.mu.Lock()
	d.jobs = append(d.jobs, job{m, time.Now()})
	d.mu.Unlock()
	if d.onecall {
		d.call.Signal()
	} else {
		d.call.Broadcast()
	}
}

// Take waits for a move; ok is false when the shift is over.
func (d *Desk) Take() (m plan.Move, ok bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for len(d.jobs) == 0 && !d.closed {
		d.call.Wait()
	}
	if len(d.jobs) == 0 {
		return m, false
	}
	j := d.jobs[0]
	d.jobs = d.jobs[1:]
	d.waited += time.Since(j.at)
	d.given++
	return j.m, true
}

// Drain ends the shift once the list is empty.
func (d *Desk) Drain() {
	d.mu.Lock()
	d.closed = true
	d.mu.Unlock()
	d.call.Broadcast()
}

func (d *Desk) MeanWait() time.Duration {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.given == 0 {
		return 0
	}
	return d.waited / time.Duration(d.given)
}
