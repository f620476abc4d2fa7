package pattern

import (
	"go/ast"
	"go/build"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gowhy/gowhy/internal/know/model"
)

// TestPatterns: the functions of testdata have at the end of a line what is to be found
// there, and below which function its cost is: "sick PATTERN CALLEE" is found, well and
// alike are not. Each pattern has all three.
func TestPatterns(t *testing.T) {
	seen := map[model.Pattern]map[string]int{}
	for i := range catalogue {
		seen[catalogue[i].name] = map[string]int{}
	}
	for _, name := range []string{"calls.go", "loops.go", "remade.go", "texts.go", "lists.go", "unasked.go", "walks.go", "percall.go", "stored.go", "again.go", "grown.go", "missed.go", "chains.go", "chainloops.go", "chainwraps.go", "chainfresh.go", "library.go"} {
		f := parsed(t, filepath.Join("testdata", name), nil)
		for _, group := range f.Files[0].Comments {
			for _, c := range group.List {
				words := strings.Fields(strings.TrimPrefix(c.Text, "//"))
				if len(words) < 2 || words[0] != "sick" && words[0] != "well" && words[0] != "alike" {
					continue
				}
				line, callee := f.Set.Position(c.Pos()).Line, ""
				if len(words) > 2 {
					callee = words[2]
				}
				want := model.Pattern(words[1])
				if seen[want] == nil {
					t.Fatalf("%s:%d: no pattern is called %s", name, line, want)
				}
				seen[want][words[0]]++
				f.around(line)
				got, ok := Find(f, line, callee)
				switch {
				case words[0] == "sick" && got.Pattern != want:
					t.Errorf("%s:%d: found %q, want %q", name, line, got.Pattern, want)
				case words[0] != "sick" && ok && (got.Pattern == want || got.Pattern != model.MissedCache): // a cache is well until samples say that it finds nothing
					t.Errorf("%s:%d: %s, and %q was found: %s", name, line, words[0], got.Pattern, got.What)
				case ok && (line < got.Line || line > got.Last || got.What == ""):
					t.Errorf("%s:%d: is of lines %d to %d, %q", name, line, got.Line, got.Last, got.What)
				}
			}
		}
	}
	for p, kinds := range seen {
		for _, kind := range []string{"sick", "well", "alike"} {
			if kinds[kind] == 0 {
				t.Errorf("%s has no case that is %s", p, kind)
			}
		}
	}
}

// TestInstead: what to write in its place is Go, with the program's own expressions.
func TestInstead(t *testing.T) {
	f := parsed(t, "x.go", `package x
import ("fmt"; "strings")
func f(host string, port int, id uint32, list []string, line string) {
	_ = fmt.Sprintf("%s:%d/%v", host, port, id)
	_ = strings.ToLower(host) != strings.ToLower(line)
	var out []int
	for _, l := range list {
		out = append(out, len(l))
	}
	for range strings.Split(line, ",") {}
	_ = len(strings.Split(line, ","))
}`)
	for line, c := range map[int]struct{ callee, want string }{
		4:  {"fmt.Sprintf", `host + ":" + strconv.Itoa(port) + "/" + strconv.FormatUint(uint64(id), 10)`},
		5:  {"strings.ToLower", `!strings.EqualFold(host, line)`},
		8:  {"runtime.growslice", `out := make([]int, 0, len(list))`},
		10: {"strings.Split", `strings.SplitSeq(line, ",")`},
		11: {"strings.Split", `strings.Count(line, ",") + 1`},
	} {
		f.around(line)
		if r, ok := Find(f, line, c.callee); !ok || r.Instead != c.want {
			t.Errorf("line %d: %q, want %q", line, r.Instead, c.want)
		}
	}
}

// TestAllocation: a line at which a heap profile ends has what an operator allocates, alone or
// beside others.
func TestAllocation(t *testing.T) {
	f := parsed(t, "x.go", `package x
type node struct{ n int }
func f(words []string, bytes [][]byte) {
	var sizes []int
	var nodes []*node
	for _, w := range words {
		sizes = append(sizes, len(w))
		nodes = append(nodes, &node{len(w)})
	}
	s := ""
	for i, w := range words {
		s += w + "," + words[0]
		s += string(bytes[i])
	}
	var boxed []any
	for _, w := range words {
		boxed = append(boxed, box(w))
	}
}
func box(v any) any { return v }`)
	for line, c := range map[int]struct {
		want  model.Pattern
		alone bool
	}{7: {model.GrowKnown, true}, 8: {model.GrowKnown, false}, 12: {model.ConcatLoop, true}, 13: {model.ConcatLoop, false}, 17: {model.GrowKnown, false}} {
		f.around(line)
		if r, ok := Find(f, line, Allocation); !ok || r.Pattern != c.want || r.Alone != c.alone {
			t.Errorf("line %d: %q, alone %v; want %q, %v", line, r.Pattern, r.Alone, c.want, c.alone)
		}
	}
}

// TestOlderGo: what a version does not have is not advised.
func TestOlderGo(t *testing.T) {
	f := parsed(t, "x.go", "package x\nimport \"strings\"\nfunc f(s string) {\n\tfor range strings.Split(s, \",\") {}\n}")
	f.around(4)
	for version, want := range map[string]bool{"": false, "go1.23.4": false, "go1.24": true, "go1.26.1": true} {
		f.Go = version
		if _, ok := Find(f, 4, "strings.Split"); ok != want {
			t.Errorf("%q: found %v", version, ok)
		}
	}
}

// TestWithoutLibrary: where the standard library's source is not here, what is found rests
// on the package's own types, and nothing wrong is.
func TestWithoutLibrary(t *testing.T) {
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, filepath.Join("testdata", "calls.go"), nil, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	f := &Function{Set: set, Files: []*ast.File{file}, Info: NewTypes(set, "", nil).Check("cases", []*ast.File{file}), Go: "go1.26"}
	found := 0
	for _, group := range file.Comments {
		for _, c := range group.List {
			words := strings.Fields(strings.TrimPrefix(c.Text, "//"))
			if len(words) < 3 {
				continue
			}
			line := set.Position(c.Pos()).Line
			f.around(line)
			if got, ok := Find(f, line, words[2]); ok && words[0] == "sick" {
				found++
			} else if ok && words[0] != "pattern" {
				t.Errorf("line %d: %s, and %s was found", line, words[0], got.Pattern)
			}
		}
	}
	if found < 12 {
		t.Errorf("found only %d", found)
	}
}

// FuzzFind: whatever the source is, nothing panics.
func FuzzFind(f *testing.F) {
	f.Add("package x\nfunc f() {\n\tfor i, v := range x { s += v; x = append(x, v); defer f() }\n}", 3, "")
	f.Add("package x\nfunc f(s string) {\n\t_ = fmt.Sprintf(\"%d%\", s)\n}", 3, "fmt.Sprintf")
	f.Add("package x\nfunc f() {\n\tx[:0], y = copy(x), append()\n}", 3, "runtime.growslice")
	f.Add("package x\ntype pair[T any] struct{ a T; b [99]int }\nfunc f[T any](l []pair[T]) (n int) {\n\tfor _, p := range l { n += p.b[0] }\n\treturn n\n}", 4, "")
	f.Fuzz(func(t *testing.T, src string, line int, callee string) {
		set := token.NewFileSet()
		file, _ := parser.ParseFile(set, "x.go", src, parser.SkipObjectResolution)
		if file == nil || len(src) > 4096 {
			return
		}
		fn := &Function{Set: set, Files: []*ast.File{file}, Info: NewTypes(set, "", nil).Check("x", []*ast.File{file}), Go: "go1.26"}
		if fn.around(line); fn.Body == nil {
			return
		}
		Find(fn, line, callee)
		for _, c := range callees {
			Find(fn, line, c)
		}
	})
}

// callees are those of all patterns, each once.
var callees = func() (list []string) {
	for i := range catalogue {
		list = append(list, catalogue[i].callees...)
	}
	slices.Sort(list)
	return slices.Compact(list)
}()

// parsed returns a file with its types.
func parsed(t *testing.T, name string, src any) *Function {
	set := token.NewFileSet()
	if text, ok := src.(string); ok {
		src = text
	}
	file, err := parser.ParseFile(set, name, src, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	return &Function{Set: set, Files: []*ast.File{file}, Info: NewTypes(set, build.Default.GOROOT, nil).Check("cases", []*ast.File{file}), Go: "go1.26"}
}

// around makes it the function around a line.
func (f *Function) around(line int) {
	f.Decl, f.Body = nil, nil
	ast.Inspect(f.Files[0], func(n ast.Node) bool {
		if n == nil || line < f.lineOf(n.Pos()) || line > f.lineOf(n.End()) {
			return n != nil && n.Pos() == f.Files[0].Pos()
		}
		switch n := n.(type) {
		case *ast.FuncDecl:
			if f.Decl, f.Body = n, n.Body; n.Body == nil {
				return false
			}
		case *ast.FuncLit:
			if f.lineOf(n.Body.Pos()) < line || f.Body == nil {
				f.Body = n.Body
			}
		}
		return true
	})
}
