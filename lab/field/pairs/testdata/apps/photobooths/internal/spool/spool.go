// Package spool keeps jobs until a press has time for them.
package spool

import (
	"context"
	"errors"
	"sync"

	"photobooths/internal/frame"
)

// ErrBusy is returned when a job is not taken.
var ErrBusy = errors.New("spool: busy")

// Job is a picture to print.
type Job struct {
	Ctx  context.Context
	Pic  *frame.Picture
	Done chan uint32
}

// Spool is a queue of jobs.
type Spool struct {
	mu     sync.Mutex
	ready  *sync.Cond
	jobs   []*Job
	limit  int
	closed bool
	taken  int
}

// New makes a spool; a limit of 0 means none.
func New(limit int) *Spool {
	s := &Spool{limit: limit}
	s.ready = sync.NewCond(&s.mu)
	return s
}

// Print queues a picture and waits for the print.
func (s *Spool) Print(ctx context.Context, p *frame.Picture) (uint32, error) {
	j := &Job{Ctx: ctx, Pic: p, Done: make(chan uint32, 1)}
	if err := s.put(j); err != nil {
		return 0, err
	}
	select {
	case sum := <-j.Done:
		return sum, nil
	case <-ctx.Done():
		return 0, ctx.Err()
	}
}

func (s *Spool) put(j *Job) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed || s.limit > 0 && len(s.jobs) >= s.limit {
		return ErrBusy
	}
	s.jobs = append(s.jobs, j)
	s.ready.Signal()
	return nil
}

// Next gives the job that waits longest, or nil when the spool is closed.
func (s *Spool) Next() *Job {
	s.mu.Lock()
	defer s.mu.Unlock()
	for len(s.jobs) == 0 && !s.closed {
		s.ready.Wait()
	}
	if s.closed {
		return nil
	}
	j := s.jobs[0]
	s.jobs[0] = nil
	s.jobs = s.jobs[1:]
	s.taken++
	return j
}

// Close wakes the presses and gives the number of jobs they took.
func (s *Spool) Close() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	s.ready.Broadcast()
	return s.taken
}
