package embedded

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/gowhy/gowhy/fleet/store"
)

// TestSnapshot takes one while batches come: it has all that were acknowledged before, and
// the store has the later ones too.
func TestSnapshot(t *testing.T) {
	s := mustOpen(t, t.TempDir(), Options{Memory: 20 << 10}) // a few hundred batches
	write := func(from, to int) {
		for i := from; i < to; i++ {
			if err := (eager{s}).Write(t.Context(), batchOf(i)); err != nil {
				t.Error(err)
				return
			}
		}
	}
	const before, all = 700, 1500
	write(0, before)
	var more sync.WaitGroup
	more.Go(func() { write(before, all) })
	err := s.Snapshot(t.Context(), func(dir string) error {
		if err := s.Snapshot(t.Context(), func(string) error { return nil }); !errors.Is(err, store.ErrSnapshot) {
			t.Errorf("a second snapshot: error %v, want ErrSnapshot", err)
		}
		more.Wait() // all that comes later leaves it as it is
		if err := s.Flush(t.Context()); err != nil {
			t.Error(err)
		}
		copied := mustOpen(t, dir, Options{})
		defer copied.Close()
		stacks, err := copied.Stacks(t.Context(), store.Selection{Type: store.CPU})
		if err != nil {
			return err
		}
		if n := len(stacks.Samples); n < before || n > all {
			t.Errorf("%d batches, want the first %d at least", n, before)
		}
		for _, sample := range stacks.Samples {
			if len(stacks.Frames[sample.Stack]) != 1 {
				t.Fatalf("stack %d has no frames", sample.Stack)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	holds(t, s, all)
	if _, err := os.Stat(filepath.Join(s.dir, snapshotDir)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the snapshot stays: %v", err)
	}
}

// What a process leaves that ended with a snapshot goes when the store is opened, and no
// error of who reads one stays in the way.
func TestSnapshotLeft(t *testing.T) {
	dir := t.TempDir()
	s := mustOpen(t, dir, Options{})
	want := errors.New("the reader went away")
	if err := s.Snapshot(t.Context(), func(string) error { return want }); !errors.Is(err, want) {
		t.Errorf("error %v, want %v", err, want)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	left := filepath.Join(dir, snapshotDir, "segments", "1-samples.parquet")
	if err := errors.Join(os.MkdirAll(filepath.Dir(left), 0o700), os.WriteFile(left, nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	s = mustOpen(t, dir, Options{})
	if _, err := os.Stat(filepath.Join(dir, snapshotDir)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("what is left of a snapshot stays: %v", err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if err := s.Snapshot(ended, func(string) error { return nil }); err == nil {
		t.Error("a snapshot that nobody wants any more: no error")
	}
	if err := s.Snapshot(t.Context(), func(string) error { return nil }); err != nil {
		t.Error(err)
	}
}
