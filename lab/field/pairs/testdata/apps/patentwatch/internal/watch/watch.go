// Package watch polls the offices in turn.
package watch

import (
	"context"
	"sync"
	"sync/atomic"

	"patentwatch/internal/bulletin"
	"patentwatch/internal/index"
)

// Watcher remembers the last filing seen of each office.
type Watcher struct {
	src  *bulletin.Source
	ix   *index.Index
	urls []string
	mu   []sync.Mutex
	seen []int

	Polls, Filings, Errors atomic.Int64
}

// New makes a watcher of the given bulletins.
func New(src *bulletin.Source, ix *index.Index, urls []string) *Watcher {
	return &Watcher{src: src, ix: ix, urls: urls, mu: make([]sync.Mutex, len(urls)), seen: make([]int, len(urls))}
}

// Run polls until the context ends.
func (w *Watcher) Run(ctx context.Context, workers int) {
	var wg sync.WaitGroup
	var next atomic.Int64
	for range workers {
		wg.Go(func() {
			for ctx.Err() == nil {
				w.poll(ctx, int(next.Add(1))%len(w.urls))
			}
		})
	}
	wg.Wait()
}

func (w *Watcher) poll(ctx context.Context, i int) {
	w.mu[i].Lock()
	defer w.mu[i].Unlock()
	last, newest := w.seen[i], w.seen[i]
	for e, err := range w.src.Newest(ctx, w.urls[i]) {
		if err != nil {
			if ctx.Err() == nil {
				w.Errors.Add(1)
			}
			return
		}
		if e.Number <= last {
			break
		}
		newest = max(newest, e.Number)
		w.ix.Add(e.Number, e.Title+" "+e.Abstract)
		w.Filings.Add(1)
	}
	w.seen[i] = newest
	w.Polls.Add(1)
}
