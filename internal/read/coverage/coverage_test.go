package coverage

import (
	"bytes"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// search returns the functions of testdata/search.go as a release of Go counted them.
func search(t testing.TB, profile string) []*Function {
	t.Helper()
	f, err := os.Open(filepath.Join("testdata", profile))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	p, err := Parse(f)
	if err != nil {
		t.Fatal(err)
	}
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, "testdata/search.go", nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	return Functions(set, file, p.Files["search/search.go"])
}

// The releases of Go cut source into other blocks; what they say of functions and loops is
// the same.
func TestFunctions(t *testing.T) {
	profiles, err := filepath.Glob("testdata/go1.*.txt")
	if err != nil || len(profiles) < 3 {
		t.Fatal(profiles, err)
	}
	for _, profile := range profiles {
		list := search(t, filepath.Base(profile))
		for _, c := range []struct {
			line, n                int // in the loop, and its number in the function
			literal                bool
			name                   string
			calls                  uint64
			entries, rounds, early uint64
			leaves                 int
			outer                  int
			bounded                bool
		}{
			{9, 0, false, "find", 10, 10, 844, 3, 1, -1, true},
			{20, 0, false, "pairs", 1, 1, 10, 0, 0, -1, true},
			{21, 1, false, "pairs", 1, 10, 64, 9, 1, 0, true},
			{38, 0, true, "literals", 5, 5, 10, 0, 0, -1, true},
			{42, 0, false, "literals", 1, 1, 5, 0, 0, -1, true},
			{45, 1, false, "literals", 1, 1, 3, 0, 0, -1, true},
			{55, 0, false, "endless", 1, 1, 8, 1, 1, -1, false},
			{60, 1, false, "endless", 1, 1, 0, 0, 0, -1, true},
		} {
			f := Find(list, c.line, c.literal)
			if f == nil || f.Name != c.name || f.Calls != c.calls || f.Loop(c.line) != c.n {
				t.Errorf("%s: Find(line %d, literal %v) = %+v, want %s with %d calls, and loop %d there",
					profile, c.line, c.literal, f, c.name, c.calls, c.n)
				continue
			}
			l := f.Loops[c.n]
			if l.Entries != c.entries || l.Rounds != c.rounds || l.Early != c.early || l.Leaves != c.leaves || l.Outer != c.outer || l.Bounded != c.bounded || l.Line > c.line || l.Last < c.line {
				t.Errorf("%s: the loop of line %d is %+v, "+
					"want entries %d, rounds %d, early %d, leaves %d, outer %d, bounded %v, around the line",
					profile, c.line, l, c.entries, c.rounds, c.early, c.leaves, c.outer, c.bounded)
			}
		}
		if f := Find(list, 52, true); f == nil || f.Calls != 1 || len(f.Loops) != 0 {
			t.Errorf("%s: Find(52, true) = %+v, want a literal with 1 call and no loops", profile, f)
		}
		if f := Find(list, 52, false); f == nil || f.Calls != 1 || f.Runs(52) != 1 {
			t.Errorf("%s: Find(52, false) = %+v, want a function with 1 call that runs the line once", profile, f)
		}
		if f := Find(list, 9, false); f != nil && (f.Runs(8) != 844 || f.Runs(9) != 844 || f.Runs(10) != 3 || f.Runs(13) != 7) {
			t.Errorf("%s: lines run %d, %d, %d, %d times", profile, f.Runs(8), f.Runs(9), f.Runs(10), f.Runs(13))
		}
		if f := Find(list, 65, false); f == nil || f.Calls != 0 {
			t.Errorf("%s: Find(65, false) = %+v, want a function with 0 calls", profile, f)
		}
	}
}

func TestParse(t *testing.T) {
	p, err := Parse(strings.NewReader("mode: atomic\na/b.go:3.1,4.2 1 5\na/b.go:1.1,2.2 1 18446744073709551615\n\nmode: atomic\na/b.go:3.1,4.2 1 2\na/b.go:1.1,2.2 1 2\nc:d/e.go:1.1,1.1 0 0\n"))
	if err != nil {
		t.Fatal(err)
	}
	want := []Block{{Position{1, 1}, Position{2, 2}, 1<<64 - 1}, {Position{3, 1}, Position{4, 2}, 7}}
	if got := p.Files["a/b.go"]; len(got) != 2 || got[0] != want[0] || got[1] != want[1] || len(p.Files["c:d/e.go"]) != 1 {
		t.Errorf("%v", p.Files)
	}
	for _, bad := range []string{"", "x", "mode: set\nx\n", "mode: set\na.go:1.1,2.2 1\n", "mode: set\na.go:2.1,1.2 1 1\n", "mode: set\na.go:1.1,2.2 1 -1\n", "mode: set\n:1.1,2.2 1 1\n",
		"mode: set\na.go:1.1,9999999999.2 1 1\n"} {
		if _, err := Parse(strings.NewReader(bad)); !errors.Is(err, ErrFormat) {
			t.Errorf("%q: %v", bad, err)
		}
	}
	if _, err := Parse(strings.NewReader("mode: set\n" + strings.Repeat("x", maxLine+1))); err == nil {
		t.Error("a line without an end was read")
	}
}

// Whatever is read, blocks are in order, and a file of any syntax is joined with any blocks.
func FuzzFunctions(f *testing.F) {
	source, err := os.ReadFile("testdata/search.go")
	if err != nil {
		f.Fatal(err)
	}
	profiles, _ := filepath.Glob("testdata/go1.*.txt")
	for _, name := range profiles {
		text, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text, source)
	}
	f.Add([]byte("mode: set\nsearch/search.go:1.1,900000000.1 1 1\n"), []byte("package p\nfunc f() { for {} }\nvar x = func() {}\n"))
	f.Fuzz(func(t *testing.T, text, source []byte) {
		p, err := Parse(bytes.NewReader(text))
		if err != nil {
			return
		}
		set := token.NewFileSet()
		file, _ := parser.ParseFile(set, "x.go", source, parser.SkipObjectResolution)
		if file == nil {
			file = &ast.File{Name: ast.NewIdent("x")}
		}
		for _, blocks := range p.Files {
			for i := range blocks[1:] {
				if blocks[i+1].From.compare(blocks[i].From) < 0 {
					t.Fatal("blocks are out of order")
				}
			}
			for _, fn := range Functions(set, file, blocks) {
				for n, l := range fn.Loops {
					if l.Outer >= n || l.Line < fn.Line || l.Last > fn.Last || fn.Loop(l.Line) < 0 {
						t.Fatalf("loop %d is %+v, want it in %+v, in an earlier one, and a loop in its line", n, l, fn)
					}
				}
			}
		}
	})
}
