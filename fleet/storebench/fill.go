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

// start is when plans begin: a midnight that is long ago, so that days are merged.
var start = time.Date(2026, 3, 2, 0, 0, 0, 0, time.UTC)

// services returns a plan of services with two versions each that send once a minute, with the
// usual 880 rows.
func services(number, processes int, length time.Duration) simulate.Plan {
	p := simulate.Plan{Seed: 1, Start: start, Length: length, Step: time.Minute}
	for i := range number {
		p.Services = append(p.Services, simulate.Service{
			Name: fmt.Sprintf("service-%02d", i), Processes: processes,
			Versions: []simulate.Version{{Name: "v1"}, {Name: "v2", Deploy: length / 2}},
		})
	}
	return p
}

// few and many are how many write at the same time.
const few, many = 16, 256

// A filled store is one of a plan.
type filled struct {
	*embedded.Store
	dir           string
	batches, rows int64
	used          time.Duration // CPU, without the generator's
}

// fill writes a plan to a new store with some writers, then makes segments of all.
func fill(ctx context.Context, dir string, p simulate.Plan, writers int) (*filled, error) {
	begin, err := cpuTime()
	if err != nil {
		return nil, err
	}
	for range p.Batches() { // what the generator takes is not the store's
	}
	generated, err := cpuTime()
	if err != nil {
		return nil, err
	}
	f := &filled{dir: filepath.Join(dir, "data")}
	if f.Store, err = embedded.Open(f.dir, embedded.Options{}); err != nil {
		return nil, err
	}
	if err := f.write(ctx, p, writers); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	if err := f.Flush(ctx); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	end, err := cpuTime()
	f.used = end - generated - (generated - begin)
	return f, err
}

func (f *filled) write(ctx context.Context, p simulate.Plan, writers int) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	queue := make(chan *store.Batch)
	var all sync.WaitGroup
	for range writers {
		all.Go(func() {
			for b := range queue {
				if err := patient(ctx, f.Store, b); err != nil {
					cancel(err)
				}
			}
		})
	}
	for b := range p.Batches() {
		if ctx.Err() != nil {
			break
		}
		f.batches++
		for _, profile := range b.Profiles {
			f.rows += int64(len(profile.Samples))
		}
		queue <- b
	}
	close(queue)
	all.Wait()
	return context.Cause(ctx)
}

// patient writes a batch again until the store has room, as a client does.
func patient(ctx context.Context, s store.Writer, b *store.Batch) error {
	for {
		err := s.Write(ctx, b)
		if !errors.Is(err, store.ErrFull) {
			return err
		}
		select {
		case <-time.After(10 * time.Millisecond):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}
