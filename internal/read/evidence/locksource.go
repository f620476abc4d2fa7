package evidence

import (
	"go/ast"
	"go/token"
	"slices"
	"strings"

	"github.com/gowhy/gowhy/internal/know/model"
)

// Who holds a lock is who stands between Lock and Unlock.

// A lockName is a lock as the source of a function names it.
type lockName struct {
	name     string
	global   bool // one variable of a package
	receiver bool // a part of the receiver
	deep     bool // behind a field of it, which may be a pointer
}

// A heldLock is one that a frame holds.
type heldLock struct {
	lockName
	frame    int // on the stack
	taken    model.Frame
	shared   bool
	released bool // the frame gave back what a caller of it holds
}

// lockAt returns the lock that a frame's line asks for.
func (r *sourceReader) lockAt(f model.Frame) (n lockName, ok bool) {
	fn := r.function(f)
	if fn == nil {
		return n, false
	}
	ast.Inspect(fn.body, func(node ast.Node) bool {
		if call, is := node.(*ast.CallExpr); is && fn.line(call.End()) == f.Line && !ok {
			if x, method := lockCall(call); method == "Lock" || method == "RLock" {
				n = fn.nameOf(x)
				ok = n.name != ""
			}
		}
		return !ok
	})
	return n, ok
}

// heldOn returns the locks that the frames of a stack hold.
func (r *sourceReader) heldOn(frames []model.Frame) (held []heldLock) {
	for i, f := range frames {
		if f.Line <= 0 || f.File == "" || model.IsStd(f.Func) {
			continue
		}
		list, ok := r.holds[f]
		if !ok {
			list = r.heldAt(f)
			r.holds[f] = list
		}
		if len(list) == 0 || i > 0 && !r.calls(f, frames[i-1]) {
			continue
		}
		for _, h := range list {
			if h.frame = i; h.released || !gaveBack(frames[:i], r.holds, h) {
				held = append(held, h)
			}
		}
	}
	return slices.DeleteFunc(held, func(h heldLock) bool { return h.released })
}

// gaveBack reports whether one of the frames that a frame called has unlocked what it
// holds: many functions want a lock held and are without it while they wait. Where a
// name does not tell of which type it is, the field decides.
func gaveBack(called []model.Frame, holds map[model.Frame][]heldLock, h heldLock) bool {
	return slices.ContainsFunc(called, func(f model.Frame) bool {
		return slices.ContainsFunc(holds[f], func(o heldLock) bool {
			return o.released && o.shared == h.shared && (o.name == h.name || lastField(o.name) == lastField(h.name) && !(o.receiver && h.receiver))
		})
	})
}

// lastField returns the field of a lock's name.
func lastField(name string) string { return name[strings.LastIndexByte(name, '.')+1:] }

// onReceiver reports whether all calls from a frame up to the one that asks for a lock are
// of methods of its own receiver, so that all are of one value.
func (r *sourceReader) onReceiver(frames []model.Frame, from int) bool {
	asks := model.Asker(frames)
	for i := from; i > asks; i-- {
		fn := r.function(frames[i])
		if fn == nil {
			return false
		}
		receiver, found := fn.receiver(), false
		_, callee := model.SplitSymbol(frames[i-1].Func)
		callee = callee[strings.LastIndexByte(callee, '.')+1:]
		ast.Inspect(fn.body, func(node ast.Node) bool {
			call, ok := node.(*ast.CallExpr)
			if !ok || fn.line(call.Pos()) > frames[i].Line || fn.line(call.End()) < frames[i].Line {
				return true
			}
			if sel, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr); ok && sel.Sel.Name == callee {
				id, ok := sel.X.(*ast.Ident)
				found = found || ok && receiver != "" && id.Name == receiver
			}
			return true
		})
		if !found {
			return false
		}
	}
	return asks >= 0 && from > asks
}

func (r *sourceReader) heldAt(f model.Frame) []heldLock {
	fn := r.function(f)
	if fn == nil {
		return nil
	}
	w := lockWalk{fn: fn, at: f}
	w.list(fn.body.List)
	return w.held
}

// lockCall returns what a lock's method is called on, and the method.
func lockCall(call *ast.CallExpr) (x ast.Expr, method string) {
	sel, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr)
	if !ok || len(call.Args) > 0 {
		return nil, ""
	}
	switch sel.Sel.Name {
	case "Lock", "RLock", "Unlock", "RUnlock", "TryLock", "TryRLock":
		return sel.X, sel.Sel.Name
	}
	return nil, ""
}

// nameOf names a lock so that two functions call it the same: by the type that it is in,
// its package, or the function that it is a variable of.
func (fn *goFunction) nameOf(x ast.Expr) (n lockName) {
	path := ""
	for {
		switch e := x.(type) {
		case *ast.ParenExpr:
			x = e.X
		case *ast.StarExpr:
			x = e.X
		case *ast.UnaryExpr:
			x = e.X
		case *ast.IndexExpr:
			path, x = "[]"+path, e.X
		case *ast.SelectorExpr:
			path, x = "."+e.Sel.Name+path, e.X
		case *ast.Ident:
			return fn.lockOf(e, path)
		default:
			return lockName{}
		}
	}
}

func (fn *goFunction) lockOf(root *ast.Ident, path string) (n lockName) {
	v := fn.variables[root]
	if v == nil {
		return lockName{name: fn.pkg + "." + root.Name + path, global: !strings.Contains(path, "[]")}
	}
	_, parameter := v.decl.(*ast.Field)
	t := typeOf(fn.pkg, v)
	switch {
	case t != "" && fn.decl.Recv != nil && v.decl == fn.decl.Recv.List[0]:
		return lockName{name: t + path, receiver: true, deep: strings.Count(path, ".") > 1}
	case t != "" && (parameter || path != ""):
		return lockName{name: t + path}
	}
	return lockName{name: fn.pkg + "." + fn.decl.Name.Name + "." + root.Name + path}
}

// A lockWalk goes through the statements of a function up to a line, and knows which
// locks are held there. Where a branch makes that uncertain it takes it as given back:
// whoever is named as a holder is one.
type lockWalk struct {
	fn   *goFunction
	at   model.Frame
	held []heldLock
}

// list goes through statements, and reports whether it came to the line.
func (w *lockWalk) list(stmts []ast.Stmt) bool {
	for _, s := range stmts {
		switch from, to := w.fn.line(s.Pos()), w.fn.line(s.End()); {
		case from > w.at.Line:
			return true
		case to >= w.at.Line:
			w.into(s)
			return true
		}
		w.past(s)
	}
	return false
}

// into goes to the line inside a statement.
func (w *lockWalk) into(s ast.Stmt) {
	switch s := s.(type) {
	case *ast.BlockStmt:
		w.list(s.List)
	case *ast.LabeledStmt:
		w.into(s.Stmt)
	case *ast.IfStmt:
		switch {
		case w.inside(s.Body):
			w.try(s.Cond, false)
			w.list(s.Body.List)
		case s.Else != nil && w.inside(s.Else):
			w.into(s.Else)
		}
	case *ast.ForStmt:
		w.body(s.Body)
	case *ast.RangeStmt:
		w.body(s.Body)
	case *ast.SwitchStmt:
		w.clauses(s.Body)
	case *ast.TypeSwitchStmt:
		w.clauses(s.Body)
	case *ast.SelectStmt:
		w.clauses(s.Body)
	}
}

func (w *lockWalk) inside(n ast.Node) bool {
	return w.fn.line(n.Pos()) < w.at.Line && w.at.Line <= w.fn.line(n.End())
}

func (w *lockWalk) body(b *ast.BlockStmt) {
	if w.inside(b) {
		w.list(b.List)
	}
}

func (w *lockWalk) clauses(b *ast.BlockStmt) {
	for _, c := range b.List {
		if !w.inside(c) {
			continue
		}
		switch c := c.(type) {
		case *ast.CaseClause:
			w.list(c.Body)
		case *ast.CommClause:
			w.list(c.Body)
		}
	}
}

// past takes a statement that is over.
func (w *lockWalk) past(s ast.Stmt) {
	switch s := s.(type) {
	case *ast.ExprStmt:
		if call, ok := s.X.(*ast.CallExpr); ok {
			w.call(call)
		}
		return
	case *ast.DeferStmt, *ast.GoStmt:
		return
	case *ast.BlockStmt:
		w.list(s.List)
		return
	case *ast.IfStmt:
		if ends(s.Body) {
			w.try(s.Cond, true)
			return
		}
	}
	ast.Inspect(s, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit, *ast.DeferStmt, *ast.GoStmt:
			return false
		case *ast.BlockStmt:
			return !ends(n)
		case *ast.CallExpr:
			if _, method := lockCall(n); strings.HasSuffix(method, "Unlock") {
				w.call(n)
			}
		}
		return true
	})
}

// ends reports whether a block leaves what is around it.
func ends(b *ast.BlockStmt) bool {
	if len(b.List) == 0 {
		return false
	}
	switch s := b.List[len(b.List)-1].(type) {
	case *ast.ReturnStmt, *ast.BranchStmt:
		return true
	case *ast.ExprStmt:
		call, ok := s.X.(*ast.CallExpr)
		if !ok {
			return false
		}
		id, ok := call.Fun.(*ast.Ident)
		return ok && id.Name == "panic"
	}
	return false
}

// try takes the lock of a condition that tries to: of one that is negated, behind it.
func (w *lockWalk) try(cond ast.Expr, negated bool) {
	if u, ok := cond.(*ast.UnaryExpr); ok && u.Op == token.NOT {
		negated, cond = !negated, u.X
	}
	if call, ok := ast.Unparen(cond).(*ast.CallExpr); ok && !negated {
		if x, method := lockCall(call); strings.HasPrefix(method, "Try") {
			w.take(x, call, method == "TryRLock")
		}
	}
}

func (w *lockWalk) call(call *ast.CallExpr) {
	x, method := lockCall(call)
	switch method {
	case "Lock", "RLock":
		w.take(x, call, method == "RLock")
	case "Unlock", "RUnlock":
		name, shared := w.fn.nameOf(x), method == "RUnlock"
		for i := len(w.held) - 1; i >= 0; i-- {
			if w.held[i].lockName == name && w.held[i].shared == shared && !w.held[i].released {
				w.held = slices.Delete(w.held, i, i+1)
				return
			}
		}
		if name.name != "" {
			w.held = append(w.held, heldLock{lockName: name, shared: shared, released: true})
		}
	}
}

func (w *lockWalk) take(x ast.Expr, call *ast.CallExpr, shared bool) {
	if n := w.fn.nameOf(x); n.name != "" {
		w.held = append(w.held, heldLock{lockName: n, shared: shared, taken: model.Frame{Func: w.at.Func, File: w.at.File, Line: w.fn.line(call.Pos())}})
	}
}

// joinHolders finds where the CPU is used under locks that no goroutine of the moment is
// seen to hold: who runs has no stack there.
func (l *loader) joinHolders() {
	if l.m.Moment == nil {
		return
	}
	unheld := map[string]map[model.Frame]float64{}
	for i, lock := range l.m.Moment.Locks {
		holds := func(h model.Holding) bool { return h.Lock == i+1 }
		if lock.Naming == model.BySource && !slices.ContainsFunc(l.m.Moment.Goroutines, func(s model.Standing) bool { return slices.ContainsFunc(s.Holds, holds) }) {
			unheld[lock.Name] = map[model.Frame]float64{}
		}
	}
	if len(unheld) == 0 {
		return
	}
	profile := l.m.CPU
	if profile == nil && l.m.Kernel != nil {
		profile = l.m.Kernel.CPU
	}
	if profile == nil {
		return
	}
	r := l.sourceReader()
	for i := range profile.Samples {
		s := &profile.Samples[i]
		frames := l.m.Stacks.Frames(s.Stack)
		for _, h := range r.heldOn(frames) {
			if by := unheld[h.name]; by != nil {
				f := frames[h.frame]
				by[model.Frame{Func: f.Func, File: f.File, Line: f.Line}] += s.Value(0)
			}
		}
	}
	for i := range l.m.Moment.Locks {
		lock := &l.m.Moment.Locks[i]
		most := 0.0
		for f, n := range unheld[lock.Name] {
			if n > most || n == most && f.Line < lock.Computes.Line {
				most, lock.Computes = n, f
			}
		}
	}
}
