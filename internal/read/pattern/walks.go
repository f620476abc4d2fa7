package pattern

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
)

// columnMajor matches a table that lies in memory row by row and is gone through column by column.
func (s *site) columnMajor(n node) *match {
	index, ok := n.Node.(*ast.IndexExpr)
	if !ok {
		return nil
	}
	loops := s.loops(n)
	if len(loops) < 2 {
		return nil
	}
	inner := s.steps(loops[0])
	if inner == nil {
		return nil
	}
	for _, l := range loops[1:] {
		outer := s.steps(l)
		if outer != nil && s.strides(index, inner, outer) && !s.crosses(loops[0], inner, outer) {
			return &match{at: index, line: true}
		}
	}
	return nil
}

// steps returns the variable that a loop counts with, nil for none.
func (s *site) steps(loop ast.Stmt) *types.Var {
	switch l := loop.(type) {
	case *ast.RangeStmt:
		if l.Key != nil && !isMap(s.typ(l.X)) {
			return s.variable(l.Key)
		}
	case *ast.ForStmt:
		if step, ok := l.Post.(*ast.IncDecStmt); ok {
			return s.variable(step.X)
		}
	}
	return nil
}

// strides reports whether an element is one of a table whose row is the first variable and whose
// column is the second.
func (s *site) strides(index *ast.IndexExpr, row, column *types.Var) bool {
	if outer, ok := ast.Unparen(index.X).(*ast.IndexExpr); ok { // table[row][column]
		return !isMap(s.typ(index.X)) && !isMap(s.typ(outer.X)) && s.variable(outer.Index) == row && s.variable(index.Index) == column
	}
	sum, ok := ast.Unparen(index.Index).(*ast.BinaryExpr) // table[row*width+column]
	if !ok || sum.Op != token.ADD || isMap(s.typ(index.X)) {
		return false
	}
	times := func(x ast.Expr) bool {
		product, ok := ast.Unparen(x).(*ast.BinaryExpr)
		return ok && product.Op == token.MUL && (s.mentions(product.X, row) || s.mentions(product.Y, row))
	}
	return times(sum.X) && s.variable(sum.Y) == column || times(sum.Y) && s.variable(sum.X) == column
}

// mentions reports whether an expression has a variable.
func (s *site) mentions(x ast.Expr, v *types.Var) (found bool) {
	ast.Inspect(x, func(n ast.Node) bool {
		id, ok := n.(*ast.Ident)
		found = found || ok && s.Info.Uses[id] == v
		return !found
	})
	return found
}

// crosses reports whether a loop has an element the other way round, too: one of both strides
// whatever the order of the loops.
func (s *site) crosses(loop ast.Stmt, inner, outer *types.Var) (found bool) {
	ast.Inspect(loop, func(n ast.Node) bool {
		index, ok := n.(*ast.IndexExpr)
		found = found || ok && s.strides(index, outer, inner)
		return !found
	})
	return found
}

// tryEach matches layouts that are tried one after the other until one fits.
func (s *site) tryEach(n node) *match {
	call := s.call(n)
	if call == nil || len(call.Args) < 2 {
		return nil
	}
	loops := s.loops(n)
	if len(loops) == 0 {
		return nil
	}
	r, ok := loops[0].(*ast.RangeStmt)
	if !ok || r.Value == nil || s.variable(r.Value) == nil || s.variable(call.Args[0]) != s.variable(r.Value) || !s.isInvariant(call.Args[1], r) {
		return nil
	}
	if few := s.elements(r.X); few >= 0 && few < fewestKept {
		return nil
	}
	for i := len(n.path) - 1; i >= 0 && n.path[i] != r; i-- {
		if cond, ok := n.path[i].(*ast.IfStmt); ok && isInside(n, cond.Init) && LeavesLoop(cond.Body.List) {
			return s.whole(call) // if t, err := time.Parse(layout, text); err == nil { return
		}
	}
	for _, stmt := range r.Body.List {
		if cond, ok := stmt.(*ast.IfStmt); ok && cond.Pos() > n.Pos() && LeavesLoop(cond.Body.List) {
			return s.whole(call)
		}
	}
	return nil
}

// elements returns how many elements a list has in the source; -1 where that does not tell.
func (s *site) elements(x ast.Expr) int {
	n := -1
	count := func(value ast.Expr) {
		if lit, ok := ast.Unparen(value).(*ast.CompositeLit); ok {
			n = len(lit.Elts)
		}
	}
	count(x)
	v := s.variable(x)
	for _, f := range s.Files {
		ast.Inspect(f, func(at ast.Node) bool {
			if d, ok := at.(*ast.ValueSpec); ok && v != nil && len(d.Names) == 1 && len(d.Values) == 1 && s.Info.Defs[d.Names[0]] == v {
				count(d.Values[0])
			}
			return true
		})
	}
	return n
}

// searchNested matches a list of lists that is gone through for the one element with the key that
// the function was given.
func (s *site) searchNested(n node) *match {
	if s.Decl == nil || s.Body != s.Decl.Body {
		return nil
	}
	loops := s.loops(n)
	if len(loops) < 2 {
		return nil
	}
	for _, stmt := range bodyOf(loops[0]).List {
		cond, ok := stmt.(*ast.IfStmt)
		if ok && s.comparesParameter(cond.Cond, loops[len(loops)-1]) && returns(cond.Body) {
			return &match{at: loops[len(loops)-1]}
		}
	}
	return nil
}

// bodyOf returns what a loop does in each round.
func bodyOf(loop ast.Stmt) *ast.BlockStmt {
	if r, ok := loop.(*ast.RangeStmt); ok {
		return r.Body
	}
	return loop.(*ast.ForStmt).Body
}

// comparesParameter reports whether a condition is that something of a round of a loop equals a
// value that the function was given.
func (s *site) comparesParameter(x ast.Expr, loop ast.Stmt) bool {
	b, ok := ast.Unparen(x).(*ast.BinaryExpr)
	switch {
	case !ok:
		return false
	case b.Op == token.LAND:
		return s.comparesParameter(b.X, loop) || s.comparesParameter(b.Y, loop)
	case b.Op != token.EQL:
		return false
	}
	given := func(x ast.Expr) bool {
		v := s.variable(x)
		return local(v) && isInside(v, s.Decl.Type) && isBasic(v.Type())
	}
	return given(b.X) && s.madeInRound(b.Y, loop) || given(b.Y) && s.madeInRound(b.X, loop)
}

// madeInRound reports whether an expression has a variable of a loop.
func (s *site) madeInRound(x ast.Expr, loop ast.Node) (found bool) {
	ast.Inspect(x, func(n ast.Node) bool {
		id, ok := n.(*ast.Ident)
		if ok {
			v := s.variable(id)
			found = found || v != nil && !v.IsField() && isInside(v, loop)
		}
		return !found
	})
	return found
}

// returns reports whether a block ends with leaving the function.
func returns(b *ast.BlockStmt) bool {
	if len(b.List) == 0 {
		return false
	}
	_, ok := b.List[len(b.List)-1].(*ast.ReturnStmt)
	return ok
}

// skipOffset matches elements that are gone through to be left out, as those of the pages before.
func (s *site) skipOffset(n node) *match {
	if s.Decl == nil || s.Body != s.Decl.Body {
		return nil
	}
	for _, loop := range s.loops(n) {
		for _, stmt := range bodyOf(loop).List {
			if cond, ok := stmt.(*ast.IfStmt); ok && s.skipsOne(cond, loop) {
				return &match{at: loop}
			}
		}
	}
	return nil
}

// skipsOne reports whether a round goes on to the next one for as long as a number that the function
// was given says.
func (s *site) skipsOne(cond *ast.IfStmt, loop ast.Stmt) bool {
	b, ok := ast.Unparen(cond.Cond).(*ast.BinaryExpr)
	if !ok || len(cond.Body.List) == 0 {
		return false
	}
	next, ok := cond.Body.List[len(cond.Body.List)-1].(*ast.BranchStmt)
	if !ok || next.Tok != token.CONTINUE {
		return false
	}
	given := func(x ast.Expr) *types.Var {
		v := s.variable(x)
		if !local(v) || !isInside(v, s.Decl.Type) || !s.isNumber(x) {
			return nil
		}
		return v
	}
	if b.Op == token.GTR && s.is(b.Y, "0") && given(b.X) != nil { // if offset > 0 { offset--; continue }
		step, ok := cond.Body.List[0].(*ast.IncDecStmt)
		return ok && step.Tok == token.DEC && s.variable(step.X) == given(b.X)
	}
	counted := s.variable(b.X)
	return b.Op == token.LSS && given(b.Y) != nil && counted != nil && (counted == s.steps(loop) || s.stepped(counted, cond.Body))
}

// stepped reports whether a block counts a variable up.
func (s *site) stepped(v *types.Var, b *ast.BlockStmt) bool {
	step, ok := b.List[0].(*ast.IncDecStmt)
	return ok && step.Tok == token.INC && s.variable(step.X) == v
}

// swapSort matches a loop that brings the elements of a list into order by swapping neighbours: each goes step by
// step to where it belongs.
func (s *site) swapSort(n node) *match {
	loop := s.loop(n)
	if loop == nil {
		return nil
	}
	list := ""
	ast.Inspect(loop, func(n ast.Node) bool {
		if set, ok := n.(*ast.AssignStmt); ok && swapsNeighbours(set) {
			list = types.ExprString(set.Lhs[0].(*ast.IndexExpr).X)
		}
		return list == ""
	})
	ordered := false
	ast.Inspect(loop, func(n ast.Node) bool {
		switch x := n.(type) {
		case *ast.BinaryExpr:
			ordered = ordered || (x.Op == token.LSS || x.Op == token.GTR || x.Op == token.LEQ || x.Op == token.GEQ) && elementsIn(x, list) == 2
		case *ast.CallExpr:
			ordered = ordered || elementsIn(x, list) == 2
		}
		return !ordered
	})
	if list == "" || !ordered || s.endsAtGiven(loop) {
		return nil
	}
	return &match{at: loop}
}

// endsAtGiven reports whether a loop ends at a number that the function was given: it sorts a part of a list, as the
// last step of a sort that has parted it into small ones.
func (s *site) endsAtGiven(loop ast.Stmt) (ends bool) {
	f, ok := loop.(*ast.ForStmt)
	if !ok || f.Cond == nil {
		return false
	}
	ast.Inspect(f.Cond, func(n ast.Node) bool {
		id, ok := n.(*ast.Ident)
		ends = ends || ok && s.isNumber(id) && s.parameter(s.variable(id)) >= 0
		return !ends
	})
	return ends
}

// swapsNeighbours reports whether a statement swaps an element of a list with the one before or behind it.
func swapsNeighbours(set *ast.AssignStmt) bool {
	if len(set.Lhs) != 2 || len(set.Rhs) != 2 || set.Tok != token.ASSIGN {
		return false
	}
	a, ok := set.Lhs[0].(*ast.IndexExpr)
	b, is := set.Lhs[1].(*ast.IndexExpr)
	if !ok || !is || types.ExprString(a.X) != types.ExprString(b.X) ||
		types.ExprString(set.Rhs[0]) != types.ExprString(b) || types.ExprString(set.Rhs[1]) != types.ExprString(a) {
		return false
	}
	return nextTo(a.Index, b.Index) || nextTo(b.Index, a.Index)
}

// nextTo reports whether an expression is another one and 1, or without 1.
func nextTo(x, other ast.Expr) bool {
	b, ok := ast.Unparen(x).(*ast.BinaryExpr)
	if !ok || b.Op != token.ADD && b.Op != token.SUB || types.ExprString(b.X) != types.ExprString(other) {
		return false
	}
	one, ok := b.Y.(*ast.BasicLit)
	return ok && one.Value == "1"
}

// elementsIn returns how many elements of a list an expression has in it.
func elementsIn(x ast.Expr, list string) (n int) {
	ast.Inspect(x, func(at ast.Node) bool {
		if i, ok := at.(*ast.IndexExpr); ok && types.ExprString(i.X) == list {
			n++
		}
		return true
	})
	return n
}

// calendar are the methods that take a time apart as a date.
var calendar = []string{
	"Minute", "Hour", "Day", "Month", "Weekday", "Year", "YearDay", "Date", "Clock", "ISOWeek", "In", "Local", "Format",
}

// timeSteps matches a loop that goes through moments a fixed time apart, takes each apart as a date, and only finds
// one or counts them.
func (s *site) timeSteps(n node) *match {
	loop, ok := n.Node.(*ast.ForStmt)
	if !ok {
		return nil
	}
	t := s.steppedTime(loop)
	if t == nil || !s.onlyLooks(loop.Body, t) || !s.takesApart(loop.Body, t, 0) {
		return nil
	}
	return &match{at: loop, through: []string{"", "time.", s.callee}}
}

// steppedTime returns the time that a loop adds a fixed duration to in each round; nil for none.
func (s *site) steppedTime(loop *ast.ForStmt) *types.Var {
	stmts := append([]ast.Stmt{loop.Post}, loop.Body.List...)
	for _, stmt := range stmts {
		if v := s.addsFixed(stmt, loop); v != nil {
			return v
		}
	}
	return nil
}

// addsFixed returns the variable of t = t.Add(d) with a duration that does not change in the loop.
func (s *site) addsFixed(stmt ast.Stmt, loop ast.Node) *types.Var {
	set, ok := stmt.(*ast.AssignStmt)
	if !ok || len(set.Lhs) != 1 || len(set.Rhs) != 1 {
		return nil
	}
	call, ok := set.Rhs[0].(*ast.CallExpr)
	if !ok || len(call.Args) != 1 {
		return nil
	}
	v := s.variable(set.Lhs[0])
	sel, ok := call.Fun.(*ast.SelectorExpr)
	if !ok || v == nil || sel.Sel.Name != "Add" || s.variable(sel.X) != v || typeName(v.Type()) != "time.Time" || !s.isInvariant(call.Args[0], loop) {
		return nil
	}
	return v
}

// onlyLooks reports whether the rounds of a loop make nothing: they look, count, and leave it.
func (s *site) onlyLooks(b *ast.BlockStmt, t *types.Var) bool {
	for _, stmt := range b.List {
		switch at := stmt.(type) {
		case *ast.IfStmt:
			if at.Else != nil || !s.onlyLooks(at.Body, t) {
				return false
			}
		case *ast.ReturnStmt, *ast.BranchStmt, *ast.IncDecStmt:
		case *ast.AssignStmt:
			if at.Tok != token.DEFINE && s.variable(at.Lhs[0]) != t && slices.ContainsFunc(at.Rhs, s.hasCall) {
				return false // adds up what is worked out for each moment
			}
		default:
			return false
		}
	}
	return true
}

// takesApart reports whether code asks a time for parts of its date, itself or in a function that it gives the time to.
func (s *site) takesApart(code ast.Node, t *types.Var, depth int) (found bool) {
	if t == nil {
		return false
	}
	ast.Inspect(code, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok || found {
			return !found
		}
		if sel, ok := call.Fun.(*ast.SelectorExpr); ok && s.variable(sel.X) == t && slices.Contains(calendar, sel.Sel.Name) {
			found = true
			return false
		}
		decl := s.calleeDecl(call)
		for i, x := range call.Args {
			if decl != nil && decl.Body != nil && depth < maxMakerDepth && s.variable(x) == t {
				found = found || s.takesApart(decl.Body, s.parameterOf(decl, i), depth+1)
			}
		}
		return !found
	})
	return found
}

// countPrefix matches what is counted in a text up to a place, for each place: lines or letters before it. The text is
// kept, or the place is of a loop's round.
func (s *site) countPrefix(n node) *match {
	if m := s.walksPrefix(n); m != nil {
		return m
	}
	call := s.call(n)
	if call == nil || len(call.Args) == 0 || s.runsOnce(n) {
		return nil
	}
	part, ok := ast.Unparen(call.Args[0]).(*ast.SliceExpr)
	if v := s.variable(call.Args[0]); !ok && local(v) {
		part, ok = s.onlyValue(v).(*ast.SliceExpr)
	}
	if !ok || part.Low != nil && !s.is(part.Low, "0") || part.High == nil || s.constant(part.High) {
		return nil
	}
	if _, kept := ast.Unparen(part.X).(*ast.SelectorExpr); kept && s.isReceiver(part.X) {
		return s.whole(call)
	}
	loop := s.loop(n)
	text := s.variable(part.X)
	if loop == nil || !s.isUnchanged(text, loop) || s.isInvariant(part.High, loop) || isBytes(s.typ(part.X)) && s.filled(text, loop) {
		return nil
	}
	return s.whole(call)
}

// filled reports whether a loop hands a buffer to somebody, who may read what comes next into it.
func (s *site) filled(buffer *types.Var, loop ast.Stmt) bool {
	_, not := s.uses(buffer, loop, func(u node) bool {
		call, ok := u.parent(0).(*ast.CallExpr)
		return !ok || s.builtin(call, "len") != nil
	})
	return !not
}

// walksPrefix matches a loop that goes through what the receiver keeps, from its beginning up to a place that the function
// is given, and only counts.
func (s *site) walksPrefix(n node) *match {
	if s.Decl == nil || s.Body != s.Decl.Body || len(s.loops(n)) > 0 {
		return nil
	}
	switch loop := n.Node.(type) {
	case *ast.RangeStmt:
		part, ok := ast.Unparen(loop.X).(*ast.SliceExpr)
		if ok && (part.Low == nil || s.is(part.Low, "0")) && s.parameter(s.variable(part.High)) >= 0 && s.isKept(part.X) && s.onlyCounts(loop.Body) {
			return &match{at: loop}
		}
	case *ast.ForStmt: // for i := 0; i < at; i++
		cond, ok := loop.Cond.(*ast.BinaryExpr)
		if ok && cond.Op == token.LSS && s.beginsAtZero(loop) && s.parameter(s.variable(cond.Y)) >= 0 && s.looksAtKept(loop) && s.onlyCounts(loop.Body) {
			return &match{at: loop}
		}
	}
	return nil
}

// isKept reports whether an expression is a field of the receiver.
func (s *site) isKept(x ast.Expr) bool {
	_, field := ast.Unparen(x).(*ast.SelectorExpr)
	return field && s.isReceiver(x)
}

// beginsAtZero reports whether a loop's variable begins with 0.
func (s *site) beginsAtZero(loop *ast.ForStmt) bool {
	set, ok := loop.Init.(*ast.AssignStmt)
	return ok && len(set.Rhs) == 1 && s.is(set.Rhs[0], "0")
}

// looksAtKept reports whether each round of a loop looks at one element of what the receiver keeps.
func (s *site) looksAtKept(loop *ast.ForStmt) (looks bool) {
	ast.Inspect(loop.Body, func(n ast.Node) bool {
		index, ok := n.(*ast.IndexExpr)
		looks = looks || ok && s.isKept(index.X) && s.madeInRound(index.Index, loop)
		return !looks
	})
	return looks
}

// onlyCounts reports whether code steps and sets variables of the function, and goes through to its end.
func (s *site) onlyCounts(b *ast.BlockStmt) bool {
	only, counts := true, false
	ast.Inspect(b, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ReturnStmt, *ast.BranchStmt, *ast.GoStmt, *ast.DeferStmt, *ast.SendStmt, *ast.CallExpr:
			only = false
		case *ast.AssignStmt:
			counts = counts || n.Tok == token.ADD_ASSIGN
			only = only && !slices.ContainsFunc(n.Lhs, func(x ast.Expr) bool { return !s.ownVariable(x, s.Decl) })
		case *ast.IncDecStmt:
			counts = true
			only = only && s.ownVariable(n.X, s.Decl)
		}
		return only
	})
	return only && counts
}
