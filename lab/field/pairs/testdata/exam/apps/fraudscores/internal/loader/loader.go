// Package loader gathers look-ups of many callers, to ask the store for all of them at once.
package loader

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"fraudscores/internal/features"
)

// A Policy says when what was gathered is sent.
type Policy int

// The policies.
const (
	Window   Policy = iota // when there is enough, or some time after the first
	Inflight               // when the store has answered for those before
)

// ParsePolicy returns the policy of a name.
func ParsePolicy(name string) (Policy, error) {
	switch name {
	case "window":
		return Window, nil
	case "inflight":
		return Inflight, nil
	}
	return 0, fmt.Errorf("loader: no policy is called %q", name)
}

// Options of a loader.
type Options struct {
	Policy Policy
	Size   int           // of a batch, at most
	Window time.Duration // how long a batch may gather
}

type answer struct {
	v   features.Vector
	err error
}

type lookup struct {
	key   string
	reply chan answer
}

// A Loader gathers.
type Loader struct {
	store   *features.Store
	o       Options
	in      chan lookup
	batches atomic.Int64
}

// Start starts a loader, which ends with the context.
func Start(ctx context.Context, s *features.Store, o Options) *Loader {
	l := &Loader{store: s, o: o, in: make(chan lookup, o.Size)}
	go l.run(ctx)
	return l
}

// Batches is how many were sent.
func (l *Loader) Batches() int64 { return l.batches.Load() }

// Load returns what is known of a key.
func (l *Loader) Load(ctx context.Context, key string) (features.Vector, error) {
	q := lookup{key: key, reply: make(chan answer, 1)}
	select {
	case l.in <- q:
	case <-ctx.Done():
		return features.Vector{}, ctx.Err()
	}
	select {
	case a := <-q.reply:
		return a.v, a.err
	case <-ctx.Done():
		return features.Vector{}, ctx.Err()
	}
}

func (l *Loader) run(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case first := <-l.in:
			l.send(ctx, l.gather(ctx, first))
		}
	}
}

// gather returns a batch that begins with a look-up.
func (l *Loader) gather(ctx context.Context, first lookup) []lookup {
	batch := append(make([]lookup, 0, l.o.Size), first)
	var over <-chan time.Time
	if l.o.Policy == Window {
		t := time.NewTimer(l.o.Window)
		defer t.Stop()
		over = t.C
	}
	for len(batch) < l.o.Size {
		if l.o.Policy == Inflight && len(l.in) == 0 {
			break
		}
		select {
		case q := <-l.in:
			batch = append(batch, q)
		case <-over:
			return batch
		case <-ctx.Done():
			return batch
		}
	}
	return batch
}

// send asks the store for a batch and answers its callers.
func (l *Loader) send(ctx context.Context, batch []lookup) {
	l.batches.Add(1)
	keys := make([]string, len(batch))
	for i, q := range batch {
		keys[i] = q.key
	}
	vs, err := l.store.Get(ctx, keys)
	for i, q := range batch {
		a := answer{err: err}
		if err == nil {
			a.v = vs[i]
		}
		q.reply <- a
	}
}
