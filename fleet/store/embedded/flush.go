package embedded

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/gowhy/gowhy/fleet/store"
)

const (
	// retryAfter is how long the flusher waits after an error, a full disk for example.
	retryAfter = time.Second
	// tidyEvery is how often old segments are looked for when nothing is flushed.
	tidyEvery = time.Hour
)

// flush makes frozen tables segments until the store closes.
func (s *Store) flush() {
	ticker := time.NewTicker(tidyEvery)
	defer ticker.Stop()
	var retry <-chan time.Time
	for {
		select {
		case <-s.closing:
			return
		case <-s.full:
		case <-retry:
		case <-ticker.C:
		}
		retry = nil
		if s.flushFrozen() != nil { // freeze gives the error to writers
			retry = time.After(retryAfter)
		}
	}
}

// Flush makes segments of all that is in memory, so that readers of the files see it.
func (s *Store) Flush(ctx context.Context) error {
	for {
		if err := s.flushFrozen(); err != nil {
			return err
		}
		err := s.send(ctx, &request{done: make(chan error, 1)})
		if errors.Is(err, store.ErrFull) && ctx.Err() == nil {
			continue // writers have filled another table meanwhile
		}
		if err != nil {
			return err
		}
		return s.flushFrozen()
	}
}

// flushFrozen makes the frozen table segments, if there is one, and tidies up.
func (s *Store) flushFrozen() error {
	s.flushing.Lock()
	defer s.flushing.Unlock()
	s.mu.RLock()
	t := s.frozen
	s.mu.RUnlock()
	var err error
	if t != nil {
		err = s.keep(t)
	}
	s.mu.Lock()
	s.flushErr = err
	s.mu.Unlock()
	if err != nil {
		return err
	}
	return s.tidy()
}

// keep makes a table segments and drops it and its file of the log. Each step is durable
// before the next begins.
func (s *Store) keep(t *table) error {
	ids, err := s.catalog.addSources(slices.Collect(maps.Values(t.sources)))
	if err != nil {
		return err
	}
	segments, err := s.write(t, ids)
	if err == nil {
		err = s.catalog.addTable(t, segments, s.options.now())
	}
	if err != nil {
		return errors.Join(err, s.discard(t, segments))
	}
	s.mu.Lock()
	for source, id := range ids {
		s.sources[id] = source
	}
	s.listed = append(s.listed, segments...)
	if s.frozen == t {
		s.frozen = nil
	}
	s.mu.Unlock()
	if t.journal != nil {
		err = t.journal.file.Close()
	}
	err = errors.Join(err, s.options.disk.remove(t.path))
	s.catalog.shrink(context.Background())
	return err
}

// write makes durable files of a table.
func (s *Store) write(t *table, ids map[*store.Source]int64) ([]*segment, error) {
	sources := make(map[int64]*store.Source, len(ids))
	for source, id := range ids {
		sources[id] = source
	}
	named := func(id int64) *store.Source { return sources[id] }
	var segments []*segment
	groups := byPlace(t, ids)
	rows := newSampleGroup()
	for _, p := range slices.SortedFunc(maps.Keys(groups), place.compare) {
		s.nextID++
		g, err := s.segments.write(s.nextID, p, groups[p], rows, named)
		if err != nil {
			return segments, errors.Join(err, s.segments.remove(s.nextID))
		}
		segments = append(segments, g)
	}
	if err := s.segments.disk.syncDir(s.segments.path); err != nil {
		return segments, fmt.Errorf("segments: %w", err)
	}
	return segments, nil
}

// discard removes the segments of a table if the catalog does not name them: a commit
// that failed may have been one.
func (s *Store) discard(t *table, segments []*segment) error {
	flushed, err := s.catalog.lastLog()
	if err != nil || flushed >= t.number {
		return err
	}
	for _, g := range segments {
		err = errors.Join(err, s.segments.remove(g.id))
	}
	return err
}

// tidy forgets old batches, drops old segments and merges those that are many. The caller holds
// flushing, or is alone.
func (s *Store) tidy() error {
	now := s.options.now()
	if err := s.catalog.forget(now, s.options.Remember); err != nil {
		return err
	}
	if err := s.dropOld(now); err != nil {
		return err
	}
	for _, group := range toMerge(s.listed, now, s.options.Keep) {
		if err := s.merge(group); err != nil {
			return err
		}
	}
	return nil
}

// dropOld drops findings, and segments of which the last batch is older than Keep. A clock
// that jumped ahead is no reason: time goes on while somebody sends, and a day after that.
func (s *Store) dropOld(now time.Time) error {
	if s.options.Keep <= 0 || len(s.listed) == 0 {
		return nil
	}
	newest := slices.MaxFunc(s.listed, func(a, b *segment) int { return cmp.Compare(a.max, b.max) })
	if last := time.UnixMilli(newest.max).Add(24 * time.Hour); now.After(last) {
		now = last
	}
	if err := s.catalog.forgetFindings(now.Add(-s.options.Keep)); err != nil {
		return err
	}
	oldest := now.Add(-s.options.Keep).UnixMilli()
	var old []*segment
	for _, g := range s.listed {
		if g.max < oldest {
			old = append(old, g)
		}
	}
	if len(old) == 0 {
		return nil
	}
	if err := s.catalog.replace(old); err != nil {
		return err
	}
	return s.replace(old)
}

// replace lists segments instead of others, whose files go with their last reader.
func (s *Store) replace(old []*segment, listed ...*segment) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	// A new list: readers have the old one.
	s.listed = append(slices.DeleteFunc(slices.Clone(s.listed), func(g *segment) bool { return slices.Contains(old, g) }), listed...)
	var err error
	for _, g := range old {
		g.dropped = true
		if g.readers == 0 {
			err = errors.Join(err, s.segments.remove(g.id))
		}
	}
	return err
}
