package embedded

import (
	"context"
	"errors"
	"math"
	"runtime"
	"slices"
	"sync"

	"github.com/gowhy/gowhy/fleet/store"
)

// A view is what a query sees: segments and batches of one moment.
type view struct {
	store    *Store
	selected selection
	segments []*segment
	batches  []*batch // that are selected
	tables   []*table
	sources  []*store.Source       // of the segments, by ID; nil for those not selected
	versions map[string]versionsOf // by service

	mu   sync.Mutex
	paid int64 // for rows
}

// workers returns how many read segments at the same time.
func (v *view) workers() int { return min(runtime.GOMAXPROCS(0), len(v.segments)) }

// versionsOf are the versions of a service, and whether a selection has some of the
// sources or all. Sums of a version answer where it has all.
type versionsOf map[string]struct{ some, all bool }

// A selection is a [store.Selection] with times as the store has them and sources seen
// once.
type selection struct {
	store.Selection
	from, until int64
}

func (s *selection) has(b *store.Source) bool {
	if s.Tenant != b.Tenant || s.Service != "" && s.Service != b.Service ||
		s.Version != "" && s.Version != b.Version || s.Instance != "" && s.Instance != b.Instance {
		return false
	}
	for _, l := range s.Labels {
		if labelOf(b, l.Name) != l.Value {
			return false
		}
	}
	return true
}

func (s *selection) in(at int64) bool { return s.from <= at && at < s.until }

func labelOf(s *store.Source, name string) string {
	i := slices.IndexFunc(s.Labels, func(l store.Label) bool { return l.Name == name })
	if i < 0 {
		return ""
	}
	return s.Labels[i].Value
}

// view takes what a selection may need. The caller closes it.
func (s *Store) view(selected store.Selection) *view {
	v := &view{store: s, selected: selection{selected, selected.From.UnixMilli(), math.MaxInt64}}
	if !selected.Until.IsZero() {
		v.selected.until = selected.Until.UnixMilli()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	v.tables = s.tables()
	for _, t := range v.tables {
		for _, b := range t.batches {
			if v.selected.in(b.until) && v.selected.has(b.source) {
				v.batches = append(v.batches, b)
			}
		}
	}
	for _, g := range s.listed {
		if g.tenant == selected.Tenant && (selected.Service == "" || selected.Service == g.service) &&
			g.min < v.selected.until && g.max >= v.selected.from {
			g.readers++
			v.segments = append(v.segments, g)
		}
	}
	v.sources = make([]*store.Source, len(s.sources)+1)
	for id, source := range s.sources {
		if v.selected.has(source) {
			v.sources[id] = source
		}
	}
	return v
}

// count notes of which versions the selection has some sources or all, for answers about
// stacks: what came since has no segment of this view.
func (v *view) count() {
	v.versions = map[string]versionsOf{}
	v.store.mu.RLock()
	defer v.store.mu.RUnlock()
	for id, source := range v.store.sources {
		if source.Tenant != v.selected.Tenant || v.selected.Service != "" && source.Service != v.selected.Service {
			continue
		}
		is := v.named(id) != nil
		of := v.versions[source.Service]
		if of == nil {
			of = versionsOf{}
			v.versions[source.Service] = of
		}
		version, known := of[source.Version]
		version.some, version.all = version.some || is, is && (version.all || !known)
		of[source.Version] = version
	}
}

// named returns a selected source of the segments, nil if it is not.
func (v *view) named(id int64) *store.Source {
	if id < 0 || id >= int64(len(v.sources)) {
		return nil
	}
	return v.sources[id]
}

// close lets go of the segments and removes those that were dropped meanwhile.
func (v *view) close() error {
	v.store.mu.Lock()
	defer v.store.mu.Unlock()
	var err error
	for _, g := range v.segments {
		g.readers--
		if g.dropped && g.readers == 0 {
			err = errors.Join(err, v.store.segments.remove(g.id))
		}
	}
	return err
}

// eachSegment calls a function for the segments, on as many goroutines as there are
// processors.
func (v *view) eachSegment(ctx context.Context, each func(context.Context, *segment) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	next := make(chan *segment)
	var workers sync.WaitGroup
	var mu sync.Mutex
	var failed error
	for range v.workers() {
		workers.Go(func() {
			for g := range next {
				if err := each(ctx, g); err != nil {
					mu.Lock()
					if failed == nil {
						failed = err
					}
					mu.Unlock()
					cancel()
				}
			}
		})
	}
	for _, g := range v.segments {
		if ctx.Err() != nil {
			break
		}
		next <- g
	}
	close(next)
	workers.Wait()
	if failed == nil {
		failed = ctx.Err()
	}
	return failed
}
