package pattern

import (
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"github.com/gowhy/gowhy/internal/know/model"
)

// What is made again although it could be kept.

// repeatedCall matches a call that the function has made before with the same arguments, in
// code that is done whenever this one is.
func (s *site) repeatedCall(n node) *match {
	call := s.pureCall(n)
	if call == nil {
		call = s.queryAgain(n)
	}
	if call == nil || !s.readOnly(n) {
		return nil
	}
	for _, x := range call.Args {
		if !s.constant(x) && !s.neverChanges(x) {
			return nil
		}
	}
	if sel, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr); !ok || s.packageOf(sel.X) == "" && !s.neverChanges(sel.X) {
		return nil
	}
	text := types.ExprString(call)
	earlier := func(x ast.Node) bool { return s.madeAlways(x, call, text) }
	if !s.before(n, earlier) {
		return nil
	}
	return s.whole(call)
}

// madeAlways reports whether code makes a call with the text of another one whenever it is done.
func (s *site) madeAlways(x ast.Node, call *ast.CallExpr, text string) (found bool) {
	ast.Inspect(x, func(x ast.Node) bool {
		if _, literal := x.(*ast.FuncLit); literal || found {
			return false
		}
		if b, ok := x.(*ast.BinaryExpr); ok && (b.Op == token.LAND || b.Op == token.LOR) {
			found = s.madeAlways(b.X, call, text) // what is behind may not be done
			return false
		}
		found = s.sameCall(x, call, text)
		return !found
	})
	return found
}

// sameCall reports whether a node is another call with the text of one.
func (s *site) sameCall(x ast.Node, call *ast.CallExpr, text string) bool {
	other, ok := x.(*ast.CallExpr)
	if !ok || other == call || types.ExprString(other) != text {
		return false
	}
	same := true
	for i, arg := range call.Args {
		if v := s.variable(arg); v != nil {
			same = same && v == s.variable(other.Args[i])
		}
	}
	return same
}

// queryAgain returns a node as r.URL.Query(), which takes a query apart.
func (s *site) queryAgain(n node) *ast.CallExpr {
	if s.callee != "net/url.(*URL).Query" {
		return nil
	}
	return s.call(n)
}

// readOnly reports whether nobody can change a call's result: it is a value, or only an
// element or a method of it is wanted.
func (s *site) readOnly(n node) bool {
	if x, ok := n.Node.(ast.Expr); ok && isBasic(s.typ(x)) {
		return true
	}
	switch up := n.parent(0).(type) {
	case *ast.IndexExpr:
		set, ok := n.outer().parent(0).(*ast.AssignStmt)
		return up.X == n.Node && (!ok || !slices.Contains(set.Lhs, ast.Expr(up)))
	case *ast.SelectorExpr:
		return up.Sel.Name == "Get" || up.Sel.Name == "Has"
	}
	return s.builtin(n.parent(0), "len") != nil
}

// neverChanges reports whether an expression is a variable of the function that gets no other
// value than its first, or a field of one that the function does not write.
func (s *site) neverChanges(x ast.Expr) bool {
	if sel, ok := ast.Unparen(x).(*ast.SelectorExpr); ok {
		field, ok := s.Info.Uses[sel.Sel].(*types.Var)
		return ok && field.IsField() && !isBasic(s.typ(x)) && !s.isWritten(field, s.code()) && s.neverChanges(sel.X)
	}
	v := s.variable(x)
	return local(v) && !s.rewritten(v, s.code()) && !s.counts(v)
}

// counts reports whether a variable is stepped by i++, or by a loop.
func (s *site) counts(v *types.Var) (found bool) {
	ast.Inspect(s.code(), func(n ast.Node) bool {
		step, ok := n.(*ast.IncDecStmt)
		found = found || ok && s.variable(step.X) == v
		r, ok := n.(*ast.RangeStmt)
		found = found || ok && r.Tok == token.ASSIGN && (r.Key != nil && s.variable(r.Key) == v || r.Value != nil && s.variable(r.Value) == v)
		return !found
	})
	return found
}

// before reports whether something is in code that is always done before a node, in the same
// round of each loop.
func (s *site) before(n node, has func(ast.Node) bool) bool {
	for i := len(n.path) - 1; i >= 0; i-- {
		var list []ast.Stmt
		switch at := n.path[i].(type) {
		case *ast.FuncLit:
			return false
		case *ast.BlockStmt:
			list = at.List
		case *ast.CaseClause:
			list = at.Body
		case *ast.CommClause:
			list = at.Body
		case *ast.IfStmt:
			if n.Pos() > at.Cond.End() && (has(at.Cond) || at.Init != nil && has(at.Init)) {
				return true
			}
		case *ast.SwitchStmt:
			if at.Tag != nil && n.Pos() > at.Tag.End() && has(at.Tag) {
				return true
			}
		}
		for _, stmt := range list {
			if stmt.End() > n.Pos() {
				break
			}
			if slices.ContainsFunc(alwaysDone(stmt), has) {
				return true
			}
		}
	}
	return false
}

// alwaysDone returns the parts of a statement that are done whenever it is.
func alwaysDone(stmt ast.Stmt) (parts []ast.Node) {
	switch at := stmt.(type) {
	case *ast.AssignStmt, *ast.ExprStmt, *ast.DeclStmt, *ast.SendStmt:
		return []ast.Node{at}
	case *ast.IfStmt:
		if parts = []ast.Node{at.Cond}; at.Init != nil {
			parts = append(parts, at.Init)
		}
	case *ast.SwitchStmt:
		if at.Tag != nil {
			parts = []ast.Node{at.Tag}
		}
	case *ast.RangeStmt:
		parts = []ast.Node{at.X}
	}
	return parts
}

// fewestKept is the number of elements from which making a map is worth a word.
const fewestKept = 3

// mapPerCall matches a map of constants that a function makes to look something up.
func (s *site) mapPerCall(n node) *match {
	lit, ok := n.Node.(*ast.CompositeLit)
	if !ok || !isMap(s.typ(lit)) || len(lit.Elts) < fewestKept || s.runsOnce(n) || !s.fixedParts(lit) {
		return nil
	}
	looks := func(u node) bool {
		if s.builtin(u.parent(0), "len") != nil {
			return true
		}
		if r, ok := u.parent(0).(*ast.RangeStmt); ok && r.X == u.Node {
			return isBasic(underlying(s.typ(lit)).(*types.Map).Elem())
		}
		index, ok := u.parent(0).(*ast.IndexExpr)
		if !ok || index.X != u.Node || !isBasic(s.typ(index)) {
			return false
		}
		set, ok := u.outer().parent(0).(*ast.AssignStmt)
		return !ok || !slices.Contains(set.Lhs, ast.Expr(index))
	}
	if !looks(n) && !s.isOnlyValue(n, looks) {
		return nil
	}
	return &match{at: lit, through: []string{"runtime.mapassign", "runtime.makemap", "runtime.mapinit", "internal/runtime/maps."}}
}

// fixedParts reports whether a literal has nothing but constants.
func (s *site) fixedParts(lit *ast.CompositeLit) bool {
	for _, x := range lit.Elts {
		pair, ok := x.(*ast.KeyValueExpr)
		if !ok || !s.constant(pair.Key) || !s.constant(pair.Value) {
			return false
		}
	}
	return true
}

// formatNow matches the time of now as text that has no parts of seconds.
func (s *site) formatNow(n node) *match {
	call := s.call(n)
	if call == nil || len(call.Args) != 1 {
		return nil
	}
	layout := s.Info.Types[call.Args[0]].Value
	if layout == nil || layout.Kind() != constant.String || slices.ContainsFunc([]string{".0", ",0", ".9", ",9"}, func(part string) bool {
		return strings.Contains(constant.StringVal(layout), part)
	}) {
		return nil
	}
	sel, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr)
	if !ok || !s.isNow(sel.X) {
		return nil
	}
	return s.whole(call)
}

// isNow reports whether an expression is time.Now(), brought to a zone or not.
func (s *site) isNow(x ast.Expr) bool {
	call, ok := ast.Unparen(x).(*ast.CallExpr)
	if !ok {
		return false
	}
	if s.calls(call, "time", "Now") {
		return true
	}
	sel, ok := call.Fun.(*ast.SelectorExpr)
	return ok && slices.Contains([]string{"UTC", "Local", "In"}, sel.Sel.Name) && s.isNow(sel.X)
}

// maxPureDepth bounds how far calls are followed to know whether a function only computes.
const maxPureDepth = 4

// ownCall returns a node as the call of a function of the same package that the stack shows,
// with its declaration.
func (s *site) ownCall(n node) (*ast.CallExpr, *ast.FuncDecl) {
	call, ok := n.Node.(*ast.CallExpr)
	if !ok {
		return nil, nil
	}
	id, ok := ast.Unparen(call.Fun).(*ast.Ident)
	if _, name := model.SplitSymbol(s.callee); !ok || id.Name != name {
		return nil, nil
	}
	decl := s.declared(id)
	if decl == nil {
		return nil, nil
	}
	return call, decl
}

// declared returns the declaration of a function of the program.
func (f *Function) declared(id *ast.Ident) *ast.FuncDecl {
	fn, ok := f.Info.Uses[id].(*types.Func)
	if !ok {
		return nil
	}
	fn = fn.Origin()
	for _, file := range f.Files {
		for _, d := range file.Decls {
			if decl, ok := d.(*ast.FuncDecl); ok && f.Info.Defs[decl.Name] == fn {
				return decl
			}
		}
	}
	return nil
}

// computes reports whether a function does nothing but compute values of basic types from
// values of basic types: it writes nothing but its variables, and reads nothing of the package
// that anybody writes.
func (f *Function) computes(decl *ast.FuncDecl, depth int) bool {
	if depth > maxPureDepth || decl.Recv != nil || decl.Body == nil || decl.Type.Results == nil || decl.Type.TypeParams != nil {
		return false
	}
	fn, ok := f.Info.Defs[decl.Name].(*types.Func)
	if !ok {
		return false
	}
	signature := fn.Type().(*types.Signature)
	for _, list := range []*types.Tuple{signature.Params(), signature.Results()} {
		for v := range list.Variables() {
			if !isBasic(v.Type()) {
				return false
			}
		}
	}
	pureOnly := true
	ast.Inspect(decl.Body, func(n ast.Node) bool {
		pureOnly = pureOnly && f.onlyComputes(n, decl, depth)
		return pureOnly
	})
	return pureOnly
}

// onlyComputes is computes of one node.
func (f *Function) onlyComputes(n ast.Node, decl *ast.FuncDecl, depth int) bool {
	switch n := n.(type) {
	case *ast.GoStmt, *ast.DeferStmt, *ast.SelectStmt, *ast.SendStmt, *ast.FuncLit, *ast.StarExpr, *ast.LabeledStmt:
		return false
	case *ast.UnaryExpr:
		return n.Op != token.ARROW && n.Op != token.AND
	case *ast.AssignStmt:
		return !slices.ContainsFunc(n.Lhs, func(x ast.Expr) bool { return !f.localTarget(x, decl) })
	case *ast.IncDecStmt:
		return f.localTarget(n.X, decl)
	case *ast.Ident:
		v, ok := f.Info.Uses[n].(*types.Var)
		if !ok || v.IsField() || isInside(v, decl) {
			return true
		}
		return v.Pkg() != nil && !slices.ContainsFunc(f.Files, func(file *ast.File) bool { return f.isWritten(v, file) })
	case *ast.CallExpr:
		return f.pureCallee(n, decl, depth)
	}
	return true
}

// localTarget reports whether writing to an expression changes nothing but a variable of a
// function: the variable itself, or an element of an array of it.
func (f *Function) localTarget(x ast.Expr, decl *ast.FuncDecl) bool {
	if id, ok := x.(*ast.Ident); ok && id.Name == "_" {
		return true
	}
	if index, ok := ast.Unparen(x).(*ast.IndexExpr); ok {
		if _, array := underlying(f.typ(index.X)).(*types.Array); !array {
			return false
		}
		x = index.X
	}
	v := f.variable(x)
	return local(v) && isInside(v, decl)
}

func (f *Function) pureCallee(call *ast.CallExpr, decl *ast.FuncDecl, depth int) bool {
	if f.Info.Types[call.Fun].IsType() {
		return true
	}
	if slices.ContainsFunc([]string{"len", "cap", "min", "max", "make", "append"}, func(name string) bool { return f.builtin(call, name) != nil }) {
		return true
	}
	id := last(call.Fun)
	if sel, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr); ok {
		switch pkg := f.packageOf(sel.X); {
		case pkg == "math", pkg == "math/bits", pkg == "unicode", pkg == "unicode/utf8", slices.Contains(pure[pkg], sel.Sel.Name):
			return true
		case pkg == "":
			return false // a method
		}
	}
	if id == nil {
		return false
	}
	other := f.declared(id)
	return other != nil && (other == decl || f.computes(other, depth+1))
}

// recursionAgain matches a function that calls itself more than once for smaller numbers, and
// keeps nothing of what it computes.
func (s *site) recursionAgain(n node) *match {
	call, decl := s.ownCall(n)
	if call == nil || decl != s.Decl || s.Body != decl.Body || !s.computes(decl, 0) {
		return nil
	}
	if !slices.ContainsFunc(call.Args, s.countsDown) || slices.ContainsFunc(call.Args, func(x ast.Expr) bool { return !s.isNumber(x) }) {
		return nil
	}
	calls := 0
	top := node{}
	for at := n; at.Node != nil; at = at.outer() {
		if _, ok := at.Node.(ast.Stmt); ok {
			top = at
			break
		}
	}
	if top.Node == nil {
		return nil
	}
	ast.Inspect(top.Node, func(x ast.Node) bool {
		if other, ok := x.(*ast.CallExpr); ok {
			if id, ok := ast.Unparen(other.Fun).(*ast.Ident); ok && s.declared(id) == decl {
				calls++
			}
		}
		return true
	})
	if calls < 2 && s.loop(n) == nil {
		return nil // one after the other, each once
	}
	return s.whole(call)
}

// countsDown reports whether an argument is a variable less a constant.
func (s *site) countsDown(x ast.Expr) bool {
	b, ok := ast.Unparen(x).(*ast.BinaryExpr)
	return ok && b.Op == token.SUB && s.variable(b.X) != nil && s.constant(b.Y)
}

func (s *site) isNumber(x ast.Expr) bool {
	b, ok := underlying(s.typ(x)).(*types.Basic)
	return ok && b.Info()&types.IsInteger != 0
}

// finalizerPerObject matches a finalizer of an object that holds nothing but memory.
func (s *site) finalizerPerObject(n node) *match {
	call := s.call(n)
	if call == nil || len(call.Args) < 2 || s.runsOnce(n) || types.ExprString(call.Args[1]) == "nil" {
		return nil
	}
	p, ok := underlying(s.typ(call.Args[0])).(*types.Pointer)
	if !ok || !onlyMemory(p.Elem(), 0) {
		return nil
	}
	return s.whole(call)
}

// onlyMemory reports whether all that a type holds is memory: values of basic types, and lists,
// maps and structs of them. A number may stand for something of the system where it is called so.
func onlyMemory(t types.Type, deep int) bool {
	if deep > maxNested {
		return false
	}
	switch u := underlying(t).(type) {
	case *types.Basic:
		return u.Kind() != types.Invalid && u.Kind() != types.UnsafePointer && u.Kind() != types.Uintptr
	case *types.Slice:
		return onlyMemory(u.Elem(), deep+1)
	case *types.Array:
		return onlyMemory(u.Elem(), deep+1)
	case *types.Map:
		return onlyMemory(u.Key(), deep+1) && onlyMemory(u.Elem(), deep+1)
	case *types.Pointer:
		return onlyMemory(u.Elem(), deep+1)
	case *types.Struct:
		for f := range u.Fields() {
			if name := strings.ToLower(f.Name()); strings.HasSuffix(name, "fd") || strings.Contains(name, "handle") || !onlyMemory(f.Type(), deep+1) {
				return false
			}
		}
		return true
	}
	return false
}

// fnvObject matches a hash of package fnv that is made for one piece of data.
func (s *site) fnvObject(n node) *match {
	call := s.call(n)
	if call == nil {
		return nil
	}
	made := n
	if sel, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr); ok && s.packageOf(sel.X) == "" {
		made = s.madeIn(s.variable(sel.X))
	}
	if x, ok := made.Node.(*ast.CallExpr); !ok || !s.calls(x, "hash/fnv", "New32", "New32a", "New64", "New64a") {
		return nil
	}
	writes := 0
	if !s.isOnlyValue(made, func(u node) bool {
		if c, ok := u.parent(0).(*ast.CallExpr); ok && s.calls(c, "io", "WriteString") {
			writes++
			return true
		}
		sel, ok := u.parent(0).(*ast.SelectorExpr)
		if ok && sel.Sel.Name == "Write" {
			writes++
		}
		return ok && (sel.Sel.Name == "Write" || sel.Sel.Name == "Sum32" || sel.Sel.Name == "Sum64")
	}) || writes != 1 {
		return nil
	}
	return s.whole(call)
}

// madeIn returns the call that a new variable gets its value from.
func (s *site) madeIn(v *types.Var) (made node) {
	if !local(v) {
		return made
	}
	ast.Inspect(s.Body, func(x ast.Node) bool {
		set, ok := x.(*ast.AssignStmt)
		if ok && set.Tok == token.DEFINE && len(set.Rhs) == 1 && s.variable(set.Lhs[0]) == v {
			made = node{set.Rhs[0], []ast.Node{set}}
		}
		return true
	})
	return made
}
