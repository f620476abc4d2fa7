package pattern

import (
	"go/ast"
	"go/token"
	"go/types"
)

// A profile of the heap ends at the line whose operator allocates and does not say which
// operator. Where a line has one alone, all is that one's.

// operators counts what some lines have that allocates without a call, as far as types tell.
func (s *site) operators(first, last int) (n int) {
	ast.Inspect(s.Body, func(x ast.Node) bool {
		if x == nil || s.lineOf(x.Pos()) > last || s.lineOf(x.End()-1) < first {
			return false
		}
		if at := s.lineOf(x.Pos()); at < first {
			return true
		}
		n += s.allocations(x)
		switch x := x.(type) {
		case *ast.FuncLit:
			return false // its own lines
		case *ast.BinaryExpr:
			return !s.joins(x) // a + b + c is made at once
		case *ast.AssignStmt:
			return x.Tok != token.ADD_ASSIGN || !isString(s.typ(x.Lhs[0])) || s.calledIn(x.Rhs[0])
		}
		return true
	})
	return n
}

// allocations counts how often a node itself may allocate.
func (s *site) allocations(x ast.Node) (n int) {
	one := func(is bool) int {
		if is {
			return 1
		}
		return 0
	}
	switch x := x.(type) {
	case *ast.FuncLit, *ast.DeferStmt, *ast.GoStmt:
		return 1
	case *ast.UnaryExpr:
		_, made := ast.Unparen(x.X).(*ast.CompositeLit)
		return one(x.Op == token.AND && made)
	case *ast.CompositeLit:
		switch under(s.typ(x)).(type) {
		case *types.Slice, *types.Map:
			return 1
		}
	case *ast.BinaryExpr:
		return one(s.joins(x))
	case *ast.AssignStmt:
		if x.Tok == token.ADD_ASSIGN && isString(s.typ(x.Lhs[0])) {
			return 1
		}
		for _, to := range x.Lhs {
			index, ok := to.(*ast.IndexExpr)
			n += one(ok && isMap(s.typ(index.X)))
		}
	case *ast.CallExpr:
		if s.builtin(x, "make") != nil || s.builtin(x, "new") != nil || s.builtin(x, "append") != nil {
			return 1
		}
		if from := s.conversion(x, func(types.Type) bool { return true }); from != nil {
			return one(isString(s.typ(from)) != isString(s.typ(x)))
		}
		return s.boxed(x)
	}
	return n
}

// joins reports whether a sum is of texts, and not made by the compiler.
func (s *site) joins(x *ast.BinaryExpr) bool {
	return x.Op == token.ADD && isString(s.typ(x)) && !s.constant(x)
}

// boxed counts the arguments of a call that become values of interfaces.
func (s *site) boxed(call *ast.CallExpr) (n int) {
	signature, ok := under(s.typ(call.Fun)).(*types.Signature)
	if !ok {
		return 0
	}
	for i, x := range call.Args {
		var to types.Type
		switch params := signature.Params(); {
		case signature.Variadic() && i >= params.Len()-1 && !call.Ellipsis.IsValid():
			to = params.At(params.Len() - 1).Type().(*types.Slice).Elem()
		case i < params.Len():
			to = params.At(i).Type()
		}
		if to != nil && types.IsInterface(to) && s.typ(x) != nil && !types.IsInterface(s.typ(x)) && !s.constant(x) {
			if _, pointer := under(s.typ(x)).(*types.Pointer); !pointer {
				n++
			}
		}
	}
	return n
}
