package evidence

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gowhy/gowhy/internal/ground/problem"
	"github.com/gowhy/gowhy/internal/know/model"
	"github.com/gowhy/gowhy/internal/testing/dumpfile"
)

// loadDump loads a file with contents.
func loadDump(t *testing.T, b []byte) (*model.Model, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "app.heapdump")
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
	return Load(t.Context(), []string{path}, Options{})
}

func TestHeapDump(t *testing.T) {
	m, err := loadDump(t, dumpfile.Small())
	if err != nil {
		t.Fatal(err)
	}
	if s := m.MemStats; s == nil || s.HeapAlloc != 7<<20 || s.NumGC != 281<<20 || s.Classes["total"] != 3<<20 {
		t.Errorf("the counts are %+v, want HeapAlloc %d, NumGC %d, total %d", s, 7<<20, 281<<20, 3<<20)
	}
	if m.LiveHeap.End == nil || len(m.LiveHeap.End.Samples) != 1 {
		t.Fatalf("the heap profile is %+v, want one sample", m.LiveHeap.End)
	}
	if m.Moment == nil || len(m.Moment.Goroutines) != 1 || m.Moment.Goroutines[0].State != "chan receive" {
		t.Errorf("the moment is %+v, want one goroutine in chan receive", m.Moment)
	}
	if looks := m.Run.Holders; len(looks) != 1 {
		t.Errorf("%d looks at the heap, want 1", len(looks))
	} else if name := looks[0].Holders[0].Name; name != "main.wait, started as main.main (chan receive)" {
		t.Errorf("the first holder is %q, want main.wait, started as main.main (chan receive)", name)
	}
	if notes := strings.Join(m.Run.Coverage.Notes, " "); !strings.Contains(notes, "give the program's file") {
		t.Errorf("notes %q", notes)
	}
}

// A dump is opened for who reads more of it, packed or not.
func TestOpenHeapDump(t *testing.T) {
	small := dumpfile.Small()
	dir := files(t, map[string][]byte{"app.heapdump": small, "app.heapdump.gz": gzipped(small), "text": []byte("text"), "text.gz": gzipped([]byte("text"))})
	for name, want := range map[string]bool{"app.heapdump": true, "app.heapdump.gz": true, "text": false, "text.gz": false} {
		f, _, done, err := OpenHeapDump(t.Context(), []string{filepath.Join(dir, name)}, "", 1<<20)
		if err != nil || (f != nil) != want {
			t.Errorf("OpenHeapDump(%s) = %v, %v; want a dump: %t", name, f, err, want)
		}
		if f != nil {
			done()
		}
	}
}

// A dump that is cut short says what it lacks, and an error where that is all but objects.
func TestHeapDumpCut(t *testing.T) {
	b := dumpfile.Small()
	m, err := loadDump(t, b[:bytes.Index(b, []byte("a root"))])
	if err != nil {
		t.Fatal(err)
	}
	if notes := strings.Join(m.Run.Coverage.Notes, " "); !strings.Contains(notes, "lacks the rest of its finalizers") || len(m.Run.Holders) != 1 {
		t.Errorf("notes %q, holders %v", notes, m.Run.Holders)
	}
	for _, n := range []int{20, 60, 400} {
		var p *problem.Error
		if _, err := loadDump(t, b[:n]); !errors.As(err, &p) || !strings.Contains(p.Hint, "debug.WriteHeapDump") {
			t.Errorf("of %d bytes: %v", n, err)
		}
	}
}

// Two dumps say what grew, whichever is given first.
func TestTwoHeapDumps(t *testing.T) {
	dir, now := t.TempDir(), time.Now()
	var paths []string
	for i, name := range []string{"later", "earlier"} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, dumpfile.Small(), 0o600); err != nil {
			t.Fatal(err)
		}
		at := now.Add(-time.Duration(i) * time.Minute)
		if err := os.Chtimes(path, at, at); err != nil {
			t.Fatal(err)
		}
		paths = append(paths, path)
	}
	m, err := Load(t.Context(), paths, Options{})
	if err != nil {
		t.Fatal(err)
	}
	looks := m.Run.Holders
	if len(looks) != 2 {
		t.Errorf("%d looks at the heap, want 2", len(looks))
	} else if l := looks[1]; l.Over.Round(time.Second) != time.Minute || l.Holders[0].Grew == nil {
		t.Errorf("the second look is over %v, with growth %v, want 1m0s, true", l.Over, l.Holders[0].Grew != nil)
	}
}
