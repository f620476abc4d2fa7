package evidence

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/gowhy/gowhy/internal/know/model"
	"github.com/gowhy/gowhy/internal/read/sourcefile"
)

// What stacks do not tell is written in the source: who holds a lock, who should receive
// from a channel, who could answer. Where the file that a frame names is on this machine
// and still is what the program was compiled from, as far as its calls tell, the function
// is read for that.

// maxGoSource bounds the files that are read.
const maxGoSource = 4 << 20

// A sourceReader reads functions beside stacks.
type sourceReader struct {
	set      *token.FileSet
	none     bool               // no file is read
	dirs     []string           // where the program ran, beside where this one does
	files    map[string]*goFile // nil for those that are not there
	holds    map[model.Frame][]heldLock
	packages map[string]*sourcePackage // by directory
	selects  map[model.Frame]*selection
}

type goFile struct {
	set       *token.FileSet
	file      *ast.File
	variables map[*ast.Ident]*variable
}

// sourceReader returns a reader of the files that stacks name, of which there are none where
// these are of elsewhere.
func (l *loader) sourceReader() *sourceReader {
	r := newSourceReader()
	r.none = l.opts.Elsewhere
	return r
}

func newSourceReader() *sourceReader {
	return &sourceReader{set: token.NewFileSet(), files: map[string]*goFile{}, holds: map[model.Frame][]heldLock{}, packages: map[string]*sourcePackage{}, selects: map[model.Frame]*selection{}}
}

// calls reports whether a frame's line calls the function above it, so that the file is
// what was compiled. What has no name of its own, like a function literal, may be
// called by anything, and a variable may call anything.
func (r *sourceReader) calls(f, callee model.Frame) bool {
	fn := r.function(f)
	if fn == nil {
		return false
	}
	_, name := model.SplitSymbol(callee.Func)
	name = strings.TrimSuffix(name[strings.LastIndexByte(name, '.')+1:], "[...]")
	found := strings.HasPrefix(name, "func") || strings.HasPrefix(callee.Func, "runtime.")
	ast.Inspect(fn.body, func(node ast.Node) bool {
		if call, ok := node.(*ast.CallExpr); ok && fn.line(call.Pos()) <= f.Line && fn.line(call.End()) >= f.Line {
			switch of := ast.Unparen(call.Fun).(type) {
			case *ast.SelectorExpr:
				found = found || of.Sel.Name == name
			case *ast.Ident:
				found = found || of.Name == name || name == "" || fn.variables[of] != nil || fn.global(of.Name)
			}
		}
		return !found
	})
	return found
}

// receiver returns the name of a method's receiver.
func (fn *goFunction) receiver() string {
	if r := fn.decl.Recv; r != nil && len(r.List) == 1 && len(r.List[0].Names) == 1 {
		return r.List[0].Names[0].Name
	}
	return ""
}

// A goFunction is a function of the source, or a literal in one.
type goFunction struct {
	*goFile
	pkg  string
	decl *ast.FuncDecl
	body *ast.BlockStmt
}

// function finds the one of a frame; nil when its file is not here or has another
// function around the line.
func (r *sourceReader) function(f model.Frame) *goFunction {
	g := r.file(f.File)
	if g == nil {
		return nil
	}
	pkg, name := model.SplitSymbol(f.Func)
	for _, d := range g.file.Decls {
		decl, ok := d.(*ast.FuncDecl)
		if !ok || decl.Body == nil || f.Line < g.set.Position(decl.Pos()).Line || f.Line > g.set.Position(decl.End()).Line {
			continue
		}
		parts := strings.FieldsFunc(model.WithoutTypes(name), func(r rune) bool { return r == '.' || r == '-' || r == '(' || r == ')' || r == '*' })
		if !slices.Contains(parts, decl.Name.Name) {
			return nil
		}
		fn := &goFunction{goFile: g, pkg: pkg, decl: decl, body: decl.Body}
		if strings.HasPrefix(parts[len(parts)-1], "func") || len(parts[len(parts)-1]) > 0 && parts[len(parts)-1][0] <= '9' {
			fn.innermost(f.Line)
		}
		return fn
	}
	return nil
}

// innermost makes it the innermost literal around a line.
func (fn *goFunction) innermost(line int) {
	ast.Inspect(fn.decl.Body, func(n ast.Node) bool {
		if lit, ok := n.(*ast.FuncLit); ok && fn.line(lit.Pos()) <= line && line <= fn.line(lit.End()) {
			fn.body = lit.Body
		}
		return true
	})
}

func (r *sourceReader) file(path string) *goFile {
	g, ok := r.files[path]
	if !ok {
		g = r.readGoFile(path)
		r.files[path] = g
	}
	return g
}

func (r *sourceReader) readGoFile(path string) *goFile {
	if r.none || !strings.HasSuffix(path, ".go") {
		return nil
	}
	here, _ := os.Getwd()
	for _, at := range sourcefile.Paths(path, "", append(r.dirs, here)...) {
		g, known := r.files[at] // one file is parsed once, whatever name it goes by
		if !known {
			g = parseGoFile(r.set, at)
			r.files[at] = g
		}
		if g != nil {
			return g
		}
	}
	return nil
}

func parseGoFile(set *token.FileSet, path string) *goFile {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxGoSource {
		return nil
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return nil
	}
	file, _ := parser.ParseFile(set, path, data, parser.SkipObjectResolution)
	if file == nil {
		return nil
	}
	return &goFile{set, file, variablesOf(file)}
}

// namedType returns a type as lock names have it; empty for one that has no name.
func namedType(pkg string, t ast.Expr) string {
	switch e := t.(type) {
	case *ast.StarExpr:
		return namedType(pkg, e.X)
	case *ast.IndexExpr:
		return namedType(pkg, e.X)
	case *ast.IndexListExpr:
		return namedType(pkg, e.X)
	case *ast.Ident:
		return pkg + "." + e.Name
	}
	return ""
}

// inBody visits what is run by a function itself, and not by literals in it.
func inBody(body ast.Node, visit func(ast.Node)) {
	ast.Inspect(body, func(n ast.Node) bool {
		if _, ok := n.(*ast.FuncLit); ok {
			return false
		}
		if n != nil {
			visit(n)
		}
		return true
	})
}

// code returns the body of a frame's function, which may be a literal outside of functions.
func (r *sourceReader) code(f model.Frame) (*goFile, *ast.BlockStmt) {
	if f.Line <= 0 || f.File == "" || model.IsStd(f.Func) {
		return nil, nil
	}
	g := r.file(f.File)
	if g == nil {
		return nil, nil
	}
	if fn := r.function(f); fn != nil {
		return g, fn.body
	}
	pkg, name := model.SplitSymbol(f.Func)
	if _, rest, ok := strings.Cut(name, "."); !ok || !strings.HasPrefix(name, "init.") && !strings.HasPrefix(rest, ".func") || g.file.Name.Name != pkg[strings.LastIndexByte(pkg, '/')+1:] {
		return nil, nil
	}
	var body *ast.BlockStmt
	ast.Inspect(g.file, func(n ast.Node) bool {
		if lit, ok := n.(*ast.FuncLit); ok && g.contains(lit, f.Line) {
			body = lit.Body
		}
		_, isFunc := n.(*ast.FuncDecl)
		return !isFunc
	})
	return g, body
}

func (g *goFile) line(p token.Pos) int { return g.set.Position(p).Line }

// contains reports whether a line is one of a node's.
func (g *goFile) contains(n ast.Node, line int) bool {
	return g.line(n.Pos()) <= line && line <= g.line(n.End())
}

func (g *goFile) imports(name string) bool {
	return slices.ContainsFunc(g.file.Imports, func(i *ast.ImportSpec) bool {
		path, _ := strconv.Unquote(i.Path.Value)
		return i.Name != nil && i.Name.Name == name || i.Name == nil && path[strings.LastIndexByte(path, '/')+1:] == name
	})
}

// fieldPath returns a variable and the fields of it that an expression is; of elements nobody
// knows which.
func fieldPath(x ast.Expr) (path string, root *ast.Ident) {
	for {
		switch e := x.(type) {
		case *ast.ParenExpr:
			x = e.X
		case *ast.StarExpr:
			x = e.X
		case *ast.SelectorExpr:
			path, x = "."+e.Sel.Name+path, e.X
		case *ast.Ident:
			return path, e
		default:
			return "", nil
		}
	}
}

func calledName(call *ast.CallExpr) string {
	fun := ast.Unparen(call.Fun)
	switch of := fun.(type) {
	case *ast.IndexExpr:
		fun = of.X
	case *ast.IndexListExpr:
		fun = of.X
	}
	switch of := fun.(type) {
	case *ast.SelectorExpr:
		return of.Sel.Name
	case *ast.Ident:
		return of.Name
	}
	return ""
}

// maxBeside bounds the files of a package that are read for one of its functions: what a large program has in one package
// are some hundreds with their tests, and of a part of it half of the names are unknown.
const maxBeside = 1000

// packageFiles returns the files of the package of one.
func (r *sourceReader) packageFiles(path string) (list []*goFile) {
	g := r.file(path)
	if g == nil {
		return nil
	}
	names, _ := filepath.Glob(filepath.Join(filepath.Dir(g.set.Position(g.file.Pos()).Filename), "*.go"))
	for _, name := range names[:min(len(names), maxBeside)] {
		if o := r.file(name); o != nil && o.file.Name.Name == g.file.Name.Name {
			list = append(list, o)
		}
	}
	return list
}

// lastName returns the last part of a variable or field.
func lastName(x ast.Expr) string {
	switch e := ast.Unparen(x).(type) {
	case *ast.SelectorExpr:
		return e.Sel.Name
	case *ast.Ident:
		return e.Name
	}
	return ""
}

// global reports whether a file declares a variable of its package of a name.
func (g *goFile) global(name string) bool {
	return slices.ContainsFunc(g.file.Decls, func(d ast.Decl) bool {
		general, ok := d.(*ast.GenDecl)
		return ok && general.Tok == token.VAR && slices.ContainsFunc(general.Specs, func(s ast.Spec) bool {
			v, ok := s.(*ast.ValueSpec)
			return ok && slices.ContainsFunc(v.Names, func(id *ast.Ident) bool { return id.Name == name })
		})
	})
}
