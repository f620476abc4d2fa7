package evidence

import (
	"go/ast"
	"go/token"
	"slices"
	"strings"

	"github.com/gowhy/gowhy/internal/know/model"
)

// An effect is what code does to a wait.
type effect int

const (
	noEffect effect = iota
	endsWait        // or may
	escapes         // others may have it from here
)

// A target is a name whose mentions end a wait.
type target struct {
	name string
	// is reports whether a mention is of it.
	is func(m *mention, parents []ast.Node) bool
	// effect is what is done there: with the expression that the name is the last part of,
	// and what is around that.
	effect func(x ast.Expr, parents []ast.Node) effect
	home   *codeUnit // of a variable of a function: nothing else can have it
}

// enders are the functions that can end a wait, and where.
type enders struct {
	units map[*codeUnit]bool // strong ones, which others must not be able to call
	at    []model.Frame
}

// maxEnders bounds the functions that are looked through: what can be called from that many
// places is never out of reach.
const maxEnders = 500

// endersOf finds those of several targets; not ok where others may end one, too.
func (p *sourcePackage) endersOf(pkg string, targets ...*target) (e enders, ok bool) {
	e.units = map[*codeUnit]bool{}
	for _, t := range targets {
		if !p.addEnders(pkg, t, &e) {
			return e, false
		}
	}
	return e, true
}

// addEnders adds those of one target; false where others may end it, too.
func (p *sourcePackage) addEnders(pkg string, t *target, e *enders) bool {
	if !p.whole {
		return false
	}
	var todo []*codeUnit
	join := func(u *codeUnit, strong bool) {
		if was, known := e.units[u]; !known || strong && !was {
			e.units[u] = strong
			todo = append(todo, u)
		}
	}
	for i := range p.mentions[t.name] {
		m := &p.mentions[t.name][i]
		around := m.parents()
		if !t.is(m, around) {
			continue
		}
		x, parents := expression(m.node, around)
		switch t.effect(x, parents) {
		case escapes:
			if t.home == nil || m.unit == nil {
				return false
			}
			ends, ok := p.lend(pkg, t, e, m, x, parents)
			if !ok || ends && !runsAtOnce(m.unit, around) {
				return false
			}
			if ends {
				join(m.unit, false)
			}
		case endsWait:
			if m.unit == nil || !runsAtOnce(m.unit, around) {
				return false
			}
			join(m.unit, t.home == nil)
			e.at = append(e.at, m.unit.frame(pkg, m.g.line(m.node.Pos())))
		}
	}
	for len(todo) > 0 {
		if len(e.units) > maxEnders {
			return false
		}
		u := todo[0]
		todo = todo[1:]
		if u == t.home {
			continue
		}
		if !p.callers(pkg, u, e.units[u], join) {
			return false
		}
	}
	return true
}

// lend adds the function of the package that a variable is given to, where that ends the
// wait; not ok where it gives it to others. Who else calls it gives it other variables.
func (p *sourcePackage) lend(pkg string, t *target, e *enders, m *mention, x ast.Expr, parents []ast.Node) (ends, ok bool) {
	if u, ok := parent(parents, 0).(*ast.UnaryExpr); ok && u.Op == token.AND {
		x, parents = u, parents[:len(parents)-1]
	}
	call, ok := parent(parents, 0).(*ast.CallExpr)
	if !ok {
		return false, false
	}
	u := p.callee(m.g, call)
	v := u.parameter(slices.Index(call.Args, x))
	if v == nil {
		return false, false
	}
	for i := range p.mentions[v.name.Name] {
		use := &p.mentions[v.name.Name][i]
		if use.g != u.g || use.g.variables[use.node] != v {
			continue
		}
		around := use.parents()
		switch t.effect(use.node, around) {
		case escapes:
			return false, false
		case endsWait:
			if !runsAtOnce(u, around) {
				return false, false
			}
			e.units[u], ends = false, true
			e.at = append(e.at, u.frame(pkg, use.g.line(use.node.Pos())))
		}
	}
	return ends, true
}

// callers joins who calls or starts a function, and reports whether nobody else can.
func (p *sourcePackage) callers(pkg string, u *codeUnit, strong bool, join func(*codeUnit, bool)) bool {
	if u.decl == nil { // a table of functions: who starts something from it did so at the beginning
		return !strong
	}
	name, called := u.decl.Name.Name, false
	if name == "main" || name == "init" {
		return true
	}
	if ast.IsExported(name) && pkg != "main" {
		return false
	}
	for i := range p.mentions[name] {
		m := &p.mentions[name][i]
		around := m.parents()
		x, parents := expression(m.node, around)
		if m.g.variables[m.node] != nil || isDeclared(m.node, around) || isChannel(x, parents) || p.ofAnother(m.g, x, u.decl) {
			continue
		}
		call, isCall := parent(parents, 0).(*ast.CallExpr)
		if !isCall || call.Fun != x || m.unit == nil || !runsAtOnce(m.unit, around) {
			return false // it is given to somebody
		}
		called = true
		_, starts := parent(parents, 1).(*ast.GoStmt)
		join(m.unit, !starts)
	}
	return called || u.decl.Recv == nil && !ast.IsExported(name)
}

// ofAnother reports whether a name is that of the method of another type, which is written
// beside the variable and has such a method itself.
func (p *sourcePackage) ofAnother(g *goFile, x ast.Expr, method *ast.FuncDecl) bool {
	s, ok := x.(*ast.SelectorExpr)
	if !ok {
		return false
	}
	id, ok := s.X.(*ast.Ident)
	if !ok || g.variables[id] == nil {
		return false
	}
	t := typeOf("", g.variables[id])
	return t != "" && t != receiverType(method) && slices.ContainsFunc(p.units, func(u *codeUnit) bool {
		return u.decl != nil && u.decl.Name.Name == s.Sel.Name && receiverType(u.decl) == t
	})
}

// runsAtOnce reports whether all literals of a unit around a mention are run where they
// stand, or as goroutines from there on: others may run them whenever they like.
func runsAtOnce(u *codeUnit, parents []ast.Node) bool {
	for i, n := range parents {
		lit, ok := n.(*ast.FuncLit)
		if !ok || lit == u.node || i == 0 {
			continue
		}
		call, ok := parents[i-1].(*ast.CallExpr)
		if !ok || call.Fun != lit && calledName(call) != "Go" {
			return false
		}
	}
	return true
}

// sendEffect returns the effect of code on a channel whose receiver waits.
func sendEffect(x ast.Expr, parents []ast.Node) effect {
	switch n := parent(parents, 0).(type) {
	case *ast.SendStmt:
		if n.Chan == x {
			return endsWait
		}
	case *ast.CallExpr:
		if calledName(n) == "close" {
			return endsWait
		}
	}
	return handedOn(x, parents)
}

// receiveEffect returns the effect of code on a channel whose sender waits.
func receiveEffect(x ast.Expr, parents []ast.Node) effect {
	switch n := parent(parents, 0).(type) {
	case *ast.UnaryExpr:
		if n.Op == token.ARROW {
			return endsWait
		}
	case *ast.RangeStmt:
		if n.X == x {
			return endsWait
		}
	}
	return handedOn(x, parents)
}

// handedOn returns the effect of code on a channel beside what ends the wait: made, looked at
// and used it may be; given to a variable or a call it is another's.
func handedOn(x ast.Expr, parents []ast.Node) effect {
	if isChannel(x, parents) {
		return noEffect
	}
	switch n := parent(parents, 0).(type) {
	case *ast.RangeStmt:
		if n.X == x {
			return noEffect
		}
	case *ast.CallExpr:
		if name := calledName(n); n.Fun == x || name == "close" || name == "len" || name == "cap" {
			return noEffect
		}
	case *ast.BinaryExpr:
		return noEffect // it is compared
	case *ast.KeyValueExpr:
		if n.Key == x && isMake(n.Value) {
			return noEffect
		}
	case *ast.AssignStmt:
		if i := slices.Index(n.Lhs, x); i >= 0 && len(n.Rhs) == len(n.Lhs) && isMake(n.Rhs[i]) {
			return noEffect
		}
	case *ast.ValueSpec: // what it is given is seen where it is made
		if id, ok := x.(*ast.Ident); ok && slices.Contains(n.Names, id) {
			return noEffect
		}
	case *ast.Field, *ast.FuncDecl: // of a type, or another thing of that name
		return noEffect
	}
	return escapes
}

// isMake reports whether an expression makes a channel.
func isMake(x ast.Expr) bool {
	call, ok := x.(*ast.CallExpr)
	return ok && calledName(call) == "make"
}

// doneEffect returns the effect of code on a WaitGroup whose waiter waits.
func doneEffect(x ast.Expr, parents []ast.Node) effect {
	switch n := parent(parents, 0).(type) {
	case *ast.ValueSpec, *ast.Field:
		return noEffect
	case *ast.AssignStmt:
		if slices.Contains(n.Lhs, x) {
			return noEffect
		}
	}
	sel, _ := parent(parents, 0).(*ast.SelectorExpr)
	call, ok := parent(parents, 1).(*ast.CallExpr)
	switch {
	case sel == nil || !ok || call.Fun != sel || sel.X != x:
		return escapes
	case sel.Sel.Name == "Wait", sel.Sel.Name == "Add" && len(call.Args) == 1 && isCount(call.Args[0]):
		return noEffect
	}
	return endsWait
}

// isCount reports whether an expression is no negative number.
func isCount(x ast.Expr) bool {
	_, negative := x.(*ast.UnaryExpr)
	return !negative
}

// signalEffect returns the effect of code on a condition.
func signalEffect(x ast.Expr, parents []ast.Node) effect {
	if sel, ok := parent(parents, 0).(*ast.SelectorExpr); ok && sel.X == x && (sel.Sel.Name == "Signal" || sel.Sel.Name == "Broadcast") {
		return endsWait
	}
	return noEffect
}

// ofVariable matches mentions of a variable of a function.
func (g *goFile) ofVariable(v *variable) func(*mention, []ast.Node) bool {
	return func(m *mention, _ []ast.Node) bool { return m.g == g && g.variables[m.node] == v }
}

// ofField matches mentions of a field of that name of any value, and of a variable of
// the package.
func ofField(m *mention, parents []ast.Node) bool {
	if s, ok := parent(parents, 0).(*ast.SelectorExpr); ok && s.Sel == m.node {
		return true
	}
	return m.g.variables[m.node] == nil
}

// named reports whether a function may be one of them, or a literal in one, by its name.
func (e *enders) named(function string) bool {
	_, name := model.SplitSymbol(function)
	parts := strings.FieldsFunc(model.WithoutTypes(name), func(r rune) bool { return strings.ContainsRune(".-()*", r) })
	for u := range e.units {
		if u.decl != nil && slices.Contains(parts, u.decl.Name.Name) {
			return true
		}
	}
	return false
}
