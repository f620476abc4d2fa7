package evidence

import (
	"go/ast"
	"go/parser"
	"go/token"
	"testing"
)

// TestVariables: a name means what the innermost block around it declares before it.
func TestVariables(t *testing.T) {
	const program = `package p

var all, x = 1, func() int { y := 2; return use(y) }

func (r *t) f(a int) (named int) {
	use(all, r, a, named)
	x := use(x)
	if x := x; x > 0 {
		use(x)
	} else {
		use(x)
	}
	for i, x := range x {
		use(i, x)
	}
	go func(a int) { use(a, x) }(x)
	use(t{x: a}.x, fmt.x)
	x, z := 1, 2
	use(x, z)
	var v, w = z, v
	switch x := w.(type) {
	case int:
		use(x)
	}
	{
		late := 1
		use(late)
	}
	use(late)
}
`
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, "p.go", program, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	type use struct {
		name string
		line int
	}
	uses := map[use]int{} // the line that declares it, 0 for none
	of := variablesOf(file)
	ast.Inspect(file, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok {
			return true
		}
		for _, x := range call.Args {
			if id, ok := x.(*ast.Ident); ok {
				at := 0
				if v := of[id]; v != nil {
					at = set.Position(v.name.Pos()).Line
				}
				uses[use{id.Name, set.Position(id.Pos()).Line}] = at
			}
		}
		return true
	})
	for u, want := range map[use]int{
		{"y", 3}: 3, {"all", 6}: 0, {"r", 6}: 5, {"a", 6}: 5, {"named", 6}: 5, {"x", 7}: 0, {"x", 9}: 8, {"x", 11}: 8,
		{"i", 14}: 13, {"x", 14}: 13, {"a", 16}: 16, {"x", 16}: 7, {"x", 19}: 7, {"z", 19}: 18, {"x", 23}: 21, {"late", 27}: 26, {"late", 29}: 0,
	} {
		if got, ok := uses[u]; !ok || got != want {
			t.Errorf("%s in line %d is declared in line %d (used: %t), want %d", u.name, u.line, got, ok, want)
		}
	}
}
