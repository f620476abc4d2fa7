// Package runner runs jobs in the slots of a node.
package runner

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"clusterjobs/internal/job"
	"clusterjobs/internal/lifecycle"
)

// A Hook is whose hook aborts jobs of a drained node.
type Hook string

// The hooks.
const (
	NodeHook Hook = "node"
	JobHook  Hook = "job"
)

const limit = 2 * time.Second // of a job

// A Runner runs jobs.
type Runner struct {
	node  *lifecycle.Node
	hook  Hook
	slots chan struct{}
	wg    sync.WaitGroup

	done   atomic.Int64
	digest atomic.Uint32
}

// New makes a runner with so many slots.
func New(n *lifecycle.Node, slots int, h Hook) (*Runner, error) {
	if h != NodeHook && h != JobHook {
		return nil, fmt.Errorf("runner: no hook is called %q", h)
	}
	return &Runner{node: n, hook: h, slots: make(chan struct{}, slots)}, nil
}

// Submit has a job run when there is a slot.
func (r *Runner) Submit(s job.Spec) {
	r.slots <- struct{}{}
	r.wg.Go(func() {
		defer func() { <-r.slots }()
		sum, err := r.run(s)
		if err != nil {
			return
		}
		r.done.Add(1)
		r.digest.Add(sum)
	})
}

func (r *Runner) run(s job.Spec) (uint32, error) {
	ctx, cancel := context.WithTimeout(r.node.Context(), limit)
	defer cancel()
	j := job.Start(s)
	remove := r.node.OnDrain(j.Abort)
	if r.hook == JobHook {
		defer remove()
	}
	sum, err := j.Run(ctx)
	if err != nil {
		return 0, fmt.Errorf("%s: %w", s.ID, err)
	}
	return sum, nil
}

// Wait waits for all jobs.
func (r *Runner) Wait() { r.wg.Wait() }

// Done is how many jobs came to their end.
func (r *Runner) Done() int64 { return r.done.Load() }

// Digest is the sum of the sums of all outputs.
func (r *Runner) Digest() uint32 { return r.digest.Load() }
