package evidence

import (
	"bytes"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gowhy/gowhy/internal/know/model"
)

func printed(t *testing.T, name string) *model.Table {
	t.Helper()
	m := loadFixture(t, filepath.Join("pprof", name))
	if len(m.Tables) != 1 {
		t.Fatalf("%s: %d tables, want 1", name, len(m.Tables))
	}
	return m.Tables[0]
}

// Each of pprof's tables says of which profile it is, and its totals are the profile's.
func TestPprofTables(t *testing.T) {
	for _, c := range []struct {
		name           string
		source         model.Source
		kind, unit     string
		total          float64
		function       string
		flat, cum      float64
		complete       bool
		callers, place int
	}{
		{"top-cpu.txt", model.CPU, "cpu", "nanoseconds", 1.06e9, "main.(*server).lookup", 0.01e9, 0.62e9, true, 0, 0},
		{"top-cum.txt", model.CPU, "cpu", "nanoseconds", 1.06e9, "main.(*server).lookup", 0.01e9, 0.62e9, false, 0, 0},
		{"session.txt", model.CPU, "cpu", "nanoseconds", 1.06e9, "runtime.mallocgc", 0.03e9, 0.24e9, false, 5, 0},
		{"peek.txt", model.CPU, "cpu", "nanoseconds", 1.06e9, "main.(*server).lookup", 0.01e9, 0.62e9, false, 1, 0},
		{"tree.txt", model.CPU, "cpu", "nanoseconds", 1.06e9, "runtime.mallocgc", 0.03e9, 0.24e9, false, 1, 0},
		{"list.txt", model.CPU, "cpu", "nanoseconds", 1.06e9, "main.(*server).lookup", 0.01e9, 0.62e9, false, 0, 33},
		{"top-block.txt", model.Block, "delay", "nanoseconds", 0, "main.(*server).handle", 0, 0, true, 0, 0},
		{"top-mutex.txt", model.Mutex, "delay", "nanoseconds", 0, "main.(*server).lookup", 0, 0, true, 0, 0},
		{"top-heap.txt", model.LiveHeap, "inuse_space", "bytes", 0, "main.main", 0, 0, true, 0, 0},
		{"top-goroutine.txt", model.GoroutineProfile, "goroutine", "count", 2, "main.main", 0, 1, true, 0, 0},
	} {
		table := printed(t, c.name)
		if table.Source != c.source || table.Type != (model.ValueType{Name: c.kind, Unit: c.unit}) {
			t.Errorf("%s is of %q, type %v; want %q, %s in %s", c.name, table.Source, table.Type, c.source, c.kind, c.unit)
		}
		if c.total > 0 && table.Total != c.total || table.Total <= 0 {
			t.Errorf("%s: total %g, want %g", c.name, table.Total, c.total)
		}
		f := table.Most(func(f string) bool { return f == c.function })
		if f == nil {
			t.Errorf("%s: no function %s", c.name, c.function)
			continue
		}
		if c.total > 0 && (f.Flat != c.flat || f.Cum != c.cum) {
			t.Errorf("%s: %s has flat %g and cum %g, want %g and %g", c.name, c.function, f.Flat, f.Cum, c.flat, c.cum)
		}
		if len(f.Callers) < c.callers || (c.callers == 0) != (len(f.Callers) == 0) || f.Line != c.place {
			t.Errorf("%s: %s has callers %v at line %d, want %d or more, line %d", c.name, c.function, f.Callers, f.Line, c.callers, c.place)
		}
		if (table.Shown() > wholeTable) != c.complete {
			t.Errorf("%s shows %.2f of the total; want all: %v", c.name, table.Shown(), c.complete)
		}
	}
}

// A table names the part that it shows, and tables of one profile are one.
func TestPprofTablesJoin(t *testing.T) {
	m := loadFixture(t, "pprof/top-cum.txt", "pprof/peek.txt", "pprof/top-block.txt", "pprof/top-goroutine.txt")
	if len(m.Tables) != 3 || !m.Has(model.Printed) || m.Has(model.CPU) || !noted(m, "shows 1") || !noted(m, "of the profile's total") {
		t.Errorf("%d tables, notes %q; want three, with a note on what the first shows", len(m.Tables), m.Run.Coverage.Notes)
	}
	if m.Tables[0].Duration != 2010*time.Millisecond {
		t.Errorf("the profile took %s, want 2.01s", m.Tables[0].Duration)
	}
}

// With lines a function has the place of the one with most under it.
func TestPprofTableLines(t *testing.T) {
	f := printed(t, "top-lines.txt").Most(func(f string) bool { return f == "main.deep" })
	if f == nil || !strings.HasSuffix(f.File, "main.go") || f.Line == 0 {
		t.Errorf("main.deep is at %+v, want a line of main.go", f)
	}
}

// What is pasted loses its header, its indentation and its colours' order; forms of older
// versions had other words.
func TestPprofPasted(t *testing.T) {
	for name, c := range map[string]struct {
		text  string
		of    model.Source
		total float64
	}{
		"no header":   {"Showing nodes accounting for 9wks, 90% of 10wks total\nflat flat% sum% cum cum%\n6wks 60% 60% 6wks 60% sync.(*Mutex).Lock\n0 0% 60% 6wks 60% main.f\n", model.Block, 10 * 7 * 24 * 3600e9},
		"no total":    {"      flat  flat%   sum%        cum   cum%\n     2s 20% 20% 5s 50% main.f\n", model.CPU, 10e9},
		"rows alone":  {"  1.31mins 54.98% 54.98%   1.31mins 55.00%  example.com/re.match\n  0.19mins  8.09% 63.07%   2.00mins 80.00%  example.com/re.first\n", model.CPU, 150e9},
		"old form":    {"1.50s of 24.23s total ( 6.19%)\nDropped 3 nodes (cum <= 0.12s)\n      flat  flat%   sum%        cum   cum%\n 0.03s  0.12%  0.12% 16.7s 69.13%  main.f\n", model.CPU, 24.23e9},
		"at a prompt": {"Some words.\n\n(pprof) top10\nShowing nodes accounting for 5, 100% of 5 total\n      flat  flat%   sum%        cum   cum%\n 5 100% 100% 5 100% runtime.gopark\n", model.GoroutineProfile, 5},
		"by a flag":   {"I ran go tool pprof -alloc_space heap.out:\nflat flat% sum% cum cum%\n22MB 10% 10% 110MB 50% main.f\n", model.Heap, 220 << 20},
		"by a choice": {"(pprof) inuse_objects\n(pprof) top\nShowing nodes accounting for 5, 100% of 5 total\n      flat  flat%   sum%        cum   cum%\n 5 100% 100% 5 100% main.f\n", model.LiveHeap, 5},
		"unlocking":   {"Type: delay\nShowing nodes accounting for 5ms, 100% of 5ms total\n      flat  flat%   sum%        cum   cum%\n 5ms 100% 100% 5ms 100% sync.(*Mutex).Unlock (inline)\n", model.Mutex, 5e6},
		"of a kind of its own": {"Type: goblins\nShowing nodes accounting for 5, 100% of 5 total\n      flat  flat%   sum%        cum   cum%\n 5 100% 100% 5 100% main.f\n",
			"", 5},
	} {
		m := load(t, Options{}, written(t, []byte(c.text)))
		if len(m.Tables) != 1 || m.Tables[0].Source != c.of || math.Abs(m.Tables[0].Total-c.total) > 1e-6*c.total {
			t.Errorf("%s: %+v, want a table of %q, total %g", name, m.Tables, c.of, c.total)
		}
	}
}

// TestPprofChoiceBehind leaves words behind a table out, which say nothing of it.
func TestPprofChoiceBehind(t *testing.T) {
	m := load(t, Options{}, written(t, []byte("flat flat% sum% cum cum%\n22MB 10% 10% 110MB 50% main.f\nLook at -inuse_space instead.\n")))
	if len(m.Tables) != 1 || m.Tables[0].Type.Name != "" {
		t.Errorf("%+v, want a table of no known type", m.Tables)
	}
}

// TestPprofFiles reads a name with a file behind it, and one with a type that has blanks.
func TestPprofFiles(t *testing.T) {
	m := load(t, Options{}, written(t, []byte("Showing nodes accounting for 5s, 100% of 5s total\n      flat  flat%   sum%        cum   cum%\n"+
		" 4s 80% 80% 5s 100% example.com/a.(*T).f /src/a/warm.go\n 1s 20% 100% 1s 20% main.g[go.shape.struct { X int }]\n")))
	for _, f := range []model.TableFunction{{Func: "example.com/a.(*T).f", File: "/src/a/warm.go"}, {Func: "main.g[go.shape.struct { X int }]"}} {
		got := m.Tables[0].Most(func(name string) bool { return name == f.Func })
		if got == nil || got.File != f.File {
			t.Errorf("%+v of %+v, want %+v", got, m.Tables[0].Functions, f)
		}
	}
}

// Whole stacks are the profile that they were printed from.
func TestPprofTraces(t *testing.T) {
	m, want := loadFixture(t, "pprof/traces.txt"), loadFixture(t, "pprof/cpu.pb.gz")
	if len(m.Tables) != 0 || m.CPU == nil || m.CPU.Duration != 2010*time.Millisecond || !slices.Equal(m.CPU.Types, want.CPU.Types) {
		t.Fatalf("traces are %d samples of types %v in %s; want a CPU profile of 2.01 s", len(m.CPU.Samples), m.CPU.Types, m.CPU.Duration)
	}
	sum := func(m *model.Model, through string) (count, nanos float64) {
		for i := range m.CPU.Samples {
			s := &m.CPU.Samples[i]
			if slices.ContainsFunc(m.Stacks.Frames(s.Stack), func(f model.Frame) bool { return f.Func == through }) {
				count, nanos = count+s.Value(0), nanos+s.Value(1)
			}
		}
		return count, nanos
	}
	for _, f := range []string{"main.main.func1", "main.(*server).lookup", "runtime.mallocgc", "runtime.newstack"} {
		n, ns := sum(m, f)
		if wantN, wantNS := sum(want, f); n != wantN || ns != wantNS || n == 0 {
			t.Errorf("through %s there are %g samples, %g ns; want %g, %g", f, n, ns, wantN, wantNS)
		}
	}
}

// Look-alikes are no tables, and a text that begins like one and has none says so.
func TestNoPprofText(t *testing.T) {
	for _, text := range []string{"Type: cpu\nTime: now\n", "Summary:\n  Total:\t2.0 secs\n", "flat earth\n", "  10ms 1.00% 2.00% 3ms 4.00%  one line is no table\n", "Showing nodes accounting for nothing\n"} {
		if isPprofText([]byte(text)) {
			t.Errorf("%q is taken for a profile that pprof printed", text)
		}
	}
	_, err := Load(t.Context(), []string{written(t, []byte("Showing nodes accounting for 0, 0% of 5s total\n"))}, Options{})
	if err == nil || !strings.Contains(err.Error(), "not a trace or profile") {
		t.Errorf("Load() of a table without functions: %v, want that it is none", err)
	}
}

func FuzzPprofText(f *testing.F) {
	names, err := filepath.Glob("testdata/pprof/*.txt")
	if err != nil || len(names) == 0 {
		f.Fatalf("fixtures: %v, %v", names, err)
	}
	for _, n := range names {
		b, err := os.ReadFile(n)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b[:min(len(b), 4<<10)])
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		l := newLoader(t.Context(), Options{})
		text := append([]byte("Type: cpu\nShowing nodes accounting for 1s, 50% of 2s total\n"), b...)
		if err := l.readPprofText(source{name: "x", r: bytes.NewReader(text)}); err != nil {
			return
		}
		m, err := l.finish()
		if err != nil {
			return
		}
		for _, table := range m.Tables {
			if !(table.Total > 0) || math.IsNaN(table.Shown()) {
				t.Fatalf("a table with total %g shows %g", table.Total, table.Shown())
			}
		}
	})
}

// written returns the name of a new file with this content.
func written(t testing.TB, content []byte) string {
	t.Helper()
	return filepath.Join(files(t, map[string][]byte{"x.txt": content}), "x.txt")
}
