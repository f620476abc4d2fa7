package listing

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gowhy/gowhy/internal/judge/diagnosis"
	"github.com/gowhy/gowhy/internal/know/model"
)

const program = `package main

import "fmt"

type box[T any] struct{ v T }

func (b *box[T]) print() {
	fmt.Println(b.v)
}

var hook = func() int { return 1 }

func main() {
	p := [2]int{1, 2}
	fmt.Println(p)
	b := &box[int]{hook()}
	b.print()
}
`

// module writes a module with the program in a sub-directory, and returns the
// module's and the file's path.
func module(t *testing.T, src string) (root, file string) {
	t.Helper()
	root = t.TempDir()
	file = filepath.Join(root, "cmd", "app", "main.go")
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	for path, text := range map[string]string{filepath.Join(root, "go.mod"): "module example.com/app\n\ngo 1.24\n", file: src} {
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return root, file
}

// recorded returns a model with one CPU and one allocs stack that ends in line 15 of
// the file, twice in the CPU's.
func recorded(file string) *model.Model {
	m := &model.Model{}
	m.Run.Start, m.Run.Duration = time.Now(), time.Hour
	leaf := model.Frame{Func: "fmt.Println", File: "/go/src/fmt/print.go", Line: 314}
	at := model.Frame{Func: "main.main", File: file, Line: 15}
	cpu := m.Stacks.Add([]model.Frame{leaf, at, at})
	heap := m.Stacks.Add([]model.Frame{at})
	m.CPU = &model.Profile{
		Types:   []model.ValueType{{Name: "samples", Unit: "count"}, {Name: "cpu", Unit: "nanoseconds"}},
		Samples: []model.Sample{{Stack: cpu, Values: []int64{3, 30e6}}},
	}
	m.Heap = &model.Profile{
		Types:   []model.ValueType{{Name: "alloc_objects", Unit: "count"}, {Name: "alloc_space", Unit: "bytes"}},
		Samples: []model.Sample{{Stack: heap, Values: []int64{7, 112}}},
	}
	return m
}

// The file is found as it was compiled here, on another machine, and with
// -trimpath; its lines have what was measured.
func TestMake(t *testing.T) {
	root, file := module(t, program)
	for _, as := range []string{file, "/home/other/src/app/cmd/app/main.go", "example.com/app/cmd/app/main.go"} {
		place := diagnosis.Place{Function: "main.main", File: as, Line: 15}
		list := Make(t.Context(), recorded(as), []diagnosis.Place{place, place}, Options{Dir: filepath.Join(root, "cmd")})
		if len(list) != 1 {
			t.Fatalf("%s: %d functions, want 1", as, len(list))
		}
		f := list[0]
		if f.Missing != "" || f.File != file || f.Changed || !f.CPU || !f.Allocs {
			t.Fatalf("%s: %+v, want %s as it was built, with CPU and allocations", as, f, file)
		}
		if f.Lines[0].Number != 13 || f.Lines[0].Text != "func main() {" || len(f.Lines) != 6 {
			t.Errorf("%s: begins with %+v, %d lines; want func main() at 13, 6 lines", as, f.Lines[0], len(f.Lines))
		}
		l := f.Lines[2]
		if !l.Place || l.CPU != 30*time.Millisecond || l.Objects != 7 || l.Bytes != 112 {
			t.Errorf("%s: line %+v, want the place: 30ms, 7 objects of 112 bytes", as, l)
		}
		if f.Lines[1].Place || f.Lines[1].CPU != 0 {
			t.Errorf("%s: line %+v, want another than the place, without CPU", as, f.Lines[1])
		}
	}
}

func TestCompiler(t *testing.T) {
	root, file := module(t, program)
	place := diagnosis.Place{Function: "main.main", File: file, Line: 15}
	list := Make(t.Context(), recorded(file), []diagnosis.Place{place}, Options{Dir: root, Compile: true})
	f := list[0]
	if f.Unasked != "" {
		t.Fatalf("the compiler: %s, want it to be asked", f.Unasked)
	}
	if said := f.Lines[2].Compiler; !slices.Contains(said, "p escapes to heap") {
		t.Errorf("of line 15: %q, want that p escapes to heap", said)
	}
	if said := f.Lines[1].Compiler; len(said) > 0 {
		t.Errorf("of line 14: %q, want nothing", said)
	}

	broken, file := module(t, strings.Replace(program, "hook()", "hooked()", 1))
	place.File = file
	f = Make(t.Context(), recorded(file), []diagnosis.Place{place}, Options{Dir: broken, Compile: true})[0]
	if len(f.Lines) == 0 || !strings.Contains(f.Unasked, "undefined: hooked") {
		t.Errorf("a program that does not compile: %d lines, unasked %q, want some, undefined: hooked",
			len(f.Lines), f.Unasked)
	}
}

// What cannot be shown says why, and what a recording names outside of the
// module is not opened.
func TestMissing(t *testing.T) {
	root, file := module(t, program)
	outside := filepath.Join(t.TempDir(), "secret.go")
	if err := os.WriteFile(outside, []byte(program), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, function, file string
		line                 int
		want                 string
	}{
		{"outside", "main.main", outside, 15, "is not in " + root},
		{"climbs", "main.main", root + "/../" + filepath.Base(filepath.Dir(outside)) + "/secret.go", 15, "is not in"},
		{"another function", "main.other", file, 15, "does not declare it"},
		{"beyond the end", "main.main", file, 400, "does not declare it"},
		{"assembly", "main.add", filepath.Join(root, "add.s"), 3, "not Go source"},
		{"the system's", "main.main", "/etc/passwd", 1, "not Go source"},
	} {
		f := Make(t.Context(), recorded(file), []diagnosis.Place{{Function: c.function, File: c.file, Line: c.line}}, Options{Dir: root, Compile: true})[0]
		if !strings.Contains(f.Missing, c.want) || len(f.Lines) > 0 {
			t.Errorf("%s: %q and %d lines, want %q", c.name, f.Missing, len(f.Lines), c.want)
		}
	}
	f := Make(t.Context(), recorded(file), []diagnosis.Place{{Function: "main.main", File: file, Line: 15}}, Options{Dir: t.TempDir()})[0]
	if !strings.Contains(f.Missing, "no go.mod") {
		t.Errorf("outside of a module: %q, want no go.mod", f.Missing)
	}
	old := recorded(file)
	old.Run.Start = time.Now().Add(-48 * time.Hour)
	if f := Make(t.Context(), old, []diagnosis.Place{{Function: "main.main", File: file, Line: 15}}, Options{Dir: root})[0]; !f.Changed {
		t.Error("that the file is newer than the recording is not told")
	}
}

func TestNamed(t *testing.T) {
	for _, c := range []struct {
		symbol, f string
		want      bool
	}{
		{"main.main", "main", true},
		{"main.main.func1", "main", true},
		{"example.com/a.b/pkg.(*Server).serve.gowrap2", "serve", true},
		{"main.(*box[...]).print", "print", true},
		{"main.(*box[go.shape.struct { main.x int }]).print", "print", true},
		{"main.(*T).close-fm", "close", true},
		{"main.other", "main.oth", false},
		{"main.other", "main", false},
		{"example.com/job/pkg.run", "job", false},
	} {
		if got := named(c.symbol, c.f); got != c.want {
			t.Errorf("named(%s, %s) = %v, want %v", c.symbol, c.f, got, c.want)
		}
	}
}

// Whatever the places, what is shown lies in the function, is bounded, and has
// the first place.
func TestWindow(t *testing.T) {
	for end := 1; end < 200; end += 7 {
		for place := 1; place <= end; place += 3 {
			b, e := window(1, end, []int{place, min(end, place+90)})
			if b < 1 || e > end || e-b >= maxLines || place < b || place > e {
				t.Fatalf("function of %d lines, place %d: window %d to %d, want fewer than %d of them, around it", end, place, b, e, maxLines)
			}
		}
	}
}

// The compiler's output comes from the machine of the reader, but names in it
// from anywhere.
func FuzzParse(f *testing.F) {
	f.Add("# example.com/app\n./main.go:15:13: p escapes to heap\n./main.go:14:2: moved to heap: p\n./main.go:3:1: can inline f\n")
	f.Add("../x.go:9:1: func literal escapes to heap\n../x.go:9:1: func literal escapes to heap\n:::: escapes to heap\n")
	f.Add("a:b:c:999999999999999999999:1: x escapes to heap")
	f.Fuzz(func(t *testing.T, out string) {
		for file, lines := range parse([]byte(out)) {
			for n, said := range lines {
				for i, s := range said {
					if !aboutHeap(s) || slices.Contains(said[:i], s) {
						t.Errorf("%s:%d: %q, want each once, about the heap", file, n, said)
					}
				}
			}
		}
	})
}
