package forge

import (
	"context"
	"sync"

	"packageforge/internal/graph"
	"packageforge/internal/toolchain"
)

// A line hands packages to workers and takes back artifacts.
type line struct {
	d        *graph.Distribution
	dispatch Dispatch
	todo     chan *graph.Package
	done     chan struct{} // closed when all is built

	mu        sync.Mutex
	artifacts map[string]toolchain.Artifact
	missing   map[string]int // of each package, how many that it needs are not there
}

func newLine(d *graph.Distribution, dispatch Dispatch) *line {
	n := len(d.Packages)
	l := &line{
		d: d, dispatch: dispatch,
		todo:      make(chan *graph.Package, n),
		done:      make(chan struct{}),
		artifacts: make(map[string]toolchain.Artifact, n),
		missing:   make(map[string]int, n),
	}
	for _, p := range d.Packages {
		l.missing[p.Name] = len(p.Needs)
		if dispatch == Queue || len(p.Needs) == 0 {
			l.todo <- p
		}
	}
	return l
}

// next returns a package that can be built, nil when there is nothing left.
func (l *line) next(ctx context.Context) (*graph.Package, error) {
	for {
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-l.done:
			return nil, nil
		case p := <-l.todo:
			if l.buildable(p) {
				return p, nil
			}
			l.todo <- p // its turn will come
		}
	}
}

// buildable reports whether all that a package needs is there.
func (l *line) buildable(p *graph.Package) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, n := range p.Needs {
		if _, ok := l.artifacts[n]; !ok {
			return false
		}
	}
	return true
}

// built takes an artifact.
func (l *line) built(a toolchain.Artifact) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.artifacts[a.Name] = a
	for _, u := range l.d.Users(a.Name) {
		l.missing[u.Name]--
		if l.dispatch == Ready && l.missing[u.Name] == 0 {
			l.todo <- u
		}
	}
	if len(l.artifacts) == len(l.d.Packages) {
		close(l.done)
	}
}

func (l *line) result() *Result {
	r := &Result{Artifacts: l.artifacts}
	for _, a := range l.artifacts {
		r.Bytes += a.Bytes
	}
	return r
}
