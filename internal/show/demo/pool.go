package demo

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"sync"
)

// The worker pool: jobs come over a buffered channel, and each worker writes
// a file, reads it back, deletes it and computes.
const (
	manyWorkers = 1000
	queued      = 64 // jobs that wait in the channel
	fileSize    = 64 << 10
	churnSize   = 2 << 20
	// spins is about 0.5 ms of computing, several times what the system calls
	// of a job take: the pool is not about files.
	spins = 1_000_000
)

// pooled returns a pool with that many workers, else one for each P. With churn, each job
// makes buffers of that size, as long as it is not fixed.
func pooled(many, churn int) func(context.Context, *program) error {
	return func(ctx context.Context, p *program) error {
		workers := cmp.Or(p.Workers, many)
		if workers == 0 || p.Fixed {
			workers = runtime.GOMAXPROCS(0)
		}
		content := make([]byte, cmp.Or(churn, fileSize))
		return p.pool(ctx, workers, func() func(int) error {
			if churn > 0 && !p.Fixed {
				return func(job int) error { return fileJob(p.dir, job, make([]byte, churn), nil) }
			}
			var buf []byte
			return func(job int) error {
				if buf == nil {
					buf = make([]byte, len(content))
				}
				return fileJob(p.dir, job, content, buf)
			}
		})
	}
}

func (p *program) pool(ctx context.Context, workers int, newWorker func() func(int) error) error {
	jobs := make(chan int, queued)
	var wg sync.WaitGroup
	var once sync.Once
	var failed error
	for range workers {
		work := newWorker()
		wg.Add(1)
		go poolWorker(ctx, &wg, jobs, work, func(err error) { once.Do(func() { failed = err }) })
	}
	for job, ok := p.next(ctx); ok; job, ok = p.next(ctx) {
		jobs <- job
	}
	close(jobs)
	wg.Wait()
	return failed
}

// poolWorker works until there are no more jobs. Its goroutines have its name, as it is a function of its own.
func poolWorker(ctx context.Context, wg *sync.WaitGroup, jobs <-chan int, work func(int) error, fail func(error)) {
	defer wg.Done()
	for job := range jobs {
		if ctx.Err() != nil {
			continue // a thousand jobs in hand would take seconds more
		}
		if err := work(job); err != nil {
			fail(err) // and go on taking jobs, or the channel fills up
		}
	}
}

// fileJob returns one job. Without a buffer to read into, it makes one.
func fileJob(dir string, job int, content, buf []byte) error {
	path := filepath.Join(dir, fmt.Sprintf("job-%d", job))
	if err := os.WriteFile(path, content, 0o600); err != nil {
		return err
	}
	if err := readBack(path, buf); err != nil {
		return err
	}
	sink.Store(compute(uint64(job), spins))
	return os.Remove(path)
}

func readBack(path string, buf []byte) error {
	if buf == nil {
		_, err := os.ReadFile(path)
		return err
	}
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = io.ReadFull(f, buf)
	return err
}
