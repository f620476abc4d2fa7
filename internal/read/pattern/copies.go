package pattern

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"
)

// copyToRead matches the call of a function of the program that gives out a copy of all that it has, of which the
// caller only reads.
func (s *site) copyToRead(n node) *match {
	call := s.anyCall(n)
	if call == nil {
		call, _ = n.Node.(*ast.CallExpr)
	}
	if call == nil || !s.isOnlyValue(n, func(u node) bool { return s.looks(u, maxCopyDepth) }) {
		return nil
	}
	decl := s.calleeDecl(call)
	if decl == nil || decl.Body == nil || strings.HasPrefix(decl.Name.Name, "New") || !s.givesCopy(decl, maxCopyDepth) {
		return nil
	}
	return &match{at: call}
}

// maxCopyDepth is through how many functions of the program a copy is followed, to where it is made and to where it is read.
const maxCopyDepth = 3

// looks reports whether a use only looks at something: at a field or an element of it, how many it has, or
// through a function that does no more.
func (s *site) looks(u node, deep int) bool {
	switch up := u.parent(0).(type) {
	case *ast.BinaryExpr:
		return up.Op == token.EQL || up.Op == token.NEQ
	case *ast.RangeStmt:
		return up.X == u.Node && isBasic(elementOf(s.typ(up.X)))
	case *ast.CallExpr:
		return s.builtin(up, "len") != nil || deep > 0 && s.looksInside(up, u.Node.(ast.Expr), deep-1)
	case *ast.IndexExpr, *ast.SelectorExpr:
	default:
		return false
	}
	outer := u.outer()
	if call, ok := outer.parent(0).(*ast.CallExpr); ok && call.Fun == outer.Node {
		decl := s.functionOf(call.Fun)
		return decl != nil && onlyReads(decl)
	}
	return !s.stores(outer) && (isBasic(s.typ(outer.Node.(ast.Expr))) || s.looks(outer, deep))
}

// looksInside reports whether a function of the package only looks at an argument.
func (s *site) looksInside(call *ast.CallExpr, argument ast.Expr, deep int) bool {
	decl, at := s.functionOf(call.Fun), slices.Index(call.Args, argument)
	if decl == nil || decl.Body == nil || at < 0 {
		return false
	}
	v := s.parameterOf(decl, at)
	if v == nil {
		return false
	}
	_, only := s.uses(v, decl.Body, func(u node) bool { return s.looks(u, deep) })
	return only
}

// onlyReads reports whether a method leaves alone what it is called of: it sets no variable but its own.
func onlyReads(decl *ast.FuncDecl) bool {
	if decl.Body == nil || decl.Recv == nil {
		return false
	}
	reads := true
	ast.Inspect(decl.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			for _, x := range n.Lhs {
				if _, own := x.(*ast.Ident); !own {
					reads = false
				}
			}
		case *ast.IncDecStmt:
			_, own := n.X.(*ast.Ident)
			reads = reads && own
		case *ast.CallExpr:
			name := nameOf(n)
			reads = reads && name != "delete" && name != "clear"
		case *ast.UnaryExpr:
			reads = reads && n.Op != token.AND
		}
		return reads
	})
	return reads
}

// givesCopy reports whether a function returns a copy of all of something that is there before the call.
func (s *site) givesCopy(decl *ast.FuncDecl, deep int) (copies bool) {
	ast.Inspect(decl.Body, func(n ast.Node) bool {
		if _, ok := n.(*ast.FuncLit); ok {
			return false
		}
		if r, ok := n.(*ast.ReturnStmt); ok && len(r.Results) > 0 {
			copies = copies || s.isCopy(decl, r.Results[0], deep)
		}
		return !copies
	})
	return copies
}

// isCopy reports whether what a function returns is a copy: it is made by a function that clones, is filled
// with all elements of another, or has parts of which that holds.
func (s *site) isCopy(decl *ast.FuncDecl, x ast.Expr, deep int) bool {
	switch x := ast.Unparen(x).(type) {
	case *ast.CallExpr:
		if clones(x) {
			return true
		}
		called := s.onlyCalled(x)
		return called != nil && called.Body != nil && deep > 0 && s.givesCopy(called, deep-1)
	case *ast.UnaryExpr:
		return x.Op == token.AND && s.isCopy(decl, x.X, deep)
	case *ast.CompositeLit:
		if decl.Recv == nil || x.Type == nil || receiverType(decl) != types.ExprString(x.Type) {
			return false // it is made of what is copied, and no copy
		}
		for _, e := range x.Elts {
			if pair, ok := e.(*ast.KeyValueExpr); ok {
				e = pair.Value
			}
			if call, ok := e.(*ast.CallExpr); ok && clones(call) {
				return true
			}
		}
	case *ast.Ident:
		return filledWithAll(decl, x.Name)
	}
	return false
}

// onlyCalled returns the function of the program that a call in another package is of, for which there are no types: the
// only one of that name.
func (s *site) onlyCalled(call *ast.CallExpr) (only *ast.FuncDecl) {
	if decl := s.functionOf(call.Fun); decl != nil {
		return decl
	}
	sel, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr)
	if !ok {
		return nil
	}
	for _, file := range s.Files {
		for _, d := range file.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok || f.Name.Name != sel.Sel.Name {
				continue
			}
			if only != nil {
				return nil
			}
			only = f
		}
	}
	return only
}

// receiverType returns the name of the type that a method is of.
func receiverType(decl *ast.FuncDecl) string {
	t := decl.Recv.List[0].Type
	if p, ok := t.(*ast.StarExpr); ok {
		t = p.X
	}
	return types.ExprString(t)
}

// clones reports whether a call copies all of a list or map that is there: not of what another call has just made.
func clones(call *ast.CallExpr) bool {
	from := -1
	switch text := types.ExprString(call.Fun); {
	case text == "slices.Clone" || text == "maps.Clone" || text == "bytes.Clone":
		from = 0
	case text == "append" && call.Ellipsis.IsValid() && len(call.Args) == 2:
		if to := types.ExprString(call.Args[0]); strings.HasSuffix(to, "(nil)") || strings.HasSuffix(to, "{}") {
			from = 1
		}
	}
	return from >= 0 && from < len(call.Args) && rootOf(call.Args[from]) != ""
}

// filledWithAll reports whether a variable of a function is made in it, gets each element of another list or
// map, whatever it is, and is handed to nobody who might leave some out.
func filledWithAll(decl *ast.FuncDecl, name string) bool {
	made, filled, handed := false, false, false
	ast.Inspect(decl.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			handed = handed || nameOf(n) != "len" && slices.ContainsFunc(n.Args, func(x ast.Expr) bool {
				id, ok := ast.Unparen(x).(*ast.Ident)
				return ok && id.Name == name
			})
		case *ast.AssignStmt:
			if call, ok := n.Rhs[0].(*ast.CallExpr); ok && len(n.Lhs) == 1 && rootOf(n.Lhs[0]) == name {
				made = made || nameOf(call) == "make" || clones(call)
				filled = filled || clones(call)
			}
			if _, ok := n.Rhs[0].(*ast.StarExpr); ok && len(n.Lhs) == 1 && rootOf(n.Lhs[0]) == name {
				made = true
			}
		case *ast.RangeStmt:
			filled = filled || fills(n, name) && !defines(decl, rootOf(n.X))
		}
		return true
	})
	return made && filled && !handed
}

// defines reports whether a function gives a variable of its own its value: it is of a call, and nothing that was
// there before.
func defines(decl *ast.FuncDecl, name string) (own bool) {
	ast.Inspect(decl.Body, func(n ast.Node) bool {
		set, ok := n.(*ast.AssignStmt)
		if ok && set.Tok == token.DEFINE && slices.ContainsFunc(set.Lhs, func(x ast.Expr) bool { return rootOf(x) == name }) {
			_, part := ast.Unparen(set.Rhs[0]).(*ast.SelectorExpr) // of the receiver
			own = own || !part
		}
		return !own
	})
	return own
}

// fills reports whether each round of a loop sets an element of a variable, or of a field of it, to one of what it
// goes over, or to a copy of that.
func fills(loop *ast.RangeStmt, name string) (fills bool) {
	for _, stmt := range loop.Body.List {
		switch stmt := stmt.(type) {
		case *ast.IfStmt, *ast.BranchStmt:
			return false
		case *ast.AssignStmt:
			_, element := stmt.Lhs[0].(*ast.IndexExpr)
			fills = fills || element && len(stmt.Lhs) == 1 && rootOf(stmt.Lhs[0]) == name && isElement(stmt.Rhs[0], loop)
		}
	}
	return fills
}

// isElement reports whether an expression is the element of a loop as it is, or a copy of it.
func isElement(x ast.Expr, loop *ast.RangeStmt) bool {
	if call, ok := ast.Unparen(x).(*ast.CallExpr); ok {
		return clones(call)
	}
	root := rootOf(x)
	return root != "" && (loop.Value != nil && root == rootOf(loop.Value) || root == rootOf(loop.X))
}

// rootOf returns the name of the variable that an expression is a part of, "" where it is of none.
func rootOf(x ast.Expr) string {
	for {
		switch e := ast.Unparen(x).(type) {
		case *ast.Ident:
			return e.Name
		case *ast.SelectorExpr:
			x = e.X
		case *ast.IndexExpr:
			x = e.X
		default:
			return ""
		}
	}
}

// nameOf returns the last word of what a call names.
func nameOf(call *ast.CallExpr) string {
	if id := last(call.Fun); id != nil {
		return id.Name
	}
	return ""
}
