package pattern

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"
)

// Work in loops, and what the compiler makes of operators.

// concatLoop matches s += x in a loop that does nothing else with s.
func (s *site) concatLoop(n node) *match {
	add, ok := n.Node.(*ast.AssignStmt)
	if !ok || len(add.Lhs) != 1 || !isString(s.typ(add.Lhs[0])) {
		return nil
	}
	v, loop := s.variable(add.Lhs[0]), s.loop(n)
	if !local(v) || loop == nil || isInside(v, loop) {
		return nil
	}
	_, ok = s.uses(v, loop, func(u node) bool { return s.addsTo(u, v) })
	if !ok {
		return nil
	}
	return &match{at: add, through: []string{"runtime.concatstring"}}
}

// addsTo reports whether a use of a variable is in s += x or s = s + x.
func (s *site) addsTo(u node, v *types.Var) bool {
	for i := len(u.path) - 1; i >= 0; i-- {
		set, ok := u.path[i].(*ast.AssignStmt)
		if !ok {
			if b, ok := u.path[i].(*ast.BinaryExpr); ok && b.Op == token.ADD {
				continue
			}
			return false
		}
		if len(set.Lhs) != 1 || s.variable(set.Lhs[0]) != v {
			return false
		}
		if set.Lhs[0] == u.Node {
			return set.Tok == token.ADD_ASSIGN || set.Tok == token.ASSIGN && s.variable(leftmost(set.Rhs[0])) == v
		}
		return set.Tok == token.ASSIGN && leftmost(set.Rhs[0]) == u.Node
	}
	return false
}

// leftmost returns the first operand of a sum.
func leftmost(x ast.Expr) ast.Expr {
	for {
		b, ok := x.(*ast.BinaryExpr)
		if !ok || b.Op != token.ADD {
			return x
		}
		x = b.X
	}
}

// growKnown matches an append in every round of a loop with a known number of rounds, to
// what was made without room.
func (s *site) growKnown(n node) *match {
	set, ok := n.Node.(*ast.AssignStmt)
	if !ok || len(set.Lhs) != 1 || len(set.Rhs) != 1 {
		return nil
	}
	v, call := s.variable(set.Lhs[0]), s.builtin(set.Rhs[0], "append")
	if call == nil || call.Ellipsis.IsValid() || !local(v) || s.variable(call.Args[0]) != v {
		return nil
	}
	rounds := s.eachRound(n, v)
	if rounds == "" || !s.madeEmpty(v) || !s.onlyAppended(v) {
		return nil // of some rounds only, or nobody knows of which size
	}
	return &match{at: set, through: []string{"runtime.growslice"}, instead: v.Name() + " := make(" + typeText(v) + ", 0, " + rounds + ")"}
}

// onlyAppended reports whether a variable never gets another value than itself with more.
func (s *site) onlyAppended(v *types.Var) bool {
	ok := true
	ast.Inspect(s.code(), func(n ast.Node) bool {
		set, is := n.(*ast.AssignStmt)
		if is && set.Tok != token.DEFINE && slices.ContainsFunc(set.Lhs, func(x ast.Expr) bool { return s.variable(x) == v }) {
			call := s.builtin(set.Rhs[0], "append")
			ok = ok && call != nil && s.variable(call.Args[0]) == v
		}
		return ok
	})
	return ok
}

// eachRound returns the number of rounds of the loop that a statement is in as source, where
// the statement is done in each of them and the variable lives from before the loop, with no
// other loop in between; "" for others.
func (s *site) eachRound(n node, v *types.Var) string {
	loops := s.loops(n)
	if len(loops) == 0 || len(n.path) < 2 || n.path[len(n.path)-2] != loops[0] || isInside(v, loops[0]) || skips(loops[0]) {
		return ""
	}
	if len(loops) > 1 && !isInside(v, loops[1]) {
		return "" // the rounds of several loops
	}
	return s.rounds(loops[0])
}

// mapGrowKnown matches a map that was made without room and gets an element in every round of
// a loop with a known number of rounds.
func (s *site) mapGrowKnown(n node) *match {
	set, ok := n.Node.(*ast.AssignStmt)
	if !ok || len(set.Lhs) != 1 || len(set.Rhs) != 1 || set.Tok != token.ASSIGN { // sums have fewer elements than rounds
		return nil
	}
	index, ok := set.Lhs[0].(*ast.IndexExpr)
	if !ok {
		return nil
	}
	v := s.variable(index.X)
	if !local(v) || !isMap(v.Type()) {
		return nil
	}
	groups, _ := s.uses(v, set.Rhs[0], func(node) bool { return true }) // and so have groups
	rounds := s.eachRound(n, v)
	if groups > 0 || rounds == "" || !s.madeEmpty(v) || s.rewritten(v, s.code()) {
		return nil
	}
	return &match{at: set, through: mapGrowth, instead: v.Name() + " := make(" + typeText(v) + ", " + rounds + ")"}
}

// mapGrowth are the functions that make a map larger.
var mapGrowth = []string{
	"runtime.hashGrow", "runtime.growWork", "runtime.evacuate",
	"internal/runtime/maps.(*table).rehash", "internal/runtime/maps.(*table).grow", "internal/runtime/maps.(*Map).growTo",
}

// typeText returns a variable's type as its package writes it.
func typeText(v *types.Var) string {
	return types.TypeString(v.Type(), func(p *types.Package) string {
		if p == v.Pkg() {
			return ""
		}
		return p.Name()
	})
}

// rounds returns the number of rounds of a loop as source; "" when nobody knows.
func (s *site) rounds(loop ast.Stmt) string {
	switch l := loop.(type) {
	case *ast.RangeStmt:
		switch t := underlying(s.typ(l.X)).(type) {
		case *types.Slice, *types.Map, *types.Array:
			return "len(" + types.ExprString(l.X) + ")"
		case *types.Basic:
			if t.Info()&types.IsInteger != 0 {
				return types.ExprString(l.X)
			}
		}
	case *ast.ForStmt:
		c, ok := l.Cond.(*ast.BinaryExpr)
		if ok && c.Op == token.LSS && l.Init != nil {
			if _, counts := l.Post.(*ast.IncDecStmt); counts && (s.builtin(c.Y, "len") != nil || s.variable(c.Y) != nil || s.constant(c.Y)) {
				return types.ExprString(c.Y)
			}
		}
	}
	return ""
}

// skips reports whether a loop may go on without having done all of its body.
func skips(loop ast.Stmt) (found bool) {
	ast.Inspect(loop, func(n ast.Node) bool {
		b, ok := n.(*ast.BranchStmt)
		found = found || ok && (b.Tok == token.CONTINUE || b.Tok == token.GOTO)
		return !found
	})
	return found
}

// madeEmpty reports whether a variable begins as a slice or a map without room.
func (s *site) madeEmpty(v *types.Var) (empty bool) {
	ast.Inspect(s.Body, func(n ast.Node) bool {
		switch d := n.(type) {
		case *ast.ValueSpec:
			for _, id := range d.Names {
				empty = empty || s.Info.Defs[id] == v && len(d.Values) == 0
			}
		case *ast.AssignStmt:
			for i, x := range d.Lhs {
				if id, ok := x.(*ast.Ident); ok && d.Tok == token.DEFINE && s.Info.Defs[id] == v && len(d.Lhs) == len(d.Rhs) {
					empty = empty || s.hasNoRoom(d.Rhs[i])
				}
			}
		}
		return true
	})
	return empty
}

func (s *site) hasNoRoom(x ast.Expr) bool {
	if lit, ok := x.(*ast.CompositeLit); ok {
		return len(lit.Elts) == 0
	}
	made := s.builtin(x, "make")
	return made != nil && (len(made.Args) == 1 && isMap(s.typ(made)) || len(made.Args) == 2 && s.is(made.Args[1], "0"))
}

// shiftFront matches a list that is moved by one element, to take or put one at its front.
func (s *site) shiftFront(n node) *match {
	found := false
	switch x := n.Node.(type) {
	case *ast.ExprStmt:
		if call := s.builtin(x.X, "copy"); call != nil {
			found = s.behindFirst(call.Args[1], call.Args[0])
		}
	case *ast.AssignStmt:
		if len(x.Lhs) != 1 || len(x.Rhs) != 1 {
			return nil
		}
		call, ok := x.Rhs[0].(*ast.CallExpr)
		if !ok || len(call.Args) < 2 {
			return nil
		}
		list := types.ExprString(x.Lhs[0])
		first := types.ExprString(call.Args[0])
		switch {
		case s.builtin(call, "append") != nil && call.Ellipsis.IsValid():
			lit, literal := call.Args[0].(*ast.CompositeLit)
			found = literal && len(lit.Elts) > 0 && types.ExprString(call.Args[1]) == list && s.again(n, x.Lhs[0]) ||
				first == list+"[:0]" && s.behindFirst(call.Args[1], x.Lhs[0])
		case s.calls(call, "slices", "Insert"):
			found = first == list && s.is(call.Args[1], "0") && !call.Ellipsis.IsValid() && s.again(n, x.Lhs[0])
		case s.calls(call, "slices", "Delete"):
			found = first == list && s.is(call.Args[1], "0") && s.is(call.Args[2], "1")
		}
	}
	if !found || s.runsOnce(n) {
		return nil
	}
	return &match{at: n.Node, through: []string{"runtime.memmove", "runtime.growslice", "runtime.typedslicecopy", "runtime.bulkBarrierPreWrite", "slices.Insert", "slices.Delete", ""}}
}

// again reports whether a list gets many elements at a line: that is in a loop, or the list is
// one of a method's receiver.
func (s *site) again(n node, list ast.Expr) bool {
	sel, field := ast.Unparen(list).(*ast.SelectorExpr)
	if loop := s.loop(n); loop != nil && !field {
		v := s.variable(list)
		return v != nil && !isInside(v, loop)
	}
	if !field || s.Decl == nil || s.Decl.Recv == nil || len(s.Decl.Recv.List[0].Names) == 0 {
		return false
	}
	return types.ExprString(sel.X) == s.Decl.Recv.List[0].Names[0].Name
}

// behindFirst reports whether an expression is all of a list but its first element.
func (s *site) behindFirst(x, list ast.Expr) bool {
	slice, ok := ast.Unparen(x).(*ast.SliceExpr)
	return ok && slice.High == nil && slice.Low != nil && s.is(slice.Low, "1") && types.ExprString(slice.X) == types.ExprString(list)
}

// stringKey matches a string of bytes that is kept in a variable for looking up or comparing.
func (s *site) stringKey(n node) *match {
	if s.conversion(n.Node, isString) == nil {
		return nil
	}
	if !s.isOnlyValue(n, func(u node) bool {
		index, ok := u.parent(0).(*ast.IndexExpr)
		if !ok || index.Index != u.Node || !isMap(s.typ(index.X)) {
			return false
		}
		set, ok := u.outer().parent(0).(*ast.AssignStmt)
		return !ok || !slices.Contains(set.Lhs, ast.Expr(index)) // storing keeps the key
	}) {
		return nil
	}
	return &match{at: n.Node}
}

// twins are functions that packages strings and bytes both have, with results that keep
// nothing of the text.
var twins = []string{"Contains", "ContainsAny", "ContainsRune", "Count", "EqualFold", "HasPrefix", "HasSuffix", "Index", "IndexAny", "IndexByte", "IndexRune", "LastIndex", "LastIndexByte"}

// stringOfBytes matches string(b) for a function that package bytes has, too.
func (s *site) stringOfBytes(n node) *match {
	b := s.conversion(n.Node, isString)
	call, ok := n.parent(0).(*ast.CallExpr)
	if b == nil || !isBytes(s.typ(b)) || !ok || call.Args[0] != n.Node {
		return nil
	}
	sel, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr)
	switch {
	case !ok:
		return nil
	case s.calls(call, "strings", twins...):
		return &match{at: n.Node, instead: "bytes." + sel.Sel.Name + "(" + types.ExprString(b) + ", …)"}
	case s.calls(call, "strings", "NewReader"):
		return &match{at: n.Node, instead: "bytes.NewReader(" + types.ExprString(b) + ")"}
	case sel.Sel.Name == "WriteString" && s.packageOf(sel.X) == "" && len(call.Args) == 1:
		return &match{at: n.Node, instead: types.ExprString(sel.X) + ".Write(" + types.ExprString(b) + ")"}
	}
	return nil
}

// bytesOfString matches []byte(s) to write it, or for a function that package strings has.
func (s *site) bytesOfString(n node) *match {
	text := s.conversion(n.Node, isBytes)
	call, ok := n.parent(0).(*ast.CallExpr)
	if text == nil || !isString(s.typ(text)) || !ok {
		return nil
	}
	sel, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr)
	switch {
	case !ok:
		return nil
	case call.Args[0] == n.Node && s.calls(call, "bytes", twins...):
		return &match{at: n.Node, instead: "strings." + sel.Sel.Name + "(" + types.ExprString(text) + ", …)"}
	case call.Args[0] == n.Node && s.calls(call, "bytes", "NewReader", "NewBuffer"):
		return &match{at: n.Node, instead: "strings.NewReader(" + types.ExprString(text) + ")"}
	case sel.Sel.Name == "Write" && s.packageOf(sel.X) == "" && len(call.Args) == 1 && takesText(s.typ(sel.X)):
		return &match{at: n.Node, instead: "io.WriteString(" + types.ExprString(sel.X) + ", " + types.ExprString(text) + ")"}
	}
	return nil
}

// takesText reports whether a writer may have a method WriteString, without which
// io.WriteString copies the text as well. Interfaces hide what they hold; no hash has it.
func takesText(t types.Type) bool {
	if t == nil || types.IsInterface(t) {
		return t != nil && !strings.HasPrefix(typeName(t), "hash.")
	}
	method, _, _ := types.LookupFieldOrMethod(t, true, nil, "WriteString")
	return method != nil
}

// sortAppend matches a list that is sorted again after one element more.
func (s *site) sortAppend(n node) *match {
	stmt, block, list := s.sorts(n)
	if stmt == nil {
		return nil
	}
	if v := s.variable(list); local(v) {
		if loop := s.loop(n); loop == nil || isInside(v, loop) {
			return nil // sorted once
		}
	}
	name := types.ExprString(list)
	appends := func(other ast.Stmt) bool {
		set, ok := other.(*ast.AssignStmt)
		if !ok || other.Pos() > stmt.Pos() || len(set.Lhs) != 1 || len(set.Rhs) != 1 || types.ExprString(set.Lhs[0]) != name {
			return false
		}
		add := s.builtin(set.Rhs[0], "append")
		return add != nil && !add.Ellipsis.IsValid() && len(add.Args) == 2 && types.ExprString(add.Args[0]) == name
	}
	if !slices.ContainsFunc(block.List, appends) {
		return nil
	}
	return &match{at: stmt}
}

// sorts returns a node as the statement that sorts a list, with the block that it is in; nil for
// any other.
func (s *site) sorts(n node) (stmt *ast.ExprStmt, block *ast.BlockStmt, list ast.Expr) {
	stmt, ok := n.Node.(*ast.ExprStmt)
	block, in := n.parent(0).(*ast.BlockStmt)
	if !ok || !in {
		return nil, nil, nil
	}
	call := s.call(node{Node: stmt.X})
	if call == nil || len(call.Args) == 0 {
		return nil, nil, nil
	}
	list = call.Args[0]
	if conversion, ok := list.(*ast.CallExpr); ok && len(conversion.Args) == 1 { // sort.Sort(byName(list))
		list = conversion.Args[0]
	}
	return stmt, block, list
}

// sortChanged matches the sorting of a kept list in which one element has just changed, in the
// function itself or in the one that calls it for nothing else.
func (s *site) sortChanged(n node) *match {
	stmt, block, list := s.sorts(n)
	if stmt == nil {
		return nil
	}
	id := last(list)
	if id == nil {
		return nil
	}
	v, ok := s.Info.Uses[id].(*types.Var)
	if !ok || local(v) {
		return nil
	}
	if s.changesOne(v, block.List, stmt.Pos()) {
		return &match{at: stmt}
	}
	if s.Decl == nil || s.Decl.Body != block || len(block.List) != 1 {
		return nil
	}
	for _, f := range s.Files {
		for _, d := range f.Decls {
			if decl, ok := d.(*ast.FuncDecl); ok && decl != s.Decl && decl.Body != nil && s.sortsAfterOne(v, decl) {
				return &match{at: stmt}
			}
		}
	}
	return nil
}

// sortsAfterOne reports whether a function changes one element of a list and then calls the
// function around the line, which sorts it.
func (s *site) sortsAfterOne(v *types.Var, decl *ast.FuncDecl) (does bool) {
	ast.Inspect(decl.Body, func(n ast.Node) bool {
		if call, ok := n.(*ast.CallExpr); ok && s.isThis(call) {
			does = does || s.changesOne(v, decl.Body.List, call.Pos())
		}
		return !does
	})
	return does
}

// changesOne reports whether among statements there are, before some place and in no loop, such
// that give another value to one element of a list, or to one of its fields.
func (s *site) changesOne(v *types.Var, list []ast.Stmt, before token.Pos) bool {
	element := func(from ast.Expr) bool {
		x := from
		for {
			switch at := ast.Unparen(x).(type) {
			case *ast.SelectorExpr:
				x = at.X
			case *ast.IndexExpr:
				return last(at.X) != nil && s.Info.Uses[last(at.X)] == v
			default:
				of := s.variable(at)
				_, pointer := underlying(s.typ(at)).(*types.Pointer)
				return x != from && pointer && local(of) && types.Identical(of.Type(), orInvalid(elementOf(v.Type())))
			}
		}
	}
	changes := 0
	for _, stmt := range list {
		if stmt.Pos() >= before {
			break
		}
		switch stmt := stmt.(type) {
		case *ast.AssignStmt:
			if slices.ContainsFunc(stmt.Lhs, element) {
				changes++
			}
		case *ast.IncDecStmt:
			if element(stmt.X) {
				changes++
			}
		case *ast.ForStmt, *ast.RangeStmt:
			return false // many of them, perhaps
		}
	}
	return changes > 0
}

// fewElements is the length of a list up to which searching it is as fast as a map.
const fewElements = 16

// containsInLoop matches a search through a list for each round of a loop.
func (s *site) containsInLoop(n node) *match {
	call := s.call(n)
	if call == nil || len(call.Args) != 2 || strings.HasSuffix(s.callee, "Func") {
		return nil
	}
	loop := s.loop(n)
	if loop == nil || !s.longList(call.Args[0], loop) || s.given(call.Args[0], loop) || s.isInvariant(call.Args[1], loop) {
		return nil
	}
	return s.whole(call)
}

// longList reports whether a list is the same in all rounds of a loop, or grows there by what
// was not found, and is not written down with its few elements.
func (s *site) longList(list ast.Expr, loop ast.Stmt) bool {
	if t, ok := underlying(s.typ(list)).(*types.Array); ok {
		return t.Len() > fewElements && s.stillRoot(list, loop)
	}
	if _, ok := underlying(s.typ(list)).(*types.Slice); !ok {
		return false
	}
	if v := s.variable(list); v != nil {
		return !s.writtenDown(v) && (s.isUnchanged(v, loop) || s.onlyGrows(v, loop))
	}
	sel, ok := ast.Unparen(list).(*ast.SelectorExpr)
	if !ok {
		return false
	}
	field, ok := s.Info.Uses[sel.Sel].(*types.Var)
	return ok && field.IsField() && !s.isWritten(field, loop) && s.stillRoot(sel.X, loop)
}

// given reports whether a list of values, not of structs, is a parameter, and another kind of list
// than what the loop walks over: mostly a few names that are allowed or to be left out. Of two
// lists of one kind either may be long.
func (s *site) given(list ast.Expr, loop ast.Stmt) bool {
	v := s.variable(list)
	t, ok := underlying(s.typ(list)).(*types.Slice)
	if !ok || v == nil || s.Decl == nil || !isInside(v, s.Decl.Type) {
		return false
	}
	if _, fields := underlying(t.Elem()).(*types.Struct); fields || !s.isUnchanged(v, loop) {
		return false
	}
	r, ok := loop.(*ast.RangeStmt)
	return !ok || s.typ(r.X) == nil || !types.Identical(s.typ(r.X), s.typ(list))
}

// writtenDown reports whether a variable gets a list with few elements in the source.
func (s *site) writtenDown(v *types.Var) (few bool) {
	check := func(id *ast.Ident, values []ast.Expr, i int) {
		if s.Info.Defs[id] == v && i < len(values) {
			lit, ok := values[i].(*ast.CompositeLit)
			few = few || ok && len(lit.Elts) > 0 && len(lit.Elts) <= fewElements
		}
	}
	for _, f := range s.Files {
		ast.Inspect(f, func(n ast.Node) bool {
			switch d := n.(type) {
			case *ast.ValueSpec:
				for i, id := range d.Names {
					check(id, d.Values, i)
				}
			case *ast.AssignStmt:
				for i, x := range d.Lhs {
					if id, ok := x.(*ast.Ident); ok && d.Tok == token.DEFINE {
						check(id, d.Rhs, i)
					}
				}
			}
			return !few
		})
	}
	return few
}

// onlyGrows reports whether a loop only appends to a list that was there before.
func (s *site) onlyGrows(v *types.Var, loop ast.Stmt) bool {
	if !local(v) || isInside(v, loop) {
		return false
	}
	ok := true
	ast.Inspect(loop, func(n ast.Node) bool {
		set, is := n.(*ast.AssignStmt)
		if !is || !slices.ContainsFunc(set.Lhs, func(x ast.Expr) bool { return s.refersTo(x, v) }) {
			return true
		}
		ok = ok && len(set.Lhs) == 1 && len(set.Rhs) == 1
		if ok {
			call := s.builtin(set.Rhs[0], "append")
			ok = call != nil && s.variable(call.Args[0]) == v
		}
		return true
	})
	return ok
}

// searchInLoop matches a loop that only looks for an element, in another loop.
func (s *site) searchInLoop(n node) *match {
	r, ok := n.Node.(*ast.RangeStmt)
	if !ok || len(r.Body.List) != 1 || r.Tok != token.DEFINE {
		return nil
	}
	cond, ok := r.Body.List[0].(*ast.IfStmt)
	if !ok || cond.Else != nil || cond.Init != nil || !found(cond.Body) {
		return nil
	}
	outer := s.loop(n)
	if outer == nil || !s.longList(r.X, outer) || s.given(r.X, outer) {
		return nil
	}
	compare, ok := ast.Unparen(cond.Cond).(*ast.BinaryExpr)
	if !ok || compare.Op != token.EQL {
		return nil
	}
	element, wanted := compare.X, compare.Y
	if !s.partOf(element, r) {
		element, wanted = wanted, element
	}
	if !s.partOf(element, r) || s.partOf(wanted, r) || !types.Comparable(orInvalid(s.typ(element))) || s.isInvariant(wanted, outer) || s.hasCall(wanted) {
		return nil
	}
	return &match{at: r, through: []string{""}}
}

func orInvalid(t types.Type) types.Type {
	if t == nil {
		return types.Typ[types.Invalid]
	}
	return t
}

// found reports whether a block ends a search: nothing more is looked at.
func found(b *ast.BlockStmt) bool {
	if len(b.List) == 0 {
		return false
	}
	switch last := b.List[len(b.List)-1].(type) {
	case *ast.ReturnStmt:
		return true
	case *ast.BranchStmt:
		return last.Tok == token.BREAK || last.Tok == token.CONTINUE && last.Label != nil
	}
	return false
}

// partOf reports whether an expression is of the element that a loop is at.
func (s *site) partOf(x ast.Expr, r *ast.RangeStmt) (part bool) {
	ast.Inspect(x, func(n ast.Node) bool {
		id, ok := n.(*ast.Ident)
		part = part || ok && (r.Key != nil && s.refersTo(r.Key, s.variable(id)) || r.Value != nil && s.refersTo(r.Value, s.variable(id)))
		return !part
	})
	return part
}

// hasCall reports whether an expression has a call.
func (s *site) hasCall(x ast.Expr) (called bool) {
	ast.Inspect(x, func(n ast.Node) bool {
		_, ok := n.(*ast.CallExpr)
		called = called || ok
		return !called
	})
	return called
}

// clockInLoop matches a loop that asks the time to know whether it goes on.
func (s *site) clockInLoop(n node) *match {
	call := s.call(n)
	loop := s.loop(n)
	if call == nil || loop == nil || s.sleeps(loop) {
		return nil
	}
	for i := len(n.path) - 1; i >= 0 && n.path[i] != loop; i-- {
		switch at := n.path[i].(type) {
		case *ast.IfStmt:
			if at.Cond.Pos() <= call.Pos() && call.End() <= at.Cond.End() && LeavesLoop(at.Body.List) {
				return s.whole(call)
			}
			return nil
		case ast.Stmt:
			return nil
		}
	}
	if f, ok := loop.(*ast.ForStmt); ok && f.Cond != nil && f.Cond.Pos() <= call.Pos() && call.End() <= f.Cond.End() {
		return s.whole(call)
	}
	return nil
}

// sleeps reports whether a loop waits in each round, beside which the clock is nothing.
func (s *site) sleeps(loop ast.Stmt) (found bool) {
	ast.Inspect(loop, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		found = found || ok && s.calls(call, "time", "Sleep")
		return !found
	})
	return found
}

// timerInLoop matches time.After as a case of a select in a loop.
func (s *site) timerInLoop(n node) *match {
	call := s.call(n)
	if call == nil {
		return nil
	}
	receive, ok := n.parent(0).(*ast.UnaryExpr)
	if !ok || receive.Op != token.ARROW || len(call.Args) != 1 || s.hasCall(call.Args[0]) {
		return nil // as long as before, each time
	}
	for i := len(n.path) - 1; i >= 0; i-- {
		clause, ok := n.path[i].(*ast.CommClause)
		if !ok {
			continue
		}
		at := node{clause, n.path[:i]}
		loops := s.loops(at)
		if clause.Comm == nil || call.Pos() < clause.Comm.Pos() || call.End() > clause.Comm.End() || len(loops) == 0 {
			return nil
		}
		if v := s.variable(call.Args[0]); v != nil && s.isWritten(v, loops[0]) {
			return nil
		}
		return s.whole(call)
	}
	return nil
}

// deferInLoop matches a deferred call of each round, of what the round has for itself.
func (s *site) deferInLoop(n node) *match {
	d, ok := n.Node.(*ast.DeferStmt)
	loop := s.loop(n)
	if !ok || loop == nil || !s.ofRound(d.Call, loop) {
		return nil
	}
	return &match{at: d, through: []string{"runtime.deferproc"}}
}

// ofRound reports whether a call ends something that a round of a loop began for itself: a
// variable of the round is closed, its context canceled, or a lock that others read as well
// given back. What else is deferred may have to live until the function ends.
func (s *site) ofRound(call *ast.CallExpr, loop ast.Stmt) bool {
	x := ast.Unparen(call.Fun)
	if sel, ok := x.(*ast.SelectorExpr); ok {
		if sel.Sel.Name == "RUnlock" {
			return true
		}
		if x = sel.X; sel.Sel.Name != "Close" {
			return false
		}
	}
	v := s.variable(x)
	if v == nil || !isInside(v, loop) || s.madeIn(v).Node == nil {
		return false
	}
	_, stays := s.uses(v, loop, func(u node) bool {
		return s.builtin(u.parent(0), "append") == nil && !slices.ContainsFunc(u.path, func(n ast.Node) bool { _, lives := n.(*ast.GoStmt); return lives })
	})
	return stays
}

// largeElement is the size in bytes from which copying an element is worth a word: four
// cache lines.
const largeElement = 256

// rangeCopy matches a loop that copies each large element to read fields of it.
func (s *site) rangeCopy(n node) *match {
	r, ok := n.Node.(*ast.RangeStmt)
	if !ok || r.Value == nil || r.Tok != token.DEFINE || s.lineOf(r.Pos()) != s.line {
		return nil
	}
	v := s.variable(r.Value)
	if v == nil || !known(v.Type(), 0) {
		return nil
	}
	if _, ok := underlying(v.Type()).(*types.Struct); !ok || types.SizesFor("gc", "amd64").Sizeof(v.Type()) < largeElement {
		return nil
	}
	switch underlying(s.typ(r.X)).(type) {
	case *types.Slice, *types.Array:
	default:
		return nil // the elements of a map have no address
	}
	uses, ok := s.uses(v, r.Body, func(u node) bool {
		sel, ok := u.parent(0).(*ast.SelectorExpr)
		if !ok || s.isWritten(v, r.Body) {
			return false
		}
		selection := s.Info.Selections[sel]
		return selection != nil && selection.Kind() == types.FieldVal
	})
	if !ok || uses == 0 {
		return nil
	}
	return &match{at: r, line: true, through: []string{""}}
}

// maxNested bounds how deep types are looked into.
const maxNested = 10

// known reports whether all parts of a type are, so that its size is.
func known(t types.Type, deep int) bool {
	if deep > maxNested {
		return false
	}
	if _, parameter := types.Unalias(t).(*types.TypeParam); parameter {
		return false // one of many
	}
	switch u := underlying(t).(type) {
	case *types.Basic:
		return u.Kind() != types.Invalid
	case *types.Array:
		return known(u.Elem(), deep+1)
	case *types.Struct:
		for i := range u.NumFields() {
			if !known(u.Field(i).Type(), deep+1) {
				return false
			}
		}
	}
	return t != nil
}

func isRunes(t types.Type) bool {
	s, ok := underlying(t).(*types.Slice)
	if !ok {
		return false
	}
	b, ok := underlying(s.Elem()).(*types.Basic)
	return ok && b.Kind() == types.Int32
}

// runeRange matches a list of runes that is only walked over, without the indices.
func (s *site) runeRange(n node) *match {
	text := s.conversion(n.Node, isRunes)
	walked := func(u node) bool {
		r, ok := u.parent(0).(*ast.RangeStmt)
		return ok && r.X == u.Node && (r.Key == nil || types.ExprString(r.Key) == "_")
	}
	if text == nil || !isString(s.typ(text)) || !walked(n) && !s.isOnlyValue(n, walked) {
		return nil
	}
	return &match{at: n.Node, instead: "range " + types.ExprString(text)}
}

// copyLoop matches a loop that does nothing but copy elements, or append them.
func (s *site) copyLoop(n node) *match {
	r, ok := n.Node.(*ast.RangeStmt)
	if !ok || len(r.Body.List) != 1 || r.Key == nil {
		return nil
	}
	set, ok := r.Body.List[0].(*ast.AssignStmt)
	if !ok || set.Tok != token.ASSIGN || len(set.Lhs) != 1 || len(set.Rhs) != 1 {
		return nil
	}
	from, fromSlice := underlying(s.typ(r.X)).(*types.Slice)
	to, toSlice := underlying(s.typ(set.Lhs[0])).(*types.Slice)
	if index, ok := set.Lhs[0].(*ast.IndexExpr); ok {
		to, toSlice = underlying(s.typ(index.X)).(*types.Slice)
		if !fromSlice || !toSlice || !types.Identical(from.Elem(), to.Elem()) || !s.sameVariable(index.Index, r.Key) || !s.elementOf(set.Rhs[0], r) {
			return nil
		}
		return &match{at: r, through: []string{""}, instead: "copy(" + types.ExprString(index.X) + ", " + types.ExprString(r.X) + ")"}
	}
	add := s.builtin(set.Rhs[0], "append")
	if add == nil || !fromSlice || !toSlice || !types.Identical(from.Elem(), to.Elem()) || len(add.Args) != 2 || add.Ellipsis.IsValid() ||
		types.ExprString(add.Args[0]) != types.ExprString(set.Lhs[0]) || !s.elementOf(add.Args[1], r) {
		return nil
	}
	list := types.ExprString(set.Lhs[0])
	return &match{at: r, through: []string{"", "runtime.growslice"}, instead: list + " = append(" + list + ", " + types.ExprString(r.X) + "...)"}
}

func (s *site) sameVariable(x, y ast.Expr) bool {
	v := s.variable(x)
	return v != nil && v == s.variable(y)
}

// elementOf reports whether an expression is the element that a loop is at.
func (s *site) elementOf(x ast.Expr, r *ast.RangeStmt) bool {
	if index, ok := ast.Unparen(x).(*ast.IndexExpr); ok {
		return types.ExprString(index.X) == types.ExprString(r.X) && s.sameVariable(index.Index, r.Key)
	}
	return r.Value != nil && s.sameVariable(x, r.Value)
}
