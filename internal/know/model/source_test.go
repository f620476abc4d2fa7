package model

import (
	"go/ast"
	"go/parser"
	"go/token"
	"strconv"
	"testing"
)

// TestSources holds that each constant of a source has its line in the table.
func TestSources(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), "source.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	ast.Inspect(file, func(node ast.Node) bool {
		spec, ok := node.(*ast.ValueSpec)
		if !ok || len(spec.Values) != 1 {
			return true
		}
		literal, ok := spec.Values[0].(*ast.BasicLit)
		if !ok {
			return true
		}
		name, err := strconv.Unquote(literal.Value)
		if err != nil {
			t.Fatal(err)
		}
		n++
		if s := Source(name); !s.Known() || s.Words() == name || (lineOf(s).profile == nil) == (lineOf(s).present == nil) {
			t.Errorf("source %s is not in the table with its words and one way to see whether a model has it", name)
		} else if new(Model).Has(s) {
			t.Errorf("an empty model has %s, want nothing", s)
		}
		return true
	})
	recorded := map[string]bool{}
	for _, s := range Sources() {
		name := s.Recorded()
		if name != "" && recorded[name] {
			t.Errorf("%s is recorded under the name of another source, %s", s, name)
		}
		if recorded[name] = true; name == "" && s.By() == ByKernel {
			t.Errorf("%s is of the kernel, which only a recording has, and has no name there", s)
		}
	}
	if n != len(sources) {
		t.Errorf("%d sources in the table, want the %d that are declared", len(sources), n)
	}
}
