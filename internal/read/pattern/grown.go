package pattern

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"
)

// What was there before is gone through again: a text that becomes longer, a list that is made for one question, a value that
// was made of the same a function above.

// searchers are the functions that look through a text from its beginning.
var searchers = map[string][]string{
	"bytes":         {"Index", "IndexByte", "IndexAny", "Contains", "ContainsAny", "Cut", "Split", "Count", "Fields"},
	"strings":       {"Index", "IndexByte", "IndexAny", "Contains", "ContainsAny", "Cut", "Split", "Count", "Fields"},
	"encoding/json": {"Unmarshal", "Valid"},
}

// searchNames are they as stacks have them, and what the compiler leaves of them.
func searchNames() []string {
	return append(namesOf(searchers), "regexp.(*Regexp).", "internal/bytealg.Index", "internal/bytealg.Count", "indexbody", "indexbytebody", "countbody")
}

// searchGrown matches a search through all that has come so far, in a loop in which that becomes longer, here or where the
// function is called.
func (s *site) searchGrown(n node) *match {
	call, ok := n.Node.(*ast.CallExpr)
	if !ok || len(call.Args) == 0 || !s.searches(call) {
		return nil
	}
	v := s.fromStart(call.Args[0])
	if v == nil {
		return nil
	}
	if slices.ContainsFunc(s.loops(n), func(l ast.Stmt) bool { return s.growsIn(v, l) }) {
		return s.whole(call)
	}
	at := s.parameter(v)
	if at < 0 || s.isWritten(v, s.Body) {
		return nil
	}
	for _, file := range s.Files {
		for _, d := range file.Decls {
			if decl, ok := d.(*ast.FuncDecl); ok && decl.Body != nil && s.givesGrown(decl, at) {
				return s.whole(call)
			}
		}
	}
	return nil
}

// searches reports whether a call is of one of the searchers or a method of an expression that looks for it.
func (s *site) searches(call *ast.CallExpr) bool {
	for pkg, names := range searchers {
		if s.calls(call, pkg, names...) {
			return true
		}
	}
	sel, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr)
	return ok && typeName(s.typ(sel.X)) == "regexp.Regexp" && (strings.HasPrefix(sel.Sel.Name, "Find") || strings.HasPrefix(sel.Sel.Name, "Match"))
}

// fromStart returns the variable that all of is looked through, as it is, converted, as what a buffer holds, or from a place that may
// be its beginning.
func (s *site) fromStart(x ast.Expr) *types.Var {
	for {
		switch e := ast.Unparen(x).(type) {
		case *ast.Ident:
			if v := s.variable(e); local(v) {
				return v
			}
			return nil
		case *ast.SliceExpr:
			if e.Low != nil && !s.mayBeZero(e.Low) {
				return nil
			}
			x = e.X
		case *ast.CallExpr:
			if sel, ok := ast.Unparen(e.Fun).(*ast.SelectorExpr); ok && len(e.Args) == 0 && (sel.Sel.Name == "Bytes" || sel.Sel.Name == "String") {
				x = sel.X
				continue
			}
			inner := s.conversion(e, func(t types.Type) bool { return isString(t) || isBytes(t) })
			if inner == nil {
				return nil
			}
			x = inner
		default:
			return nil
		}
	}
}

// mayBeZero reports whether an expression is zero, or a variable that begins with it and is not written in a loop.
func (s *site) mayBeZero(x ast.Expr) bool {
	if s.is(x, "0") {
		return true
	}
	v := s.variable(x)
	if !local(v) {
		return false
	}
	zero, looped := false, false
	ast.Inspect(s.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ForStmt:
			looped = looped || s.isWritten(v, n)
		case *ast.RangeStmt:
			looped = looped || s.isWritten(v, n)
		case *ast.AssignStmt:
			for i, l := range n.Lhs {
				zero = zero || len(n.Lhs) == len(n.Rhs) && s.variable(l) == v && s.is(n.Rhs[i], "0")
			}
		}
		return true
	})
	return zero && !looped
}

// growsIn reports whether a loop makes a text longer that was there before it, and never shorter.
func (s *site) growsIn(v *types.Var, loop ast.Node) bool {
	grows, cut := false, isInside(v, loop)
	ast.Inspect(loop, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			for i, l := range n.Lhs {
				if !s.refersTo(l, v) {
					continue
				}
				more := n.Tok == token.ADD_ASSIGN
				if len(n.Lhs) == len(n.Rhs) && n.Tok == token.ASSIGN {
					call := s.builtin(ast.Unparen(n.Rhs[i]), "append")
					more = call != nil && s.variable(call.Args[0]) == v || s.variable(leftmost(n.Rhs[i])) == v && s.variable(n.Rhs[i]) == nil
				}
				grows, cut = grows || more, cut || !more
			}
		case *ast.CallExpr:
			sel, ok := ast.Unparen(n.Fun).(*ast.SelectorExpr)
			if !ok || s.variable(sel.X) != v || typeName(v.Type()) != "bytes.Buffer" && typeName(v.Type()) != "strings.Builder" {
				return true
			}
			switch name := sel.Sel.Name; {
			case strings.HasPrefix(name, "Write"), name == "ReadFrom":
				grows = true
			case name != "Bytes" && name != "String" && name != "Len" && name != "Grow" && name != "Cap":
				cut = true
			}
		}
		return true
	})
	return grows && !cut
}

// givesGrown reports whether a function calls the one around the line in a loop, with a text that becomes longer there.
func (s *site) givesGrown(decl *ast.FuncDecl, at int) (found bool) {
	in := s.siteIn(decl)
	ast.Inspect(decl.Body, func(n ast.Node) bool {
		loop, ok := n.(ast.Stmt)
		if _, is := n.(*ast.ForStmt); !is {
			_, ok = n.(*ast.RangeStmt)
		}
		if !ok || found {
			return !found
		}
		ast.Inspect(loop, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if ok && s.isThis(call) && at < len(call.Args) {
				v := in.fromStart(call.Args[at])
				found = found || v != nil && in.growsIn(v, loop)
			}
			return !found
		})
		return !found
	})
	return found
}

// madeToSearch matches a list that a function of the program makes of what is kept, for a caller that looks for one element in it.
func (s *site) madeToSearch(n node) *match {
	var x ast.Expr
	switch at := n.Node.(type) {
	case *ast.RangeStmt:
		if s.leavesAtOne(at) {
			x = at.X
		}
	case *ast.CallExpr:
		if len(at.Args) == 2 && s.calls(at, "slices", "Contains", "ContainsFunc", "Index", "IndexFunc") {
			x = at.Args[0]
		}
	}
	if x == nil {
		return nil
	}
	call, ok := ast.Unparen(x).(*ast.CallExpr)
	if !ok {
		return nil
	}
	if decl := s.calleeDecl(call); decl == nil || decl.Body == nil || !s.changesOwn(decl) || !s.siteIn(decl).listsKept() {
		return nil
	}
	return s.whole(call)
}

// changesOwn reports whether a function gives values to its own variables only, and starts and sends nothing.
func (s *site) changesOwn(decl *ast.FuncDecl) (own bool) {
	own = true
	ast.Inspect(decl.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.GoStmt, *ast.SelectStmt, *ast.SendStmt:
			own = false
		case *ast.AssignStmt:
			own = own && !slices.ContainsFunc(n.Lhs, func(x ast.Expr) bool { return !s.ownVariable(x, decl) })
		case *ast.IncDecStmt:
			own = own && s.ownVariable(n.X, decl)
		}
		return own
	})
	return own
}

// leavesAtOne reports whether a loop does nothing but leave at an element that it looks for.
func (s *site) leavesAtOne(loop *ast.RangeStmt) bool {
	if len(loop.Body.List) != 1 {
		return false
	}
	test, ok := loop.Body.List[0].(*ast.IfStmt)
	return ok && test.Init == nil && test.Else == nil && len(test.Body.List) == 1 && LeavesLoop(test.Body.List)
}

// listsKept reports whether the function appends to a list of its own, which it returns, in a loop over a field of its receiver or a
// variable of the package.
func (s *site) listsKept() (does bool) {
	ast.Inspect(s.Body, func(n ast.Node) bool {
		loop, ok := n.(*ast.RangeStmt)
		if !ok || !s.ofProgram(loop.X) {
			return !does
		}
		ast.Inspect(s.Body, func(n ast.Node) bool {
			ret, ok := n.(*ast.ReturnStmt)
			if ok && len(ret.Results) > 0 {
				v := s.variable(ret.Results[0])
				does = does || local(v) && s.appendsTo(v, loop)
			}
			return !does
		})
		return !does
	})
	return does
}

// ofProgram reports whether an expression is a field of the receiver or a variable of the package.
func (s *site) ofProgram(x ast.Expr) bool {
	if sel, ok := ast.Unparen(x).(*ast.SelectorExpr); ok {
		root := s.rootOf(sel)
		return root != nil && s.Decl.Recv != nil && isInside(root, s.Decl.Recv)
	}
	v := s.variable(x)
	return v != nil && !v.IsField() && !local(v)
}

// madeBelow matches a call that makes something of what the function is given, where a caller makes the same of it, too, or has
// another function make it.
func (s *site) madeBelow(n node) *match {
	call := s.anyCall(n)
	if call == nil || s.Decl == nil || s.Body != s.Decl.Body || !s.onlyMakes(call, 0) || !s.worksOut(call) {
		return nil
	}
	v := s.subject(call)
	at := s.parameter(v)
	if at < 0 || s.isWritten(v, s.Body) {
		return nil
	}
	for _, file := range s.Files {
		for _, d := range file.Decls {
			if decl, ok := d.(*ast.FuncDecl); ok && decl.Body != nil && decl != s.Decl && s.makesToo(decl, call, at) {
				return s.whole(call)
			}
		}
	}
	return nil
}

// worksOut reports whether a call is of the library, or of a function of the program that goes through something or has the library
// make it, and returns values that are as good as each other: of what is behind a pointer there may have to be two.
func (s *site) worksOut(call *ast.CallExpr) (does bool) {
	decl := s.calleeDecl(call)
	if decl == nil || decl.Body == nil {
		return decl == nil
	}
	for _, field := range decl.Type.Results.List {
		switch t := s.typ(field.Type); underlying(t).(type) {
		case nil, *types.Pointer, *types.Chan, *types.Signature, *types.Map:
			return false
		case *types.Interface:
			if !types.Identical(t, types.Universe.Lookup("error").Type()) {
				return false
			}
		}
	}
	ast.Inspect(decl.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ForStmt, *ast.RangeStmt:
			does = true
		case *ast.CallExpr:
			for _, list := range []map[string][]string{pure, makers, parsers} {
				for pkg, names := range list {
					does = does || s.calls(n, pkg, names...)
				}
			}
		}
		return !does
	})
	return does
}

// operands returns the arguments of a call, and what its method is of.
func (s *site) operands(call *ast.CallExpr) []ast.Expr {
	list := slices.Clone(call.Args)
	if sel, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr); ok && s.packageOf(sel.X) == "" {
		list = append(list, sel.X)
	}
	return list
}

// subject returns the only variable that a call is of: what its method is of, or its argument beside constants.
func (s *site) subject(call *ast.CallExpr) (v *types.Var) {
	for _, x := range s.operands(call) {
		if s.constant(x) {
			continue
		}
		if v != nil || s.variable(x) == nil {
			return nil
		}
		v = s.variable(x)
	}
	return v
}

// makesToo reports whether a function gives the one around the line a variable, makes the same of it as a call there, and
// writes the variable once.
func (s *site) makesToo(decl *ast.FuncDecl, same *ast.CallExpr, at int) (found bool) {
	in := s.siteIn(decl)
	given := map[*types.Var]bool{}
	ast.Inspect(decl.Body, func(n ast.Node) bool {
		if call, ok := n.(*ast.CallExpr); ok && s.isThis(call) && at < len(call.Args) {
			if v := s.variable(call.Args[at]); local(v) && in.givenOnce(v) {
				given[v] = true
			}
		}
		return true
	})
	if len(given) == 0 {
		return false
	}
	ast.Inspect(decl.Body, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok || found {
			return !found
		}
		if s.sameFunction(call, same) {
			found = given[in.subject(call)]
			return !found
		}
		other := s.calleeDecl(call)
		if other == nil || other.Body == nil || s.isThis(call) {
			return true
		}
		for i, x := range call.Args {
			if p := s.parameterOf(other, i); p != nil && given[s.variable(x)] && s.makesOf(other, p, same) {
				found = true
			}
		}
		return !found
	})
	return found
}

// givenOnce reports whether a variable of the function has one value: it is a parameter that nobody writes, or declared with it.
func (s *site) givenOnce(v *types.Var) bool {
	once := true
	ast.Inspect(s.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			for _, l := range n.Lhs {
				once = once && (s.variable(l) != v || n.Tok == token.DEFINE)
			}
		case *ast.UnaryExpr:
			once = once && !(n.Op == token.AND && s.variable(n.X) == v)
		}
		return once
	})
	return once
}

// sameFunction reports whether two calls are of one function or method, with the same constants.
func (s *site) sameFunction(a, b *ast.CallExpr) bool {
	f, g := last(a.Fun), last(b.Fun)
	if f == nil || g == nil || s.Info.Uses[f] == nil || s.Info.Uses[f] != s.Info.Uses[g] || len(a.Args) != len(b.Args) {
		return false
	}
	for i := range a.Args {
		v, w := s.Info.Types[a.Args[i]].Value, s.Info.Types[b.Args[i]].Value
		if (v == nil) != (w == nil) || v != nil && v.ExactString() != w.ExactString() {
			return false
		}
	}
	return true
}

// makesOf reports whether a function makes the same of a parameter.
func (s *site) makesOf(decl *ast.FuncDecl, p *types.Var, same *ast.CallExpr) (found bool) {
	in := s.siteIn(decl)
	if in.isWritten(p, decl.Body) {
		return false
	}
	ast.Inspect(decl.Body, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		found = found || ok && s.sameFunction(call, same) && in.subject(call) == p
		return !found
	})
	return found
}
