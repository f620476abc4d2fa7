package evidence

import (
	"go/ast"
	"go/token"
	"strings"

	"github.com/gowhy/gowhy/internal/know/model"
)

// Which variable a name of a function means is found here, and not by go/types: that
// would need all that a file imports. Names of a package, of fields and of methods mean
// no variable of a function, so that what is not found is one of those.

// A variable is one of a function: a parameter, a result, or what it declares.
type variable struct {
	name *ast.Ident
	decl ast.Node // *ast.Field, *ast.AssignStmt, *ast.ValueSpec or *ast.RangeStmt
}

// A scope is what names mean in a block.
type scope struct {
	outer *scope
	names map[string]*variable
	of    map[*ast.Ident]*variable // of the whole file
}

// variablesOf says of each name in a file which variable of a function it means.
func variablesOf(file *ast.File) map[*ast.Ident]*variable {
	s := &scope{of: map[*ast.Ident]*variable{}}
	for _, d := range file.Decls {
		if general, ok := d.(*ast.GenDecl); ok { // its names are the package's
			for _, spec := range general.Specs {
				if v, ok := spec.(*ast.ValueSpec); ok {
					walkAll(s, v.Values)
				}
			}
			continue
		}
		ast.Walk(s, d)
	}
	return s.of
}

func walkAll[N ast.Node](s *scope, list []N) {
	for _, n := range list {
		ast.Walk(s, n)
	}
}

func (s *scope) nest() *scope { return &scope{outer: s, names: map[string]*variable{}, of: s.of} }

func (s *scope) find(name string) *variable {
	for ; s != nil; s = s.outer {
		if v := s.names[name]; v != nil {
			return v
		}
	}
	return nil
}

func (s *scope) declare(id *ast.Ident, decl ast.Node) {
	v := &variable{id, decl}
	s.of[id] = v
	if id.Name != "_" && s.names != nil {
		s.names[id.Name] = v
	}
}

// function declares what a function is given and gives, and goes into its body.
func (s *scope) function(receiver *ast.FieldList, typ *ast.FuncType, body *ast.BlockStmt) {
	s = s.nest()
	for _, fields := range []*ast.FieldList{receiver, typ.Params, typ.Results} {
		if fields == nil {
			continue
		}
		for _, f := range fields.List {
			for _, id := range f.Names {
				s.declare(id, f)
			}
		}
	}
	if body != nil {
		ast.Walk(s, body)
	}
}

// define declares the names on the left of := that the block does not have yet.
func (s *scope) define(left []ast.Expr, by ast.Node) {
	for _, x := range left {
		id, ok := x.(*ast.Ident)
		switch {
		case !ok:
			ast.Walk(s, x)
		case s.names[id.Name] != nil:
			s.of[id] = s.names[id.Name]
		default:
			s.declare(id, by)
		}
	}
}

// Visit goes through a block in the order in which names are declared.
func (s *scope) Visit(n ast.Node) ast.Visitor {
	switch n := n.(type) {
	case *ast.Ident:
		if v := s.find(n.Name); v != nil {
			s.of[n] = v
		}
	case *ast.FuncDecl:
		s.function(n.Recv, n.Type, n.Body)
	case *ast.FuncLit:
		s.function(nil, n.Type, n.Body)
	case *ast.SelectorExpr:
		ast.Walk(s, n.X)
	case *ast.KeyValueExpr: // the key may be a field
		ast.Walk(s, n.Value)
	case *ast.AssignStmt:
		walkAll(s, n.Rhs)
		if n.Tok == token.DEFINE {
			s.define(n.Lhs, n)
		} else {
			walkAll(s, n.Lhs)
		}
	case *ast.ValueSpec:
		walkAll(s, n.Values)
		for _, id := range n.Names {
			s.declare(id, n)
		}
	case *ast.RangeStmt:
		s.ranges(n)
	case *ast.LabeledStmt:
		ast.Walk(s, n.Stmt)
	case *ast.BlockStmt, *ast.IfStmt, *ast.ForStmt, *ast.SwitchStmt, *ast.TypeSwitchStmt, *ast.CaseClause, *ast.CommClause:
		return s.nest()
	case *ast.BranchStmt, *ast.StructType, *ast.InterfaceType, *ast.FuncType:
	default:
		return s
	}
	return nil
}

func (s *scope) ranges(n *ast.RangeStmt) {
	ast.Walk(s, n.X)
	s = s.nest()
	for _, x := range []ast.Expr{n.Key, n.Value} {
		switch {
		case x == nil:
		case n.Tok == token.DEFINE:
			s.define([]ast.Expr{x}, n)
		default:
			ast.Walk(s, x)
		}
	}
	ast.Walk(s, n.Body)
}

// initializer returns the expression that a variable is declared with; nil where that is nothing of
// its own.
func (v *variable) initializer() ast.Expr {
	switch decl := v.decl.(type) {
	case *ast.AssignStmt:
		for i, l := range decl.Lhs {
			if l == v.name && len(decl.Lhs) == len(decl.Rhs) {
				return decl.Rhs[i]
			}
		}
	case *ast.ValueSpec:
		for i, id := range decl.Names {
			if id == v.name && len(decl.Names) == len(decl.Values) {
				return decl.Values[i]
			}
		}
	}
	return nil
}

// typeOf returns the type of a variable where it is written beside it.
func typeOf(pkg string, v *variable) string {
	switch decl := v.decl.(type) {
	case *ast.Field:
		return namedType(pkg, decl.Type)
	case *ast.ValueSpec:
		if decl.Type != nil {
			return namedType(pkg, decl.Type)
		}
	}
	if l := compositeOf(v.initializer()); l != nil {
		return namedType(pkg, l.Type)
	}
	return ""
}

// localName names a variable of a frame's function.
func localName(id *ast.Ident, f model.Frame) string {
	pkg, function := model.SplitSymbol(f.Func)
	return id.Name + " of " + pkg[strings.LastIndexByte(pkg, '/')+1:] + "." + function
}

// compositeOf returns the composite literal that an expression is, or the address of.
func compositeOf(x ast.Expr) *ast.CompositeLit {
	if u, ok := x.(*ast.UnaryExpr); ok && u.Op == token.AND {
		x = u.X
	}
	l, _ := x.(*ast.CompositeLit)
	return l
}
