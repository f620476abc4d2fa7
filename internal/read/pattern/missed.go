package pattern

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
)

// A cache that spares nothing: what it should have is made again and again behind a look-up.

var (
	// lookups and stores are names of methods that caches have.
	lookups = []string{"Get", "Load", "Lookup", "Peek", "Find"}
	stores  = []string{"Put", "Set", "Add", "Store", "Insert", "LoadOrStore"}
)

// A lookup is one in a cache, by a key.
type lookup struct {
	in, key string     // as they are written
	by      ast.Expr   // the key
	found   *types.Var // whether it was there
	at      token.Pos
}

// missedCache matches what is made where a look-up found nothing, and put under the key that was looked for.
func (s *site) missedCache(n node) *match {
	call, ok := n.Node.(*ast.CallExpr)
	if !ok || s.anyCall(n) == nil && !s.callsValue(call) {
		return nil
	}
	for _, l := range s.lookupsBefore(n) {
		if s.missed(n, &l) && s.storedBehind(n, &l) {
			return s.whole(call)
		}
	}
	return nil
}

// keyTooFine matches what a cache misses whose key has all that this depends on, and something more: what is the same is kept
// many times, and found when the rest is the same, too.
func (s *site) keyTooFine(n node) *match {
	m := s.missedCache(n)
	if m == nil {
		return nil
	}
	needs := s.ownVariables(m.at)
	if len(needs) == 0 {
		return nil
	}
	for _, l := range s.lookupsBefore(n) {
		has := s.ownVariables(s.madeOf(l.by))
		if !s.missed(n, &l) || !s.storedBehind(n, &l) || len(has) <= len(needs) {
			continue
		}
		if all := !slices.ContainsFunc(needs, func(v *types.Var) bool { return !slices.Contains(has, v) }); all {
			return m
		}
	}
	return nil
}

// ownVariables returns the variables of the function that an expression has, its receiver and what is called left out.
func (s *site) ownVariables(x ast.Node) (list []*types.Var) {
	ast.Inspect(x, func(n ast.Node) bool {
		id, ok := n.(*ast.Ident)
		if !ok {
			return true
		}
		v, ok := s.Info.Uses[id].(*types.Var)
		receiver := s.Decl != nil && s.Decl.Recv != nil && ok && isInside(v, s.Decl.Recv)
		if ok && local(v) && !receiver && !slices.Contains(list, v) {
			list = append(list, v)
		}
		return true
	})
	return list
}

// madeOf returns what a variable was declared with, where that is its only value, and any other expression as it is.
func (s *site) madeOf(x ast.Expr) ast.Node {
	v := s.variable(x)
	if !local(v) {
		return x
	}
	var made []ast.Node
	ast.Inspect(s.Body, func(n ast.Node) bool {
		set, ok := n.(*ast.AssignStmt)
		if !ok {
			return true
		}
		for i, to := range set.Lhs {
			if s.variable(to) == v {
				made = append(made, set.Rhs[min(i, len(set.Rhs)-1)])
			}
		}
		return true
	})
	if len(made) != 1 {
		return x
	}
	return made[0]
}

// callsValue reports whether a call is of a function that is kept in a variable or a field.
func (s *site) callsValue(call *ast.CallExpr) bool {
	id := last(call.Fun)
	if id == nil {
		return false
	}
	v, ok := s.Info.Uses[id].(*types.Var)
	_, function := underlying(typeOf(v)).(*types.Signature)
	return ok && function
}

// lookupsBefore returns the look-ups of the function that are before a node.
func (s *site) lookupsBefore(n node) (list []lookup) {
	ast.Inspect(s.Body, func(x ast.Node) bool {
		set, ok := x.(*ast.AssignStmt)
		if !ok || set.Pos() >= n.Pos() || len(set.Lhs) != 2 || len(set.Rhs) != 1 {
			return true
		}
		l := lookup{found: s.variable(set.Lhs[1]), at: set.Pos()}
		switch from := ast.Unparen(set.Rhs[0]).(type) {
		case *ast.IndexExpr:
			if isMap(s.typ(from.X)) {
				l.in, l.key, l.by = types.ExprString(from.X), types.ExprString(from.Index), from.Index
			}
		case *ast.CallExpr:
			sel, ok := ast.Unparen(from.Fun).(*ast.SelectorExpr)
			if ok && len(from.Args) == 1 && slices.Contains(lookups, sel.Sel.Name) && s.packageOf(sel.X) == "" {
				l.in, l.key, l.by = types.ExprString(sel.X), types.ExprString(from.Args[0]), from.Args[0]
			}
		}
		if l.in != "" && l.found != nil && isBoolean(l.found.Type()) {
			list = append(list, l)
		}
		return true
	})
	return list
}

func isBoolean(t types.Type) bool {
	b, ok := underlying(t).(*types.Basic)
	return ok && b.Info()&types.IsBoolean != 0
}

// missed reports whether a node is reached only where a look-up found nothing: within an if of that, or behind one that leaves with
// what was found.
func (s *site) missed(n node, l *lookup) (is bool) {
	ast.Inspect(s.Body, func(x ast.Node) bool {
		test, ok := x.(*ast.IfStmt)
		if !ok || is || test.End() <= l.at || test.Pos() > n.Pos() || !s.mentions(test.Cond, l.found) {
			return !is
		}
		not, negated := ast.Unparen(test.Cond).(*ast.UnaryExpr)
		negated = negated && not.Op == token.NOT
		is = negated && isInside(n, test.Body) || !negated && n.Pos() > test.Body.End() && LeavesLoop(test.Body.List)
		return !is
	})
	return is
}

// storedBehind reports whether what a call returns, or what is made of that, is put under the key that was looked for.
func (s *site) storedBehind(n node, l *lookup) (is bool) {
	made := map[*types.Var]bool{}
	from := func(x ast.Node) (of bool) {
		ast.Inspect(x, func(y ast.Node) bool {
			id, ok := y.(*ast.Ident)
			v, _ := s.Info.Uses[orNone(id)].(*types.Var)
			of = of || ok && made[v] || y == n.Node
			return !of
		})
		return of
	}
	ast.Inspect(s.Body, func(x ast.Node) bool {
		switch x := x.(type) {
		case *ast.AssignStmt:
			for i, to := range x.Lhs {
				value := x.Rhs[min(i, len(x.Rhs)-1)]
				if !from(value) {
					continue
				}
				if v := s.variable(to); v != nil {
					made[v] = true
				}
				at, ok := ast.Unparen(to).(*ast.IndexExpr)
				is = is || ok && types.ExprString(at.X) == l.in && types.ExprString(at.Index) == l.key
			}
		case *ast.CallExpr:
			sel, ok := ast.Unparen(x.Fun).(*ast.SelectorExpr)
			is = is || ok && len(x.Args) > 1 && slices.Contains(stores, sel.Sel.Name) && types.ExprString(sel.X) == l.in &&
				types.ExprString(x.Args[0]) == l.key && from(x.Args[1])
		}
		return !is
	})
	return is
}

func orNone(id *ast.Ident) *ast.Ident {
	if id == nil {
		return &ast.Ident{}
	}
	return id
}
