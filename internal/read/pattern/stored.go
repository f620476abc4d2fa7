package pattern

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
)

// What is read for each call of a text that a store of the program has, and would be kept better as what it says.

// maxStoreDepth is through how many functions of the program a text is followed to the map that has it.
const maxStoreDepth = 3

// readStored matches a call that reads for each call of the function a text which a store of the program gives, and
// whose result nobody keeps.
func (s *site) readStored(n node) *match {
	call := s.anyCall(n)
	if call == nil || s.Decl == nil || s.runsOnce(n) {
		return nil
	}
	stored, into := 0, (*types.Var)(nil)
	for _, x := range call.Args {
		switch {
		case s.constant(x):
		case holdsText(s.typ(x)) && s.storedValue(x, maxStoreDepth):
			stored++
		default:
			to, ok := ast.Unparen(x).(*ast.UnaryExpr)
			if !ok || to.Op != token.AND || into != nil {
				return nil
			}
			if into = s.variable(to.X); !local(into) {
				return nil
			}
		}
	}
	if stored == 0 || !s.readsText(call, into != nil) || s.keptResult(n, into) {
		return nil
	}
	return s.whole(call)
}

// holdsText reports whether a type is a text, or a struct that has one.
func holdsText(t types.Type) bool {
	if p, ok := underlying(t).(*types.Pointer); ok {
		t = p.Elem()
	}
	if fields, ok := underlying(t).(*types.Struct); ok {
		for f := range fields.Fields() {
			if isString(f.Type()) || isBytes(f.Type()) {
				return true
			}
		}
	}
	return isString(t) || isBytes(t)
}

// readsText reports whether a call makes a value of a text: one that fills a variable is of a decoder, any other of a
// parser, or of a function of the program that goes through what it is given and changes nothing.
func (s *site) readsText(call *ast.CallExpr, fills bool) bool {
	if sel, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr); ok {
		if pkg := s.packageOf(sel.X); fills || slices.Contains(parsers[pkg], sel.Sel.Name) {
			return fills && pkg != "" && sel.Sel.Name == "Unmarshal" || !fills
		}
	}
	decl := s.calleeDecl(call)
	return !fills && decl != nil && s.makes(decl, 0) && s.goesThrough(call)
}

// storedValue reports whether an expression is what a store of the program has under a name, or a part of it.
func (s *site) storedValue(x ast.Expr, deep int) bool {
	for {
		switch e := ast.Unparen(x).(type) {
		case *ast.CallExpr:
			if len(e.Args) == 1 && s.Info.Types[e.Fun].IsType() {
				x = e.Args[0]
				continue
			}
			return s.givesStored(e, deep)
		case *ast.SelectorExpr:
			field, ok := s.Info.Uses[e.Sel].(*types.Var)
			if !ok || !field.IsField() || s.writtenByMethod(field) {
				return false
			}
			x = e.X
		case *ast.StarExpr:
			x = e.X
		case *ast.IndexExpr:
			return s.store(e.X)
		case *ast.Ident:
			v := s.variable(e)
			made, ok := s.madeIn(v).Node.(ast.Expr)
			if !ok || s.rewritten(v, s.Body) {
				return false
			}
			switch made := ast.Unparen(made).(type) {
			case *ast.CallExpr, *ast.IndexExpr:
				return s.storedValue(made, deep)
			}
			return false
		default:
			return false
		}
	}
}

// store reports whether an expression is a map of the receiver's, or of the package, that this function does not
// change, and others cannot, and from which nothing is ever taken out: what is in it is there to be asked for again.
func (s *site) store(x ast.Expr) bool {
	if !isMap(s.typ(x)) || last(x) == nil {
		return false
	}
	v, ok := s.Info.Uses[last(x)].(*types.Var)
	if !ok || v.Exported() || v.IsField() && !s.isReceiver(x) || local(v) || s.isWritten(v, s.Body) {
		return false
	}
	taken := false
	for _, file := range s.Files {
		ast.Inspect(file, func(n ast.Node) bool {
			if call := s.builtin(n, "delete"); call != nil && s.refersTo(call.Args[0], v) {
				taken = true
			}
			return !taken
		})
	}
	return !taken
}

// givesStored reports whether a method of the program returns what its store has, or nothing.
func (s *site) givesStored(call *ast.CallExpr, deep int) bool {
	decl := s.onlyCalled(call)
	if decl == nil || decl.Body == nil || decl.Recv == nil || deep == 0 {
		return false
	}
	in, stored, only := s.siteIn(decl), false, true
	ast.Inspect(decl.Body, func(n ast.Node) bool {
		if _, ok := n.(*ast.FuncLit); ok {
			return false
		}
		if r, ok := n.(*ast.ReturnStmt); ok {
			switch {
			case len(r.Results) == 0:
				only = false
			case in.storedValue(r.Results[0], deep-1):
				stored = true
			default:
				only = only && (in.nothing(r.Results[0]) || in.constant(r.Results[0]) || types.ExprString(r.Results[0]) == "nil")
			}
		}
		return only
	})
	return stored && only
}

// keptResult reports whether the function, or one that calls it, keeps what a call returns, or what it has filled.
func (s *site) keptResult(n node, into *types.Var) bool {
	if into != nil {
		return s.keepsVariable(into)
	}
	if s.keptBy(n) {
		return true
	}
	for _, file := range s.Files {
		for _, d := range file.Decls {
			decl, ok := d.(*ast.FuncDecl)
			if ok && decl.Body != nil && decl != s.Decl && s.callsThis(decl) && s.siteIn(decl).keptCalls(s) {
				return true
			}
		}
	}
	return false
}

// keptCalls reports whether a function keeps what another returns.
func (s *site) keptCalls(of *site) (kept bool) {
	var path []ast.Node
	ast.Inspect(s.Body, func(x ast.Node) bool {
		if x == nil {
			path = path[:len(path)-1]
			return true
		}
		if call, ok := x.(*ast.CallExpr); ok && of.isThis(call) {
			kept = kept || s.keptBy(node{x, slices.Clone(path)})
		}
		path = append(path, x)
		return true
	})
	return kept
}

// keepers are how methods are called that keep what they are given.
var keepers = []string{"Add", "Insert", "LoadOrStore", "Put", "Save", "Set", "Store", "Swap"}

// keptBy reports whether a value goes where it is found again: into a field, an element, a channel, or a method that
// is called like one of a store.
func (s *site) keptBy(n node) bool {
	for i := len(n.path) - 1; i >= 0; i-- {
		switch up := n.path[i].(type) {
		case *ast.CallExpr:
			if !isInside(n, up.Fun) && slices.Contains(keepers, nameOf(up)) {
				return true
			}
		case *ast.SendStmt:
			return true
		case *ast.AssignStmt:
			return slices.ContainsFunc(up.Lhs, func(to ast.Expr) bool {
				v := s.variable(to)
				return !local(v) && types.ExprString(to) != "_" || local(v) && up.Tok == token.DEFINE && s.keepsVariable(v)
			})
		case ast.Stmt:
			return false
		}
	}
	return false
}

// keepsVariable reports whether the function keeps what a variable has.
func (s *site) keepsVariable(v *types.Var) bool {
	_, not := s.uses(v, s.code(), func(u node) bool {
		set, ok := u.parent(0).(*ast.AssignStmt)
		return ok && slices.Contains(set.Lhs, u.Node.(ast.Expr)) || !s.keptBy(u)
	})
	return !not
}
