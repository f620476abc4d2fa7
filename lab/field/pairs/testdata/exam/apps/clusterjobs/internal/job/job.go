// Package job is what the cluster asks nodes to do.
package job

import (
	"bytes"
	"context"
	"fmt"
	"hash/crc32"
	"slices"
	"sync"
	"time"
)

// A Spec is what a job is to do: to sort the rows of a shard and print some of them.
type Spec struct {
	ID    string
	Seed  uint64
	Rows  int
	Fetch time.Duration // how long the shard takes to come
}

// Sample makes the nth job.
func Sample(n int) Spec {
	return Spec{ID: fmt.Sprintf("job-%06d", n), Seed: uint64(n)*2654435761 + 1, Rows: 1200 + n%7*100, Fetch: time.Duration(4+n%9) * time.Millisecond}
}

// A Job is a spec that runs.
type Job struct {
	Spec
	mu     sync.Mutex
	abort  error
	output bytes.Buffer
	rows   []uint64
}

// Start makes a job of a spec.
func Start(s Spec) *Job { return &Job{Spec: s} }

// Abort ends a job before it is done.
func (j *Job) Abort(cause error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.abort == nil {
		j.abort = cause
	}
}

// Aborted is why the job was ended, if it was.
func (j *Job) Aborted() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.abort
}

// Run does the job and returns the sum of its output.
func (j *Job) Run(ctx context.Context) (uint32, error) {
	if err := j.fetch(ctx); err != nil {
		return 0, err
	}
	slices.Sort(j.rows)
	for i := 0; i < len(j.rows); i += 4 {
		if err := j.Aborted(); err != nil {
			return 0, err
		}
		fmt.Fprintf(&j.output, "%s row %05d %016x\n", j.ID, i, j.rows[i])
	}
	return crc32.ChecksumIEEE(j.output.Bytes()), nil
}

// fetch gets the rows of the shard.
func (j *Job) fetch(ctx context.Context) error {
	t := time.NewTimer(j.Fetch)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-t.C:
	}
	j.rows = make([]uint64, j.Rows)
	x := j.Seed
	for i := range j.rows {
		x ^= x << 13
		x ^= x >> 7
		x ^= x << 17
		j.rows[i] = x
	}
	return nil
}
