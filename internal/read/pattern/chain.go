package pattern

import (
	"go/ast"
	"go/token"
	"go/types"
)

// contextChain matches a value that is looked for in a context which is wrapped in another again and
// again: what is kept is wrapped and kept, so that each look goes through all that were before.
func (s *site) contextChain(n node) *match {
	call := s.call(n)
	if call == nil || len(call.Args) != 1 {
		return nil
	}
	for _, file := range s.Files {
		for _, d := range file.Decls {
			decl, ok := d.(*ast.FuncDecl)
			if !ok || decl.Body == nil {
				continue
			}
			if wraps := s.wrapsKept(decl); wraps != nil {
				return &match{at: wraps, line: true, maker: decl}
			}
		}
	}
	return nil
}

// A wrap is an assignment of what something is, or of a context around it.
type wrap struct {
	to, from string
	call     *ast.CallExpr // that makes the context, nil for none
}

// wrapsKept returns the call by which a function wraps a context that it keeps, and keeps the
// result in its place.
func (s *site) wrapsKept(decl *ast.FuncDecl) *ast.CallExpr {
	var wraps []wrap
	var kept []string
	ast.Inspect(decl.Body, func(n ast.Node) bool {
		set, ok := n.(*ast.AssignStmt)
		if !ok || len(set.Rhs) != 1 || !isContext(s.typ(set.Lhs[0])) {
			return true
		}
		w := wrap{to: types.ExprString(set.Lhs[0]), from: types.ExprString(set.Rhs[0])}
		if call, ok := set.Rhs[0].(*ast.CallExpr); ok {
			of := s.wrapped(call)
			if of == nil {
				return true
			}
			w.from, w.call = types.ExprString(of), call
		}
		wraps = append(wraps, w)
		switch ast.Unparen(set.Lhs[0]).(type) {
		case *ast.SelectorExpr, *ast.IndexExpr:
			kept = append(kept, w.to)
		}
		if loop := s.outerLoop(decl, set); loop != nil && w.call != nil && set.Tok == token.ASSIGN && w.to == w.from {
			kept = append(kept, w.to) // a variable from before the loop
		}
		return true
	})
	for _, k := range kept {
		if call := around(wraps, k, k, nil, map[string]bool{}); call != nil {
			return call
		}
	}
	return nil
}

// wrapped returns the context that a call wraps, itself or in a function that returns nothing but that; nil for others.
func (s *site) wrapped(call *ast.CallExpr) ast.Expr {
	if s.calls(call, "context", "WithValue", "WithCancel", "WithTimeout", "WithDeadline") {
		return call.Args[0]
	}
	decl := s.calleeDecl(call)
	if decl == nil || decl.Body == nil || len(decl.Body.List) != 1 {
		return nil
	}
	back, ok := decl.Body.List[0].(*ast.ReturnStmt)
	if !ok || len(back.Results) == 0 {
		return nil
	}
	inner, ok := back.Results[0].(*ast.CallExpr)
	if !ok || !s.calls(inner, "context", "WithValue", "WithCancel", "WithTimeout", "WithDeadline") {
		return nil
	}
	for i, x := range call.Args {
		if p := s.parameterOf(decl, i); p != nil && s.variable(inner.Args[0]) == p {
			return x
		}
	}
	return nil
}

// around follows assignments back from something to itself, and returns a call on the way that makes
// a context.
func around(wraps []wrap, at, to string, by *ast.CallExpr, seen map[string]bool) *ast.CallExpr {
	for _, w := range wraps {
		if w.to == at && w.from == at && w.call != nil {
			by = w.call
		}
	}
	if at == to && seen[at] || at == to && by != nil {
		return by
	}
	if seen[at] {
		return nil
	}
	seen[at] = true
	for _, w := range wraps {
		if w.to != at || w.from == at {
			continue
		}
		made := by
		if w.call != nil {
			made = w.call
		}
		if call := around(wraps, w.from, to, made, seen); call != nil {
			return call
		}
	}
	return nil
}

// outerLoop returns the loop around a statement in which its variable is not declared, nil for none.
func (s *site) outerLoop(decl *ast.FuncDecl, set *ast.AssignStmt) (loop ast.Node) {
	v := s.variable(set.Lhs[0])
	if v == nil {
		return nil
	}
	ast.Inspect(decl.Body, func(n ast.Node) bool {
		switch n.(type) {
		case *ast.ForStmt, *ast.RangeStmt:
			if isInside(set, n) && !isInside(v, n) {
				loop = n
			}
		}
		return true
	})
	return loop
}

func isContext(t types.Type) bool { return typeName(t) == "context.Context" }
