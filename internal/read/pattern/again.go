package pattern

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
)

// What one function does that another one does, too: each for itself looks well.

// treeSearched matches a walk through a whole tree for the one node that the function was given.
func (s *site) treeSearched(n node) *match {
	call, decl := s.ownRecursion(n)
	if call == nil {
		return nil
	}
	loops := s.loops(n)
	if len(loops) != 1 {
		return nil
	}
	over, _ := s.walk(loops[0])
	if over == nil || s.nodeOf(over) == nil {
		return nil
	}
	top := s.nodeOf(over)
	same := false
	for i, x := range call.Args {
		if v := s.variable(x); v != nil && v != top && s.parameter(v) == i && isName(v.Type()) && s.endsWith(decl, top, v) {
			same = true
		}
	}
	if !same {
		return nil
	}
	return &match{at: loops[0], around: decl.Body, through: []string{"", s.callee, "runtime.growslice"}}
}

// ownRecursion returns a node as the call by which the function around the line calls itself.
func (s *site) ownRecursion(n node) (*ast.CallExpr, *ast.FuncDecl) {
	call, ok := n.Node.(*ast.CallExpr)
	if !ok || !s.isThis(call) || s.Body != s.Decl.Body {
		return nil, nil
	}
	return call, s.Decl
}

// nodeOf returns the parameter or receiver whose field an expression is.
func (s *site) nodeOf(x ast.Expr) *types.Var {
	sel, ok := ast.Unparen(x).(*ast.SelectorExpr)
	if !ok {
		return nil
	}
	v := s.variable(sel.X)
	if !local(v) || s.parameter(v) < 0 && !s.isReceiver(sel.X) {
		return nil
	}
	return v
}

// endsWith reports whether a function returns where a field of a node equals a value.
func (s *site) endsWith(decl *ast.FuncDecl, top, wanted *types.Var) bool {
	return slices.ContainsFunc(decl.Body.List, func(stmt ast.Stmt) bool {
		cond, ok := stmt.(*ast.IfStmt)
		if !ok || !returns(cond.Body) {
			return false
		}
		b, ok := ast.Unparen(cond.Cond).(*ast.BinaryExpr)
		if !ok || b.Op != token.EQL {
			return false
		}
		part := func(x ast.Expr) bool {
			sel, ok := ast.Unparen(x).(*ast.SelectorExpr)
			return ok && s.variable(sel.X) == top
		}
		return part(b.X) && s.variable(b.Y) == wanted || part(b.Y) && s.variable(b.X) == wanted
	})
}

// checkedAgain matches the check of a value that whoever calls this function has checked as well.
func (s *site) checkedAgain(n node) *match {
	call := s.anyCall(n)
	if call == nil || s.Decl == nil || s.Body != s.Decl.Body || !s.onlyTells(call) {
		return nil
	}
	if slices.ContainsFunc(call.Args, func(x ast.Expr) bool { return !s.constant(x) && s.parameter(s.variable(x)) < 0 }) {
		return nil // of something else, or it fills what it is given
	}
	for i, x := range call.Args {
		v := s.variable(x)
		at := s.parameter(v)
		if at < 0 || s.rewritten(v, s.Body) || isBasic(v.Type()) {
			continue
		}
		for _, file := range s.Files {
			for _, d := range file.Decls {
				decl, ok := d.(*ast.FuncDecl)
				if ok && decl.Body != nil && decl != s.Decl && s.checksToo(decl, call, i, at) {
					return s.whole(call)
				}
			}
		}
	}
	return nil
}

// onlyTells reports whether a call returns nothing but an error or whether something holds.
func (s *site) onlyTells(call *ast.CallExpr) bool {
	t := s.typ(call)
	if t == nil {
		return false
	}
	b, ok := underlying(t).(*types.Basic)
	return ok && b.Info()&types.IsBoolean != 0 || types.Identical(t, types.Universe.Lookup("error").Type())
}

// checksToo reports whether a function gives one value to the function around the line, and, itself, to the
// function that this one calls.
func (s *site) checksToo(decl *ast.FuncDecl, check *ast.CallExpr, at, given int) bool {
	var passed, checked []*types.Var
	id := last(check.Fun)
	ast.Inspect(decl.Body, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok || last(call.Fun) == nil {
			return true
		}
		switch {
		case s.isThis(call) && given < len(call.Args):
			passed = append(passed, s.variable(call.Args[given]))
		case id != nil && s.Info.Uses[last(call.Fun)] != nil && s.Info.Uses[last(call.Fun)] == s.Info.Uses[id] && at < len(call.Args):
			checked = append(checked, s.variable(call.Args[at]))
		}
		return true
	})
	return slices.ContainsFunc(passed, func(v *types.Var) bool { return v != nil && slices.Contains(checked, v) })
}

// repeatedThrough matches a call that a small function makes of nothing but what it was given or what it captured, where
// somebody calls that function again and again with the same.
func (s *site) repeatedThrough(n node) *match {
	call := s.pureCall(n)
	if call == nil {
		call = s.queryAgain(n)
	}
	if call == nil || s.Decl == nil || !s.readOnly(n) {
		return nil
	}
	if s.oneOfMany(n) {
		return s.whole(call)
	}
	var roots []*types.Var
	for _, x := range s.operands(call) {
		if s.constant(x) {
			continue
		}
		v := s.rootOf(x)
		if !local(v) || s.rewritten(v, s.code()) {
			return nil
		}
		roots = append(roots, v)
	}
	if len(roots) != 1 {
		return nil
	}
	if s.Body != s.Decl.Body { // a literal that the function calls by its name
		if isInside(roots[0], s.Body) || s.ofLiteral(roots[0]) || s.callsOfLiteral() < fewestAgain && !s.givenBack() {
			return nil
		}
		return s.whole(call)
	}
	at := s.parameter(roots[0])
	if at < 0 || !s.calledAgain(at) {
		return nil
	}
	return s.whole(call)
}

// oneOfMany reports whether a query is taken apart for the one parameter whose name the function is given: the
// receiver has the query, and is asked for others, too.
func (s *site) oneOfMany(n node) bool {
	if s.callee != "net/url.(*URL).Query" || s.Body != s.Decl.Body {
		return false
	}
	sel, ok := ast.Unparen(n.Node.(*ast.CallExpr).Fun).(*ast.SelectorExpr)
	if !ok || !s.isReceiver(sel.X) {
		return false
	}
	asked, ok := n.outer().parent(0).(*ast.CallExpr)
	return ok && len(asked.Args) == 1 && s.parameter(s.variable(asked.Args[0])) >= 0
}

// fewestAgain is how many calls with the same are worth a word.
const fewestAgain = 3

// rootOf returns the variable that an expression is a field of, or itself.
func (s *site) rootOf(x ast.Expr) *types.Var {
	for {
		sel, ok := ast.Unparen(x).(*ast.SelectorExpr)
		if !ok {
			return s.variable(x)
		}
		x = sel.X
	}
}

// literal returns the literal around the line; nil where there is none.
func (s *site) literal() (found *ast.FuncLit) {
	ast.Inspect(s.Decl, func(n ast.Node) bool {
		if lit, ok := n.(*ast.FuncLit); ok && lit.Body == s.Body {
			found = lit
		}
		return found == nil
	})
	return found
}

// ofLiteral reports whether a variable is one that the literal around the line is given.
func (s *site) ofLiteral(v *types.Var) bool {
	lit := s.literal()
	return lit == nil || isInside(v, lit.Type)
}

// givenBack reports whether the function returns the literal around the line: who gets it calls it again and again.
func (s *site) givenBack() (found bool) {
	lit := s.literal()
	ast.Inspect(s.Decl.Body, func(n ast.Node) bool {
		r, ok := n.(*ast.ReturnStmt)
		found = found || ok && slices.Contains(r.Results, ast.Expr(lit))
		return !found
	})
	return found
}

// callsOfLiteral returns how often the function around a literal calls it by a variable.
func (s *site) callsOfLiteral() (n int) {
	var v *types.Var
	ast.Inspect(s.Decl.Body, func(x ast.Node) bool {
		set, ok := x.(*ast.AssignStmt)
		if ok && len(set.Lhs) == 1 && len(set.Rhs) == 1 {
			if lit, ok := set.Rhs[0].(*ast.FuncLit); ok && lit.Body == s.Body {
				v = s.variable(set.Lhs[0])
			}
		}
		return true
	})
	if v == nil {
		return 0
	}
	ast.Inspect(s.Decl.Body, func(x ast.Node) bool {
		call, ok := x.(*ast.CallExpr)
		if ok && slices.ContainsFunc(append(call.Args, call.Fun), func(x ast.Expr) bool { return s.variable(x) == v }) {
			n++
		}
		return true
	})
	return n
}

// calledAgain reports whether a function of the program calls the one around the line several times with the same
// variable.
func (s *site) calledAgain(at int) (found bool) {
	for _, file := range s.Files {
		for _, d := range file.Decls {
			decl, ok := d.(*ast.FuncDecl)
			if !ok || decl.Body == nil || found {
				continue
			}
			times := map[*types.Var]int{}
			ast.Inspect(decl.Body, func(n ast.Node) bool {
				call, ok := n.(*ast.CallExpr)
				if ok && s.isThis(call) && at < len(call.Args) {
					if v := s.variable(call.Args[at]); v != nil {
						times[v]++
						found = found || times[v] >= fewestAgain
					}
				}
				return true
			})
		}
	}
	return found
}

// remadeThrough matches a call that works something out of one of several things which the function is given, where
// somebody calls the function in a loop in which that one stays the same.
func (s *site) remadeThrough(n node) *match {
	call := s.anyCall(n)
	if call == nil || s.Decl == nil || s.Body != s.Decl.Body || s.Decl.Type.Params.NumFields() < 2 || !s.onlyMakes(call, 0) || !s.goesThrough(call) {
		return nil
	}
	at, behind := -1, false
	for _, x := range call.Args {
		if s.constant(x) {
			continue
		}
		v := s.rootOf(x)
		i := s.parameter(v)
		if i < 0 || at >= 0 && at != i || s.isWritten(v, s.Body) {
			return nil
		}
		_, pointer := underlying(v.Type()).(*types.Pointer)
		at, behind = i, behind || pointer && s.variable(x) == nil
	}
	if at < 0 || !s.calledInLoop(at, !behind) {
		return nil
	}
	return s.whole(call)
}

// goesThrough reports whether a call is of a parser, or of a function of the program that goes through what it is given.
func (s *site) goesThrough(call *ast.CallExpr) (goes bool) {
	if s.parses(call, 0) {
		return true
	}
	decl := s.calleeDecl(call)
	if decl == nil || decl.Body == nil {
		return false
	}
	ast.Inspect(decl.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ForStmt, *ast.RangeStmt:
			goes = true
		case *ast.CallExpr:
			goes = goes || s.parses(n, 0)
		}
		return !goes
	})
	return goes
}

// calledInLoop reports whether a function of the program calls the one around the line, by its name or as a method of an
// interface, in a loop in all rounds of which an argument is the same, or, where that is asked for, in a literal that is
// given others: what is behind a pointer may be set between two of its calls.
func (s *site) calledInLoop(at int, literals bool) (found bool) {
	for _, file := range s.Files {
		for _, d := range file.Decls {
			decl, ok := d.(*ast.FuncDecl)
			if !ok || decl.Body == nil || found {
				continue
			}
			in := s.siteIn(decl)
			ast.Inspect(decl.Body, func(n ast.Node) bool {
				call, ok := n.(*ast.CallExpr)
				if ok && at < len(call.Args) && (s.isThis(call) || s.implements(call)) {
					round := in.roundOf(call)
					_, literal := round.(*ast.FuncLit)
					found = found || round != nil && (literals || !literal) && in.sameInRounds(call.Args[at], round) && in.othersChange(call, at, round)
				}
				return !found
			})
		}
	}
	return found
}

// implements reports whether a call is of an interface's method that the function around the line implements.
func (s *site) implements(call *ast.CallExpr) bool {
	this, _ := s.Info.Defs[s.Decl.Name].(*types.Func)
	id := last(call.Fun)
	if id == nil || this == nil {
		return false
	}
	method, _ := s.Info.Uses[id].(*types.Func)
	if method == nil || method.Name() != this.Name() || s.Decl.Recv == nil {
		return false
	}
	recv := method.Signature().Recv()
	i, ok := underlying(orInvalid(typeOf(recv))).(*types.Interface)
	own := typeOf(this.Signature().Recv())
	return ok && own != nil && (types.Implements(own, i) || types.Implements(types.NewPointer(own), i))
}

func typeOf(v *types.Var) types.Type {
	if v == nil {
		return nil
	}
	return v.Type()
}

// roundOf returns the innermost loop around a call, or literal with parameters; nil for none.
func (s *site) roundOf(call *ast.CallExpr) (round ast.Node) {
	ast.Inspect(s.Body, func(n ast.Node) bool {
		switch at := n.(type) {
		case *ast.ForStmt, *ast.RangeStmt:
			if isInside(call, at) {
				round = at
			}
		case *ast.FuncLit:
			if isInside(call, at) && at.Type.Params.NumFields() > 0 {
				round = at
			}
		}
		return true
	})
	return round
}

// sameInRounds reports whether an expression is a variable from outside of a loop or literal, or a part of one, of which
// nothing is written there.
func (s *site) sameInRounds(x ast.Expr, round ast.Node) bool {
	v := s.rootOf(x)
	if _, literal := round.(*ast.FuncLit); literal && s.variable(x) == nil {
		return false // what is in it may be set between two calls
	}
	return local(v) && !isInside(v, round) && !s.isWritten(v, round)
}

// othersChange reports whether an argument of a call beside one has something that a loop makes in each round, or that a
// literal is given.
func (s *site) othersChange(call *ast.CallExpr, at int, round ast.Node) bool {
	for i, x := range call.Args {
		if i != at && s.madeInRound(x, round) {
			return true
		}
	}
	return false
}

// nestedMarshal matches JSON that a MarshalJSON makes by encoding/json: whoever called it checks and compacts all of it
// again, at each level.
func (s *site) nestedMarshal(n node) *match {
	call := s.call(n)
	if call == nil || s.Decl == nil || s.Decl.Recv == nil || s.Decl.Name.Name != "MarshalJSON" || len(call.Args) != 1 || isBasic(s.typ(call.Args[0])) {
		return nil
	}
	return s.whole(call)
}

// shiftRest matches a list of which all behind an element is moved when that is taken out or put in.
func (s *site) shiftRest(n node) *match {
	set, ok := n.Node.(*ast.AssignStmt)
	if !ok || len(set.Lhs) != 1 || len(set.Rhs) != 1 || s.runsOnce(n) {
		return nil
	}
	call, ok := set.Rhs[0].(*ast.CallExpr)
	if !ok || len(call.Args) < 2 {
		return nil
	}
	list := types.ExprString(set.Lhs[0])
	cut := func(x ast.Expr) *ast.SliceExpr {
		slice, ok := ast.Unparen(x).(*ast.SliceExpr)
		if !ok || types.ExprString(slice.X) != list {
			return nil
		}
		return slice
	}
	found := false
	switch {
	case s.calls(call, "slices", "Delete", "Insert"):
		found = types.ExprString(call.Args[0]) == list
	case s.builtin(call, "append") != nil && call.Ellipsis.IsValid():
		a, b := cut(call.Args[0]), cut(call.Args[1])
		found = a != nil && b != nil && a.High != nil && b.Low != nil && b.High == nil
	}
	if !found || !s.keeps(set.Lhs[0], n.Node) && !s.again(n, set.Lhs[0]) {
		return nil
	}
	return &match{at: set, through: []string{"runtime.memmove", "runtime.typedslicecopy", "runtime.bulkBarrierPreWrite", "runtime.growslice", "slices.Insert", "slices.Delete", ""}}
}
