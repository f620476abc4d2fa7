package evidence

import (
	"go/ast"
	"go/token"
	"slices"
	"strings"

	"github.com/gowhy/gowhy/internal/know/model"
	"github.com/gowhy/gowhy/internal/read/pattern"
)

// joinPolls finds the sleeps of operations that lie between two looks at the same thing: a loop
// around them ends when it has happened. A pause between attempts that fail ends by an error
// that is none, and is not one.
func (l *loader) joinPolls() {
	if l.m.Sched == nil || l.opts.NoSource || l.opts.Elsewhere {
		return
	}
	r := l.sourceReader()
	for i := range l.m.Sched.Serial {
		s := &l.m.Sched.Serial[i]
		if !s.Sleeps {
			continue
		}
		for _, f := range l.m.Stacks.Frames(s.Stack) {
			if !model.IsStd(f.Func) {
				s.Polls = r.polls(f)
				break
			}
		}
	}
}

// polls reports whether a line sleeps in a loop that ends when something has happened.
func (r *sourceReader) polls(f model.Frame) bool {
	g, body := r.code(f)
	if body == nil {
		return false
	}
	around, calls := innermostLoop(g, body, f.Line)
	loop, ok := around.(*ast.ForStmt) // else a number of times, or for each of a list
	if !ok || !slices.Contains(calls, "Sleep") {
		return false
	}
	for _, stmt := range loop.Body.List {
		if !g.contains(stmt, f.Line) {
			continue
		}
		switch stmt := stmt.(type) {
		case *ast.ExprStmt:
			return notYet(loop.Cond) || endsWhen(loop.Body, happened)
		case *ast.IfStmt: // if !ready() { time.Sleep(…); continue }
			next, ok := stmt.Body.List[len(stmt.Body.List)-1].(*ast.BranchStmt)
			return ok && next.Tok == token.CONTINUE && notYet(stmt.Cond)
		}
		return false
	}
	return false
}

// innermostLoop returns the innermost loop around a line, and what the calls around and in it name; nil where the line is in none of
// the function or literal that it is in.
func innermostLoop(g *goFile, body ast.Node, line int) (loop ast.Stmt, calls []string) {
	ast.Inspect(body, func(n ast.Node) bool {
		if n == nil || !g.contains(n, line) {
			return false
		}
		switch n := n.(type) {
		case *ast.FuncLit:
			loop = nil
		case *ast.ForStmt:
			loop = n
		case *ast.RangeStmt:
			loop = n
		case *ast.CallExpr:
			calls = append(calls, calledName(n))
		}
		return true
	})
	return loop, calls
}

// notYet reports whether a loop goes on until something is so: one over what comes in ends by that.
func notYet(cond ast.Expr) bool {
	switch cond := ast.Unparen(cond).(type) {
	case *ast.UnaryExpr:
		return cond.Op == token.NOT && happened(cond.X)
	case *ast.BinaryExpr:
		return (cond.Op == token.EQL || cond.Op == token.NEQ) && happened(cond)
	}
	return false
}

// endsWhen reports whether a loop is left where a condition holds that is wanted.
func endsWhen(body *ast.BlockStmt, wanted func(ast.Expr) bool) (found bool) {
	ast.Inspect(body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit, *ast.ForStmt, *ast.RangeStmt:
			return false
		case *ast.IfStmt:
			found = found || pattern.LeavesLoop(n.Body.List) && wanted(n.Cond)
		}
		return !found
	})
	return found
}

// happened reports whether a condition is of something that others bring about: neither an error nor
// a number of rounds.
func happened(cond ast.Expr) bool {
	if b, ok := ast.Unparen(cond).(*ast.BinaryExpr); ok {
		switch b.Op {
		case token.LAND, token.LOR:
			return happened(b.X) || happened(b.Y)
		case token.LSS, token.LEQ, token.GTR, token.GEQ:
			return false
		}
	}
	other := true
	ast.Inspect(cond, func(n ast.Node) bool {
		id, ok := n.(*ast.Ident)
		other = other && (!ok || !isErrorName(id.Name))
		return other
	})
	return other
}

// isErrorName reports whether a variable is an error, as most programs call it.
func isErrorName(name string) bool { return strings.HasPrefix(strings.ToLower(name), "err") }
