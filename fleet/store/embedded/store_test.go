package embedded

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gowhy/gowhy/fleet/ingest"
	"github.com/gowhy/gowhy/fleet/ingest/sdktest"
	"github.com/gowhy/gowhy/fleet/store"
	"github.com/gowhy/gowhy/fleet/store/storetest"
	"github.com/parquet-go/parquet-go"
)

func mustOpen(t testing.TB, dir string, o Options) *Store {
	t.Helper()
	s, err := Open(dir, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() }) // a second time in tests that close it
	return s
}

// An eager store flushes where another one says that it is full.
type eager struct{ *Store }

func (s eager) Write(ctx context.Context, b *store.Batch) error {
	for {
		err := s.Store.Write(ctx, b)
		if !errors.Is(err, store.ErrFull) {
			return err
		}
		if err := s.flushFrozen(); err != nil {
			return err
		}
	}
}

// The engine conforms with all in memory and with almost all in segments.
func TestConforms(t *testing.T) {
	for name, memory := range map[string]int64{"memory": 0, "segments": 60 << 10} {
		open := func(t *testing.T) store.Store { return eager{mustOpen(t, t.TempDir(), Options{Memory: memory})} }
		reopen := func(t *testing.T, s store.Store) store.Store {
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			return eager{mustOpen(t, s.(eager).dir, Options{Memory: memory})}
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			storetest.Run(t, open)
			storetest.RunReopen(t, open, reopen)
		})
	}
}

// TestSDK holds that what the SDK of most programs pushes is kept, in memory and in segments.
func TestSDK(t *testing.T) {
	for name, memory := range map[string]int64{"memory": 0, "segments": 60 << 10} {
		t.Run(name, func(t *testing.T) {
			s := eager{mustOpen(t, t.TempDir(), Options{Memory: memory})}
			sdktest.Run(t, s, ingest.Handler(s, ingest.Options{}))
		})
	}
}

func TestOneProcess(t *testing.T) {
	dir := t.TempDir()
	s := mustOpen(t, dir, Options{})
	_, err := Open(dir, Options{})
	if err == nil || !strings.Contains(err.Error(), "is open in process") || !strings.Contains(err.Error(), filepath.Base(os.Args[0])) {
		t.Errorf("a second Open: %v, want who has it", err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	mustOpen(t, dir, Options{})
}

// segmentFiles returns the names in the directory of segments.
func segmentFiles(t *testing.T, s *Store) []string {
	t.Helper()
	entries, err := os.ReadDir(s.segments.path)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

func flushed(t *testing.T, s *Store, numbers ...int) {
	t.Helper()
	for _, n := range numbers {
		if err := s.Write(t.Context(), batchOf(n)); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// Segments that are many become one; a reader that has them keeps their files.
func TestMerge(t *testing.T) {
	s := mustOpen(t, t.TempDir(), Options{})
	for i := range mergeFrom - 1 {
		flushed(t, s, i)
	}
	if n := len(segmentFiles(t, s)); n != 3*(mergeFrom-1) {
		t.Fatalf("%d files, want %d", n, 3*(mergeFrom-1))
	}
	v := s.view(store.Selection{Type: store.CPU})
	flushed(t, s, mergeFrom-1)
	if got, err := v.stacks(t.Context()); err != nil || len(got.values) != mergeFrom-1 {
		t.Errorf("a reader from before the merge: %+v, %v, want %d", got, err, mergeFrom-1)
	}
	if err := v.close(); err != nil {
		t.Error(err)
	}
	if files := segmentFiles(t, s); len(files) != 3 {
		t.Errorf("files are %q, want those of one segment", files)
	}
	holds(t, s, mergeFrom)
}

// What the catalog's log took for a table with many stacks is given back, and all of it is there.
func TestShrink(t *testing.T) {
	dir := t.TempDir()
	s := mustOpen(t, dir, Options{})
	b := batchOf(0)
	for n := range 3 * mostLog / 1000 {
		id := store.StackID(n + 10)
		b.Stacks[id] = []*store.Frame{{Function: fmt.Sprintf("main.f%d%s", n, strings.Repeat("x", 1000))}}
		b.Profiles[0].Samples = append(b.Profiles[0].Samples, store.Sample{Stack: id, Value: 1})
	}
	if err := s.Write(t.Context(), b); err != nil {
		t.Fatal(err)
	}
	if err := s.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(filepath.Join(dir, catalogFile+"-wal")); err != nil || info.Size() > mostLog {
		t.Errorf("the catalog's log has %d bytes, want %d at most; %v", info.Size(), mostLog, err)
	}
	stacks, err := s.Stacks(t.Context(), store.Selection{Type: store.CPU})
	if err != nil || len(stacks.Samples) != len(b.Stacks) {
		t.Errorf("%d stacks, want %d; %v", len(stacks.Samples), len(b.Stacks), err)
	}
}

func TestKeep(t *testing.T) {
	now := storetest.Start
	s := mustOpen(t, t.TempDir(), Options{Keep: 24 * time.Hour, now: func() time.Time { return now }})
	flushed(t, s, 0, 1)    // 23:30
	flushed(t, s, 2, 3000) // 3000 is of the next hour
	now = now.Add(24*time.Hour + 3*time.Second)
	if err := s.flushFrozen(); err != nil {
		t.Fatal(err)
	}
	stacks, err := s.Stacks(t.Context(), store.Selection{Type: store.CPU})
	if err != nil || len(stacks.Samples) != 1 || stacks.Samples[0].Stack != 3001 {
		t.Errorf("%+v, %v, want the batch of the next hour", stacks.Samples, err)
	}
	if files := segmentFiles(t, s); len(files) != 3 {
		t.Errorf("files are %q, want those of one segment", files)
	}
}

// TestClock has the clock of a server jump ahead for years, and back: nothing is dropped for
// that, and nothing counts twice.
func TestClock(t *testing.T) {
	now := storetest.Start
	s := mustOpen(t, t.TempDir(), Options{Keep: 48 * time.Hour, now: func() time.Time { return now }})
	total := func(want int64) {
		t.Helper()
		if stacks, err := s.Stacks(t.Context(), store.Selection{Type: store.CPU}); err != nil || stacks.Total != want {
			t.Errorf("at %v the total is %d, %v, want %d", now, stacks.Total, err, want)
		}
	}
	flushed(t, s, 0, 1)
	now = now.Add(10 * 365 * 24 * time.Hour)
	flushed(t, s, 2)
	total(3)
	now = storetest.Start.Add(-time.Hour)
	flushed(t, s, 2, 3)
	total(4)
	now = storetest.Start.Add(time.Minute)
	flushed(t, s, 2, 3)
	total(4)
	now = storetest.Start.Add(-48 * time.Hour) // a server that begins before it asks for the time
	flushed(t, s, 4)
	now = storetest.Start.Add(2 * time.Minute)
	flushed(t, s, 5) // forgets what is old
	flushed(t, s, 4)
	total(6)
}

// A batch that comes again is known as long as it should be.
func TestRemember(t *testing.T) {
	now := storetest.Start
	s := mustOpen(t, t.TempDir(), Options{Remember: time.Hour, now: func() time.Time { return now }})
	flushed(t, s, 0)
	for _, step := range []struct {
		after time.Duration
		want  int64
	}{{time.Minute, 1}, {2 * time.Hour, 2}} {
		now = storetest.Start.Add(step.after)
		if err := s.flushFrozen(); err != nil {
			t.Fatal(err)
		}
		flushed(t, s, 0)
		stacks, err := s.Stacks(t.Context(), store.Selection{Type: store.CPU})
		if err != nil || stacks.Total != step.want {
			t.Errorf("after %v the total is %d, %v, want %d", step.after, stacks.Total, err, step.want)
		}
	}
}

func TestOrphans(t *testing.T) {
	dir := t.TempDir()
	s := mustOpen(t, dir, Options{})
	flushed(t, s, 0)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"000000077-samples.parquet", "000000078-totals.parquet.tmp", "notes.txt"} {
		if err := os.WriteFile(filepath.Join(s.segments.path, name), []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s = mustOpen(t, dir, Options{})
	if got := strings.Join(segmentFiles(t, s), " "); got != "000000001-rollup.bin 000000001-samples.parquet 000000001-totals.parquet notes.txt" {
		t.Errorf("files are %s, want those of the segment, and what is not the store's", got)
	}
	holds(t, s, 1)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(s.segments.totals(1)); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(dir, Options{}); err == nil || !strings.Contains(err.Error(), "000000001-totals.parquet is missing") {
		t.Errorf("Open without a file: %v, want its name", err)
	}
}

// Other programs read the files: the columns are those that the package comment names.
func TestColumns(t *testing.T) {
	s := mustOpen(t, t.TempDir(), Options{})
	flushed(t, s, 0, 1)
	for path, want := range map[string]string{
		s.segments.samples(1): "type time stack value source tenant service version instance labels",
		s.segments.totals(1):  "type time from total samples source tenant service version instance labels",
	} {
		f, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		info, err := f.Stat()
		if err != nil {
			t.Fatal(err)
		}
		opened, err := parquet.OpenFile(f, info.Size())
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, field := range opened.Schema().Fields() {
			names = append(names, field.Name())
		}
		if got := strings.Join(names, " "); got != want || opened.NumRows() != 2 {
			t.Errorf("%s has %d rows of %s, want 2 of %s", filepath.Base(path), opened.NumRows(), got, want)
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
