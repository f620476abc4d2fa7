package main

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"
)

// A fetcher gets records from the cache or from where they are, and decides
// what is done when they are old: they are answered at once and fetched anew
// beside, so that neither Redis nor the upstream is ever waited for by a name
// that is asked for often.
type fetcher struct {
	cache cache
	ttl   time.Duration
	stale time.Duration
	node  func(context.Context, cacheKey) (*node, error)

	mu       sync.Mutex
	inflight map[cacheKey]*flight
	slots    chan struct{} // one for each refresh under way
	running  sync.WaitGroup
	ctx      context.Context // ends with the server
	always   bool            // of each query, as if there were no cache

	staleAnswers atomic.Int64
}

// A flight is one fetch that many may wait for.
type flight struct {
	done chan struct{}
	node *node
	err  error
}

const (
	// refreshes is how many names are fetched anew at once: with all cached
	// names expiring together Redis should not be asked for all together.
	refreshes = 16
	// retryAfter is how long after a failed refresh the old records are served
	// without another try.
	retryAfter = 5 * time.Second
)

// errCold says that the records are not in the cache and the caller cannot wait.
var errCold = errors.New("not in the cache")

func newFetcher(ctx context.Context, c cache, ttl, stale time.Duration, node func(context.Context, cacheKey) (*node, error)) *fetcher {
	return &fetcher{cache: c, ttl: ttl, stale: stale, node: node, inflight: map[cacheKey]*flight{}, slots: make(chan struct{}, refreshes), ctx: ctx}
}

// get returns the records of a key, nil without an error when there are none,
// and whether they are old. Unless wait is set, it returns errCold rather than
// wait for anybody.
func (f *fetcher) get(k cacheKey, now time.Time, wait bool) (n *node, old bool, err error) {
	if f.always && k.zone != "" {
		if !wait {
			return nil, false, errCold
		}
		n, err = f.node(f.ctx, k) // want unboundedspawn
		if errors.Is(err, errNoRecord) {
			return nil, false, nil
		}
		return n, false, err
	}
	if it := f.cache.get(k); it != nil {
		switch {
		case now.Before(it.expires):
			return it.node, false, nil
		case now.Before(it.expires.Add(f.stale)):
			f.refresh(it, now)
			f.staleAnswers.Add(1)
			return it.node, true, nil
		}
	}
	if !wait {
		return nil, false, errCold
	}
	n, err = f.fetch(k)
	return n, false, err
}

// refresh fetches an old item anew beside, once at a time.
func (f *fetcher) refresh(it *item, now time.Time) {
	if !it.refreshing.CompareAndSwap(false, true) {
		return
	}
	select {
	case f.slots <- struct{}{}:
	default:
		it.refreshing.Store(false) // the next who asks tries again
		return
	}
	f.running.Go(func() {
		defer func() { <-f.slots }()
		if _, err := f.fetch(it.key); err != nil {
			// The mark stays for a while: it is what keeps the tries apart.
			time.AfterFunc(retryAfter, func() { it.refreshing.Store(false) })
		}
	})
}

// fetch gets the records from where they are; those who ask for the same at
// the same time share one request.
func (f *fetcher) fetch(k cacheKey) (*node, error) {
	f.mu.Lock()
	if fl := f.inflight[k]; fl != nil {
		f.mu.Unlock()
		<-fl.done
		return fl.node, fl.err
	}
	fl := &flight{done: make(chan struct{})}
	f.inflight[k] = fl
	f.mu.Unlock()

	fl.node, fl.err = f.node(f.ctx, k)
	switch {
	case errors.Is(fl.err, errNoRecord):
		fl.node, fl.err = nil, nil
		fallthrough
	case fl.err == nil:
		f.cache.put(k, fl.node, time.Now().Add(f.ttl))
	default:
		slog.Debug("fetch", "name", k.name, "zone", k.zone, "error", fl.err)
	}
	f.mu.Lock()
	delete(f.inflight, k)
	f.mu.Unlock()
	close(fl.done)
	return fl.node, fl.err
}

// keep puts records into the cache that were come by in another way.
func (f *fetcher) keep(k cacheKey, n *node) { f.cache.put(k, n, time.Now().Add(f.ttl)) }

// close waits for the refreshes under way; its context has ended them.
func (f *fetcher) close() {
	f.running.Wait()
	f.cache.close()
}
