package pattern

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
)

// What is worked out for each call of what the program keeps, and would be kept better beside it.

// derivedPerCall matches a call that works out something of each element of what is kept, of nothing but the element.
func (s *site) derivedPerCall(n node) *match {
	call := s.anyCall(n)
	if call == nil || s.runsOnce(n) || !s.onlyMakes(call, 0) || !s.costs(call, 0) {
		return nil
	}
	for _, loop := range s.loops(n) {
		over, body := s.walk(loop)
		if over == nil || !s.keeps(over, loop) {
			continue
		}
		if s.underCondition(n, loop) || leftOutBefore(n, body) || !s.ofElement(call, loop) {
			return nil
		}
		return s.whole(call)
	}
	return nil
}

// costs reports whether a call is of a function that reads or makes a text, or of one of the program that calls one.
func (s *site) costs(call *ast.CallExpr, depth int) (found bool) {
	if sel, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr); ok {
		if pkg := s.packageOf(sel.X); slices.Contains(pure[pkg], sel.Sel.Name) || slices.Contains(makers[pkg], sel.Sel.Name) || slices.Contains(parsers[pkg], sel.Sel.Name) {
			return true
		}
	}
	decl := s.calleeDecl(call)
	if decl == nil || decl.Body == nil || depth > maxMakerDepth {
		return false
	}
	ast.Inspect(decl.Body, func(n ast.Node) bool {
		inner, ok := n.(*ast.CallExpr)
		found = found || ok && s.costs(inner, depth+1)
		return !found
	})
	return found
}

// underCondition reports whether a node is reached in some rounds of a loop only.
func (s *site) underCondition(n node, loop ast.Node) bool {
	for i := len(n.path) - 1; i >= 0 && n.path[i] != loop; i-- {
		switch at := n.path[i].(type) {
		case *ast.IfStmt:
			if isInside(n, at.Body) || at.Else != nil && isInside(n, at.Else) {
				return true
			}
		case *ast.BinaryExpr:
			if (at.Op == token.LAND || at.Op == token.LOR) && isInside(n, at.Y) {
				return true
			}
		case *ast.CaseClause, *ast.CommClause, *ast.FuncLit:
			return true
		}
	}
	return false
}

// leftOutBefore reports whether a loop goes on to the next element before it reaches a node.
func leftOutBefore(n node, body *ast.BlockStmt) bool {
	return slices.ContainsFunc(body.List, func(stmt ast.Stmt) bool {
		cond, ok := stmt.(*ast.IfStmt)
		return ok && cond.End() <= n.Pos() && (leavesOut(cond.Body) || LeavesLoop(cond.Body.List))
	})
}

// ofElement reports whether a call is given nothing but constants and what a loop's element has, which nobody writes.
func (s *site) ofElement(call *ast.CallExpr, loop ast.Node) bool {
	elements := 0
	for _, x := range s.operands(call) {
		switch {
		case s.constant(x):
		case s.partOfElement(x, loop):
			elements++
		default:
			return false
		}
	}
	return elements > 0
}

// partOfElement reports whether an expression is a variable of a loop, or a field of one that no method writes.
func (s *site) partOfElement(x ast.Expr, loop ast.Node) bool {
	for {
		switch e := ast.Unparen(x).(type) {
		case *ast.SelectorExpr:
			field, ok := s.Info.Uses[e.Sel].(*types.Var)
			if !ok || !field.IsField() || s.writtenByMethod(field) {
				return false
			}
			x = e.X
		case *ast.IndexExpr:
			x = e.Index
		case *ast.StarExpr:
			x = e.X
		case *ast.CallExpr:
			if len(e.Args) != 1 || !s.Info.Types[e.Fun].IsType() {
				return false
			}
			x = e.Args[0]
		default:
			v := s.variable(e)
			return local(v) && isInside(v, loop) && !s.rewrittenIn(v, loop)
		}
	}
}

// rewrittenIn reports whether a loop gives a variable another value than its first in a round.
func (s *site) rewrittenIn(v *types.Var, loop ast.Node) (found bool) {
	ast.Inspect(loop, func(n ast.Node) bool {
		switch at := n.(type) {
		case *ast.AssignStmt:
			found = found || at.Tok != token.DEFINE && slices.ContainsFunc(at.Lhs, func(x ast.Expr) bool { return s.variable(x) == v })
		case *ast.IncDecStmt:
			loop, ok := loop.(*ast.ForStmt)
			found = found || s.variable(at.X) == v && !(ok && loop.Post == at)
		}
		return !found
	})
	return found
}

// writtenByMethod reports whether a method of the program, or a function that is given one that has it, writes a field.
func (s *site) writtenByMethod(field *types.Var) bool {
	for _, file := range s.Files {
		for _, d := range file.Decls {
			decl, ok := d.(*ast.FuncDecl)
			if ok && decl.Body != nil && decl.Recv != nil && s.isWritten(field, decl.Body) {
				return true
			}
		}
	}
	return false
}

// indexPerCall matches a map of what is kept that is made for each call, to look something up in it.
func (s *site) indexPerCall(n node) *match {
	set, ok := n.Node.(*ast.AssignStmt)
	if !ok || len(set.Lhs) != 1 || len(set.Rhs) != 1 || s.Decl == nil || s.runsOnce(n) {
		return nil
	}
	index, ok := ast.Unparen(set.Lhs[0]).(*ast.IndexExpr)
	loops := s.loops(n)
	if !ok || len(loops) == 0 {
		return nil
	}
	v := s.variable(index.X)
	over, _ := s.walk(loops[0])
	if !local(v) || !isMap(v.Type()) || over == nil || isInside(v, loops[0]) || !s.keeps(over, loops[0]) {
		return nil
	}
	if !s.partOfRound(index.Index, loops[0], v) || !s.partOfRound(set.Rhs[0], loops[0], v) {
		return nil
	}
	if r, ok := loops[0].(*ast.RangeStmt); ok && r.Key != nil && isMap(s.typ(over)) && s.sameVariable(index.Index, r.Key) {
		return nil // no index but a copy, as is made to go on without a lock
	}
	looked := 0
	_, only := s.uses(v, s.code(), func(u node) bool {
		if isInside(u, loops[0]) || s.builtin(u.parent(0), "len") != nil {
			return true
		}
		at, ok := u.parent(0).(*ast.IndexExpr)
		if !ok || at.X != u.Node || s.stores(u.outer()) {
			return false
		}
		looked++
		return true
	})
	if !only || looked == 0 {
		return nil
	}
	return &match{at: loops[0], through: []string{"", "runtime.mapassign", "internal/runtime/maps.", "runtime.mapaccess", "runtime.growslice"}}
}

// partOfRound reports whether an expression has no other variables than those of a loop, and one that is allowed.
func (s *site) partOfRound(x ast.Expr, loop ast.Node, allowed *types.Var) bool {
	only := true
	ast.Inspect(x, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.Ident:
			v := s.variable(n)
			only = only && (v == nil || v.IsField() || v == allowed || isInside(v, loop) || !local(v))
		case *ast.FuncLit:
			only = false
		}
		return only
	})
	return only
}

// sortPerCall matches the sorting of what was just copied from what is kept, by nothing but its elements.
func (s *site) sortPerCall(n node) *match {
	call := s.call(n)
	if call == nil || len(call.Args) == 0 || s.runsOnce(n) {
		return nil
	}
	v := s.variable(call.Args[0])
	if !local(v) || !s.copiesKept(v) {
		return nil
	}
	for _, x := range call.Args[1:] {
		if lit, ok := ast.Unparen(x).(*ast.FuncLit); ok && !s.usesOnly(lit, v) {
			return nil
		}
	}
	return s.whole(call)
}

// usesOnly reports whether a literal uses no variable of the function around it but one.
func (s *site) usesOnly(lit *ast.FuncLit, allowed *types.Var) bool {
	only := true
	ast.Inspect(lit.Body, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok {
			v := s.variable(id)
			only = only && (v == nil || v.IsField() || v == allowed || isInside(v, lit) || !local(v))
		}
		return only
	})
	return only
}

// copiesKept reports whether a list is a copy of what is kept, or of some of it.
func (s *site) copiesKept(v *types.Var) (copied bool) {
	ast.Inspect(s.code(), func(n ast.Node) bool {
		switch at := n.(type) {
		case *ast.RangeStmt:
			if s.appendsTo(v, at.Body) && s.keeps(at.X, at) {
				copied = true
			}
		case *ast.AssignStmt:
			if len(at.Lhs) != 1 || len(at.Rhs) != 1 || s.variable(at.Lhs[0]) != v {
				return true
			}
			call, ok := at.Rhs[0].(*ast.CallExpr)
			switch {
			case !ok:
			case s.calls(call, "slices", "Clone"):
				copied = copied || s.keeps(call.Args[0], call)
			case s.builtin(call, "append") != nil && call.Ellipsis.IsValid():
				copied = copied || s.keeps(call.Args[1], call)
			default:
				copied = copied || s.keeps(call, call)
			}
		case *ast.CallExpr:
			if s.builtin(at, "copy") != nil && s.variable(at.Args[0]) == v {
				copied = copied || s.keeps(at.Args[1], at)
			}
		}
		return !copied
	})
	return copied
}

// totalPerCall matches a walk through all that is kept for nothing but sums and counts of it.
func (s *site) totalPerCall(n node) *match {
	loop, ok := n.Node.(ast.Stmt)
	if !ok || s.Decl == nil || s.Decl.Type.Results == nil || s.runsOnce(n) {
		return nil
	}
	over, body := s.walk(n.Node)
	if over == nil || !s.keeps(over, n.Node) || !s.onlyAdds(body, loop) {
		return nil
	}
	return &match{at: n.Node, through: selecting}
}

// onlyAdds reports whether a block does nothing but add to variables of the function what comes of a loop's element.
func (s *site) onlyAdds(b *ast.BlockStmt, loop ast.Node) bool {
	for _, stmt := range b.List {
		switch at := stmt.(type) {
		case *ast.IncDecStmt:
			if v := s.variable(at.X); !local(v) || isInside(v, loop) {
				return false
			}
		case *ast.AssignStmt:
			if len(at.Lhs) != 1 || slices.ContainsFunc(at.Rhs, s.hasCall) || !s.partOfRound(at.Rhs[0], loop, nil) {
				return false
			}
			v := s.variable(at.Lhs[0])
			if !local(v) || !isBasic(v.Type()) || at.Tok == token.ASSIGN {
				return false
			}
		case *ast.IfStmt:
			if at.Init != nil || at.Else != nil || s.hasCall(at.Cond) || !s.partOfRound(at.Cond, loop, nil) || !s.onlyAdds(at.Body, loop) {
				return false
			}
		case *ast.BranchStmt:
			if at.Tok != token.CONTINUE {
				return false
			}
		default:
			return false
		}
	}
	return len(b.List) > 0
}

// cloneRead matches a copy of a list or a map that is only read.
func (s *site) cloneRead(n node) *match {
	call, ok := n.Node.(*ast.CallExpr)
	if !ok {
		return nil
	}
	var from ast.Expr
	switch {
	case (s.calls(call, "slices", "Clone") || s.calls(call, "maps", "Clone") || s.calls(call, "bytes", "Clone")) && len(call.Args) == 1:
		from = call.Args[0]
	case s.builtin(call, "append") != nil && call.Ellipsis.IsValid() && len(call.Args) == 2 && s.nothing(call.Args[0]):
		from = call.Args[1]
	default:
		return nil
	}
	if s.hasCall(from) || s.locks() || !s.isOnlyValue(n, s.reads) {
		return nil
	}
	return s.whole(call)
}

// nothing reports whether an expression is an empty list.
func (s *site) nothing(x ast.Expr) bool {
	switch e := ast.Unparen(x).(type) {
	case *ast.CompositeLit:
		return len(e.Elts) == 0
	case *ast.CallExpr:
		return len(e.Args) == 1 && types.ExprString(e.Args[0]) == "nil" && s.Info.Types[e.Fun].IsType()
	}
	return false
}

// locks reports whether the function takes a lock: what is copied then is read when others may write.
func (s *site) locks() (found bool) {
	ast.Inspect(s.code(), func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if ok {
			sel, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr)
			found = found || ok && (sel.Sel.Name == "Lock" || sel.Sel.Name == "RLock")
		}
		return !found
	})
	return found
}

// reads reports whether a use of a list or a map only reads it, or a value of it.
func (s *site) reads(u node) bool {
	switch up := u.parent(0).(type) {
	case *ast.RangeStmt:
		return up.X == u.Node && isBasic(elementOf(s.typ(up.X)))
	case *ast.IndexExpr:
		return up.X == u.Node && !s.stores(u.outer()) && isBasic(s.typ(up))
	case *ast.CallExpr:
		return s.builtin(up, "len") != nil
	}
	return false
}

// replacerPerCall matches a replacer that is made of what is there before the call, and used for nothing else: constants,
// what the program keeps, or a variable of the package. Its first use builds tables of all its pairs.
func (s *site) replacerPerCall(n node) *match {
	call, ok := n.Node.(*ast.CallExpr)
	if !ok || s.runsOnce(n) {
		return nil
	}
	sel, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr)
	if !ok || sel.Sel.Name != "Replace" && sel.Sel.Name != "WriteString" {
		return nil
	}
	made, _ := ast.Unparen(sel.X).(*ast.CallExpr)
	if v := s.variable(sel.X); made == nil && local(v) {
		made, _ = s.onlyValue(v).(*ast.CallExpr)
	}
	if made == nil || !s.calls(made, "strings", "NewReplacer") || slices.ContainsFunc(made.Args, func(x ast.Expr) bool { return !s.constant(x) && !s.lasts(x) }) {
		return nil
	}
	if loop := s.loop(n); loop != nil && !isInside(made, loop) {
		return nil // for many texts
	}
	return &match{at: made, line: true}
}
