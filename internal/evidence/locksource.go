package evidence

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"slices"
	"strings"

	"github.com/gowhy/gowhy/internal/model"
	"github.com/gowhy/gowhy/internal/sourcefile"
)

// Who holds a lock is written in the source: a goroutine that stands between Lock and
// Unlock. Where the file that a frame names is on this machine and still is what the
// program was compiled from, as far as its calls tell, the function is read for that.

// maxLockSource bounds the files that are read.
const maxLockSource = 4 << 20

// A sourceReader reads functions beside stacks.
type sourceReader struct {
	files map[string]*goFile // nil for those that are not there
	holds map[model.Frame][]heldLock
}

type goFile struct {
	set  *token.FileSet
	file *ast.File
}

func newSourceReader() *sourceReader {
	return &sourceReader{files: map[string]*goFile{}, holds: map[model.Frame][]heldLock{}}
}

// A lockName is a lock as the source of a function names it.
type lockName struct {
	name     string
	global   bool // one variable of a package
	receiver bool // a part of the receiver
	deep     bool // behind a field of it, which may be a pointer
}

// A heldLock is one that a frame holds.
type heldLock struct {
	lockName
	frame  int // on the stack
	taken  model.Frame
	shared bool
}

// asked is the lock that a frame's line asks for.
func (r *sourceReader) asked(f model.Frame) (n lockName, ok bool) {
	fn := r.function(f)
	if fn == nil {
		return n, false
	}
	ast.Inspect(fn.body, func(node ast.Node) bool {
		if call, is := node.(*ast.CallExpr); is && fn.line(call.End()) == f.Line && !ok {
			if x, method := lockCall(call); method == "Lock" || method == "RLock" {
				n = fn.nameOf(x)
				ok = n.name != ""
			}
		}
		return !ok
	})
	return n, ok
}

// heldOn are the locks that the frames of a stack hold.
func (r *sourceReader) heldOn(frames []model.Frame) (held []heldLock) {
	for i, f := range frames {
		if f.Line <= 0 || f.File == "" || model.IsStd(f.Func) {
			continue
		}
		list, ok := r.holds[f]
		if !ok {
			list = r.heldAt(f)
			r.holds[f] = list
		}
		if len(list) == 0 || i > 0 && !r.calls(f, frames[i-1]) {
			continue
		}
		for _, h := range list {
			h.frame = i
			held = append(held, h)
		}
	}
	return held
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
				found = found || of.Name == name || name == "" || of.Obj != nil && of.Obj.Kind == ast.Var
			}
		}
		return !found
	})
	return found
}

// onReceiver reports whether all calls from a frame up to the one that asks for a lock are
// of methods of its own receiver, so that all are of one value.
func (r *sourceReader) onReceiver(frames []model.Frame, from int) bool {
	asks := model.Asker(frames)
	for i := from; i > asks; i-- {
		fn := r.function(frames[i])
		if fn == nil {
			return false
		}
		receiver, found := fn.receiver(), false
		_, callee := model.SplitSymbol(frames[i-1].Func)
		callee = callee[strings.LastIndexByte(callee, '.')+1:]
		ast.Inspect(fn.body, func(node ast.Node) bool {
			call, ok := node.(*ast.CallExpr)
			if !ok || fn.line(call.Pos()) > frames[i].Line || fn.line(call.End()) < frames[i].Line {
				return true
			}
			if sel, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr); ok && sel.Sel.Name == callee {
				id, ok := sel.X.(*ast.Ident)
				found = found || ok && receiver != "" && id.Name == receiver
			}
			return true
		})
		if !found {
			return false
		}
	}
	return asks >= 0 && from > asks
}

// receiver is the name of a method's receiver.
func (fn *goFunction) receiver() string {
	if r := fn.decl.Recv; r != nil && len(r.List) == 1 && len(r.List[0].Names) == 1 {
		return r.List[0].Names[0].Name
	}
	return ""
}

func (r *sourceReader) heldAt(f model.Frame) []heldLock {
	fn := r.function(f)
	if fn == nil {
		return nil
	}
	w := lockWalk{fn: fn, at: f}
	w.list(fn.body.List)
	return w.held
}

// A goFunction is a function of the source, or a literal in one.
type goFunction struct {
	pkg  string
	set  *token.FileSet
	decl *ast.FuncDecl
	body *ast.BlockStmt
}

func (fn *goFunction) line(p token.Pos) int { return fn.set.Position(p).Line }

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
		parts := strings.FieldsFunc(withoutTypes(name), func(r rune) bool { return r == '.' || r == '-' || r == '(' || r == ')' || r == '*' })
		if !slices.Contains(parts, decl.Name.Name) {
			return nil
		}
		fn := &goFunction{pkg: pkg, set: g.set, decl: decl, body: decl.Body}
		if strings.HasPrefix(parts[len(parts)-1], "func") || len(parts[len(parts)-1]) > 0 && parts[len(parts)-1][0] <= '9' {
			fn.innermost(f.Line)
		}
		return fn
	}
	return nil
}

// withoutTypes cuts type arguments out of a symbol.
func withoutTypes(name string) string {
	from, to := strings.IndexByte(name, '['), strings.LastIndexByte(name, ']')
	if from < 0 || to < from {
		return name
	}
	return name[:from] + name[to+1:]
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
		g = readGoFile(path)
		r.files[path] = g
	}
	return g
}

func readGoFile(path string) *goFile {
	if !strings.HasSuffix(path, ".go") {
		return nil
	}
	here, _ := os.Getwd()
	for _, at := range sourcefile.Paths(path, "", here) {
		if g := parseGoFile(at); g != nil {
			return g
		}
	}
	return nil
}

func parseGoFile(path string) *goFile {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxLockSource {
		return nil
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return nil
	}
	set := token.NewFileSet()
	file, _ := parser.ParseFile(set, path, data, 0)
	if file == nil {
		return nil
	}
	return &goFile{set, file}
}

// lockCall is what a call of a lock's method is called on, and the method.
func lockCall(call *ast.CallExpr) (x ast.Expr, method string) {
	sel, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr)
	if !ok || len(call.Args) > 0 {
		return nil, ""
	}
	switch sel.Sel.Name {
	case "Lock", "RLock", "Unlock", "RUnlock", "TryLock", "TryRLock":
		return sel.X, sel.Sel.Name
	}
	return nil, ""
}

// nameOf names a lock so that two functions call it the same: by the type that it is in,
// its package, or the function that it is a variable of.
func (fn *goFunction) nameOf(x ast.Expr) (n lockName) {
	path := ""
	for {
		switch e := x.(type) {
		case *ast.ParenExpr:
			x = e.X
		case *ast.StarExpr:
			x = e.X
		case *ast.UnaryExpr:
			x = e.X
		case *ast.IndexExpr:
			path, x = "[]"+path, e.X
		case *ast.SelectorExpr:
			path, x = "."+e.Sel.Name+path, e.X
		case *ast.Ident:
			return fn.variable(e.Name, path)
		default:
			return lockName{}
		}
	}
}

func (fn *goFunction) variable(name, path string) lockName {
	if fn.receiver() == name {
		if t := namedType(fn.pkg, fn.decl.Recv.List[0].Type); t != "" {
			return lockName{name: t + path, receiver: true, deep: strings.Count(path, ".") > 1}
		}
	}
	for _, p := range fn.decl.Type.Params.List {
		for _, id := range p.Names {
			switch t := namedType(fn.pkg, p.Type); {
			case id.Name != name:
			case t != "":
				return lockName{name: t + path}
			default:
				return lockName{name: fn.pkg + "." + fn.decl.Name.Name + "." + name + path}
			}
		}
	}
	if t, ok := fn.declared(name); ok {
		if t != "" && path != "" {
			return lockName{name: t + path}
		}
		return lockName{name: fn.pkg + "." + fn.decl.Name.Name + "." + name + path}
	}
	return lockName{name: fn.pkg + "." + name + path, global: !strings.Contains(path, "[]")}
}

// namedType is a type as lock names have it; empty for one that has no name.
func namedType(pkg string, t ast.Expr) string {
	switch e := t.(type) {
	case *ast.StarExpr:
		return namedType(pkg, e.X)
	case *ast.UnaryExpr:
		return namedType(pkg, e.X)
	case *ast.IndexExpr:
		return namedType(pkg, e.X)
	case *ast.IndexListExpr:
		return namedType(pkg, e.X)
	case *ast.CompositeLit:
		return namedType(pkg, e.Type)
	case *ast.Ident:
		return pkg + "." + e.Name
	}
	return ""
}

// declared reports whether a function declares a variable, and its type where that is
// written beside it.
func (fn *goFunction) declared(name string) (typ string, ok bool) {
	is := func(x ast.Expr) bool { id, isIdent := x.(*ast.Ident); return isIdent && id.Name == name }
	ast.Inspect(fn.decl.Body, func(n ast.Node) bool {
		switch s := n.(type) {
		case *ast.AssignStmt:
			if i := slices.IndexFunc(s.Lhs, is); s.Tok == token.DEFINE && i >= 0 {
				ok = true
				if len(s.Rhs) == len(s.Lhs) {
					if _, isCall := s.Rhs[i].(*ast.CallExpr); !isCall {
						if _, isIdent := s.Rhs[i].(*ast.Ident); !isIdent {
							typ = namedType(fn.pkg, s.Rhs[i])
						}
					}
				}
			}
		case *ast.RangeStmt:
			ok = ok || s.Tok == token.DEFINE && (s.Key != nil && is(s.Key) || s.Value != nil && is(s.Value))
		case *ast.ValueSpec:
			if slices.ContainsFunc(s.Names, func(id *ast.Ident) bool { return id.Name == name }) {
				ok = true
				if s.Type != nil {
					typ = namedType(fn.pkg, s.Type)
				}
			}
		case *ast.FuncLit:
			for _, p := range s.Type.Params.List {
				if slices.ContainsFunc(p.Names, func(id *ast.Ident) bool { return id.Name == name }) {
					ok, typ = true, namedType(fn.pkg, p.Type)
				}
			}
		}
		return true
	})
	return typ, ok
}

// A lockWalk goes through the statements of a function up to a line, and knows which
// locks are held there. Where a branch makes that uncertain it takes it as given back:
// whoever is named as a holder is one.
type lockWalk struct {
	fn   *goFunction
	at   model.Frame
	held []heldLock
}

// list goes through statements, and reports whether it came to the line.
func (w *lockWalk) list(stmts []ast.Stmt) bool {
	for _, s := range stmts {
		switch from, to := w.fn.line(s.Pos()), w.fn.line(s.End()); {
		case from > w.at.Line:
			return true
		case to >= w.at.Line:
			w.into(s)
			return true
		}
		w.past(s)
	}
	return false
}

// into goes to the line inside a statement.
func (w *lockWalk) into(s ast.Stmt) {
	switch s := s.(type) {
	case *ast.BlockStmt:
		w.list(s.List)
	case *ast.LabeledStmt:
		w.into(s.Stmt)
	case *ast.IfStmt:
		switch {
		case w.inside(s.Body):
			w.try(s.Cond, false)
			w.list(s.Body.List)
		case s.Else != nil && w.inside(s.Else):
			w.into(s.Else)
		}
	case *ast.ForStmt:
		w.body(s.Body)
	case *ast.RangeStmt:
		w.body(s.Body)
	case *ast.SwitchStmt:
		w.clauses(s.Body)
	case *ast.TypeSwitchStmt:
		w.clauses(s.Body)
	case *ast.SelectStmt:
		w.clauses(s.Body)
	}
}

func (w *lockWalk) inside(n ast.Node) bool {
	return w.fn.line(n.Pos()) < w.at.Line && w.at.Line <= w.fn.line(n.End())
}

func (w *lockWalk) body(b *ast.BlockStmt) {
	if w.inside(b) {
		w.list(b.List)
	}
}

func (w *lockWalk) clauses(b *ast.BlockStmt) {
	for _, c := range b.List {
		if !w.inside(c) {
			continue
		}
		switch c := c.(type) {
		case *ast.CaseClause:
			w.list(c.Body)
		case *ast.CommClause:
			w.list(c.Body)
		}
	}
}

// past takes a statement that is over.
func (w *lockWalk) past(s ast.Stmt) {
	switch s := s.(type) {
	case *ast.ExprStmt:
		if call, ok := s.X.(*ast.CallExpr); ok {
			w.call(call)
		}
		return
	case *ast.DeferStmt, *ast.GoStmt:
		return
	case *ast.BlockStmt:
		w.list(s.List)
		return
	case *ast.IfStmt:
		if ends(s.Body) {
			w.try(s.Cond, true)
			return
		}
	}
	ast.Inspect(s, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit, *ast.DeferStmt, *ast.GoStmt:
			return false
		case *ast.BlockStmt:
			return !ends(n)
		case *ast.CallExpr:
			if _, method := lockCall(n); strings.HasSuffix(method, "Unlock") {
				w.call(n)
			}
		}
		return true
	})
}

// ends reports whether a block leaves what is around it.
func ends(b *ast.BlockStmt) bool {
	if len(b.List) == 0 {
		return false
	}
	switch s := b.List[len(b.List)-1].(type) {
	case *ast.ReturnStmt, *ast.BranchStmt:
		return true
	case *ast.ExprStmt:
		call, ok := s.X.(*ast.CallExpr)
		if !ok {
			return false
		}
		id, ok := call.Fun.(*ast.Ident)
		return ok && id.Name == "panic"
	}
	return false
}

// try takes the lock of a condition that tries to: of one that is negated, behind it.
func (w *lockWalk) try(cond ast.Expr, negated bool) {
	if u, ok := cond.(*ast.UnaryExpr); ok && u.Op == token.NOT {
		negated, cond = !negated, u.X
	}
	if call, ok := ast.Unparen(cond).(*ast.CallExpr); ok && !negated {
		if x, method := lockCall(call); strings.HasPrefix(method, "Try") {
			w.take(x, call, method == "TryRLock")
		}
	}
}

func (w *lockWalk) call(call *ast.CallExpr) {
	x, method := lockCall(call)
	switch method {
	case "Lock", "RLock":
		w.take(x, call, method == "RLock")
	case "Unlock", "RUnlock":
		name, shared := w.fn.nameOf(x), method == "RUnlock"
		for i := len(w.held) - 1; i >= 0; i-- {
			if w.held[i].lockName == name && w.held[i].shared == shared {
				w.held = slices.Delete(w.held, i, i+1)
				return
			}
		}
	}
}

func (w *lockWalk) take(x ast.Expr, call *ast.CallExpr, shared bool) {
	if n := w.fn.nameOf(x); n.name != "" {
		w.held = append(w.held, heldLock{lockName: n, shared: shared, taken: model.Frame{Func: w.at.Func, File: w.at.File, Line: w.fn.line(call.Pos())}})
	}
}
