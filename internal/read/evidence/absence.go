package evidence

import (
	"go/ast"
	"go/token"
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

// An absence is what a look waits for, and what could bring it.
type absence struct {
	model.Absence
	key    string
	asker  model.Frame
	target []*target // any of them ends it
	pkg    *sourcePackage
	// rests is set when it is at rest, unless nothing at all is written that could end it.
	rests bool
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
	case "select":
		ok = r.lacksCase(&a, g, body, frames[at+1:])
	}
	if !ok {
		return a, false
	}
	a.pkg = r.packageOf(g)
	a.key = a.Kind.String() + " " + a.asker.Func + ":" + strconv.Itoa(a.asker.Line)
	return a, ok
}

// lacksAnswer returns a receive from a channel that its function has made, as a variable or a
// field of a literal.
func (r *sourceReader) lacksAnswer(a *absence, g *goFile, body *ast.BlockStmt) bool {
	x, loop := receiveAt(g, body, a.asker.Line)
	path, root := fieldPath(x)
	if root == nil || g.variables[root] == nil {
		return false
	}
	v := g.variables[root]
	a.Kind = model.LacksAnswer
	if path == "" {
		if !isMake(v.initializer()) {
			return false
		}
		a.Name, a.Sure = localName(root, a.asker), true
		return r.targetVariable(a, g, v, sendEffect)
	}
	field := path[1:]
	made := compositeOf(v.initializer())
	if made == nil || strings.Contains(field, ".") || ast.IsExported(field) || !makes(made, field) || loopAround(body, contains(v.name.Pos())) != loop {
		return false
	}
	pkg, _ := model.SplitSymbol(a.asker.Func)
	a.Name = typeOf(pkg, v) + path
	a.target = []*target{{name: field, is: ofField, effect: sendEffect}}
	return true
}

// targetVariable adds a variable of a function; false where that is in none that is known.
func (r *sourceReader) targetVariable(a *absence, g *goFile, v *variable, by func(ast.Expr, []ast.Node) effect) bool {
	home := r.packageOf(g).unitAround(g, v.name.Pos())
	a.target = append(a.target, &target{name: v.name.Name, is: g.ofVariable(v), effect: by, home: home})
	return home != nil
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

// receiveAt returns the only receive in a line that is no case of a select, and the innermost
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
	return x, loopAround(body, contains(x.Pos()))
}

// loopAround returns the innermost loop of a function around something; nil for none.
func loopAround(body *ast.BlockStmt, around func(ast.Node) bool) (loop ast.Node) {
	inBody(body, func(n ast.Node) {
		switch n.(type) {
		case *ast.ForStmt, *ast.RangeStmt:
			if around(n) {
				loop = n
			}
		}
	})
	return loop
}

// contains matches what is around a place.
func contains(at token.Pos) func(ast.Node) bool {
	return func(n ast.Node) bool { return n.Pos() <= at && at < n.End() }
}

// waitedOn returns the only thing in a line whose Wait is called.
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

// lacksDone returns the wait for a WaitGroup that is a variable of the function.
func (r *sourceReader) lacksDone(a *absence, g *goFile, body *ast.BlockStmt) bool {
	id, ok := waitedOn(g, body, a.asker.Line).(*ast.Ident)
	if !ok || g.variables[id] == nil {
		return false
	}
	v := g.variables[id]
	if _, local := v.decl.(*ast.Field); local {
		return false
	}
	a.Kind, a.Name, a.Sure = model.LacksDone, localName(id, a.asker), true
	return r.targetVariable(a, g, v, doneEffect)
}

// inLoop reports whether one of the calls on a stack may be made by a loop: that may look
// for what is waited for.
func (r *sourceReader) inLoop(frames []model.Frame) bool {
	for _, f := range frames {
		if strings.Contains(f.Func[strings.LastIndexByte(f.Func, '.')+1:], "gowrap") || strings.HasPrefix(f.Func, "runtime.") {
			continue
		}
		g, body := r.code(f)
		if body == nil || loopAround(body, func(n ast.Node) bool { return g.contains(n, f.Line) }) != nil {
			return true
		}
	}
	return false
}

// lacksSignal returns the wait for a condition in no loop, so that what was signalled before is
// lost: who could signal need not be all that can.
func (r *sourceReader) lacksSignal(a *absence, g *goFile, body *ast.BlockStmt) bool {
	x := waitedOn(g, body, a.asker.Line)
	if x == nil || loopAround(body, contains(x.Pos())) != nil {
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
	t := &target{name: lastName(x), is: ofField, effect: signalEffect}
	if path == "" && g.variables[root] != nil {
		t.is = g.ofVariable(g.variables[root])
	}
	a.target = []*target{t}
	return true
}

// lacking are the states of goroutines whose wait others may have to end.
var lacking = []string{"chan receive", "sync.WaitGroup.Wait", "sync.Cond.Wait", "select"}

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
		if !slices.Contains(lacking, k.state) {
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
		e, ok := w.pkg.endersOf(pkg, w.target...)
		switch {
		case w.Kind == model.LacksSignal:
		case !ok,
			w.Kind != model.LacksCase && len(e.at) == 0, // where nothing ends it, it is meant to last
			w.rests && len(e.at) > 0:
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
func (t *lockTable) alive(p *sourcePackage, e *enders, except []int) bool {
	return hasOthers(t.looksInside(p, e), except)
}

// hasOthers reports whether a list has more than those, in their order.
func hasOthers(list, except []int) bool {
	return slices.ContainsFunc(list, func(i int) bool {
		_, known := slices.BinarySearch(except, i)
		return !known
	})
}

// looksInside returns the looks that are in one of the functions that can end a wait, or may be.
// One whose stack is not known is by where it began: who calls them counts as one of them.
func (t *lockTable) looksInside(p *sourcePackage, e *enders) (list []int) {
	stacks := map[model.Stack]bool{}
	for i := range t.looks {
		k := &t.looks[i]
		is, seen := stacks[k.stack]
		switch {
		case k.began != "":
			is = e.named(k.began)
		case !seen:
			is = p.mayBeIn(e, t.stacks.Frames(k.stack))
			stacks[k.stack] = is
		}
		if is {
			list = append(list, i)
		}
	}
	return list
}

// mayBeIn reports whether a stack is in one of the functions that can end a wait, or nobody
// knows where it is, or from where.
func (p *sourcePackage) mayBeIn(e *enders, frames []model.Frame) bool {
	if len(frames) == 0 || mayBeCut(frames) {
		return true
	}
	return slices.ContainsFunc(frames, func(f model.Frame) bool {
		if model.IsStd(f.Func) {
			return false
		}
		u := p.unitOf(f)
		_, ends := e.units[u]
		return u != nil && ends
	})
}

// cutFrames is how deep a stack is at least that may have been cut: runtimes before Go 1.23
// kept 32 frames of each in a profile.
const cutFrames = 32

// mayBeCut reports whether a stack may have lost the functions that it began with: among
// these are those that say what a goroutine is for.
func mayBeCut(frames []model.Frame) bool {
	return len(frames) >= cutFrames && !slices.Contains([]string{"main.main", "runtime.main", "runtime.goexit", "net/http.(*conn).serve"}, frames[len(frames)-1].Func)
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
	d, known := t.receivers[ownField{p, field}]
	if !known { // thousands of values may have that field, each with its senders
		var e enders
		if e, d.known = p.endersOf(pkg, &target{name: field, is: ofField, effect: receiveEffect}); d.known {
			d.at, d.inside = e.at, t.looksInside(p, &e)
		}
		t.receivers[ownField{p, field}] = d
	}
	if !d.known || hasOthers(d.inside, c.senders) {
		return nil, false
	}
	return d.at, true
}

// An ownField is a field of a type of a package.
type ownField struct {
	p     *sourcePackage
	field string
}

// A fieldReceivers is where code receives from a field, and the looks that may be in that.
type fieldReceivers struct {
	known  bool // others cannot
	at     []model.Frame
	inside []int
}
