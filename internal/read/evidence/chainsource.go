package evidence

import (
	"go/ast"
	"go/token"
	"slices"

	"github.com/gowhy/gowhy/internal/know/model"
)

// joinChains says what only the source tells of waits for others: whether what a select waits for
// was started for it, whether it sends, and whether a loop waits for an answer of its own.
func (l *loader) joinChains() {
	if l.m.Sched == nil {
		return
	}
	if l.opts.NoSource || l.opts.Elsewhere {
		l.keepRests(func(model.Frame) bool { return false })
		return
	}
	r := l.sourceReader()
	l.keepRests(r.onlyRests)
	l.joinHandovers(r)
	for i := range l.m.Sched.Chains {
		c := &l.m.Sched.Chains[i]
		c.Own = r.waitsForOwn(l.m.Stacks.Frames(c.Stack))
		for j := range c.Links {
			link := &c.Links[j]
			if f, ok := model.UserFrame(l.m.Stacks.Frames(link.Stack)); ok && link.Gathers {
				link.Gathers = !r.onlyRests(f)
				link.Timer = link.Gathers && r.startsTimer(f)
			}
		}
	}
}

// keepRests leaves out the selects of operations that are not known to rest.
func (l *loader) keepRests(rests func(model.Frame) bool) {
	l.m.Sched.Serial = slices.DeleteFunc(l.m.Sched.Serial, func(s model.Serial) bool {
		f, ok := model.UserFrame(l.m.Stacks.Frames(s.Stack))
		return s.Rests && !(ok && rests(f))
	})
}

// joinHandovers says which selects send or give up after a time, of those that the clock ended.
func (l *loader) joinHandovers(r *sourceReader) {
	for i := range l.m.Sched.Handovers {
		h := &l.m.Sched.Handovers[i]
		if f, ok := model.UserFrame(l.m.Stacks.Frames(h.Stack)); ok && h.GaveUp > 0 {
			h.Sends = r.selectSends(f)
		}
	}
}

// selectSends reports whether a case of the select in a line sends.
func (r *sourceReader) selectSends(f model.Frame) (sends bool) {
	g, body := r.code(f)
	if body == nil {
		return false
	}
	s := selectAt(g, body, f.Line)
	return s != nil && slices.ContainsFunc(s.Body.List, func(c ast.Stmt) bool {
		_, ok := c.(*ast.CommClause).Comm.(*ast.SendStmt)
		return ok
	})
}

// onlyRests reports whether a select takes nothing that comes: it waits for the clock, or for an end, as a sleep does
// that a context may cut short. What it gathers it keeps in a variable.
func (r *sourceReader) onlyRests(f model.Frame) bool {
	g, body := r.code(f)
	if body == nil {
		return false
	}
	s := selectAt(g, body, f.Line)
	return s != nil && !slices.ContainsFunc(s.Body.List, func(c ast.Stmt) bool {
		comm := c.(*ast.CommClause).Comm
		kept, ok := comm.(*ast.AssignStmt)
		if !ok {
			return false
		}
		name, _ := kept.Lhs[0].(*ast.Ident)
		x, _ := waitedFor(comm)
		return x != nil && !isClock(x) && endOf(x) == nil && (name == nil || name.Name != "_")
	})
}

// isClock reports whether a channel is that of a timer or ticker, as most programs write it.
func isClock(x ast.Expr) bool {
	switch x := ast.Unparen(x).(type) {
	case *ast.SelectorExpr:
		return x.Sel.Name == "C"
	case *ast.CallExpr:
		return calledName(x) == "After" || calledName(x) == "Tick"
	}
	return false
}

// startsTimer reports whether the function of a select starts a timer and no ticker, which goes on
// whether or not somebody waits.
func (r *sourceReader) startsTimer(f model.Frame) (timer bool) {
	_, body := r.code(f)
	if body == nil {
		return false
	}
	ticker := false
	inBody(body, func(n ast.Node) {
		call, ok := n.(*ast.CallExpr)
		if !ok {
			return
		}
		switch calledName(call) {
		case "After", "NewTimer", "Reset", "WithTimeout", "WithDeadline":
			timer = true
		case "NewTicker", "Tick":
			ticker = true
		}
	})
	return timer && !ticker
}

// waitsForOwn reports whether a stack waits for what each round or call makes anew, like a channel for one
// answer: what comes there was asked for. What is made once brings work, or news.
func (r *sourceReader) waitsForOwn(frames []model.Frame) bool {
	at := model.Asker(frames)
	if at < 0 {
		return false
	}
	g, body := r.code(frames[at])
	if body == nil {
		return false
	}
	list := waitedAt(g, body, frames[at].Line)
	for {
		var given *ast.Ident
		var around ast.Node = body
		if loop := loopAround(body, func(n ast.Node) bool { return g.contains(n, frames[at].Line) }); loop != nil {
			around = loop
		}
		for _, x := range list {
			_, id := fieldPath(x)
			switch v := g.variables[id]; {
			case v == nil:
			case isParameter(v):
				given = v.name
			case around.Pos() <= v.decl.Pos() && v.decl.End() <= around.End():
				return true
			}
		}
		if at++; given == nil || at == len(frames) {
			return false
		}
		fn := r.function(frames[at-1])
		if g, body = r.code(frames[at]); fn == nil || body == nil {
			return false
		}
		list = fn.givenAt(g, body, frames[at].Line, given)
	}
}

func isParameter(v *variable) bool { _, ok := v.decl.(*ast.Field); return ok }

// waitedAt returns the channels, groups and conditions that a line may wait for.
func waitedAt(g *goFile, body *ast.BlockStmt, line int) (list []ast.Expr) {
	if s := selectAt(g, body, line); s != nil {
		for _, c := range s.Body.List {
			if x, _ := waitedFor(c.(*ast.CommClause).Comm); x != nil {
				list = append(list, asked(x))
			}
		}
		return list
	}
	inBody(body, func(n ast.Node) {
		switch n := n.(type) {
		case *ast.UnaryExpr:
			if n.Op == token.ARROW && g.contains(n, line) {
				list = append(list, asked(n.X))
			}
		case *ast.CallExpr:
			if sel, ok := n.Fun.(*ast.SelectorExpr); ok && sel.Sel.Name == "Wait" && g.contains(n, line) {
				list = append(list, sel.X)
			}
		}
	})
	return list
}

// asked returns whom an expression asks for a channel, or the channel.
func asked(x ast.Expr) ast.Expr {
	if call, ok := ast.Unparen(x).(*ast.CallExpr); ok {
		if sel, ok := call.Fun.(*ast.SelectorExpr); ok {
			return sel.X
		}
	}
	return x
}

// givenAt returns what a line that calls the function gives it as a parameter or receiver.
func (fn *goFunction) givenAt(g *goFile, body *ast.BlockStmt, line int, name *ast.Ident) (list []ast.Expr) {
	place, n := -2, 0
	if fn.receiver() == name.Name {
		place = -1
	}
	for _, p := range fn.decl.Type.Params.List {
		for _, id := range p.Names {
			if id == name {
				place = n
			}
			n++
		}
	}
	inBody(body, func(n ast.Node) {
		call, ok := n.(*ast.CallExpr)
		if !ok || !g.contains(call, line) || calledName(call) != fn.decl.Name.Name {
			return
		}
		if sel, ok := call.Fun.(*ast.SelectorExpr); ok && place == -1 {
			list = append(list, sel.X)
		} else if place >= 0 && place < len(call.Args) {
			list = append(list, call.Args[place])
		}
	})
	return list
}
