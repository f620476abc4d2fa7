package pattern

import (
	"go/ast"
	"go/types"
	"slices"
)

// keptCall matches a call that reads for each call of the function what the program keeps and
// never changes: a key, an expression, a prefix as text.
func (s *site) keptCall(n node) *match {
	call := s.anyCall(n)
	if call == nil || len(call.Args) == 0 || s.Decl == nil || s.Decl.Recv == nil || !s.parses(call, 0) {
		return nil
	}
	kept := 0
	for _, x := range call.Args {
		if s.constant(x) {
			continue
		}
		if !s.keptValue(x) {
			return nil
		}
		kept++
	}
	if kept == 0 {
		return nil
	}
	return s.whole(call)
}

// parses reports whether a call is of a parser, or of a function of the package that only makes a
// value by one.
func (s *site) parses(call *ast.CallExpr, depth int) bool {
	if sel, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr); ok {
		if slices.Contains(parsers[s.packageOf(sel.X)], sel.Sel.Name) {
			return true
		}
	}
	decl := s.calleeDecl(call)
	if decl == nil || depth > maxMakerDepth || !s.makes(decl, 0) {
		return false
	}
	found := false
	ast.Inspect(decl.Body, func(n ast.Node) bool {
		inner, ok := n.(*ast.CallExpr)
		found = found || ok && s.parses(inner, depth+1)
		return !found
	})
	return found
}

// keptValue reports whether an expression is a field of the receiver, or an element of one, that no
// method of the package writes: what makes the value does.
func (s *site) keptValue(x ast.Expr) bool {
	x = ast.Unparen(x)
	if call, ok := x.(*ast.CallExpr); ok && len(call.Args) == 1 && s.Info.Types[call.Fun].IsType() {
		x = ast.Unparen(call.Args[0])
	}
	if index, ok := x.(*ast.IndexExpr); ok {
		x = ast.Unparen(index.X)
	}
	sel, ok := x.(*ast.SelectorExpr)
	if !ok {
		return false
	}
	field, ok := s.Info.Uses[sel.Sel].(*types.Var)
	if !ok || !field.IsField() || !s.isReceiver(sel.X) {
		return false
	}
	for _, file := range s.Files {
		for _, d := range file.Decls {
			if decl, ok := d.(*ast.FuncDecl); ok && decl.Recv != nil && decl.Body != nil && s.isWritten(field, decl.Body) {
				return false
			}
		}
	}
	return true
}

// isReceiver reports whether an expression is the receiver, or a field of it.
func (s *site) isReceiver(x ast.Expr) bool {
	v := s.base(x)
	return local(v) && s.Decl != nil && s.Decl.Recv != nil && isInside(v, s.Decl.Recv)
}

// base returns the variable that an expression is, points to, or is a field of; nil where it is of none.
func (s *site) base(x ast.Expr) *types.Var {
	for {
		switch e := ast.Unparen(x).(type) {
		case *ast.SelectorExpr:
			x = e.X
		case *ast.StarExpr:
			x = e.X
		default:
			return s.variable(e)
		}
	}
}

// sweepPerCall matches a walk through all that is kept, to drop what is over, for each call of a
// function that is asked for something else.
func (s *site) sweepPerCall(n node) *match {
	if s.Decl == nil || s.Body != s.Decl.Body || s.Decl.Type.Results == nil || !s.asked() || len(s.loops(n)) > 0 || guarded(n) {
		return nil
	}
	if call := s.anyCall(n); call != nil {
		if decl := s.calleeDecl(call); decl != nil && decl.Body != nil && s.siteIn(decl).sweeps(decl.Body) {
			return &match{at: call, line: true}
		}
		return nil
	}
	if loop, ok := n.Node.(*ast.RangeStmt); ok && s.sweeps(loop) {
		return &match{at: loop}
	}
	return nil
}

// asked reports whether the function takes what tells one thing from others: not only a time or
// a context.
func (s *site) asked() bool {
	for _, p := range s.Decl.Type.Params.List {
		if t := s.typ(p.Type); typeName(t) != "time.Time" && typeName(t) != "context.Context" {
			return true
		}
	}
	return false
}

// guarded reports whether a node is reached only under a condition.
func guarded(n node) bool {
	for i := len(n.path) - 1; i >= 0; i-- {
		switch n.path[i].(type) {
		case *ast.IfStmt, *ast.CaseClause, *ast.CommClause, *ast.FuncLit:
			return true
		}
	}
	return false
}

// sweeps reports whether code goes through a kept map and deletes some of its entries, or
// through a kept list and keeps the rest.
func (s *site) sweeps(code ast.Node) (found bool) {
	ast.Inspect(code, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.RangeStmt:
			if s.keptField(n.X) && isMap(s.typ(n.X)) {
				found = found || s.deletesSome(n.Body, types.ExprString(n.X))
			}
		case *ast.CallExpr:
			if (s.calls(n, "maps", "DeleteFunc") || s.calls(n, "slices", "DeleteFunc")) && len(n.Args) == 2 {
				found = found || s.keptField(n.Args[0])
			}
		}
		return !found
	})
	return found
}

// keptField reports whether an expression is a field of the receiver that no method gives another value: what is made
// anew by one is not kept.
func (s *site) keptField(x ast.Expr) bool {
	sel, ok := ast.Unparen(x).(*ast.SelectorExpr)
	if !ok || !s.isReceiver(sel.X) {
		return false
	}
	field, ok := s.Info.Uses[sel.Sel].(*types.Var)
	if !ok || !field.IsField() {
		return false
	}
	kept := true
	for _, file := range s.Files {
		ast.Inspect(file, func(n ast.Node) bool {
			if decl, ok := n.(*ast.FuncDecl); ok && decl.Recv == nil {
				return false
			}
			set, ok := n.(*ast.AssignStmt)
			kept = kept && (!ok || !slices.ContainsFunc(set.Lhs, func(x ast.Expr) bool {
				of, ok := ast.Unparen(x).(*ast.SelectorExpr)
				return ok && s.Info.Uses[of.Sel] == field
			}))
			return kept
		})
	}
	return kept
}

// deletesSome reports whether the body of a loop over a map deletes from it under a condition.
func (s *site) deletesSome(body *ast.BlockStmt, from string) (found bool) {
	for _, stmt := range body.List {
		cond, ok := stmt.(*ast.IfStmt)
		if !ok {
			continue
		}
		ast.Inspect(cond.Body, func(n ast.Node) bool {
			if call := s.builtin(n, "delete"); call != nil && types.ExprString(call.Args[0]) == from {
				found = true
			}
			return !found
		})
	}
	return found
}
