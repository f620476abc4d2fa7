package evidence

import (
	"archive/zip"
	"bytes"
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/gowhy/gowhy/exectrace"
)

// Whoever takes the trace over gets its pieces as it is accounted, and can come
// back to them afterwards, whatever the trace was packed in.
func TestTraceIsHandedOver(t *testing.T) {
	trace := sampleTrace()
	dir := files(t, map[string][]byte{
		"plain": trace, "packed.gz": gzipped(trace), "archive.zip": zipped(t, map[string][]byte{"trace": trace, "z.pprof": cpuProfile(t)}),
		"stored.zip": stored(t, trace),
		"broken.zip": zipped(t, map[string][]byte{"a": trace, "b": trace}),
	})
	t.Setenv("TMPDIR", t.TempDir())
	for _, c := range []struct {
		name, file string
		stdin      bool
		fails      bool
	}{
		{"a file", "plain", false, false},
		{"a gzipped one", "packed.gz", false, false},
		{"a member of an archive", "archive.zip", false, false},
		{"a member that is read in place", "stored.zip", false, false},
		{"standard input", "plain", true, false},
		{"an archive on standard input", "stored.zip", true, false},
		{"one that is found to be wrong later", "broken.zip", false, true},
	} {
		path := filepath.Join(dir, c.file)
		o := Options{}
		if c.stdin {
			data, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			o.Stdin, path = bytes.NewReader(data), "-"
		}
		var kept *exectrace.Trace
		var release func() error
		var accounted time.Duration
		o.Trace = func(tr *exectrace.Trace, done func() error) func(*exectrace.Piece) {
			kept, release = tr, done
			return func(p *exectrace.Piece) { accounted += spanTime(p) }
		}
		m, err := Load(t.Context(), []string{path}, o)
		if (err != nil) != c.fails {
			t.Fatalf("%s: Load() = %v, want an error: %v", c.name, err, c.fails)
		}
		var again time.Duration
		if err := kept.Pieces(context.Background(), exectrace.PieceOptions{}, func(p *exectrace.Piece) bool {
			again += spanTime(p)
			return true
		}); err != nil {
			t.Errorf("%s: it cannot be read again: %v", c.name, err)
		}
		if accounted == 0 || again != accounted {
			t.Errorf("%s: %v at first, %v again", c.name, accounted, again)
		}
		if m != nil && m.Sched.Total().Running == 0 {
			t.Errorf("%s: no account", c.name)
		}
		if err := release(); err != nil {
			t.Errorf("%s: release() = %v, want nil", c.name, err)
		}
	}
	if left, err := os.ReadDir(os.TempDir()); err != nil || len(left) > 0 {
		t.Errorf("%d temporary files are left, %v", len(left), err)
	}
}

// stored returns an archive whose members stand in it as they are.
func stored(t *testing.T, trace []byte) []byte {
	var buf bytes.Buffer
	z := zip.NewWriter(&buf)
	for _, name := range []string{"trace", "z"} {
		f, err := z.CreateHeader(&zip.FileHeader{Name: name, Method: zip.Store})
		if err != nil {
			t.Fatal(err)
		}
		if name == "trace" {
			f.Write(trace)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return buf.Bytes()
}

func spanTime(p *exectrace.Piece) (sum time.Duration) {
	for s := range p.Spans.All() {
		sum += s.To.Sub(s.From)
	}
	return sum
}
