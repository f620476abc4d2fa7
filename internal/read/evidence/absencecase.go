package evidence

import (
	"go/ast"
	"go/token"
	"slices"
	"strings"

	"github.com/gowhy/gowhy/internal/know/model"
)

// A select waits for ever when none of its cases can come: nobody is left who uses the other
// side of a channel, and nothing ends a context. What a function was given for them is looked
// for where the package calls it.

// lacksCase returns a select of which each case is a channel or the end of a context that only
// certain code can bring. Who comes back to it in a loop, with channels that others have
// too, is a worker at rest.
func (r *sourceReader) lacksCase(a *absence, g *goFile, body *ast.BlockStmt, callers []model.Frame) bool {
	s, ok := r.selects[a.asker]
	if !ok { // thousands of stacks may end in one line
		s = r.selection(a.asker, g, body)
		r.selects[a.asker] = s
	}
	if s == nil {
		return false
	}
	a.Kind, a.Name, a.target = model.LacksCase, s.name, s.target
	a.rests = !s.own && (s.loops || r.inLoop(callers))
	return true
}

// A selection is a select that ends only where certain code is run.
type selection struct {
	name   string
	target []*target
	own    bool // one of its channels is made for this wait
	loops  bool // it is in a loop
}

// selection finds that of a line; nil where other code may end it, or it is none.
func (r *sourceReader) selection(at model.Frame, g *goFile, body *ast.BlockStmt) *selection {
	s := selectAt(g, body, at.Line)
	if s == nil || len(s.Body.List) == 0 || len(sendsOf(s)) == 1 { // that is a sender, who has rules of his own
		return nil
	}
	pkg, _ := model.SplitSymbol(at.Func)
	var a absence
	f := caseFinder{r, r.packageOf(g), pkg, &a}
	loop := loopAround(body, contains(s.Pos()))
	found := &selection{loops: loop != nil}
	var names []string
	for _, c := range s.Body.List {
		x, effect := waitedFor(c.(*ast.CommClause).Comm)
		if x == nil || !f.channel(g, x, effect, 0) {
			return nil
		}
		name, v := g.caseName(x)
		names = append(names, name)
		found.own = found.own || v != nil && madeHere(v) && body.Pos() < v.name.Pos() && loopAround(body, contains(v.name.Pos())) == loop
	}
	found.name, found.target = strings.Join(names, " or "), a.target
	return found
}

// caseName returns in a few words what a case waits for, and the variable that has it; nil for none.
func (g *goFile) caseName(x ast.Expr) (string, *variable) {
	end := ""
	if of := endOf(x); of != nil {
		x, end = of, ".Done()"
	}
	path, root := fieldPath(x)
	if root == nil {
		return "a context" + end, nil
	}
	return root.Name + path + end, g.variables[root]
}

// madeHere reports whether a variable is a channel, or has one, that is made with it.
func madeHere(v *variable) bool {
	x := v.initializer()
	if isMake(x) {
		return true
	}
	l := compositeOf(x)
	return l != nil && slices.ContainsFunc(l.Elts, func(e ast.Expr) bool {
		kv, ok := e.(*ast.KeyValueExpr)
		return isMake(e) || ok && isMake(kv.Value)
	})
}

// selectAt returns the only select in a line.
func selectAt(g *goFile, body *ast.BlockStmt, line int) (s *ast.SelectStmt) {
	n := 0
	inBody(body, func(node ast.Node) {
		if is, ok := node.(*ast.SelectStmt); ok && g.line(is.Pos()) == line {
			s, n = is, n+1
		}
	})
	if n != 1 {
		return nil
	}
	return s
}

// waitedFor returns the channel of a case, and what code does to a wait for it; nil for a default.
func waitedFor(comm ast.Stmt) (x ast.Expr, by func(ast.Expr, []ast.Node) effect) {
	switch c := comm.(type) {
	case *ast.SendStmt:
		return c.Chan, receiveEffect
	case *ast.ExprStmt:
		x = c.X
	case *ast.AssignStmt:
		x = c.Rhs[0]
	}
	if u, ok := ast.Unparen(x).(*ast.UnaryExpr); ok && u.Op == token.ARROW {
		return u.X, sendEffect
	}
	return nil, nil
}

// endOf returns whom an expression asks for the channel that is closed at his end; nil for others.
func endOf(x ast.Expr) ast.Expr {
	call, ok := ast.Unparen(x).(*ast.CallExpr)
	if !ok || len(call.Args) > 0 || calledName(call) != "Done" {
		return nil
	}
	if sel, ok := call.Fun.(*ast.SelectorExpr); ok {
		return sel.X
	}
	return nil
}

// A caseFinder finds what could let the cases of a select come.
type caseFinder struct {
	r   *sourceReader
	p   *sourcePackage
	pkg string
	a   *absence
}

// maxGiven is through how many calls a parameter is followed.
const maxGiven = 4

// channel adds what could bring the other side of a channel; false where others may.
func (f *caseFinder) channel(g *goFile, x ast.Expr, by func(ast.Expr, []ast.Node) effect, depth int) bool {
	if of := endOf(x); of != nil {
		return f.context(g, of, depth)
	}
	path, root := fieldPath(x)
	if root == nil {
		return false
	}
	v := g.variables[root]
	switch {
	case v == nil && path == "" && !ast.IsExported(root.Name) && root.Name != "nil": // of the package
		f.a.target = append(f.a.target, &target{name: root.Name, is: ofField, effect: by})
		return true
	case v == nil:
		return false
	case path != "":
		field, typ := path[1:], strings.TrimPrefix(typeOf("", v), ".")
		if typ == "" || strings.Contains(field, ".") || ast.IsExported(field) || !f.p.madeInside(typ) {
			return false
		}
		f.a.target = append(f.a.target, &target{name: field, is: ofField, effect: by})
		return true
	}
	if _, ok := v.decl.(*ast.Field); ok {
		return f.given(g, v, func(g *goFile, x ast.Expr) bool { return f.channel(g, x, by, depth+1) }, depth)
	}
	return isMake(v.initializer()) && f.r.targetVariable(f.a, g, v, by)
}

// context adds what could end a context; false where others may.
func (f *caseFinder) context(g *goFile, x ast.Expr, depth int) bool {
	if call, ok := ast.Unparen(x).(*ast.CallExpr); ok {
		return f.made(g, call, depth)
	}
	id, ok := ast.Unparen(x).(*ast.Ident)
	if !ok || g.variables[id] == nil || f.p.assigned(g, g.variables[id]) {
		return false
	}
	v := g.variables[id]
	switch decl := v.decl.(type) {
	case *ast.Field:
		return isSelector(decl.Type, "context", "Context") &&
			f.given(g, v, func(g *goFile, x ast.Expr) bool { return f.context(g, x, depth+1) }, depth)
	case *ast.AssignStmt:
		if call, ok := decl.Rhs[0].(*ast.CallExpr); ok && len(decl.Lhs) == 2 && len(decl.Rhs) == 1 && len(call.Args) == 1 && decl.Lhs[0] == ast.Expr(v.name) &&
			(isSelector(call.Fun, "context", "WithCancel") || isSelector(call.Fun, "context", "WithCancelCause")) {
			cancel, ok := decl.Lhs[1].(*ast.Ident)
			if !ok || cancel.Name != "_" && (g.variables[cancel] == nil || !f.r.targetVariable(f.a, g, g.variables[cancel], callEffect)) {
				return false
			}
			return f.context(g, call.Args[0], depth)
		}
	}
	return v.initializer() != nil && f.context(g, v.initializer(), depth)
}

// made is for a context that a call makes.
func (f *caseFinder) made(g *goFile, call *ast.CallExpr, depth int) bool {
	switch {
	case isSelector(call.Fun, "context", "Background"), isSelector(call.Fun, "context", "TODO"), isSelector(call.Fun, "context", "WithoutCancel"):
		return true
	case isSelector(call.Fun, "context", "WithValue") && len(call.Args) == 3:
		return f.context(g, call.Args[0], depth)
	}
	return false
}

// given asks of all that a function of the package is given for a parameter.
func (f *caseFinder) given(g *goFile, v *variable, is func(g *goFile, x ast.Expr) bool, depth int) bool {
	u := f.p.unitAround(g, v.name.Pos())
	if u == nil || u.decl == nil || depth == maxGiven || ast.IsExported(u.decl.Name.Name) && f.pkg != "main" {
		return false
	}
	place := 0
	for u.parameter(place) != nil && u.parameter(place) != v {
		place++
	}
	if u.parameter(place) != v { // the receiver, or a literal's
		return false
	}
	called := false
	for i := range f.p.mentions[u.decl.Name.Name] {
		m := &f.p.mentions[u.decl.Name.Name][i]
		around := m.parents()
		x, parents := expression(m.node, around)
		if m.g.variables[m.node] != nil || isDeclared(m.node, around) || f.p.ofAnother(m.g, x, u.decl) {
			continue
		}
		call, ok := parent(parents, 0).(*ast.CallExpr)
		if !ok || call.Fun != x || place >= len(call.Args) || call.Ellipsis.IsValid() || !is(m.g, call.Args[place]) {
			return false
		}
		called = true
	}
	return called
}

// assigned reports whether a variable is given anything after it was declared.
func (p *sourcePackage) assigned(g *goFile, v *variable) bool {
	return slices.ContainsFunc(p.mentions[v.name.Name], func(m mention) bool {
		if m.g != g || m.node == v.name || g.variables[m.node] != v {
			return false
		}
		switch n := parent(m.parents(), 0).(type) {
		case *ast.AssignStmt:
			return slices.Contains(n.Lhs, ast.Expr(m.node))
		case *ast.UnaryExpr:
			return n.Op == token.AND
		case *ast.RangeStmt:
			return n.Key == ast.Expr(m.node) || n.Value == ast.Expr(m.node)
		}
		return false
	})
}

// callEffect returns the effect of code on a function whose call ends the wait.
func callEffect(x ast.Expr, parents []ast.Node) effect {
	switch n := parent(parents, 0).(type) {
	case *ast.CallExpr:
		if n.Fun == x {
			return endsWait
		}
	case *ast.AssignStmt:
		if slices.Contains(n.Lhs, x) {
			return noEffect
		}
	}
	return escapes
}

// isSelector reports whether an expression is a name of a package.
func isSelector(x ast.Expr, pkg, name string) bool {
	sel, ok := x.(*ast.SelectorExpr)
	if !ok || sel.Sel.Name != name {
		return false
	}
	id, ok := sel.X.(*ast.Ident)
	return ok && id.Name == pkg
}
