package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"time"

	"github.com/gowhy/gowhy/fleet/simulate"
	"github.com/gowhy/gowhy/fleet/store"
	"github.com/gowhy/gowhy/fleet/store/embedded"
)

// cycle is how often each process sends in the measurement of memory, and cycles how long.
const (
	cycle  = 15 * time.Second
	cycles = 3
)

// measureMemory takes the peak of the whole process, the generator included, while 10,000
// processes send every 15 s, each cycle in a burst, and others ask questions meanwhile.
func measureMemory(ctx context.Context, dir string) ([]Figure, error) {
	plan := simulate.Plan{Seed: 1, Start: start, Length: cycles * cycle, Step: cycle}
	for i := range 10 {
		plan.Services = append(plan.Services, simulate.Service{
			Name: fmt.Sprintf("service-%02d", i), Processes: 1000, Versions: []simulate.Version{{Name: "v1"}},
		})
	}
	s, err := embedded.Open(filepath.Join(dir, "data"), embedded.Options{})
	if err != nil {
		return nil, err
	}
	m := &bursts{store: s, began: time.Now()}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	done := make(chan struct{})
	var asking sync.WaitGroup
	asking.Go(func() {
		if err := m.ask(ctx, done); err != nil {
			cancel(err)
		}
	})
	err = m.send(ctx, plan)
	close(done)
	asking.Wait()
	if err := errors.Join(err, context.Cause(ctx)); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return []Figure{
		{Name: "peak memory, 10,000 processes every 15 s and questions", Unit: "MB", Value: peakMemory() / (1 << 20), Bar: 256},
		{Name: "batches of it that were sent again, for the store was full", Unit: "batches", Value: float64(m.refused)},
		{Name: "questions meanwhile", Unit: "questions", Value: float64(m.asked)},
		{Name: "time until the last batch was kept, of 45 s", Unit: "s", Value: m.kept.Seconds()},
	}, s.Close()
}

// bursts are what is sent and asked.
type bursts struct {
	store          *embedded.Store
	began          time.Time
	refused, asked int
	kept           time.Duration
	mu             sync.Mutex
}

// send sends each cycle at its time.
func (m *bursts) send(ctx context.Context, plan simulate.Plan) error {
	queue := make(chan *store.Batch)
	var all sync.WaitGroup
	var failed error
	for range few {
		all.Go(func() {
			for b := range queue {
				err := m.write(ctx, b)
				m.mu.Lock()
				if err != nil {
					failed = err
				}
				m.kept = time.Since(m.began)
				m.mu.Unlock()
			}
		})
	}
	for b := range plan.Batches() {
		time.Sleep(time.Until(m.began.Add(b.From.Sub(start))))
		if ctx.Err() != nil {
			break
		}
		queue <- b
	}
	close(queue)
	all.Wait()
	return failed
}

// write sends a batch again until it is kept.
func (m *bursts) write(ctx context.Context, b *store.Batch) error {
	for {
		err := m.store.Write(ctx, b)
		if !errors.Is(err, store.ErrFull) {
			return err
		}
		m.mu.Lock()
		m.refused++
		m.mu.Unlock()
		select {
		case <-time.After(50 * time.Millisecond):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// ask asks for a flame and the services, again and again.
func (m *bursts) ask(ctx context.Context, done chan struct{}) error {
	ticker := time.NewTicker(time.Second)
	defer ticker.Stop()
	for {
		select {
		case <-done:
			return nil
		case <-ticker.C:
		}
		s := store.Selection{Service: "service-00", Type: store.CPU, From: start}
		if _, err := m.store.Stacks(ctx, s); err != nil {
			return err
		}
		if _, err := m.store.Services(ctx, store.Selection{}); err != nil {
			return err
		}
		m.asked += 2
	}
}
