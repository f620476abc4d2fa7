package pattern

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"
)

// Lists and maps: what is sorted, searched or looked up more than its answer needs.

// comparing reports whether the line is in a function that compares elements for a sort.
func (s *site) comparing() (found bool) {
	if s.Decl == nil {
		return false
	}
	if s.Body == s.Decl.Body {
		if s.Decl.Type.Params.NumFields() != 2 || s.Decl.Type.Results.NumFields() != 1 {
			return false
		}
		return s.Decl.Name.Name == "Less" && s.Decl.Recv != nil || slices.ContainsFunc(s.Files, func(file *ast.File) bool {
			return s.sortsBy(file, func(x ast.Expr) bool { return s.functionOf(x) == s.Decl })
		})
	}
	return s.sortsBy(s.Decl, func(x ast.Expr) bool {
		lit, ok := x.(*ast.FuncLit)
		return ok && lit.Body == s.Body
	})
}

// sortsBy reports whether code sorts by a comparison.
func (s *site) sortsBy(code ast.Node, by func(ast.Expr) bool) (found bool) {
	ast.Inspect(code, func(n ast.Node) bool {
		if call, ok := n.(*ast.CallExpr); ok && (s.calls(call, "sort", "Slice", "SliceStable") || s.calls(call, "slices", "SortFunc", "SortStableFunc")) {
			found = found || slices.ContainsFunc(call.Args, by)
		}
		return !found
	})
	return found
}

// keyInCompare matches a key that each comparison of a sort makes of an element again.
func (s *site) keyInCompare(n node) *match {
	call := s.pureCall(n)
	if call == nil || !s.comparing() || !slices.ContainsFunc(call.Args, func(x ast.Expr) bool { return !s.constant(x) }) {
		return nil
	}
	return &match{at: call, line: true, through: []string{s.callee}}
}

// ownKeyInCompare matches a key that a function of the package makes for each comparison of a sort.
func (s *site) ownKeyInCompare(n node) *match {
	call := s.anyCall(n)
	if call == nil || !s.comparing() {
		return nil
	}
	decl := s.calleeDecl(call)
	if decl == nil || !s.makes(decl, 0) {
		return nil
	}
	loops := false
	ast.Inspect(decl.Body, func(x ast.Node) bool {
		switch x.(type) {
		case *ast.ForStmt, *ast.RangeStmt:
			loops = true
		}
		return !loops
	})
	if !loops && !s.costs(call, 0) {
		return nil
	}
	return &match{at: call, line: true, through: []string{s.callee}}
}

// sortForOne matches a list that is sorted, of which only the first or the last is wanted.
func (s *site) sortForOne(n node) *match {
	call := s.call(n)
	if call == nil || len(call.Args) == 0 {
		return nil
	}
	v := s.variable(call.Args[0])
	if !local(v) || !s.madeEmpty(v) || s.loop(n) != nil && !isInside(v, s.loop(n)) {
		return nil
	}
	ends := 0
	_, ok := s.uses(v, s.code(), func(u node) bool {
		if u.Pos() < call.End() {
			return true
		}
		if s.builtin(u.parent(0), "len") != nil {
			return true
		}
		index, ok := u.parent(0).(*ast.IndexExpr)
		if ok && index.X == u.Node && (s.is(index.Index, "0") || s.lastOf(index)) {
			ends++
			set, ok := u.outer().parent(0).(*ast.AssignStmt)
			return !ok || !slices.Contains(set.Lhs, ast.Expr(index))
		}
		return false
	})
	if !ok || ends == 0 {
		return nil
	}
	return s.whole(call)
}

// mapTwice matches a look-up of what the condition around it has looked up.
func (s *site) mapTwice(n node) *match {
	index, ok := n.Node.(*ast.IndexExpr)
	if !ok || !isMap(s.typ(index.X)) || s.stores(n) || s.hasCall(index) {
		return nil
	}
	for i := len(n.path) - 1; i >= 0; i-- {
		cond, ok := n.path[i].(*ast.IfStmt)
		if !ok {
			continue
		}
		if n.Pos() < cond.Body.Pos() || n.Pos() >= cond.Body.End() || s.changedBefore(cond.Body, index) || !s.looksUp(cond, index) {
			return nil
		}
		return &match{at: index, line: true, through: []string{"runtime.mapaccess"}}
	}
	return nil
}

// stores reports whether an element of a map is given a value.
func (s *site) stores(n node) bool {
	switch up := n.parent(0).(type) {
	case *ast.AssignStmt:
		return slices.Contains(up.Lhs, n.Node.(ast.Expr))
	case *ast.IncDecStmt:
		return true
	}
	return false
}

// looksUp reports whether a condition looks up an element, and what it tests is that this is
// there.
func (s *site) looksUp(cond *ast.IfStmt, index *ast.IndexExpr) (found bool) {
	text := types.ExprString(index)
	look := func(n ast.Node) bool {
		x, ok := n.(*ast.IndexExpr)
		found = found || ok && types.ExprString(x) == text
		return !found
	}
	if cond.Init != nil {
		set, ok := cond.Init.(*ast.AssignStmt)
		if ok && len(set.Rhs) == 1 && types.ExprString(set.Rhs[0]) == text {
			return true
		}
	}
	ast.Inspect(cond.Cond, look)
	return found
}

// changedBefore reports whether a block may change a map or a key before an element is looked
// up: by a call of anything, or by a value given to one of their parts.
func (s *site) changedBefore(b *ast.BlockStmt, index *ast.IndexExpr) (changed bool) {
	ast.Inspect(b, func(n ast.Node) bool {
		if n == nil || n.Pos() >= index.Pos() {
			return n == nil
		}
		switch n := n.(type) {
		case *ast.CallExpr:
			changed = changed || n.End() <= index.Pos() && !s.harmless(n)
		case *ast.AssignStmt:
			changed = changed || n.End() <= index.Pos() && n.Tok != token.DEFINE
		case *ast.IncDecStmt:
			changed = true
		case *ast.ForStmt, *ast.RangeStmt, *ast.FuncLit:
			changed = true // what follows in it comes before, too
		}
		return !changed
	})
	return changed
}

// harmless reports whether a call changes no variable.
func (s *site) harmless(call *ast.CallExpr) bool {
	return s.Info.Types[call.Fun].IsType() || s.builtin(call, "len") != nil || s.builtin(call, "cap") != nil
}

// listQueue matches a list of package container/list that only grows and shrinks at its ends.
func (s *site) listQueue(n node) *match {
	call := s.call(n)
	if call == nil {
		return nil
	}
	sel, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr)
	if !ok {
		return nil
	}
	v, ok := s.Info.Uses[last(sel.X)].(*types.Var)
	if !ok || typeName(v.Type()) != "container/list.List" {
		return nil
	}
	in := []ast.Node{s.code()}
	if !local(v) {
		in = in[:0]
		for _, f := range s.Files {
			in = append(in, f)
		}
	}
	for _, x := range in {
		if _, ok := s.uses(v, x, s.atEnds); !ok {
			return nil
		}
	}
	return s.whole(call)
}

// last returns the identifier that an expression ends with; nil for what has none.
func last(x ast.Expr) *ast.Ident {
	switch x := ast.Unparen(x).(type) {
	case *ast.Ident:
		return x
	case *ast.SelectorExpr:
		return x.Sel
	}
	return nil
}

// atEnds reports whether a use of a list adds to an end of it, or looks at one or takes it.
func (s *site) atEnds(u node) bool {
	if field, ok := u.parent(0).(*ast.SelectorExpr); ok && field.Sel == u.Node {
		u = u.outer()
	}
	switch up := u.parent(0).(type) {
	case *ast.AssignStmt:
		return slices.Contains(up.Lhs, u.Node.(ast.Expr))
	case *ast.KeyValueExpr:
		return up.Key == u.Node
	case *ast.SelectorExpr:
		switch up.Sel.Name {
		case "Front", "Back", "Len", "Init":
			return true
		case "PushBack", "PushFront":
			_, alone := u.outer().parent(1).(*ast.ExprStmt) // nobody keeps the element
			return alone
		case "Remove":
			call, ok := u.outer().parent(0).(*ast.CallExpr)
			return ok && len(call.Args) == 1 && s.endOf(call.Args[0], types.ExprString(up.X))
		}
	}
	return false
}

// endOf reports whether an expression is an end of a list, or a variable that is only that.
func (s *site) endOf(x ast.Expr, list string) (is bool) {
	text := types.ExprString(x)
	if text == list+".Front()" || text == list+".Back()" {
		return true
	}
	v := s.variable(x)
	if !local(v) {
		return false
	}
	others := false
	for _, f := range s.Files {
		ast.Inspect(f, func(n ast.Node) bool {
			set, ok := n.(*ast.AssignStmt)
			if ok && len(set.Lhs) == 1 && s.variable(set.Lhs[0]) == v {
				from := types.ExprString(set.Rhs[0])
				is = is || from == list+".Front()" || from == list+".Back()"
				others = others || !strings.HasSuffix(from, ".Front()") && !strings.HasSuffix(from, ".Back()")
			}
			return true
		})
	}
	return is && !others
}

// searchKept matches a loop that only looks for an element of a list that is kept and grows.
func (s *site) searchKept(n node) *match {
	r, ok := n.Node.(*ast.RangeStmt)
	if !ok || r.Tok != token.DEFINE || len(r.Body.List) != 1 || s.loop(n) != nil {
		return nil
	}
	cond, ok := r.Body.List[0].(*ast.IfStmt)
	if !ok || cond.Else != nil || cond.Init != nil || len(cond.Body.List) != 1 {
		return nil // what takes elements out needs the list
	}
	_, answers := cond.Body.List[0].(*ast.ReturnStmt)
	compare, ok := ast.Unparen(cond.Cond).(*ast.BinaryExpr)
	if !ok || !answers || compare.Op != token.EQL {
		return nil
	}
	element, wanted := compare.X, compare.Y
	if !s.partOf(element, r) {
		element, wanted = wanted, element
	}
	if !s.partOf(element, r) || s.hasCall(element) || s.constant(wanted) || !isName(s.typ(element)) {
		return nil
	}
	if v := s.variable(wanted); !local(v) || !s.keptList(r.X) && !s.grownByCaller(r.X) {
		return nil
	}
	return &match{at: r, through: []string{""}}
}

// isName reports whether values of a type can tell many elements apart: numbers of more than
// a byte, and texts. Pointers are looked for to take an element out.
func isName(t types.Type) bool {
	b, ok := underlying(t).(*types.Basic)
	return ok && (b.Info()&types.IsString != 0 || b.Info()&types.IsInteger != 0 && types.SizesFor("gc", "amd64").Sizeof(b) > 1)
}

// keptList reports whether a list is a field or a variable of the package, and no tree, to which
// whoever searches it appends: each that was not found makes it longer.
func (s *site) keptList(x ast.Expr) (grows bool) {
	id := last(x)
	if id == nil {
		return false
	}
	v, ok := s.Info.Uses[id].(*types.Var)
	list, slice := underlying(s.typ(x)).(*types.Slice)
	if !ok || !slice || local(v) {
		return false
	}
	if sel, ok := ast.Unparen(x).(*ast.SelectorExpr); ok && typeName(s.typ(sel.X)) == typeName(list.Elem()) {
		return false // a node's children: few each
	}
	for _, f := range s.Files {
		for _, d := range f.Decls {
			decl, ok := d.(*ast.FuncDecl)
			grows = grows || ok && (decl == s.Decl || s.callsThis(decl)) && s.appendsTo(v, decl)
		}
	}
	return grows
}

// grownByCaller reports whether a list is a parameter, and is given by a loop that appends to
// it: the search is done anew for each that comes.
func (s *site) grownByCaller(x ast.Expr) (grows bool) {
	at := s.parameter(s.variable(x))
	if at < 0 || s.Decl.Recv != nil {
		return false
	}
	for _, f := range s.Files {
		ast.Inspect(f, func(n ast.Node) bool {
			var body *ast.BlockStmt
			switch loop := n.(type) {
			case *ast.ForStmt:
				body = loop.Body
			case *ast.RangeStmt:
				body = loop.Body
			default:
				return true
			}
			ast.Inspect(body, func(n ast.Node) bool {
				call, ok := n.(*ast.CallExpr)
				if ok && at < len(call.Args) && s.isThis(call) {
					v := s.variable(call.Args[at])
					grows = grows || v != nil && !(body.Pos() <= v.Pos() && v.Pos() < body.End()) && s.appendsTo(v, body)
				}
				return !grows
			})
			return !grows
		})
	}
	return grows
}

// parameter returns the place of a variable among those of the function around the line, -1 when it
// is none.
func (s *site) parameter(v *types.Var) int {
	if v == nil || s.Decl == nil || s.Body != s.Decl.Body {
		return -1
	}
	i := 0
	for _, field := range s.Decl.Type.Params.List {
		for _, name := range field.Names {
			if s.Info.Defs[name] == v {
				return i
			}
			i++
		}
	}
	return -1
}

// parameterOf returns a parameter of a function by its place; nil for none that has a name.
func (s *site) parameterOf(decl *ast.FuncDecl, at int) *types.Var {
	i := 0
	for _, field := range decl.Type.Params.List {
		for _, name := range field.Names {
			if i == at {
				v, _ := s.Info.Defs[name].(*types.Var)
				return v
			}
			i++
		}
	}
	return nil
}

// callsThis reports whether a function calls the one around the line.
func (s *site) callsThis(decl *ast.FuncDecl) (found bool) {
	ast.Inspect(decl, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		found = found || ok && s.isThis(call)
		return !found
	})
	return found
}

// isThis reports whether a call is of the function around the line.
func (s *site) isThis(call *ast.CallExpr) bool {
	if s.Decl == nil || last(call.Fun) == nil {
		return false
	}
	this := s.Info.Defs[s.Decl.Name]
	return this != nil && s.Info.Uses[last(call.Fun)] == this
}

// appendsTo reports whether code makes a list longer.
func (s *site) appendsTo(v *types.Var, code ast.Node) (found bool) {
	ast.Inspect(code, func(n ast.Node) bool {
		set, ok := n.(*ast.AssignStmt)
		if ok && len(set.Lhs) == 1 && len(set.Rhs) == 1 && last(set.Lhs[0]) != nil && s.Info.Uses[last(set.Lhs[0])] == v {
			found = found || s.builtin(set.Rhs[0], "append") != nil
		}
		return !found
	})
	return found
}
