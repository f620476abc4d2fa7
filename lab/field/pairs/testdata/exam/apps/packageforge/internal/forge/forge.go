// Package forge has workers build the packages of a distribution.
package forge

import (
	"context"
	"crypto/sha256"
	"fmt"
	"maps"
	"slices"
	"sync"

	"packageforge/internal/graph"
	"packageforge/internal/toolchain"
)

// A Dispatch is the way in which packages reach workers.
type Dispatch string

// The ways.
const (
	Queue Dispatch = "queue" // in the order of the distribution
	Ready Dispatch = "ready" // as soon as what they need is there
)

// A Forge builds.
type Forge struct {
	tools    *toolchain.Toolchain
	workers  int
	dispatch Dispatch
}

// New makes a forge.
func New(t *toolchain.Toolchain, workers int, d Dispatch) (*Forge, error) {
	if d != Queue && d != Ready {
		return nil, fmt.Errorf("forge: no dispatch is called %q", d)
	}
	return &Forge{tools: t, workers: workers, dispatch: d}, nil
}

// A Result is what was built.
type Result struct {
	Artifacts map[string]toolchain.Artifact
	Bytes     int
}

// Manifest is the sum of all artifacts, by name.
func (r *Result) Manifest() []byte {
	h := sha256.New()
	for _, n := range slices.Sorted(maps.Keys(r.Artifacts)) {
		a := r.Artifacts[n]
		fmt.Fprintf(h, "%s %x\n", n, a.Sum)
	}
	return h.Sum(nil)[:8]
}

// Build builds a distribution.
func (f *Forge) Build(ctx context.Context, d *graph.Distribution) (*Result, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	l := newLine(d, f.dispatch)
	var wg sync.WaitGroup
	for range f.workers {
		wg.Go(func() {
			if err := f.work(ctx, l); err != nil {
				cancel(err)
			}
		})
	}
	wg.Wait()
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	return l.result(), nil
}

// work builds what comes along the line until all is built.
func (f *Forge) work(ctx context.Context, l *line) error {
	for {
		p, err := l.next(ctx)
		if p == nil || err != nil {
			return err
		}
		a, err := f.tools.Compile(ctx, p)
		if err != nil {
			return fmt.Errorf("%s: %w", p.Name, err)
		}
		l.built(a)
	}
}
