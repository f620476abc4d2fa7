package pattern

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
)

// All of something gone through for the few of it that are wanted.

// selecting are the functions below a loop that compares elements with what is wanted.
var selecting = []string{
	"", "memeqbody", "runtime.memequal", "runtime.strequal", "runtime.mapIterNext", "runtime.mapiternext", "internal/runtime/maps.(*Iter).Next",
	"time.Time.Before", "time.Time.After", "time.Time.Equal", "time.Time.Compare", "strings.EqualFold", "strings.HasPrefix",
}

// selectKept matches a walk through all that the program keeps which does something only with those that fit what
// it was called for.
func (s *site) selectKept(n node) *match {
	over, body := s.walk(n.Node)
	if over == nil || s.runsOnce(n) || !s.keeps(over, n.Node) || !s.selects(n.Node.(ast.Stmt), body, false) {
		return nil
	}
	return &match{at: n.Node, through: selecting}
}

// selectInLoop matches a walk through all of a list, in each round of a loop, that does something only with
// those that are equal to what the round has.
func (s *site) selectInLoop(n node) *match {
	over, body := s.walk(n.Node)
	if over == nil {
		return nil
	}
	outer := s.loop(n)
	if outer == nil || !s.longList(over, outer) || s.given(over, outer) || !s.selects(n.Node.(ast.Stmt), body, true) {
		return nil
	}
	return &match{at: n.Node, through: selecting}
}

// walk returns what a loop goes through from the first element on, and what it does in each round.
func (s *site) walk(n ast.Node) (over ast.Expr, body *ast.BlockStmt) {
	switch loop := n.(type) {
	case *ast.RangeStmt:
		switch underlying(s.typ(loop.X)).(type) {
		case *types.Slice, *types.Map, *types.Array, *types.Pointer:
			return loop.X, loop.Body
		}
	case *ast.ForStmt: // for i := 0; i < len(list); i++
		cond, ok := loop.Cond.(*ast.BinaryExpr)
		if !ok || cond.Op != token.LSS || s.steps(loop) == nil {
			return nil, nil
		}
		if length := s.builtin(cond.Y, "len"); length != nil {
			return length.Args[0], loop.Body
		}
	}
	return nil, nil
}

// keeps reports whether what a loop goes through is kept from call to call: a field of the receiver or of what it
// has, a variable of the package, or what a method of the program says that it keeps.
func (s *site) keeps(x ast.Expr, loop ast.Node) bool {
	switch e := ast.Unparen(x).(type) {
	case *ast.SelectorExpr:
		field, ok := s.Info.Uses[e.Sel].(*types.Var)
		return ok && (!field.IsField() || s.lasts(e.X) && typeName(s.typ(e.X)) != typeName(elementOf(s.typ(x)))) // no tree
	case *ast.IndexExpr:
		return isMap(s.typ(e.X)) && s.keeps(e.X, loop)
	case *ast.StarExpr:
		return s.keeps(e.X, loop)
	case *ast.CallExpr:
		decl := s.calleeDecl(e)
		return decl != nil && s.saysKept(decl) && !s.ofNew(e.Fun)
	case *ast.Ident:
		v := s.variable(e)
		switch {
		case v == nil || v.Pkg() == nil:
			return false
		case !local(v):
			few := s.elements(e)
			return few < 0 || few > fewElements
		case s.parameter(v) >= 0:
			return s.keptArgument(s.parameter(v))
		}
		made := s.onlyValue(v)
		return made != nil && !isInside(made, loop) && s.variable(made) == nil && s.keeps(made, loop)
	}
	return false
}

// ofNew reports whether a method is of what the function has just made.
func (s *site) ofNew(method ast.Expr) bool {
	v := s.rootOf(method)
	if !local(v) || !isInside(v, s.Body) {
		return false
	}
	made := s.onlyValue(v)
	return made == nil || s.makesNew(made)
}

// elementOf returns the type of a list's elements; nil for what is no list.
func elementOf(t types.Type) types.Type {
	switch u := underlying(t).(type) {
	case *types.Slice:
		return u.Elem()
	case *types.Map:
		return u.Elem()
	case *types.Array:
		return u.Elem()
	}
	return nil
}

// lasts reports whether an expression is the receiver, a variable of the package, or a field of one.
func (s *site) lasts(x ast.Expr) bool {
	v := s.base(x)
	return v != nil && v.Pkg() != nil && !local(v) || s.isReceiver(x)
}

// onlyValue returns the value that a variable of the function gets once and for all; nil where there are others.
func (s *site) onlyValue(v *types.Var) (value ast.Expr) {
	n := 0
	ast.Inspect(s.code(), func(at ast.Node) bool {
		set, ok := at.(*ast.AssignStmt)
		if ok && slices.ContainsFunc(set.Lhs, func(x ast.Expr) bool { return s.refersTo(x, v) }) {
			if n++; len(set.Lhs) == 1 && len(set.Rhs) == 1 {
				value = set.Rhs[0]
			}
		}
		return true
	})
	if n != 1 {
		return nil
	}
	return value
}

// saysKept reports whether a function returns nothing but a field of its receiver, or a copy of that.
func (s *site) saysKept(decl *ast.FuncDecl) bool {
	if decl.Recv == nil || decl.Body == nil || decl.Type.Results.NumFields() != 1 {
		return false
	}
	in, kept := s.siteIn(decl), false
	ast.Inspect(decl.Body, func(n ast.Node) bool {
		if r, ok := n.(*ast.ReturnStmt); ok && len(r.Results) == 1 {
			x := ast.Unparen(r.Results[0])
			if call, ok := x.(*ast.CallExpr); ok && (in.calls(call, "slices", "Clone") || in.calls(call, "maps", "Clone")) {
				x = call.Args[0]
			}
			_, field := x.(*ast.SelectorExpr)
			kept = field && in.keeps(x, decl.Body)
		}
		return true
	})
	return kept
}

// keptArgument reports whether somebody calls the function around the line with what is kept, or in a loop with what
// is the same in all rounds.
func (s *site) keptArgument(at int) (found bool) {
	if s.Decl.Recv != nil && s.Decl.Type.Params.NumFields() <= at {
		return false
	}
	for _, file := range s.Files {
		for _, d := range file.Decls {
			decl, ok := d.(*ast.FuncDecl)
			if !ok || decl.Body == nil || decl == s.Decl || found {
				continue
			}
			in := s.siteIn(decl)
			ast.Inspect(decl.Body, func(n ast.Node) bool {
				call, ok := n.(*ast.CallExpr)
				if !ok || at >= len(call.Args) || !s.isThis(call) {
					return !found
				}
				switch x := ast.Unparen(call.Args[at]).(type) {
				case *ast.SelectorExpr, *ast.CallExpr:
					found = in.keeps(x, call)
				case *ast.Ident:
					loop := in.aroundCall(call)
					found = loop != nil && in.longList(x, loop) && !in.given(x, loop)
				}
				return !found
			})
		}
	}
	return found
}

// aroundCall returns the innermost loop of the function that a call is in; nil for none.
func (s *site) aroundCall(call *ast.CallExpr) (loop ast.Stmt) {
	ast.Inspect(s.Body, func(n ast.Node) bool {
		switch l := n.(type) {
		case *ast.ForStmt:
			if isInside(call, l.Body) {
				loop = l
			}
		case *ast.RangeStmt:
			if isInside(call, l.Body) {
				loop = l
			}
		}
		return true
	})
	return loop
}

// selects reports whether each round of a loop does something only under the condition that a part of its element
// fits what is wanted: it is equal to that, or, unless equal is asked for, larger or smaller.
func (s *site) selects(loop ast.Stmt, body *ast.BlockStmt, equal bool) bool {
	p := picker{s, loop, equal}
	for i, stmt := range body.List {
		switch at := stmt.(type) {
		case *ast.AssignStmt: // of the element, or of what it is of
			if at.Tok != token.DEFINE || slices.ContainsFunc(at.Rhs, s.hasCall) {
				return false
			}
		case *ast.IfStmt:
			if at.Init != nil || at.Else != nil {
				return false
			}
			if i == len(body.List)-1 {
				return p.picks(at.Cond, false)
			}
			if !leavesOut(at.Body) {
				return false
			}
			if p.picks(at.Cond, true) {
				return true
			}
			if s.hasCall(at.Cond) {
				return false
			}
		default:
			return false
		}
	}
	return false
}

// leavesOut reports whether a block does nothing but go on to the next round.
func leavesOut(b *ast.BlockStmt) bool {
	if len(b.List) != 1 {
		return false
	}
	next, ok := b.List[0].(*ast.BranchStmt)
	return ok && next.Tok == token.CONTINUE
}

// A picker knows conditions by which a loop takes few elements.
type picker struct {
	*site
	loop  ast.Stmt
	equal bool // only what is equal
}

// picks reports whether a condition holds only for elements with a part that fits what is wanted, or, where it
// leaves out, for all others.
func (p picker) picks(x ast.Expr, leaves bool) bool {
	switch x := ast.Unparen(x).(type) {
	case *ast.UnaryExpr:
		return x.Op == token.NOT && p.picks(x.X, !leaves)
	case *ast.BinaryExpr:
		switch x.Op {
		case token.LAND:
			return !leaves && (p.picks(x.X, leaves) || p.picks(x.Y, leaves))
		case token.LOR:
			return leaves && (p.picks(x.X, leaves) || p.picks(x.Y, leaves))
		case token.EQL, token.NEQ:
			return (x.Op == token.NEQ) == leaves && p.fits(x.X, x.Y) && isName(p.typ(x.X))
		case token.LSS, token.LEQ, token.GTR, token.GEQ:
			return !p.equal && p.fits(x.X, x.Y)
		}
	case *ast.CallExpr:
		sel, ok := ast.Unparen(x.Fun).(*ast.SelectorExpr)
		switch {
		case !ok:
			return false
		case p.calls(x, "strings", "EqualFold") && len(x.Args) == 2:
			return !leaves && p.fits(x.Args[0], x.Args[1])
		case p.calls(x, "strings", "HasPrefix") && len(x.Args) == 2:
			return !leaves && !p.equal && p.fits(x.Args[0], x.Args[1])
		case len(x.Args) == 1 && (sel.Sel.Name == "Before" || sel.Sel.Name == "After"):
			return !p.equal && p.fits(sel.X, x.Args[0])
		case len(x.Args) == 1 && sel.Sel.Name == "Equal":
			return !leaves && p.fits(sel.X, x.Args[0])
		}
	}
	return false
}

// fits reports whether one of two expressions is a part of the element, and the other is wanted.
func (p picker) fits(x, y ast.Expr) bool {
	return p.madeInRound(x, p.loop) && !p.hasCall(x) && p.wanted(y) || p.madeInRound(y, p.loop) && !p.hasCall(y) && p.wanted(x)
}

// wanted reports whether an expression is a value that the function was given or has worked out, and that is the same
// in all rounds: no constant, and nothing that is kept itself.
func (p picker) wanted(x ast.Expr) bool {
	root := ast.Unparen(x)
	for {
		sel, ok := root.(*ast.SelectorExpr)
		if !ok {
			break
		}
		root = ast.Unparen(sel.X)
	}
	v := p.variable(root)
	if p.constant(x) || !local(v) || isInside(v, p.loop) || p.isReceiver(root) || p.isWritten(v, p.loop) {
		return false
	}
	if value := p.onlyValue(v); value != nil && p.constant(value) {
		return false
	}
	return true
}

// leastTaken matches a walk through a list for its least or its largest, which is then taken out of it: the next one
// is looked for the same way.
func (s *site) leastTaken(n node) *match {
	over, body := s.walk(n.Node)
	if over == nil || s.runsOnce(n) || !s.keepsBest(body, n.Node) || !s.takenAfter(over, n.End()) {
		return nil
	}
	if outer := s.loop(n); !s.keeps(over, n.Node) && (outer == nil || s.variable(over) == nil || isInside(s.variable(over), outer)) {
		return nil
	}
	return &match{at: n.Node, through: slices.Concat(selecting, []string{"cmp.Compare", "strings.Compare", "cmpbody", "runtime.cmpstring"})}
}

// keepsBest reports whether a loop does nothing but keep what is less or more than all before it.
func (s *site) keepsBest(b *ast.BlockStmt, loop ast.Node) bool {
	for i, stmt := range b.List {
		cond, ok := stmt.(*ast.IfStmt)
		switch {
		case !ok:
			set, ok := stmt.(*ast.AssignStmt)
			if !ok || set.Tok != token.DEFINE {
				return false
			}
		case leavesOut(cond.Body):
		default:
			return i == len(b.List)-1 && cond.Else == nil && s.comparesOrder(cond.Cond, loop) && s.setsOuter(cond.Body, loop)
		}
	}
	return false
}

// comparesOrder reports whether a condition asks which of two is less, one of which a loop's round has.
func (s *site) comparesOrder(x ast.Expr, loop ast.Node) (found bool) {
	ast.Inspect(x, func(n ast.Node) bool {
		switch at := n.(type) {
		case *ast.BinaryExpr:
			switch at.Op {
			case token.LSS, token.LEQ, token.GTR, token.GEQ:
				stmt, ok := loop.(ast.Stmt)
				found = found || ok && (s.madeInRound(at.X, stmt) || s.madeInRound(at.Y, stmt))
			}
		case *ast.CallExpr:
			if sel, ok := ast.Unparen(at.Fun).(*ast.SelectorExpr); ok && len(at.Args) == 1 {
				found = found || slices.Contains([]string{"Before", "After", "Less"}, sel.Sel.Name)
			}
		}
		return !found
	})
	return found
}

// setsOuter reports whether a block does nothing but give variables from before a loop other values.
func (s *site) setsOuter(b *ast.BlockStmt, loop ast.Node) bool {
	for _, stmt := range b.List {
		set, ok := stmt.(*ast.AssignStmt)
		if !ok || set.Tok != token.ASSIGN || slices.ContainsFunc(set.Lhs, func(x ast.Expr) bool {
			v := s.variable(x)
			return !local(v) || isInside(v, loop)
		}) || slices.ContainsFunc(set.Rhs, func(x ast.Expr) bool { return s.builtin(x, "append") != nil }) {
			return false // a list of all that are over
		}
	}
	return len(b.List) > 0
}

// takenAfter reports whether code behind a place takes an element out of a list or a map, or marks it as taken.
func (s *site) takenAfter(list ast.Expr, after token.Pos) (taken bool) {
	name := types.ExprString(list)
	ast.Inspect(s.code(), func(n ast.Node) bool {
		if n == nil || n.End() <= after {
			return n != nil
		}
		switch at := n.(type) {
		case *ast.CallExpr:
			taken = taken || s.builtin(at, "delete") != nil && types.ExprString(at.Args[0]) == name || s.calls(at, "slices", "Delete") && types.ExprString(at.Args[0]) == name
		case *ast.AssignStmt:
			if len(at.Lhs) != 1 || len(at.Rhs) != 1 || at.Pos() < after {
				return true
			}
			call := s.builtin(at.Rhs[0], "append")
			slice, cut := ast.Unparen(at.Rhs[0]).(*ast.SliceExpr)
			taken = taken || types.ExprString(at.Lhs[0]) == name && (call != nil && call.Ellipsis.IsValid() || cut && types.ExprString(slice.X) == name) ||
				types.ExprString(at.Rhs[0]) == "true" && s.variable(at.Lhs[0]) == nil // done[best] = true
		}
		return !taken
	})
	return taken
}
