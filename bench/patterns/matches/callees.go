package main

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"github.com/gowhy/gowhy/internal/know/model"
	"github.com/gowhy/gowhy/internal/read/pattern"
)

// A pkg is a package whose types are known as far as gowhy knows those of a program.
type pkg struct {
	path  string
	set   *token.FileSet
	files []*ast.File
	all   []*ast.File // and those of other packages that are known
	info  *types.Info
}

// reasons returns the matches in a package, in order.
func (p *pkg) reasons() (list []model.Reason) {
	for _, file := range p.files {
		for _, d := range file.Decls {
			decl, ok := d.(*ast.FuncDecl)
			if !ok || decl.Body == nil {
				continue
			}
			p.inBody(decl, decl.Body, &list)
		}
	}
	slices.SortFunc(list, compareReasons)
	return list
}

// inBody adds the matches in a function or a literal of it, and in the literals of that.
func (p *pkg) inBody(decl *ast.FuncDecl, body *ast.BlockStmt, list *[]model.Reason) {
	f := pattern.Function{Set: p.set, Info: p.info, Files: p.all, Decl: decl, Body: body, Go: "go1.26"}
	type at struct {
		line   int
		callee string
	}
	seen := map[at]bool{}
	stored := map[ast.Node]bool{}
	ast.Inspect(body, func(n ast.Node) bool {
		if lit, ok := n.(*ast.FuncLit); ok {
			p.inBody(decl, lit.Body, list)
			return false
		}
		if set, ok := n.(*ast.AssignStmt); ok {
			for _, x := range set.Lhs {
				stored[x] = true
			}
		}
		for _, callee := range p.callees(n, stored[n]) {
			here := at{p.set.Position(n.Pos()).Line, callee}
			if seen[here] {
				continue
			}
			seen[here] = true
			r, ok := pattern.Find(&f, here.line, callee)
			r.File = p.set.Position(body.Pos()).Filename
			if ok && !slices.ContainsFunc(*list, func(o model.Reason) bool { return o.Same(&r) }) {
				*list = append(*list, r)
			}
		}
		return true
	})
}

// callees returns the functions that stacks have below a node, as far as source tells.
func (p *pkg) callees(n ast.Node, stored bool) []string {
	switch n := n.(type) {
	case *ast.RangeStmt, *ast.ForStmt:
		return []string{""}
	case *ast.DeferStmt:
		return []string{"runtime.deferproc"}
	case *ast.BinaryExpr:
		if n.Op == token.ADD && p.is(n, isText) {
			return []string{"runtime.concatstring2"}
		}
	case *ast.AssignStmt:
		if n.Tok == token.ADD_ASSIGN && p.is(n.Lhs[0], isText) {
			return []string{"runtime.concatstring2"}
		}
	case *ast.CompositeLit:
		if p.is(n, isMap) {
			return []string{"runtime.mapassign_faststr"}
		}
	case *ast.IndexExpr:
		if p.is(n.X, isMap) && stored {
			return []string{"runtime.mapassign_faststr"}
		} else if p.is(n.X, isMap) {
			return []string{"runtime.mapaccess1_faststr"}
		}
	case *ast.CallExpr:
		return p.calleesOf(n)
	}
	return nil
}

func (p *pkg) is(x ast.Expr, kind func(types.Type) bool) bool {
	t := p.info.TypeOf(x)
	return t != nil && kind(t.Underlying())
}

func isText(t types.Type) bool {
	b, ok := t.(*types.Basic)
	return ok && b.Info()&types.IsString != 0
}

func isMap(t types.Type) bool {
	_, ok := t.(*types.Map)
	return ok
}

func isSlice(t types.Type) bool {
	_, ok := t.(*types.Slice)
	return ok
}

func isRunes(t types.Type) bool {
	s, ok := t.(*types.Slice)
	return ok && types.Identical(s.Elem().Underlying(), types.Typ[types.Rune])
}

// calleesOf returns those of a call, a conversion or a function of the language.
func (p *pkg) calleesOf(call *ast.CallExpr) []string {
	if p.info.Types[call.Fun].IsType() && len(call.Args) == 1 {
		switch {
		case p.is(call, isText) && p.is(call.Args[0], isSlice):
			return []string{"runtime.slicebytetostring"}
		case p.is(call, isRunes) && p.is(call.Args[0], isText):
			return []string{"runtime.stringtoslicerune"}
		case p.is(call, isSlice) && p.is(call.Args[0], isText):
			return []string{"runtime.stringtoslicebyte"}
		}
		return nil
	}
	fun := ast.Unparen(call.Fun)
	if x, ok := fun.(*ast.IndexExpr); ok {
		fun = x.X
	}
	switch fun := fun.(type) {
	case *ast.Ident:
		switch p.info.Uses[fun].(type) {
		case *types.Builtin:
			if fun.Name == "append" || fun.Name == "copy" {
				return []string{"runtime.growslice", "runtime.memmove"}
			}
		case *types.Func:
			return []string{p.path + "." + fun.Name}
		}
	case *ast.SelectorExpr:
		if id, ok := fun.X.(*ast.Ident); ok {
			if of, ok := p.info.Uses[id].(*types.PkgName); ok {
				return functions(of.Imported().Path(), fun.Sel.Name)
			}
		}
		if name := methodName(p.info.TypeOf(fun.X), fun.Sel.Name); name != "" {
			return []string{name}
		}
	}
	return nil
}

// functions returns a function of another package, and what a fresh compressor is known by.
func functions(path, name string) []string {
	list := []string{path + "." + name}
	if strings.HasPrefix(path, "compress/") {
		list = append(list, pattern.DeepCallees()...)
	}
	return list
}

// methodName returns a method as stacks have it; empty where its type is not known, or is an
// interface.
func methodName(t types.Type, method string) string {
	if t == nil {
		return ""
	}
	pointer, isPointer := t.(*types.Pointer)
	if isPointer {
		t = pointer.Elem()
	}
	named, ok := t.(*types.Named)
	if !ok || named.Obj().Pkg() == nil || types.IsInterface(t) {
		return ""
	}
	object, _, _ := types.LookupFieldOrMethod(named, true, named.Obj().Pkg(), method)
	fn, ok := object.(*types.Func)
	if !ok {
		return ""
	}
	receiver := fn.Signature().Recv()
	if receiver == nil {
		return ""
	}
	if _, isPointer = receiver.Type().(*types.Pointer); isPointer {
		return named.Obj().Pkg().Path() + ".(*" + named.Obj().Name() + ")." + method
	}
	return named.Obj().Pkg().Path() + "." + named.Obj().Name() + "." + method
}
