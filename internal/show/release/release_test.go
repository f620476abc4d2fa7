package release

import (
	"archive/zip"
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gowhy/gowhy/internal/judge/diagnosis"
	"github.com/gowhy/gowhy/internal/read/modules"
)

// A proxy is a directory that the go command takes for a module proxy.
type proxy string

// newProxy has the go command ask a proxy in a directory, and no other.
func newProxy(t *testing.T) proxy {
	t.Helper()
	dir := t.TempDir()
	t.Setenv("GOPROXY", "file://"+dir)
	t.Setenv("GOSUMDB", "off")
	t.Setenv("GOPRIVATE", "")
	t.Setenv("GONOPROXY", "")
	t.Setenv("GOMODCACHE", t.TempDir())
	t.Setenv("GOFLAGS", "-modcacherw") // the directory is removed
	return proxy(dir)
}

// add publishes a version with its files.
func (p proxy) add(t *testing.T, path, version string, files map[string]string) {
	t.Helper()
	dir := filepath.Join(string(p), strings.ReplaceAll(path, "B", "!b"), "@v")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	write := func(name, text string) {
		f, err := os.OpenFile(filepath.Join(dir, name), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		if _, err := f.WriteString(text); err != nil {
			t.Fatal(err)
		}
	}
	write("list", version+"\n")
	write(version+".info", `{"Version":"`+version+`","Time":"2026-01-02T15:04:05Z"}`)
	write(version+".mod", files["go.mod"])
	var b strings.Builder
	z := zip.NewWriter(&b)
	for name, text := range files {
		w, err := z.Create(path + "@" + version + "/" + name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	write(version+".zip", b.String())
}

const (
	used = `package store

type Iterator[T any] struct{ n int }

func (it *Iterator[T]) Fill() {
	for range 2 {
		func() { it.n++ }()
	}
}

func (it *Iterator[T]) Next() int {
	it.n++
	return it.n
}

func (it *Iterator[T]) Close() {}

func Open() *Iterator[int] { return nil }

func sync() {}
`
	newest = `package store

type Iterator[T any] struct{ n int }

// Fill is quicker now.
func (it *Iterator[T]) Fill() { it.n += 2 }

// Next was only written otherwise.
func (it *Iterator[T]) Next() int {
	it.n++ // in one

	return it.n
}
`
	moved  = "package store\n\nfunc Open() *Iterator[int] {\n\treturn nil\n}\n"
	onUnix = "package store\n\nfunc sync() {}\n"
	others = "package store\n\nfunc sync() { panic(0) }\n"
)

// published returns one with a release that changes much, and one without.
func published(t *testing.T) proxy {
	p := newProxy(t)
	p.add(t, "example.com/Burnt/iter", "v1.0.0", map[string]string{
		"go.mod": "module example.com/Burnt/iter\n\ngo 1.24\n", "store/iter.go": used, "old/old.go": "package old\n\nfunc F() {}\n",
	})
	// What it requires is not there.
	p.add(t, "example.com/Burnt/iter", "v1.1.0", map[string]string{
		"go.mod":         "module example.com/Burnt/iter\n\ngo 1.26\n\nrequire example.com/nowhere v1.0.0\n",
		"store/iter.go":  newest,
		"store/open.go":  moved,
		"store/other.go": others,
		"store/unix.go":  onUnix,
	})
	p.add(t, "example.com/done", "v1.2.0", map[string]string{"go.mod": "module example.com/done\n", "done.go": "package done\n\nfunc F() {}\n"})
	return p
}

// inCache returns a place in the module cache of any machine.
func inCache(function string) diagnosis.Place {
	return diagnosis.Place{Function: "example.com/Burnt/iter/store." + function, File: "/go/pkg/mod/example.com/!burnt/iter@v1.0.0/store/iter.go", Line: 7}
}

// compareNew compares with what a new Newest knows.
func compareNew(ctx context.Context, t *testing.T, d *diagnosis.Diagnosis, program string) error {
	t.Helper()
	n := New()
	defer n.Close()
	return n.Compare(ctx, d, program)
}

func finding(places ...diagnosis.Place) *diagnosis.Diagnosis {
	return &diagnosis.Diagnosis{Findings: []diagnosis.Finding{{Where: places, Remedy: diagnosis.Remedy{Text: "Do less."}}}}
}

func TestCompare(t *testing.T) {
	published(t)
	const is = "Do less. example.com/Burnt/iter v1.0.0 is used; v1.1.0, the newest, "
	trimmed := inCache("(*Iterator[go.shape.struct { a/b.x [3]int }]).Fill")
	trimmed.File = "example.com/Burnt/iter@v1.0.0/store/iter.go"
	elsewhere := inCache("(*Iterator[...]).Fill")
	elsewhere.File = "/cache/example.com/!burnt/iter@v1.0.0/store/iter.go"
	old := diagnosis.Place{Function: "example.com/Burnt/iter/old.F", File: "/go/pkg/mod/example.com/!burnt/iter@v1.0.0/old/old.go"}
	done := diagnosis.Place{Function: "example.com/done.F", File: "/go/pkg/mod/example.com/done@v1.2.0/done.go"}
	for _, c := range []struct {
		name   string
		places []diagnosis.Place
		want   string
	}{
		{"changed", []diagnosis.Place{inCache("(*Iterator[...]).Fill")}, is + "changes (*Iterator).Fill."},
		{"changed around a literal", []diagnosis.Place{inCache("(*Iterator[...]).Fill.func1")}, is + "changes (*Iterator).Fill."},
		{"with -trimpath", []diagnosis.Place{trimmed}, is + "changes (*Iterator).Fill."},
		{"another cache, twice", []diagnosis.Place{elsewhere, trimmed}, is + "changes (*Iterator).Fill."},
		{"gone", []diagnosis.Place{inCache("(*Iterator[...]).Close")}, is + "no longer has (*Iterator).Close."},
		{"its package is gone", []diagnosis.Place{old}, is + "no longer has F."},
		{"changed and gone", []diagnosis.Place{inCache("(*Iterator[...]).Close"), trimmed}, is + "changes (*Iterator).Fill, and no longer has (*Iterator).Close."},
		{"formatted", []diagnosis.Place{inCache("(*Iterator[...]).Next")}, "Do less."},
		{"moved", []diagnosis.Place{inCache("Open")}, "Do less."},
		{"for several systems", []diagnosis.Place{inCache("sync-range1")}, "Do less."},
		{"not declared", []diagnosis.Place{inCache("glob..func1")}, "Do less."},
		{"none newer", []diagnosis.Place{done}, "Do less."},
		{"nowhere", nil, "Do less."},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := finding(c.places...)
			for range 2 { // what was saved is not said again
				if err := compareNew(t.Context(), t, d, "example.com/app"); err != nil {
					t.Fatal(err)
				}
				if got := d.Findings[0].Remedy.Text; got != c.want {
					t.Errorf("%q, want %q", got, c.want)
				}
			}
			if len(d.Warnings) != 0 {
				t.Errorf("warnings %q", d.Warnings)
			}
		})
	}
}

// A symptom has a remedy of its own; the program's own module is its author's.
func TestCompareSymptom(t *testing.T) {
	published(t)
	d := finding()
	d.Findings[0].Symptoms = finding(inCache("(*Iterator[...]).Fill")).Findings
	if err := compareNew(t.Context(), t, d, "example.com/Burnt/iter"); err != nil || d.Findings[0].Symptoms[0].Remedy.Text != "Do less." {
		t.Errorf("compareNew() of the program itself: %v, remedy %q, want Do less.",
			err, d.Findings[0].Symptoms[0].Remedy.Text)
	}
	if err := compareNew(t.Context(), t, d, ""); err != nil || !strings.HasSuffix(d.Findings[0].Symptoms[0].Remedy.Text, "changes (*Iterator).Fill.") {
		t.Errorf("compareNew(): %v, remedy %q, want it to end with changes (*Iterator).Fill.",
			err, d.Findings[0].Symptoms[0].Remedy.Text)
	}
}

// What cannot be asked is one warning, and changes nothing else.
func TestUnanswered(t *testing.T) {
	const (
		cannot  = "--online: cannot ask for newer versions of example.com/Burnt/iter"
		compare = "--online: cannot compare example.com/Burnt/iter v1.0.0 with v1.1"
	)
	silent := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }))
	defer silent.Close()
	gone := httptest.NewServer(http.NotFoundHandler())
	gone.Close()
	for _, c := range []struct {
		name  string
		alter func(t *testing.T, p proxy)
		limit time.Duration
		want  []string
	}{
		{"unreachable", func(t *testing.T, _ proxy) { t.Setenv("GOPROXY", gone.URL) }, time.Minute, []string{cannot + ": ", "refused"}},
		{"switched off", func(t *testing.T, _ proxy) { t.Setenv("GOPROXY", "off") }, time.Minute, []string{cannot + ": ", "GOPROXY=off"}},
		{"silent", func(t *testing.T, _ proxy) { t.Setenv("GOPROXY", silent.URL) }, 300 * time.Millisecond, []string{cannot + " and the modules after it: no answer in time"}},
		{"no source", func(t *testing.T, p proxy) {
			if err := os.Remove(filepath.Join(string(p), "example.com/!burnt/iter/@v/v1.1.0.zip")); err != nil {
				t.Fatal(err)
			}
		}, time.Minute, []string{compare + ".0: ", "v1.1.0.zip"}},
		{"a newer toolchain", func(t *testing.T, p proxy) {
			p.add(t, "example.com/Burnt/iter", "v1.1.1", map[string]string{"go.mod": "module example.com/Burnt/iter\n\ngo 1.999\n"})
		}, time.Minute, []string{compare + ".1: ", "requires go >= 1.999"}},
		{"no temporary directory", func(t *testing.T, _ proxy) { t.Setenv("TMPDIR", "/nosuch") }, time.Minute, []string{cannot + ": ", "/nosuch"}},
		{"no go command", func(t *testing.T, _ proxy) { t.Setenv("PATH", t.TempDir()) }, time.Minute, []string{cannot + ": ", "executable file not found"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.alter(t, published(t))
			ctx, cancel := context.WithTimeout(t.Context(), c.limit)
			defer cancel()
			d := finding(inCache("(*Iterator[...]).Fill"), inCache("Open"))
			if err := compareNew(ctx, t, d, ""); err != nil {
				t.Fatal(err)
			}
			if len(d.Warnings) != 1 || d.Findings[0].Remedy.Text != "Do less." {
				t.Fatalf("warnings %q, remedy %q", d.Warnings, d.Findings[0].Remedy.Text)
			}
			for _, w := range c.want {
				if !strings.Contains(d.Warnings[0], w) {
					t.Errorf("%q does not say %q", d.Warnings[0], w)
				}
			}
		})
	}
}

func TestCompareInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := compareNew(ctx, t, finding(inCache("Open")), ""); !errors.Is(err, context.Canceled) {
		t.Errorf("%v, want %v", err, context.Canceled)
	}
}

// A module is asked for once, whether its newest release is fetched, compared with or cannot be had.
func TestNewestAsksOnce(t *testing.T) {
	p := published(t)
	n := New()
	defer n.Close()
	iter := modules.Module{Path: "example.com/Burnt/iter", Version: "v1.0.0"}
	if err := n.Fetch(t.Context(), iter); err != nil {
		t.Fatal(err)
	}
	gone := modules.Module{Path: "example.com/gone", Version: "v1.0.0"}
	failed := n.Fetch(t.Context(), gone)
	if failed == nil {
		t.Fatal("a module that nobody has was fetched")
	}
	if err := os.RemoveAll(string(p)); err != nil {
		t.Fatal(err)
	}
	t.Setenv("GOMODCACHE", t.TempDir())
	place := inCache("(*Iterator[...]).Fill")
	d := finding(place, diagnosis.Place{Function: "example.com/gone.F", File: "/go/pkg/mod/example.com/gone@v1.0.0/f.go"})
	d.Warnings = []string{failed.Error()}
	if err := n.Compare(t.Context(), d, ""); err != nil || !strings.HasSuffix(d.Findings[0].Remedy.Text, "changes (*Iterator).Fill.") || len(d.Warnings) != 1 {
		t.Errorf("%v, remedy %q, warnings %q", err, d.Findings[0].Remedy.Text, d.Warnings)
	}
}
