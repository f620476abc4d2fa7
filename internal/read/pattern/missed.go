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

// callsValue reports whether a call is of a function that is kept in a variable or a field.
func (s *site) callsValue(call *ast.CallExpr) bool {
	id := last(call.Fun)
	if id == nil {
		return false
	}
	v, ok := s.Info.Uses[id].(*types.Var)
	_, function := under(typeOf(v)).(*types.Signature)
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
				l.in, l.key = types.ExprString(from.X), types.ExprString(from.Index)
			}
		case *ast.CallExpr:
			sel, ok := ast.Unparen(from.Fun).(*ast.SelectorExpr)
			if ok && len(from.Args) == 1 && slices.Contains(lookups, sel.Sel.Name) && s.packageOf(sel.X) == "" {
				l.in, l.key = types.ExprString(sel.X), types.ExprString(from.Args[0])
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
	b, ok := under(t).(*types.Basic)
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
		is = negated && inside(n, test.Body) || !negated && n.Pos() > test.Body.End() && LeavesLoop(test.Body.List)
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
