package evidence

import (
	"go/ast"
	"go/token"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/gowhy/gowhy/internal/know/model"
)

// Who waits for an answer, for others to be done or for a signal waits for ever when no
// goroutine is left that could bring it. Source shows who could: the functions that send
// on that field or variable, those that call them, those that call these. It shows it for
// certain only where the name stays in the package, and none of these functions is given
// away as a value, called by another package, or run by who was given a literal. Else
// nothing is said: a timer, a handler or a pool may bring it, and none of them has a
// goroutine meanwhile.

// A codeUnit is a function of a package with the literals in it, or a literal outside of
// functions.
type codeUnit struct {
	g    *goFile
	node ast.Node      // *ast.FuncDecl or *ast.FuncLit
	decl *ast.FuncDecl // nil for a literal
}

// A mention is where a package names something.
type mention struct {
	unit *codeUnit // nil outside of functions
	g    *goFile
	decl ast.Decl
	node *ast.Ident
}

// parents are the nodes around a mention, outermost first.
func (m *mention) parents() (list []ast.Node) {
	ast.PreorderStack(m.decl, nil, func(n ast.Node, parents []ast.Node) bool {
		if n == m.node {
			list = slices.Clone(parents)
		}
		return list == nil && n.Pos() <= m.node.Pos() && m.node.End() <= n.End()
	})
	return list
}

// A sourcePackage is the functions of one package and what they name.
type sourcePackage struct {
	units    []*codeUnit
	mentions map[string][]mention
	whole    bool // all of its files were read
}

// packageOf is the package of a file.
func (r *sourceReader) packageOf(g *goFile) *sourcePackage {
	dir := filepath.Dir(g.set.Position(g.file.Pos()).Filename)
	if p := r.packages[dir]; p != nil {
		return p
	}
	p := &sourcePackage{mentions: map[string][]mention{}, whole: true}
	r.packages[dir] = p
	names, _ := filepath.Glob(filepath.Join(dir, "*.go"))
	p.whole = len(names) > 0 && len(names) <= maxBeside
	for _, name := range names[:min(len(names), maxBeside)] {
		o := r.file(name)
		switch {
		case o == nil:
			p.whole = false
		case o.file.Name.Name == g.file.Name.Name:
			p.add(o)
		}
	}
	return p
}

func (p *sourcePackage) add(g *goFile) {
	for _, d := range g.file.Decls {
		var unit *codeUnit
		begin := func(n ast.Node, decl *ast.FuncDecl) {
			unit = &codeUnit{g, n, decl}
			p.units = append(p.units, unit)
		}
		ast.Inspect(d, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.FuncDecl:
				begin(n, n)
			case *ast.FuncLit:
				if unit == nil || n.Pos() > unit.node.End() {
					begin(n, nil)
				}
			case *ast.Ident:
				m := mention{g: g, decl: d, node: n}
				if unit != nil && n.Pos() <= unit.node.End() {
					m.unit = unit
				}
				p.mentions[n.Name] = append(p.mentions[n.Name], m)
			}
			return true
		})
	}
}

// unitOf is the unit of a frame's line; nil where it is in none.
func (p *sourcePackage) unitOf(f model.Frame) *codeUnit {
	for _, u := range p.units {
		if filepath.Base(f.File) == filepath.Base(u.g.set.Position(u.g.file.Pos()).Filename) && u.g.around(u.node, f.Line) {
			return u
		}
	}
	return nil
}

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

// endersOf finds them; not ok where others may end it, too.
func (p *sourcePackage) endersOf(pkg string, t *target) (e enders, ok bool) {
	if !p.whole {
		return e, false
	}
	e.units = map[*codeUnit]bool{}
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
			if t.home == nil || m.unit == nil || !runsAtOnce(m.unit, around) || !p.lend(pkg, t, &e, m, x, parents) {
				return e, false
			}
			join(m.unit, false)
		case endsWait:
			if m.unit == nil || !runsAtOnce(m.unit, around) {
				return e, false
			}
			join(m.unit, t.home == nil)
			e.at = append(e.at, m.unit.frame(pkg, m.g.line(m.node.Pos())))
		}
	}
	for len(todo) > 0 {
		if len(e.units) > maxEnders {
			return e, false
		}
		u := todo[0]
		todo = todo[1:]
		if u == t.home {
			continue
		}
		if !p.callers(pkg, u, e.units[u], join) {
			return e, false
		}
	}
	return e, true
}

// lend adds the function of the package that a variable is given to, where that does
// not give it to others. Who else calls it gives it other variables.
func (p *sourcePackage) lend(pkg string, t *target, e *enders, m *mention, x ast.Expr, parents []ast.Node) bool {
	if u, ok := parent(parents, 0).(*ast.UnaryExpr); ok && u.Op == token.AND {
		x, parents = u, parents[:len(parents)-1]
	}
	call, ok := parent(parents, 0).(*ast.CallExpr)
	if !ok {
		return false
	}
	u := p.called(m.g, call)
	v := u.parameter(slices.Index(call.Args, x))
	if v == nil {
		return false
	}
	e.units[u] = false
	for i := range p.mentions[v.name.Name] {
		use := &p.mentions[v.name.Name][i]
		if use.g != u.g || use.g.variables[use.node] != v {
			continue
		}
		around := use.parents()
		switch t.effect(use.node, around) {
		case escapes:
			return false
		case endsWait:
			if !runsAtOnce(u, around) {
				return false
			}
			e.at = append(e.at, u.frame(pkg, use.g.line(use.node.Pos())))
		}
	}
	return true
}

// called is the function or method of the package that is called; nil where that is not
// written beside.
func (p *sourcePackage) called(g *goFile, call *ast.CallExpr) *codeUnit {
	typ := ""
	switch f := call.Fun.(type) {
	case *ast.Ident:
		if g.variables[f] != nil {
			return nil
		}
	case *ast.SelectorExpr:
		id, ok := f.X.(*ast.Ident)
		if !ok || g.variables[id] == nil {
			return nil
		}
		if typ = typeOf("", g.variables[id]); typ == "" {
			return nil
		}
	default:
		return nil
	}
	name := calledName(call)
	i := slices.IndexFunc(p.units, func(u *codeUnit) bool {
		return u.decl != nil && u.decl.Name.Name == name && receiverType(u.decl) == typ
	})
	if i < 0 {
		return nil
	}
	return p.units[i]
}

// parameter is one of a function, by its place; nil where it has none.
func (u *codeUnit) parameter(place int) *variable {
	if u == nil || place < 0 {
		return nil
	}
	for _, f := range u.decl.Type.Params.List {
		_, variadic := f.Type.(*ast.Ellipsis)
		for _, id := range f.Names {
			if place == 0 && !variadic {
				return u.g.variables[id]
			}
			place--
		}
	}
	return nil
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

// receiverType is the type whose method a function is, as [namedType] has it in no
// package; empty for others.
func receiverType(decl *ast.FuncDecl) string {
	if decl.Recv == nil || len(decl.Recv.List) != 1 {
		return ""
	}
	return namedType("", decl.Recv.List[0].Type)
}

// expression is the whole of which a name is the last part, and what is around it.
func expression(id *ast.Ident, parents []ast.Node) (ast.Expr, []ast.Node) {
	if s, ok := parent(parents, 0).(*ast.SelectorExpr); ok && s.Sel == id {
		return s, parents[:len(parents)-1]
	}
	return id, parents
}

// parent is the i-th from within.
func parent(parents []ast.Node, i int) ast.Node {
	if i >= len(parents) {
		return nil
	}
	return parents[len(parents)-1-i]
}

// isDeclared reports whether a name is that of a declaration of a function or field, or
// the key of a literal.
func isDeclared(id *ast.Ident, parents []ast.Node) bool {
	switch n := parent(parents, 0).(type) {
	case *ast.FuncDecl, *ast.Field:
		return true
	case *ast.KeyValueExpr:
		return n.Key == id
	}
	return false
}

// isChannel reports whether something is sent to or received from, and no function.
func isChannel(x ast.Expr, parents []ast.Node) bool {
	switch n := parent(parents, 0).(type) {
	case *ast.SendStmt:
		return n.Chan == x
	case *ast.UnaryExpr:
		return n.Op == token.ARROW
	}
	return false
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

// frame is a line of a unit, as stacks have it.
func (u *codeUnit) frame(pkg string, line int) model.Frame {
	f := model.Frame{File: u.g.set.Position(u.node.Pos()).Filename, Line: line}
	if u.decl == nil {
		return f
	}
	of := strings.TrimPrefix(receiverType(u.decl), ".")
	if of == "" {
		f.Func = pkg + "." + u.decl.Name.Name
		return f
	}
	if _, pointer := u.decl.Recv.List[0].Type.(*ast.StarExpr); pointer {
		of = "(*" + of + ")"
	}
	f.Func = pkg + "." + of + "." + u.decl.Name.Name
	return f
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

// An absence is what a look waits for, and what could bring it.
type absence struct {
	model.Absence
	key    string
	asker  model.Frame
	target *target
	pkg    *sourcePackage
}

// lacks returns what a stack waits for that only certain code can bring.
func (r *sourceReader) lacks(state string, frames []model.Frame) (a absence, ok bool) {
	at := model.Asker(frames)
	if at < 0 {
		return a, false
	}
	g, body := r.code(frames[at])
	if body == nil {
		return a, false
	}
	a.asker = frames[at]
	switch state {
	case "chan receive":
		ok = r.lacksAnswer(&a, g, body)
	case "sync.WaitGroup.Wait":
		ok = r.lacksDone(&a, g, body)
	case "sync.Cond.Wait":
		ok = r.lacksSignal(&a, g, body) && !r.inLoop(frames[at+1:])
	}
	if !ok {
		return a, false
	}
	a.pkg = r.packageOf(g)
	if a.target.home != nil {
		a.target.home = a.pkg.unitOf(a.asker)
		ok = a.target.home != nil
	}
	a.key = a.Kind.String() + " " + a.asker.Func + ":" + strconv.Itoa(a.asker.Line)
	return a, ok
}

// lacksAnswer is a receive from a channel that its function has made, as a variable or a
// field of a literal.
func (r *sourceReader) lacksAnswer(a *absence, g *goFile, body *ast.BlockStmt) bool {
	x, loop := receiveAt(g, body, a.asker.Line)
	path, root := fieldPath(x)
	if root == nil || g.variables[root] == nil {
		return false
	}
	v := g.variables[root]
	pkg, function := model.SplitSymbol(a.asker.Func)
	a.Kind = model.LacksAnswer
	if path == "" {
		if !isMake(v.given()) {
			return false
		}
		a.Name, a.Sure = root.Name+" of "+pkg[strings.LastIndexByte(pkg, '/')+1:]+"."+function, true
		a.target = &target{name: root.Name, is: g.ofVariable(v), effect: sendEffect, home: &codeUnit{}}
		return true
	}
	field := path[1:]
	made := compositeOf(v.given())
	if made == nil || strings.Contains(field, ".") || ast.IsExported(field) || !makes(made, field) || loopAround(g, body, v.name.Pos()) != loop {
		return false
	}
	a.Name = typeOf(pkg, v) + path
	a.target = &target{name: field, is: ofField, effect: sendEffect}
	return true
}

// makes reports whether a literal makes all channels that it has, that of a field among
// them.
func makes(l *ast.CompositeLit, field string) bool {
	made := false
	for _, e := range l.Elts {
		kv, ok := e.(*ast.KeyValueExpr)
		switch {
		case !ok:
			made = made || isMake(e)
		case lastName(kv.Key) == field:
			return isMake(kv.Value)
		}
	}
	return made
}

// receiveAt is the only receive in a line that is no case of a select, and the innermost
// loop around it.
func receiveAt(g *goFile, body *ast.BlockStmt, line int) (x ast.Expr, loop ast.Node) {
	n := 0
	inBody(body, func(node ast.Node) {
		switch node := node.(type) {
		case *ast.UnaryExpr:
			if node.Op == token.ARROW && g.line(node.OpPos) == line {
				x, n = node.X, n+1
			}
		case *ast.RangeStmt:
			if g.line(node.Pos()) == line {
				x, n = node.X, n+1
			}
		case *ast.SelectStmt:
			if g.line(node.Pos()) == line {
				n += 2
			}
		}
	})
	if n != 1 {
		return nil, nil
	}
	return x, loopAround(g, body, x.Pos())
}

// loopAround is the innermost loop of a function around a place; nil for none.
func loopAround(g *goFile, body *ast.BlockStmt, at token.Pos) (loop ast.Node) {
	inBody(body, func(n ast.Node) {
		switch n.(type) {
		case *ast.ForStmt, *ast.RangeStmt:
			if n.Pos() <= at && at < n.End() {
				loop = n
			}
		}
	})
	return loop
}

// waitedOn is the only thing in a line whose Wait is called.
func waitedOn(g *goFile, body *ast.BlockStmt, line int) (x ast.Expr) {
	n := 0
	inBody(body, func(node ast.Node) {
		call, ok := node.(*ast.CallExpr)
		if !ok || g.line(call.End()) != line || calledName(call) != "Wait" || len(call.Args) > 0 {
			return
		}
		if sel, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr); ok {
			x, n = sel.X, n+1
		}
	})
	if n != 1 {
		return nil
	}
	return x
}

// lacksDone is the wait for a WaitGroup that is a variable of the function.
func (r *sourceReader) lacksDone(a *absence, g *goFile, body *ast.BlockStmt) bool {
	id, ok := waitedOn(g, body, a.asker.Line).(*ast.Ident)
	if !ok || g.variables[id] == nil {
		return false
	}
	v := g.variables[id]
	if _, local := v.decl.(*ast.Field); local {
		return false
	}
	pkg, function := model.SplitSymbol(a.asker.Func)
	a.Kind, a.Sure = model.LacksDone, true
	a.Name = id.Name + " of " + pkg[strings.LastIndexByte(pkg, '/')+1:] + "." + function
	a.target = &target{name: id.Name, is: g.ofVariable(v), effect: doneEffect, home: &codeUnit{}}
	return true
}

// inLoop reports whether one of the calls on a stack may be made by a loop: that may look
// for what is waited for.
func (r *sourceReader) inLoop(frames []model.Frame) bool {
	for _, f := range frames {
		if strings.Contains(f.Func[strings.LastIndexByte(f.Func, '.')+1:], "gowrap") || strings.HasPrefix(f.Func, "runtime.") {
			continue
		}
		g, body := r.code(f)
		if body == nil {
			return true
		}
		looped := false
		inBody(body, func(n ast.Node) {
			switch n.(type) {
			case *ast.ForStmt, *ast.RangeStmt:
				looped = looped || g.around(n, f.Line)
			}
		})
		if looped {
			return true
		}
	}
	return false
}

// lacksSignal is the wait for a condition in no loop, so that what was signalled before is
// lost: who could signal need not be all that can.
func (r *sourceReader) lacksSignal(a *absence, g *goFile, body *ast.BlockStmt) bool {
	x := waitedOn(g, body, a.asker.Line)
	if x == nil || loopAround(g, body, x.Pos()) != nil {
		return false
	}
	path, root := fieldPath(x)
	if root == nil {
		return false
	}
	pkg, _ := model.SplitSymbol(a.asker.Func)
	a.Kind, a.Name = model.LacksSignal, pkg+"."+root.Name+path
	if v := g.variables[root]; v != nil {
		if t := typeOf(pkg, v); t != "" {
			a.Name = t + path
		}
	}
	a.target = &target{name: lastName(x), is: ofField, effect: signalEffect}
	if path == "" && g.variables[root] != nil {
		a.target.is = g.ofVariable(g.variables[root])
	}
	return true
}

// findAbsences finds the waits that no goroutine there is could end.
func (t *lockTable) findAbsences() {
	type waiters struct {
		absence
		looks []int
	}
	var list []*waiters
	of := map[model.Stack]*waiters{}
	byKey := map[string]*waiters{}
	for i := range t.looks {
		k := &t.looks[i]
		if k.state != "chan receive" && k.state != "sync.WaitGroup.Wait" && k.state != "sync.Cond.Wait" {
			continue
		}
		w, known := of[k.stack]
		if !known {
			if a, ok := t.source.lacks(k.state, t.stacks.Frames(k.stack)); ok {
				if w = byKey[a.key]; w == nil {
					w = &waiters{absence: a}
					byKey[a.key] = w
					list = append(list, w)
				}
			}
			of[k.stack] = w
		}
		if w != nil {
			w.looks = append(w.looks, i)
		}
	}
	for _, w := range list {
		pkg, _ := model.SplitSymbol(w.asker.Func)
		e, ok := w.pkg.endersOf(pkg, w.target)
		if w.Kind != model.LacksSignal && (!ok || len(e.at) == 0) { // where nothing ends it, it is meant to last
			continue
		}
		if t.alive(w.pkg, &e, w.looks) {
			continue
		}
		w.By = e.at
		t.absences = append(t.absences, w.Absence)
		for _, i := range w.looks {
			t.lacks[i] = len(t.absences)
		}
	}
}

// alive reports whether any look but those is in one of the functions that can end a wait.
// One whose stack is not known is by where it began: who calls them counts as one of them.
func (t *lockTable) alive(p *sourcePackage, e *enders, except []int) bool {
	seen, waits := map[model.Stack]bool{}, make([]bool, len(t.looks))
	for _, i := range except {
		waits[i] = true
	}
	for i := range t.looks {
		k := &t.looks[i]
		if waits[i] {
			continue
		}
		if k.began != "" {
			if e.named(k.began) {
				return true
			}
			continue
		}
		if seen[k.stack] {
			continue
		}
		seen[k.stack] = true
		frames := t.stacks.Frames(k.stack)
		if len(frames) == 0 || mayBeCut(frames) { // nobody knows where it is, or from where
			return true
		}
		for _, f := range frames {
			if model.IsStd(f.Func) {
				continue
			}
			if u := p.unitOf(f); u != nil {
				if _, ends := e.units[u]; ends {
					return true
				}
			}
		}
	}
	return false
}

// cutFrames is how deep a stack is at least that may have been cut: runtimes before Go 1.23
// kept 32 frames of each in a profile.
const cutFrames = 32

// mayBeCut reports whether a stack may have lost the functions that it began with: among
// these are those that say what a goroutine is for.
func mayBeCut(frames []model.Frame) bool {
	return len(frames) >= cutFrames && !slices.Contains([]string{"main.main", "runtime.main", "runtime.goexit", "net/http.(*conn).serve"}, frames[len(frames)-1].Func)
}

// named reports whether a function may be one of them, or a literal in one, by its name.
func (e *enders) named(function string) bool {
	_, name := model.SplitSymbol(function)
	parts := strings.FieldsFunc(withoutTypes(name), func(r rune) bool { return strings.ContainsRune(".-()*", r) })
	for u := range e.units {
		if u.decl != nil && slices.Contains(parts, u.decl.Name.Name) {
			return true
		}
	}
	return false
}

// deserted reports whether nobody is there who could receive from a channel, nor could
// be, and where that is done.
func (t *lockTable) deserted(n int) (from []model.Frame, ok bool) {
	c := &t.channels[n]
	if len(c.ref.ids) != 1 || len(c.from) > 0 {
		return nil, false
	}
	typ, field, ok := cutLast(c.ref.ids[0], ".")
	frames := t.stacks.Frames(t.looks[c.senders[0]].stack)
	pkg, _ := model.SplitSymbol(frames[model.Asker(frames)].Func)
	if !ok || c.ref.file == nil || ast.IsExported(field) {
		return nil, false
	}
	p := t.source.packageOf(c.ref.file)
	if !p.madeInside(strings.TrimPrefix(typ, pkg+".")) {
		return nil, false
	}
	e, ok := p.endersOf(pkg, &target{name: field, is: ofField, effect: receiveEffect})
	if !ok || t.alive(p, &e, c.senders) {
		return nil, false
	}
	return e.at, true
}

// madeInside reports whether all literals of a type without names of fields make what
// they have, so that no variable has it too.
func (p *sourcePackage) madeInside(typ string) bool {
	for i := range p.mentions[typ] {
		m := &p.mentions[typ][i]
		l, ok := parent(m.parents(), 0).(*ast.CompositeLit)
		if !ok || l.Type != ast.Expr(m.node) {
			continue
		}
		for _, e := range l.Elts {
			_, isKey := e.(*ast.KeyValueExpr)
			if _, known := e.(*ast.BasicLit); !isKey && !known && !isMake(e) {
				return false
			}
		}
	}
	return true
}
