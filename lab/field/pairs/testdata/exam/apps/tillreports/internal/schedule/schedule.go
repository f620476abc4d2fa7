// Package schedule runs a job again and again.
package schedule

import (
	"context"
	"fmt"
	"sync"
	"time"
)

// A Policy says what is done when a run is due and another is on its way.
type Policy int

// The policies.
const (
	Allow  Policy = iota // both run
	Forbid               // the run is left out
)

// PolicyOf returns the policy of a name.
func PolicyOf(name string) (Policy, error) {
	switch name {
	case "Allow":
		return Allow, nil
	case "Forbid":
		return Forbid, nil
	}
	return 0, fmt.Errorf("concurrency %q: want Allow or Forbid", name)
}

// A Schedule runs a job at each tick.
type Schedule struct {
	every  time.Duration
	policy Policy
	job    func(context.Context) error

	wg      sync.WaitGroup
	mu      sync.Mutex
	running int
	first   error
}

// New returns the schedule of a job.
func New(every time.Duration, p Policy, job func(context.Context) error) *Schedule {
	return &Schedule{every: every, policy: p, job: job}
}

// Run runs the job until the context ends, and waits for what is on its way.
func (s *Schedule) Run(ctx context.Context) error {
	tick := time.NewTicker(s.every)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			s.wg.Wait()
			return s.first
		case <-tick.C:
			if s.begin() {
				s.wg.Go(func() { s.end(ctx, s.job(ctx)) })
			}
		}
	}
}

func (s *Schedule) begin() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.policy == Forbid && s.running > 0 {
		return false
	}
	s.running++
	return true
}

// end notes how a run went; those that end with the context went well.
func (s *Schedule) end(ctx context.Context, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.running--
	if s.first == nil && ctx.Err() == nil {
		s.first = err
	}
}
