// Package jobs has workers for jobs.
package jobs

import (
	"context"
	"sync"
	"time"
)

// A Job is something to draw.
type Job struct {
	name string
	mu   sync.Mutex
	out  []byte
	done chan struct{}
}

// A Farm has workers.
type Farm struct{ queue chan *Job }

// NewFarm starts workers that draw.
func NewFarm(workers int, draw func(name string) []byte) *Farm {
	f := &Farm{queue: make(chan *Job, 128)}
	for range workers {
		go func() {
			for j := range f.queue {
				j.finish(draw(j.name))
			}
		}()
	}
	return f
}

// Submit puts a job into the queue.
func (f *Farm) Submit(name string) *Job {
	j := &Job{name: name, done: make(chan struct{})}
	f.queue <- j
	return j
}

func (j *Job) finish(out []byte) {
	j.mu.Lock()
	j.out = out
	j.mu.Unlock()
	close(j.done)
}

func (j *Job) result() ([]byte, bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.out, j.out != nil
}

// Await waits until the job is done; it looks so often, or is told.
func (j *Job) Await(ctx context.Context, look time.Duration) ([]byte, error) {
	if look == 0 {
		select {
		case <-j.done:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		out, _ := j.result()
		return out, nil
	}
	for ctx.Err() == nil {
		if out, ok := j.result(); ok {
			return out, nil
		}
		time.Sleep(look)
	}
	return nil, ctx.Err()
}
