// Package pattern tells from source why work at a hot line is not necessary: a catalogue
// of code that has a cheaper equivalent.
//
// It hides what makes each of them valid: which expressions do not change in a loop, what
// a variable is used for besides, which types must be known. A match needs a line that is
// hot and the function that the cost is under, which stacks tell, so that a call in the
// source is known without the types of what is imported. What nobody can tell is no match.
// Its function is [Find]; [Types] gives it what types there are.
//
// pattern never reads a profile and never says what a finding is.
package pattern

import (
	"go/ast"
	"go/token"
	"go/types"
	"go/version"
	"slices"
	"strings"

	"github.com/gowhy/gowhy/internal/know/model"
)

// A Function is the source around hot lines.
type Function struct {
	Set   *token.FileSet
	Info  *types.Info
	Files []*ast.File    // of its package, and of others of its module that are known
	Decl  *ast.FuncDecl  // nil for a literal outside of functions
	Body  *ast.BlockStmt // its own, or that of the innermost literal
	Go    string         // version that it was built with, like "go1.26"; "" when not known
}

// Find says why what a line does is not necessary. The callee is the function that the cost
// is in or below, as stacks have it; "" is the line itself.
func Find(f *Function, line int, callee string) (model.Reason, bool) {
	callee = model.WithoutTypes(callee)
	if f.Body == nil {
		return model.Reason{}, false
	}
	for i := range catalogue {
		p := &catalogue[i]
		if !p.of(callee) {
			continue
		}
		s := &site{Function: f, line: line, callee: callee}
		if m := s.first(p.match); m != nil {
			r := model.Reason{Pattern: p.name, Line: s.lineOf(m.at.Pos()), Last: s.lineOf(m.at.End() - 1), What: shorten(m.at), Instead: m.instead}
			if m.around != nil {
				r.Line, r.Last = s.lineOf(m.around.Pos()), s.lineOf(m.around.End()-1)
			}
			if r.Through = m.through; len(r.Through) == 0 && callee == Allocation {
				r.Through = p.callees
			} else if len(r.Through) == 0 {
				r.Through = []string{callee}
			}
			if m.line {
				r.Line, r.Last = line, line
			}
			r.Alone = s.operators(r.Line, r.Last) == 1
			if m.maker != nil {
				at := s.Set.Position(m.at.Pos())
				r.Maker = model.Frame{Func: DeclaredName(m.maker), File: at.Filename, Line: at.Line}
			}
			return r, true
		}
	}
	return model.Reason{}, false
}

// DeclaredName returns a function's name without its package, as stacks have it.
func DeclaredName(decl *ast.FuncDecl) string {
	if decl.Recv == nil || len(decl.Recv.List) == 0 {
		return decl.Name.Name
	}
	recv := types.ExprString(decl.Recv.List[0].Type)
	if strings.HasPrefix(recv, "*") {
		recv = "(" + recv + ")"
	}
	return recv + "." + decl.Name.Name
}

// Allocation is the callee of a line at which a heap profile ends: what the compiler makes of
// an operator allocates there, by functions of the runtime which such a profile leaves out.
const Allocation = "(allocates)"

// of reports whether a pattern is about what a line has below it.
func (p *pattern) of(callee string) bool {
	return slices.ContainsFunc(p.callees, func(c string) bool {
		if callee == Allocation {
			return slices.Contains(allocators, c)
		}
		if c == ofPackage {
			return callee != "" && !model.IsStd(callee)
		}
		return c == callee || c != "" && strings.HasPrefix(callee, c)
	})
}

// allocators are the functions of operators that allocate.
var allocators = []string{
	"runtime.growslice", "runtime.concatstring", "runtime.slicebytetostring", "runtime.stringtoslicebyte",
	"runtime.stringtoslicerune", "runtime.mapassign", "runtime.deferproc", "runtime.makeslice",
}

// DeepCallees returns the functions that tell a pattern wherever they are below a line.
func DeepCallees() []string {
	return []string{flateWriter, flateReader, gobDescribes, gobReads, gobCompiles, replacerBuilds, drawsPixels, encodePixels}
}

// A match is what was found.
type match struct {
	at      ast.Node      // the expression, or the loop
	around  ast.Node      // that the reason is about, with more beside the expression; nil for the expression alone
	line    bool          // only the hot line of it is meant
	through []string      // nil is the callee
	maker   *ast.FuncDecl // of what the line uses and that should be kept, where it is not the line's own
	instead string
}

// A node is one of a function's with what is around it, outermost first.
type node struct {
	ast.Node
	path []ast.Node
}

// parent returns what is around a node, parentheses left out: 0 is nearest.
func (n node) parent(i int) ast.Node {
	for at := len(n.path) - 1; at >= 0; at-- {
		if _, ok := n.path[at].(*ast.ParenExpr); ok {
			continue
		}
		if i == 0 {
			return n.path[at]
		}
		i--
	}
	return nil
}

// outer returns the node around one.
func (n node) outer() node {
	last := len(n.path) - 1
	if last < 0 {
		return node{}
	}
	return node{n.path[last], n.path[:last]}
}

// A site is a hot line of a function.
type site struct {
	*Function
	line   int
	callee string
}

// siteIn returns another function of the program, as if the line were there.
func (s *site) siteIn(decl *ast.FuncDecl) *site {
	f := *s.Function
	f.Decl, f.Body = decl, decl.Body
	return &site{Function: &f, line: s.line, callee: s.callee}
}

// first returns the innermost match of a function on the line.
func (s *site) first(match func(*site, node) *match) *match {
	var path []ast.Node
	var found []node
	ast.Inspect(s.Body, func(n ast.Node) bool {
		if n == nil {
			path = path[:len(path)-1]
			return true
		}
		if _, ok := n.(*ast.FuncLit); ok || s.line < s.lineOf(n.Pos()) || s.line > s.lineOf(n.End()-1) {
			return false
		}
		found = append(found, node{n, slices.Clone(path)})
		path = append(path, n)
		return true
	})
	for _, n := range slices.Backward(found) {
		if m := match(s, n); m != nil {
			return m
		}
	}
	return nil
}

func (f *Function) lineOf(p token.Pos) int { return f.Set.Position(p).Line }

// call returns a node as the call that the stack shows.
func (s *site) call(n node) *ast.CallExpr {
	call, ok := n.Node.(*ast.CallExpr)
	if !ok {
		return nil
	}
	pkg, name := model.SplitSymbol(s.callee)
	if method := name[strings.LastIndexByte(name, '.')+1:]; method != name {
		sel, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr)
		if !ok || sel.Sel.Name != method || s.packageOf(sel.X) != "" {
			return nil
		}
		return call
	}
	if s.calls(call, pkg, name) {
		return call
	}
	return nil
}

// calls reports whether a call is of a function of an imported package.
func (f *Function) calls(call *ast.CallExpr, pkg string, names ...string) bool {
	fun := ast.Unparen(call.Fun)
	if x, ok := fun.(*ast.IndexExpr); ok {
		fun = x.X
	}
	sel, ok := fun.(*ast.SelectorExpr)
	return ok && f.packageOf(sel.X) == pkg && slices.Contains(names, sel.Sel.Name)
}

// packageOf returns the path of the package that an expression names.
func (f *Function) packageOf(x ast.Expr) string {
	if id, ok := x.(*ast.Ident); ok {
		if p, ok := f.Info.Uses[id].(*types.PkgName); ok {
			return p.Imported().Path()
		}
	}
	return ""
}

// builtin reports whether a call is of a function of the language.
func (f *Function) builtin(n ast.Node, name string) *ast.CallExpr {
	call, ok := n.(*ast.CallExpr)
	if !ok {
		return nil
	}
	id, ok := ast.Unparen(call.Fun).(*ast.Ident)
	if !ok || id.Name != name {
		return nil
	}
	if _, ok := f.Info.Uses[id].(*types.Builtin); !ok {
		return nil
	}
	return call
}

// conversion returns what is converted to a type of some kind; nil for any other call.
func (f *Function) conversion(n ast.Node, to func(types.Type) bool) ast.Expr {
	call, ok := n.(*ast.CallExpr)
	if !ok || len(call.Args) != 1 || !f.Info.Types[call.Fun].IsType() || !to(f.typ(call)) {
		return nil
	}
	return call.Args[0]
}

// typ returns the type of an expression; nil when not known.
func (f *Function) typ(x ast.Expr) types.Type {
	t := f.Info.TypeOf(x)
	if t == nil || t == types.Typ[types.Invalid] {
		return nil
	}
	return t
}

func isString(t types.Type) bool {
	b, ok := underlying(t).(*types.Basic)
	return ok && b.Info()&types.IsString != 0
}

func isBytes(t types.Type) bool {
	s, ok := underlying(t).(*types.Slice)
	if !ok {
		return false
	}
	b, ok := underlying(s.Elem()).(*types.Basic)
	return ok && b.Kind() == types.Uint8
}

func isBasic(t types.Type) bool {
	b, ok := underlying(t).(*types.Basic)
	return ok && b.Kind() != types.Invalid && b.Kind() != types.UnsafePointer
}

func isMap(t types.Type) bool {
	_, ok := underlying(t).(*types.Map)
	return ok
}

func underlying(t types.Type) types.Type {
	if t == nil {
		return nil
	}
	return t.Underlying()
}

// constant reports whether an expression is one.
func (f *Function) constant(x ast.Expr) bool { return f.Info.Types[x].Value != nil }

// is reports whether an expression is the constant of some source.
func (f *Function) is(x ast.Expr, value string) bool {
	v := f.Info.Types[x].Value
	return v != nil && v.ExactString() == value
}

// variable returns the variable that an expression is, nil for any other.
func (f *Function) variable(x ast.Expr) *types.Var {
	id, ok := ast.Unparen(x).(*ast.Ident)
	if !ok {
		return nil
	}
	v, _ := f.Info.ObjectOf(id).(*types.Var)
	return v
}

// local reports whether a variable is one of a function.
func local(v *types.Var) bool {
	return v != nil && !v.IsField() && v.Pkg() != nil && v.Parent() != v.Pkg().Scope()
}

// since reports whether the program was built with a version of Go or a later one.
func (f *Function) since(v string) bool { return f.Go != "" && version.Compare(f.Go, v) >= 0 }

// code returns the declaration around the line, with all of its literals.
func (f *Function) code() ast.Node {
	if f.Decl != nil {
		return f.Decl
	}
	return f.Body
}

// uses calls with each use of a variable, and reports whether all are as wanted.
func (f *Function) uses(v *types.Var, in ast.Node, want func(node) bool) (n int, ok bool) {
	var path []ast.Node
	ok = true
	ast.Inspect(in, func(x ast.Node) bool {
		if x == nil {
			path = path[:len(path)-1]
			return true
		}
		if id, is := x.(*ast.Ident); is && f.Info.Uses[id] == v {
			n++
			ok = ok && want(node{x, slices.Clone(path)})
		}
		path = append(path, x)
		return true
	})
	return n, ok
}

// isWritten reports whether a variable may change in some code: by a value given to it, or
// because its address is taken.
func (f *Function) isWritten(v *types.Var, in ast.Node) (found bool) {
	ast.Inspect(in, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			found = found || slices.ContainsFunc(n.Lhs, func(x ast.Expr) bool { return f.refersTo(x, v) })
		case *ast.IncDecStmt:
			found = found || f.refersTo(n.X, v)
		case *ast.RangeStmt:
			found = found || n.Key != nil && f.refersTo(n.Key, v) || n.Value != nil && f.refersTo(n.Value, v)
		case *ast.UnaryExpr:
			found = found || n.Op == token.AND && f.refersTo(n.X, v)
		}
		return !found
	})
	return found
}

// refersTo reports whether an expression is a variable or a field, or a part of it.
func (f *Function) refersTo(x ast.Expr, v *types.Var) bool {
	for {
		switch e := ast.Unparen(x).(type) {
		case *ast.Ident:
			return f.Info.ObjectOf(e) == v
		case *ast.SelectorExpr:
			if f.Info.Uses[e.Sel] == v {
				return true
			}
			x = e.X
		case *ast.IndexExpr:
			x = e.X
		case *ast.StarExpr:
			x = e.X
		default:
			return false
		}
	}
}

// isInvariant reports whether an expression is a value of a basic type that does not change in a
// loop: constants, variables of the function that are not written there nor in a
// literal, and fields that nothing in the package writes.
func (f *Function) isInvariant(x ast.Expr, loop ast.Node) bool {
	if f.constant(x) {
		return true
	}
	if !isBasic(f.typ(x)) {
		return false
	}
	switch e := ast.Unparen(x).(type) {
	case *ast.Ident:
		return f.isUnchanged(f.variable(e), loop)
	case *ast.BinaryExpr:
		return f.isInvariant(e.X, loop) && f.isInvariant(e.Y, loop)
	case *ast.SelectorExpr:
		field, ok := f.Info.Uses[e.Sel].(*types.Var)
		if !ok || !field.IsField() || slices.ContainsFunc(f.Files, func(file *ast.File) bool { return f.isWritten(field, file) }) {
			return false
		}
		return f.stillRoot(e.X, loop)
	}
	return false
}

// stillRoot reports whether what a field is of is the same value all through a loop, and
// nobody there is given it to fill.
func (f *Function) stillRoot(x ast.Expr, loop ast.Node) bool {
	for {
		sel, ok := ast.Unparen(x).(*ast.SelectorExpr)
		if !ok {
			break
		}
		x = sel.X
	}
	v := f.variable(x)
	if !local(v) || isInside(v, loop) {
		return false
	}
	_, ok := f.uses(v, f.code(), func(u node) bool {
		_, part := u.parent(0).(*ast.SelectorExpr)
		return part || !isInside(u, loop)
	})
	return ok
}

type positioned interface{ Pos() token.Pos }

// isInside reports whether something is declared or used in a node.
func isInside(x positioned, n ast.Node) bool { return n.Pos() <= x.Pos() && x.Pos() < n.End() }

// isUnchanged reports whether a variable of the function is the same all through a loop.
func (f *Function) isUnchanged(v *types.Var, loop ast.Node) bool {
	if !local(v) || isInside(v, loop) || f.isWritten(v, loop) {
		return false
	}
	literals := false
	ast.Inspect(f.code(), func(n ast.Node) bool {
		if lit, ok := n.(*ast.FuncLit); ok && lit.Body != f.Body {
			literals = literals || f.isWritten(v, lit)
		}
		return true
	})
	return !literals
}

// loops returns those around a node in its function, innermost first. The loop of a benchmark
// is none: it does the same again on purpose.
func (s *site) loops(n node) (list []ast.Stmt) {
	if strings.HasSuffix(s.Set.Position(s.Body.Pos()).Filename, "_test.go") {
		return nil
	}
	inner := n.Node
	for i := len(n.path) - 1; i >= 0; i-- {
		switch l := n.path[i].(type) {
		case *ast.ForStmt:
			if inner != l.Init {
				list = append(list, l)
			}
		case *ast.RangeStmt:
			if inner == l.Body {
				list = append(list, l)
			}
		}
		inner = n.path[i]
	}
	return list
}

// loop returns the innermost of them in which a node is reached more than once, nil when there
// is none.
func (s *site) loop(n node) ast.Stmt {
	for _, l := range s.loops(n) {
		if !leaves(n, l) {
			return l
		}
	}
	return nil
}

// leaves reports whether a block between a loop and a node ends by leaving the loop.
func leaves(n node, loop ast.Stmt) bool {
	for i := len(n.path) - 1; i >= 0 && n.path[i] != loop; i-- {
		var list []ast.Stmt
		switch b := n.path[i].(type) {
		case *ast.BlockStmt:
			list = b.List
		case *ast.CaseClause:
			list = b.Body
		case *ast.CommClause:
			list = b.Body
		}
		if LeavesLoop(list) {
			return true
		}
	}
	return false
}

// LeavesLoop reports whether statements of a loop end by leaving it.
func LeavesLoop(list []ast.Stmt) bool {
	if len(list) == 0 {
		return false
	}
	switch last := list[len(list)-1].(type) {
	case *ast.ReturnStmt:
		return true
	case *ast.BranchStmt:
		return last.Tok == token.BREAK || last.Tok == token.GOTO
	case *ast.ExprStmt:
		call, ok := last.X.(*ast.CallExpr)
		return ok && types.ExprString(call.Fun) == "panic"
	}
	return false
}

// longestText is how much of an expression a sentence has room for.
const longestText = 60

// shorten returns a node's text; of a loop what it walks over.
func shorten(n ast.Node) string {
	text := ""
	switch n := n.(type) {
	case ast.Expr:
		text = types.ExprString(n)
	case *ast.AssignStmt:
		text = types.ExprString(n.Lhs[0]) + " " + n.Tok.String() + " " + types.ExprString(n.Rhs[0])
	case *ast.RangeStmt:
		text = "range " + types.ExprString(n.X)
	case *ast.ForStmt:
		text = "for"
		if n.Cond != nil {
			text += " " + types.ExprString(n.Cond)
		}
	case *ast.DeferStmt:
		text = "defer " + types.ExprString(n.Call)
	case *ast.ExprStmt:
		text = types.ExprString(n.X)
	}
	text = strings.Join(strings.Fields(text), " ") // of several lines
	if r := []rune(text); len(r) > longestText {
		return string(r[:longestText-1]) + "…"
	}
	return text
}
