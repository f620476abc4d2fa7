// Package queue hands work from the gates to the stations.
package queue

import (
	"errors"
	"sync"
)

// Errors of Put.
var (
	ErrFull   = errors.New("queue: full")
	ErrClosed = errors.New("queue: closed")
)

// Queue is first in, first out.
type Queue[T any] struct {
	mu     sync.Mutex
	ready  sync.Cond
	items  []T
	limit  int
	closed bool
}

// New makes a queue; a limit of 0 is none.
func New[T any](limit int) *Queue[T] {
	q := &Queue[T]{limit: limit}
	q.ready.L = &q.mu
	return q
}

// Put adds v at the end.
func (q *Queue[T]) Put(v T) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed {
		return ErrClosed
	}
	if q.limit > 0 && len(q.items) >= q.limit {
		return ErrFull
	}
	q.items = append(q.items, v)
	q.ready.Signal()
	return nil
}

// Take waits for the first item; it is false when the queue is closed.
func (q *Queue[T]) Take() (T, bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for len(q.items) == 0 && !q.closed {
		q.ready.Wait()
	}
	var zero T
	if q.closed {
		return zero, false
	}
	v := q.items[0]
	q.items[0] = zero
	q.items = q.items[1:]
	return v, true
}

// Close drops what is queued.
func (q *Queue[T]) Close() []T {
	q.mu.Lock()
	defer q.mu.Unlock()
	rest := q.items
	q.items, q.closed = nil, true
	q.ready.Broadcast()
	return rest
}
