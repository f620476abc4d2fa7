package embedded

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/gowhy/gowhy/fleet/store"
)

// snapshotDir is where a snapshot is made, in the store's own directory: its segments are
// other names of the same files.
const snapshotDir = "snapshot"

var _ store.Snapshotter = (*Store)(nil)

// Snapshot returns a [store.Snapshotter]'s: [Open] takes what it gives. The store goes on
// meanwhile, but nothing becomes segments while the catalog is copied.
func (s *Store) Snapshot(ctx context.Context, f func(dir string) error) error {
	if !s.snapshot.TryLock() {
		return store.ErrSnapshot
	}
	defer s.snapshot.Unlock()
	if err := s.Flush(ctx); err != nil {
		return err
	}
	dir := filepath.Join(s.dir, snapshotDir)
	if err := os.RemoveAll(dir); err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if err := s.link(ctx, dir); err != nil {
		return fmt.Errorf("a snapshot: %w", err)
	}
	return f(dir)
}

// link makes the directory of a snapshot.
func (s *Store) link(ctx context.Context, dir string) error {
	to := directory{filepath.Join(dir, filepath.Base(s.segments.path)), s.options.disk}
	if err := os.MkdirAll(to.path, 0o700); err != nil {
		return err
	}
	s.flushing.Lock() // the catalog and the segments are those of one moment
	defer s.flushing.Unlock()
	if _, err := s.catalog.db.ExecContext(ctx, `VACUUM INTO ?`, filepath.Join(dir, catalogFile)); err != nil {
		return fmt.Errorf("catalog: %w", err)
	}
	s.mu.RLock()
	listed := s.listed
	s.mu.RUnlock()
	for _, g := range listed {
		for _, file := range s.segments.files(g.id) {
			if err := os.Link(file, filepath.Join(to.path, filepath.Base(file))); err != nil {
				return err
			}
		}
	}
	return nil
}
