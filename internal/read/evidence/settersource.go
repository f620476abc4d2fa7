package evidence

import (
	"bytes"
	"cmp"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/gowhy/gowhy/internal/know/model"
	"github.com/gowhy/gowhy/internal/read/pattern"
	"github.com/gowhy/gowhy/internal/read/sourcefile"
)

// What a program sets of the runtime itself it sets once, so that no profile shows where: its source does.

// maxSetterFiles and maxSetterBytes bound what is read of a program's own module.
const (
	maxSetterFiles = 4000
	maxSetterBytes = 32 << 20
)

// A setterFunction is one of the standard library that sets what a variable of the environment sets, too. Where it
// asks, a number below one sets nothing.
type setterFunction struct {
	pkg, name, variable string
	asks                bool
}

var setterFunctions = []setterFunction{
	{"runtime/debug", "SetMemoryLimit", "GOMEMLIMIT", true},
	{"runtime/debug", "SetGCPercent", "GOGC", false},
	{"runtime", "GOMAXPROCS", "GOMAXPROCS", true},
}

// joinSetters finds where the source of the main module sets these.
func (l *loader) joinSetters() {
	if l.opts.NoSource || l.opts.Elsewhere || l.m.Build == nil {
		return
	}
	if m := l.mainModule(); m != nil {
		l.m.Setters = settersBelow(m, l.m.Build.Path)
	}
}

// mainModule returns the module of the main package as it is on this machine; nil where no stack leads to it.
func (l *loader) mainModule() *sourcefile.Module {
	seen := map[string]bool{}
	for s := range model.Stack(l.m.Stacks.Len()) {
		for _, f := range l.m.Stacks.Frames(s) {
			if dir := filepath.Dir(f.File); !model.IsStd(f.Func) && filepath.IsAbs(f.File) && !seen[dir] {
				seen[dir] = true
				if m := sourcefile.ModuleAround(dir); m != nil && m.Path == l.m.Build.Module {
					return m
				}
			}
		}
	}
	return nil
}

// settersBelow reads the files of a module, of its commands those of the one at a path.
func settersBelow(m *sourcefile.Module, command string) (found []model.Setter) {
	files, size := 0, int64(0)
	_ = filepath.WalkDir(m.Root, func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return nil // what cannot be read tells nothing
		case d.IsDir():
			if base := d.Name(); name != m.Root && (base == "testdata" || base == "vendor" || base[0] == '.' || base[0] == '_' || isRoot(name)) {
				return fs.SkipDir
			}
			return nil
		case !d.Type().IsRegular() || filepath.Ext(name) != ".go" || strings.HasSuffix(name, "_test.go"):
			return nil
		}
		text, err := os.ReadFile(name)
		if err != nil {
			return nil
		}
		if files, size = files+1, size+int64(len(text)); files > maxSetterFiles || size > maxSetterBytes {
			return fs.SkipAll
		}
		if slices.ContainsFunc(setterFunctions, func(s setterFunction) bool { return bytes.Contains(text, []byte("."+s.name+"(")) }) {
			rel, _ := filepath.Rel(m.Root, filepath.Dir(name))
			found = append(found, settersIn(name, text, path.Join(m.Path, filepath.ToSlash(rel)), command)...)
		}
		return nil
	})
	slices.SortFunc(found, func(a, b model.Setter) int {
		return cmp.Or(cmp.Compare(a.Variable, b.Variable), cmp.Compare(a.At.File, b.At.File), cmp.Compare(a.At.Line, b.At.Line))
	})
	return found
}

// isRoot reports whether a folder is a module of its own.
func isRoot(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, "go.mod"))
	return err == nil
}

// settersIn returns the calls in a file of a package; of another command than the program's there are none.
func settersIn(name string, text []byte, pkg, command string) (found []model.Setter) {
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, name, text, parser.SkipObjectResolution)
	if err != nil {
		return nil
	}
	if file.Name.Name == "main" {
		if pkg != command {
			return nil
		}
		pkg = "main"
	}
	for _, d := range file.Decls {
		decl, ok := d.(*ast.FuncDecl)
		if !ok || decl.Body == nil {
			continue
		}
		ast.Inspect(decl.Body, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok || len(call.Args) != 1 {
				return true
			}
			sel, ok := call.Fun.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			of, ok := sel.X.(*ast.Ident)
			if !ok {
				return true
			}
			for _, s := range setterFunctions {
				if s.name == sel.Sel.Name && !(s.asks && belowOne(call.Args[0])) && imports(file, of.Name) == s.pkg {
					found = append(found, model.Setter{Variable: s.variable, At: model.Frame{
						Func: pkg + "." + pattern.DeclaredName(decl), File: name, Line: set.Position(call.Pos()).Line,
					}})
				}
			}
			return true
		})
	}
	return found
}

// belowOne reports whether an expression is a number below one.
func belowOne(x ast.Expr) bool {
	if u, ok := x.(*ast.UnaryExpr); ok && u.Op == token.SUB {
		return true
	}
	lit, ok := x.(*ast.BasicLit)
	return ok && lit.Value == "0"
}

// imports returns the package that a file has under a name; "" for none.
func imports(file *ast.File, name string) string {
	for _, spec := range file.Imports {
		of, err := strconv.Unquote(spec.Path.Value)
		if err == nil && (spec.Name == nil && path.Base(of) == name || spec.Name != nil && spec.Name.Name == name) {
			return of
		}
	}
	return ""
}
