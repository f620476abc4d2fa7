package main

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
	"golang.org/x/sync/semaphore"
)

// groups are programs that wait for others by counting them.
var groups = []program{
	{"cond-stuck", "ten wait for a signal that was given before they came", func() error {
		q := newQueue()
		q.put(1)
		for range 10 {
			go q.takeNext()
		}
		return nil
	}},
	{"cond-fine", "ten wait for something to take, which comes now and then", func() error {
		q := newQueue()
		for range 10 {
			go func() {
				for {
					q.take()
					steps.Add(1)
				}
			}()
		}
		go every(100*time.Millisecond, func() { q.put(1) })
		return nil
	}},
	{"group-stuck", "one of those who were counted ended by an error, without Done", func() error {
		crowd(1, func() { fetchAll(20) })
		return nil
	}},
	{"group-fine", "main waits for servers, which wait for work", func() error {
		var running sync.WaitGroup
		jobs := make(chan int)
		for range 5 {
			running.Go(func() { work(jobs) })
		}
		go running.Wait()
		go every(200*time.Millisecond, func() { jobs <- 1 })
		return nil
	}},
	{"semaphore-stuck", "some never give back what they acquired", func() error {
		s := &shop{seats: semaphore.NewWeighted(4)}
		crowd(20, s.visitLeaving)
		return nil
	}},
	{"semaphore-slow", "few seats, and each is taken for long", func() error {
		s := &shop{seats: semaphore.NewWeighted(2)}
		crowd(30, s.visit)
		return nil
	}},
	{"semaphore-fine", "more seats than guests", func() error {
		s := &shop{seats: semaphore.NewWeighted(100)}
		crowd(20, s.visit)
		return nil
	}},
	{"errgroup-stuck", "tasks of a group with a limit start others in it", func() error {
		crowd(1, func() { walk(4, 3) })
		return nil
	}},
	{"errgroup-fine", "the same, without a limit", func() error {
		go every(20*time.Millisecond, func() { walk(-1, 3) })
		return nil
	}},
}

// A queue is waited for.
type queue struct {
	mu     sync.Mutex
	filled *sync.Cond
	items  []int
}

func newQueue() *queue {
	q := new(queue)
	q.filled = sync.NewCond(&q.mu)
	return q
}

func (q *queue) put(v int) {
	q.mu.Lock()
	q.items = append(q.items, v)
	q.mu.Unlock()
	q.filled.Signal()
}

// takeNext waits without looking whether there is something already.
func (q *queue) takeNext() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.filled.Wait() // want cause cond-stuck
	q.items = q.items[1:]
	steps.Add(1)
}

func (q *queue) take() {
	q.mu.Lock()
	defer q.mu.Unlock()
	for len(q.items) == 0 {
		q.filled.Wait()
	}
	q.items = q.items[1:]
}

// fetchAll waits for n who fetch.
func fetchAll(n int) {
	var fetching sync.WaitGroup
	for i := range n {
		fetching.Add(1)
		go func() {
			if err := fetchOne(i); err != nil {
				return // and Done is forgotten
			}
			fetching.Done()
		}()
	}
	fetching.Wait() // want cause group-stuck
}

func fetchOne(i int) error {
	time.Sleep(time.Millisecond)
	if i == 13 {
		return errors.New("not found")
	}
	return nil
}

// A shop has few seats.
type shop struct{ seats *semaphore.Weighted }

func (s *shop) visit() {
	if s.seats.Acquire(context.Background(), 1) != nil { // want cause semaphore-slow
		return
	}
	defer s.seats.Release(1)
	time.Sleep(50 * time.Millisecond) // want holder semaphore-slow
}

// visitLeaving forgets to give the seat back when the guest does not like it.
func (s *shop) visitLeaving() {
	if s.seats.Acquire(context.Background(), 1) != nil { // want cause semaphore-stuck
		return
	}
	if rand.IntN(10) == 0 {
		return
	}
	time.Sleep(time.Millisecond)
	s.seats.Release(1)
}

// walk visits a tree, each node in a task.
func walk(limit, depth int) {
	var tasks errgroup.Group
	tasks.SetLimit(limit)
	descend(&tasks, depth)
	_ = tasks.Wait()
}

func descend(tasks *errgroup.Group, depth int) {
	if depth == 0 {
		return
	}
	for range 4 {
		tasks.Go(func() error { // want cause errgroup-stuck; holder errgroup-stuck
			time.Sleep(time.Millisecond)
			descend(tasks, depth-1) // want holder errgroup-stuck
			return nil
		})
	}
}
