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

// Who should receive from a channel is a goroutine that stands in a loop that receives
// from it, and not at the receive. Channels have no addresses in stacks, so one is told
// from another by where it is declared: as a field of a type, a variable of a package, or
// a variable of a function, which parameters are followed to by the calls that gave them.

// A channelRef is a channel as source names it: the places where it may be declared.
type channelRef struct {
	ids    []string
	name   string // for a sentence
	method bool   // a field of the receiver of a method
	last   string // the name without what it is a part of
	file   *goFile
}

// maxCallsDeep bounds how far a parameter is followed.
const maxCallsDeep = 8

// sendsTo returns the channel to which a stack waits to send, and the frame that does.
func (r *sourceReader) sendsTo(state string, frames []model.Frame) (c channelRef, at int, ok bool) {
	at = model.Asker(frames)
	if at < 0 {
		return c, at, false
	}
	g, body := r.code(frames[at])
	if body == nil {
		return c, at, false
	}
	sends := sendsAt(g, body, frames[at].Line)
	if state == "select" {
		sends = sendsOf(selectAt(g, body, frames[at].Line))
	}
	if len(sends) != 1 { // of several, nobody knows which
		return c, at, false
	}
	c = r.channel(frames, at, g, sends[0])
	c.last, c.file = lastName(sends[0]), g
	return c, at, len(c.ids) > 0
}

// sendsAt returns the channels that a line sends to.
func sendsAt(g *goFile, body *ast.BlockStmt, line int) (sends []ast.Expr) {
	inBody(body, func(n ast.Node) {
		if s, is := n.(*ast.SendStmt); is && g.contains(s, line) {
			sends = append(sends, s.Chan)
		}
	})
	return sends
}

// sendsOf returns the channels to which a select sends that waits for nothing else but ends of
// contexts; nil for others.
func sendsOf(s *ast.SelectStmt) (sends []ast.Expr) {
	if s == nil {
		return nil
	}
	for _, c := range s.Body.List {
		comm := c.(*ast.CommClause).Comm
		if send, ok := comm.(*ast.SendStmt); ok {
			sends = append(sends, send.Chan)
			continue
		}
		if x, _ := waitedFor(comm); x == nil || endOf(x) == nil {
			return nil
		}
	}
	return sends
}

// A serving is a channel that a frame receives from in the loop around its line.
type serving struct {
	channelRef
	frame int
	line  int  // of the receive
	waits bool // it stands there
	first bool // each turn of the loop begins with it
}

// serves returns the channels that a stack comes back to receive from.
func (r *sourceReader) serves(frames []model.Frame) (list []serving) {
	asker := model.Asker(frames)
	for i := max(0, asker); i < len(frames); i++ {
		f := frames[i]
		g, body := r.code(f)
		if body == nil || i > 0 && !r.calls(f, frames[i-1]) {
			continue
		}
		for _, v := range receivesAround(g, body, f.Line) {
			if c := r.channel(frames, i, g, v.x); len(c.ids) > 0 {
				waits := i == asker && (g.line(v.x.Pos()) == f.Line || inSelectAt(g, body, v.x, f.Line))
				list = append(list, serving{c, i, g.line(v.x.Pos()), waits, v.first})
			}
		}
	}
	return list
}

// A receive is what a loop receives from.
type receive struct {
	x     ast.Expr
	first bool // each turn begins with it
}

// receivesAround returns the receives of the loops around a line.
func receivesAround(g *goFile, body *ast.BlockStmt, line int) (list []receive) {
	add := func(x ast.Expr, first bool) {
		if !slices.ContainsFunc(list, func(o receive) bool { return o.x == x }) {
			list = append(list, receive{x, first})
		}
	}
	inBody(body, func(n ast.Node) {
		var loop *ast.BlockStmt
		switch n := n.(type) {
		case *ast.RangeStmt:
			if loop = n.Body; g.contains(n, line) {
				add(n.X, true)
			}
		case *ast.ForStmt:
			loop = n.Body
		}
		if loop == nil || !g.contains(loop, line) {
			return
		}
		_, endless := n.(*ast.ForStmt)
		inBody(loop, func(n ast.Node) {
			if u, ok := n.(*ast.UnaryExpr); ok && u.Op == token.ARROW {
				add(u.X, endless && u.Pos() < loop.List[0].End())
			}
		})
	})
	return list
}

// inSelectAt reports whether a receive is a case of the select at a line.
func inSelectAt(g *goFile, body *ast.BlockStmt, x ast.Expr, line int) (found bool) {
	inBody(body, func(n ast.Node) {
		s, ok := n.(*ast.SelectStmt)
		if !ok || g.line(s.Pos()) != line {
			return
		}
		for _, clause := range s.Body.List {
			if c, ok := clause.(*ast.CommClause); ok && c.Comm != nil && c.Comm.Pos() <= x.Pos() && x.End() <= c.Comm.End() {
				found = true
			}
		}
	})
	return found
}

// channel finds where the channel of an expression in a frame is declared.
func (r *sourceReader) channel(frames []model.Frame, at int, g *goFile, x ast.Expr) channelRef {
	return r.follow(frames, at, g, x, 0)
}

func (r *sourceReader) follow(frames []model.Frame, at int, g *goFile, x ast.Expr, deep int) (c channelRef) {
	pkg, _ := model.SplitSymbol(frames[at].Func)
	path, root := fieldPath(x)
	if root == nil || deep > maxCallsDeep {
		return c
	}
	v := g.variables[root]
	if v == nil {
		if g.imports(root.Name) {
			return c
		}
		name := pkg + "." + root.Name + path
		return channelRef{ids: []string{name}, name: name}
	}
	if path != "" {
		t := typeOf(pkg, v)
		if t == "" {
			return c
		}
		_, method := receiverOf(g, v)
		return channelRef{ids: []string{t + path}, name: t + path, method: method && strings.Count(path, ".") == 1}
	}
	switch v.decl.(type) {
	case *ast.Field:
		c = r.argument(frames, at, g, v, deep)
	case *ast.AssignStmt:
		if given := v.initializer(); given != nil {
			if p, of := fieldPath(given); of != nil && p != "" {
				return r.follow(frames, at, g, given, deep+1)
			}
		}
		c.ids = []string{g.declared(v)}
	case *ast.ValueSpec:
		c.ids = []string{g.declared(v)}
	}
	c.name = localName(root, frames[at])
	return c
}

// declared names a variable of a function by where it is declared.
func (g *goFile) declared(v *variable) string {
	p := g.set.Position(v.name.Pos())
	return p.Filename + ":" + strconv.Itoa(p.Offset)
}

// receiverOf returns the method that a variable is the receiver of.
func receiverOf(g *goFile, v *variable) (decl *ast.FuncDecl, ok bool) {
	for _, d := range g.file.Decls {
		if decl, is := d.(*ast.FuncDecl); is && decl.Recv != nil && len(decl.Recv.List) == 1 && v.decl == decl.Recv.List[0] {
			return decl, true
		}
	}
	return nil, false
}

// argument follows a parameter to what calls of its function give: the call that the
// stack has, or, where the goroutine began there, all that start one so.
func (r *sourceReader) argument(frames []model.Frame, at int, g *goFile, v *variable, deep int) (c channelRef) {
	decl, place := parameterOf(g, v)
	if decl == nil {
		return c
	}
	if at+1 < len(frames) && !strings.HasPrefix(frames[at+1].Func, "runtime.") {
		up, body := r.code(frames[at+1])
		if body == nil {
			return c
		}
		var args []ast.Expr
		inBody(body, func(n ast.Node) {
			if call, ok := n.(*ast.CallExpr); ok && up.contains(call, frames[at+1].Line) && calledName(call) == decl.Name.Name && place < len(call.Args) {
				args = append(args, call.Args[place])
			}
		})
		if len(args) == 1 {
			return r.follow(frames, at+1, up, args[0], deep+1)
		}
		return c
	}
	pkg, _ := model.SplitSymbol(frames[at].Func)
	for _, other := range r.packageFiles(frames[at].File) {
		for _, call := range other.started(decl.Name.Name) {
			if place >= len(call.Args) {
				return channelRef{}
			}
			// Who started it is not on the stack: what it gave may be its own variable
			// only, and no parameter of it.
			from := []model.Frame{{Func: pkg + ".init", File: other.set.Position(call.Pos()).Filename, Line: other.line(call.Pos())}}
			c.ids = append(c.ids, r.follow(from, 0, other, call.Args[place], maxCallsDeep).ids...)
		}
	}
	return c
}

// parameterOf returns the function that a parameter is of, and its place.
func parameterOf(g *goFile, v *variable) (*ast.FuncDecl, int) {
	for _, d := range g.file.Decls {
		decl, ok := d.(*ast.FuncDecl)
		if !ok {
			continue
		}
		place := 0
		for _, p := range decl.Type.Params.List {
			for _, id := range p.Names {
				if id == v.name {
					return decl, place
				}
				place++
			}
		}
	}
	return nil, 0
}

// started returns the calls of a function that go statements of a file make.
func (g *goFile) started(name string) (calls []*ast.CallExpr) {
	ast.Inspect(g.file, func(n ast.Node) bool {
		if s, ok := n.(*ast.GoStmt); ok && calledName(s.Call) == name {
			calls = append(calls, s.Call)
		}
		return true
	})
	return calls
}

// maxOwned is how many channels are told apart by the value that they are a field of: each is
// compared with all who receive. Others are one for each name.
const maxOwned = 256

// findChannels finds the channels that looks wait to send to, and who should receive.
func (t *lockTable) findChannels() {
	type sender struct {
		channelRef
		at int
		ok bool
	}
	sends := map[model.Stack]sender{}
	at := map[string]int{}
	for i := range t.looks {
		k := &t.looks[i]
		if k.state != "chan send" && k.state != "select" {
			continue
		}
		s, known := sends[k.stack]
		if !known {
			s.channelRef, s.at, s.ok = t.source.sendsTo(k.state, t.stacks.Frames(k.stack))
			sends[k.stack] = s
		}
		if !s.ok {
			continue
		}
		c := channel{ref: s.channelRef}
		if s.method && len(t.channels) < maxOwned {
			c.owner = k.arg(s.at)
		}
		key := strings.Join(s.ids, " ") + " " + strconv.FormatUint(c.owner, 16)
		n, there := at[key]
		if !there {
			n = len(t.channels)
			at[key] = n
			t.channels = append(t.channels, c)
		}
		t.channels[n].senders = append(t.channels[n].senders, i)
		t.sends[i] = n + 1
	}
	if len(t.channels) == 0 {
		return
	}
	serves := map[model.Stack][]serving{}
	for i := range t.looks {
		k := &t.looks[i]
		list, known := serves[k.stack]
		if !known {
			list = t.source.serves(t.stacks.Frames(k.stack))
			serves[k.stack] = list
		}
		for _, s := range list {
			f := t.stacks.Frames(k.stack)[s.frame]
			from := model.Frame{Func: f.Func, File: f.File, Line: s.line}
			for n := range t.channels {
				if c := &t.channels[n]; c.servedBy(s, k.arg(s.frame)) {
					c.from = append(c.from, from)
					t.serves[i] = append(t.serves[i], model.Serving{Channel: n + 1, From: from, Waits: s.waits, First: s.first})
				}
			}
		}
	}
}

// all reports whether no other line of the package receives from what is called like the
// channel.
func (r *sourceReader) all(c *channel) bool {
	if len(c.from) == 0 {
		return false
	}
	last := c.ref.last
	for _, g := range r.packageFiles(c.from[0].File) {
		other := false
		ast.Inspect(g.file, func(n ast.Node) bool {
			var x ast.Expr
			switch n := n.(type) {
			case *ast.RangeStmt:
				x = n.X
			case *ast.UnaryExpr:
				if n.Op == token.ARROW {
					x = n.X
				}
			}
			if x == nil || lastName(x) != last {
				return true
			}
			at := g.set.Position(x.Pos())
			other = other || !slices.ContainsFunc(c.from, func(f model.Frame) bool {
				return f.Line == at.Line && filepath.Base(f.File) == filepath.Base(at.Filename)
			})
			return true
		})
		if other {
			return false
		}
	}
	return true
}

// slots reports whether a channel of the package of a file, by its last name, is a semaphore: each function that receives
// from it has sent to it before, and throws away what comes.
func (r *sourceReader) slots(name, file string) bool {
	released := false
	for _, g := range r.packageFiles(file) {
		for _, d := range g.file.Decls {
			var taken, given token.Pos // first
			used := false
			ast.Inspect(d, func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.SendStmt:
					if lastName(n.Chan) == name && taken == 0 {
						taken = n.Pos()
					}
				case *ast.ExprStmt:
					if x, ok := ast.Unparen(n.X).(*ast.UnaryExpr); ok && x.Op == token.ARROW && lastName(x.X) == name {
						if given == 0 {
							given = n.Pos()
						}
						return false
					}
				case *ast.UnaryExpr:
					used = used || n.Op == token.ARROW && lastName(n.X) == name
				case *ast.RangeStmt:
					used = used || lastName(n.X) == name
				}
				return true
			})
			if used || given != 0 && (taken == 0 || given < taken) {
				return false
			}
			released = released || given != 0
		}
	}
	return released
}

// A channel is one that somebody waits to send to.
type channel struct {
	ref   channelRef
	owner uint64 // the value that it is a field of; 0 when not known
	from  []model.Frame
	// senders are the looks that wait to send to it.
	senders []int
}

func (c *channel) servedBy(s serving, receiver uint64) bool {
	if c.owner != 0 && s.method && receiver != 0 && receiver != c.owner {
		return false
	}
	return slices.ContainsFunc(s.ids, func(id string) bool { return slices.Contains(c.ref.ids, id) })
}
