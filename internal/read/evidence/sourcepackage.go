package evidence

import (
	"go/ast"
	"go/token"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gowhy/gowhy/internal/know/model"
)

// A codeUnit is a function of a package with the literals in it, or a literal outside of
// functions.
type codeUnit struct {
	g    *goFile
	node ast.Node      // *ast.FuncDecl or *ast.FuncLit
	decl *ast.FuncDecl // nil for a literal
	base string        // name of its file
}

// A mention is where a package names something.
type mention struct {
	unit *codeUnit // nil outside of functions
	g    *goFile
	decl ast.Decl
	node *ast.Ident
}

// parents returns the nodes around a mention, outermost first.
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

// packageOf returns the package of a file.
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
	base := filepath.Base(g.set.Position(g.file.Pos()).Filename)
	for _, d := range g.file.Decls {
		var unit *codeUnit
		begin := func(n ast.Node, decl *ast.FuncDecl) {
			unit = &codeUnit{g, n, decl, base}
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

// unitOf returns the unit of a frame's line; nil where it is in none.
func (p *sourcePackage) unitOf(f model.Frame) *codeUnit {
	base := filepath.Base(f.File)
	for _, u := range p.units {
		if u.base == base && u.g.contains(u.node, f.Line) {
			return u
		}
	}
	return nil
}

// unitAround returns the unit that a place of a file is in; nil where it is in none.
func (p *sourcePackage) unitAround(g *goFile, at token.Pos) *codeUnit {
	for _, u := range p.units {
		if u.g == g && u.node.Pos() <= at && at < u.node.End() {
			return u
		}
	}
	return nil
}

// callee returns the function or method of the package that is called; nil where that is not
// written beside.
func (p *sourcePackage) callee(g *goFile, call *ast.CallExpr) *codeUnit {
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

// parameter returns one of a function, by its place; nil where it has none.
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

// receiverType returns the type whose method a function is, as [namedType] has it in no
// package; empty for others.
func receiverType(decl *ast.FuncDecl) string {
	if decl.Recv == nil || len(decl.Recv.List) != 1 {
		return ""
	}
	return namedType("", decl.Recv.List[0].Type)
}

// expression returns the whole of which a name is the last part, and what is around it.
func expression(id *ast.Ident, parents []ast.Node) (ast.Expr, []ast.Node) {
	if s, ok := parent(parents, 0).(*ast.SelectorExpr); ok && s.Sel == id {
		return s, parents[:len(parents)-1]
	}
	return id, parents
}

// parent returns the i-th from within.
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

// frame returns a line of a unit, as stacks have it.
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
