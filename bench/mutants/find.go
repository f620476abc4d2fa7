package main

import (
	"cmp"
	"go/ast"
	"go/constant"
	"go/parser"
	"go/token"
	"go/types"
	"path"
	"slices"
	"strings"
)

// A kind is a sort of fault.
type kind string

const (
	number     kind = "number"     // an argument or a field is twice as large
	column     kind = "column"     // another field of the same struct and type
	order      kind = "order"      // two neighbouring arguments of one type have changed places
	comparison kind = "comparison" // < for >, <= for >=, == for !=, and back
	connective kind = "connective" // && for ||, and back
	arithmetic kind = "arithmetic" // + for -, * for /, and back
	condition  kind = "condition"  // of an if or a case, negated
	threshold  kind = "threshold"  // a constant, or a number compared with, halved or doubled
	remedy     kind = "remedy"     // a text of advice is empty
)

var kinds = []kind{number, column, order, comparison, connective, arithmetic, condition, threshold, remedy}

// adviceType is the type whose texts are advice.
const adviceType = "Remedy"

// A mutant is one fault: expressions and what stands in their place.
type mutant struct {
	Kind          kind
	Package       string // the last part of its path
	File          string
	Line          int
	Func          string // the function, or the variable or constant of the package
	Before, After string
	Outcome       outcome `json:",omitempty"`
	Excuse        string  `json:",omitempty"`

	id    int // from 1
	edits []edit
}

type edit struct {
	expr ast.Expr
	typ  types.Type
	code string
	in   *source
}

// mutants finds all of some packages, in the order of their files and lines.
func mutants(packages []*source) (list []*mutant) {
	f := finder{constants: map[any][]*mutant{}}
	for _, p := range packages {
		f.source, f.list = p, nil
		f.declareConstants()
		f.searchFiles()
		slices.SortStableFunc(f.list, func(a, b *mutant) int {
			return cmp.Or(strings.Compare(a.File, b.File), a.Line-b.Line)
		})
		list = append(list, f.list...)
	}
	// A constant is a mutant when something that is not a constant uses it.
	list = slices.DeleteFunc(list, func(m *mutant) bool { return len(m.edits) == 0 })
	for i, m := range list {
		m.id = i + 1
	}
	return list
}

// searchFiles finds the mutants in what a package declares.
func (f *finder) searchFiles() {
	for _, file := range f.files {
		if ast.IsGenerated(file) { // figures that a program measured are no faults of the code
			continue
		}
		for _, d := range file.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				if d.Body != nil {
					f.search(d.Body, d.Name.Name)
				}
			case *ast.GenDecl:
				for _, s := range d.Specs {
					if v, ok := s.(*ast.ValueSpec); ok && d.Tok == token.VAR {
						for _, e := range v.Values {
							f.search(e, v.Names[0].Name)
						}
					}
				}
			}
		}
	}
}

type finder struct {
	*source
	fn        string // where it is
	addressed map[ast.Expr]bool
	constants map[any][]*mutant // halved and doubled; see constantKey
	list      []*mutant
}

// declareConstants makes two mutants of each number that the package calls by a
// name. Those of an enumeration are no numbers.
func (f *finder) declareConstants() {
	for _, file := range f.files {
		ast.Inspect(file, func(n ast.Node) bool {
			d, ok := n.(*ast.GenDecl)
			if !ok || d.Tok != token.CONST {
				return true
			}
			for _, s := range d.Specs {
				v := s.(*ast.ValueSpec)
				if len(v.Values) != len(v.Names) {
					continue
				}
				for i, name := range v.Names {
					value, text := f.info.Types[v.Values[i]], f.text(v.Values[i])
					if isNumber(value.Type) && !strings.Contains(text, "iota") && !isZero(value) {
						for _, after := range []string{"2 * " + f.operand(v.Values[i]), f.operand(v.Values[i]) + " / 2"} {
							m := f.fault(threshold, name, text, after)
							m.Func = name.Name
							key := constantKey(f.info.Defs[name])
							f.constants[key] = append(f.constants[key], m)
						}
					}
				}
			}
			return false
		})
	}
}

// search finds the mutants in a body or a value.
func (f *finder) search(root ast.Node, in string) {
	f.fn, f.addressed = in, f.places(root)
	ast.PreorderStack(root, nil, func(n ast.Node, stack []ast.Node) bool {
		if len(stack) > 0 {
			if kv, ok := stack[len(stack)-1].(*ast.KeyValueExpr); ok && kv.Key == n {
				return false // the name of a field, or an index, which must be constant
			}
		}
		switch n := n.(type) {
		case *ast.ArrayType, *ast.MapType, *ast.ChanType, *ast.FuncType, *ast.StructType, *ast.InterfaceType:
			return false
		case *ast.GenDecl:
			return n.Tok == token.VAR
		case *ast.IfStmt:
			f.negated(n.Cond)
		case *ast.CaseClause:
			if s, ok := stack[len(stack)-2].(*ast.SwitchStmt); ok && s.Tag == nil {
				for _, e := range n.List {
					f.negated(e)
				}
			}
		case *ast.BinaryExpr:
			f.operator(n)
		case *ast.AssignStmt:
			f.assignment(n)
		case *ast.CallExpr:
			f.call(n)
		case *ast.CompositeLit:
			f.literal(n)
		case *ast.SelectorExpr:
			f.sibling(n)
		case *ast.Ident:
			f.use(n, stack)
		}
		return true
	})
}

// places returns the expressions that stand for a variable and not for its value:
// assigned to, or with an address that something takes.
func (f *finder) places(root ast.Node) map[ast.Expr]bool {
	set := map[ast.Expr]bool{}
	var mark func(ast.Expr)
	mark = func(e ast.Expr) {
		set[e] = true
		switch e := e.(type) {
		case *ast.ParenExpr:
			mark(e.X)
		case *ast.SelectorExpr:
			mark(e.X)
		case *ast.IndexExpr:
			mark(e.X)
		}
	}
	ast.Inspect(root, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			for _, e := range n.Lhs {
				mark(e)
			}
		case *ast.IncDecStmt:
			mark(n.X)
		case *ast.RangeStmt:
			mark(n.Key)
			mark(n.Value)
		case *ast.SliceExpr:
			mark(n.X)
		case *ast.UnaryExpr:
			if n.Op == token.AND {
				mark(n.X)
			}
		case *ast.SelectorExpr:
			if s := f.info.Selections[n]; s != nil && s.Kind() == types.MethodVal {
				if sig := s.Obj().Type().(*types.Signature); isPointer(sig.Recv().Type()) && !isPointer(s.Recv()) {
					mark(n.X)
				}
			}
		}
		return true
	})
	return set
}

func (f *finder) negated(e ast.Expr) {
	if b, ok := ast.Unparen(e).(*ast.BinaryExpr); ok && (b.Op == token.EQL || b.Op == token.NEQ) {
		return // its comparison turned is the same
	}
	f.replace(condition, e, "!("+f.text(e)+")")
}

var opposite = map[token.Token]struct {
	kind kind
	op   token.Token
}{
	token.LSS: {comparison, token.GTR}, token.GTR: {comparison, token.LSS},
	token.LEQ: {comparison, token.GEQ}, token.GEQ: {comparison, token.LEQ},
	token.EQL: {comparison, token.NEQ}, token.NEQ: {comparison, token.EQL},
	token.LAND: {connective, token.LOR}, token.LOR: {connective, token.LAND},
	token.ADD: {arithmetic, token.SUB}, token.SUB: {arithmetic, token.ADD},
	token.MUL: {arithmetic, token.QUO}, token.QUO: {arithmetic, token.MUL},
}

func (f *finder) operator(e *ast.BinaryExpr) {
	other, ok := opposite[e.Op]
	if !ok || f.info.Types[e].Value != nil || other.kind == arithmetic && !isNumber(f.info.Types[e].Type) {
		return
	}
	f.replace(other.kind, e, f.operand(e.X)+" "+other.op.String()+" "+f.operand(e.Y))
	if other.kind != comparison {
		return
	}
	for _, side := range []ast.Expr{e.X, e.Y} {
		if lit, ok := side.(*ast.BasicLit); ok && isNumber(f.info.Types[lit].Type) && !isZero(f.info.Types[lit]) {
			f.replace(threshold, lit, "2 * "+lit.Value)
			f.replace(threshold, lit, f.half(lit.Value, f.info.Types[lit].Type))
		}
	}
}

func (f *finder) assignment(s *ast.AssignStmt) {
	if s.Tok == token.ADD_ASSIGN || s.Tok == token.SUB_ASSIGN {
		if t := f.info.Types[s.Rhs[0]].Type; isNumber(t) {
			f.replace(arithmetic, s.Rhs[0], "-"+f.operand(s.Rhs[0]))
		}
	}
	for i, e := range s.Lhs {
		if sel, ok := e.(*ast.SelectorExpr); ok && len(s.Rhs) == len(s.Lhs) && isAdvice(f.info.Types[sel.X].Type) {
			f.empty(s.Rhs[i])
		}
	}
}

func (f *finder) call(c *ast.CallExpr) {
	fun := f.info.Types[c.Fun]
	name, _ := c.Fun.(*ast.Ident)
	if fun.IsType() || fun.IsBuiltin() && name != nil && name.Name == "make" {
		return // a capacity changes no result
	}
	advice := isAdvice(f.info.Types[c].Type)
	for i, e := range c.Args {
		f.doubled(e)
		if advice {
			f.empty(e)
		}
		sig, ok := fun.Type.Underlying().(*types.Signature)
		if ok && i > 0 && !fun.IsBuiltin() && types.Identical(parameter(sig, i-1), parameter(sig, i)) {
			f.exchanged(c.Args[i-1], e)
		}
	}
}

// parameter returns the type of the one that takes an argument.
func parameter(sig *types.Signature, argument int) types.Type {
	last := sig.Params().Len() - 1
	if t := sig.Params().At(min(argument, last)).Type(); !sig.Variadic() || argument < last {
		return t
	} else if s, ok := t.(*types.Slice); ok {
		return s.Elem()
	}
	return types.Typ[types.Byte] // append([]byte, string...)
}

func (f *finder) literal(c *ast.CompositeLit) {
	advice := isAdvice(f.info.Types[c].Type)
	for _, e := range c.Elts {
		if kv, ok := e.(*ast.KeyValueExpr); ok {
			e = kv.Value
		}
		f.doubled(e)
		if advice {
			f.empty(e)
		}
	}
}

func (f *finder) doubled(e ast.Expr) {
	value := f.info.Types[e]
	lit, ok := e.(*ast.BasicLit)
	char := ok && lit.Kind == token.CHAR
	if isNumber(value.Type) && !isZero(value) && !isEnumeration(value.Type) && !char && !isOrder(e) {
		f.replace(number, e, "2 * "+f.operand(e))
	}
}

// isOrder reports whether only the sign of a number says something.
func isOrder(e ast.Expr) bool {
	call, ok := e.(*ast.CallExpr)
	if !ok {
		return false
	}
	sel, ok := call.Fun.(*ast.SelectorExpr)
	return ok && sel.Sel.Name == "Compare"
}

func (f *finder) exchanged(a, b ast.Expr) {
	ta, tb := f.info.Types[a], f.info.Types[b]
	if !ta.IsValue() || !tb.IsValue() || !types.Identical(types.Default(ta.Type), types.Default(tb.Type)) || f.text(a) == f.text(b) {
		return
	}
	ea, eb := f.edit(a, f.text(b)), f.edit(b, f.text(a))
	if ea != nil && eb != nil {
		f.fault(order, a, f.text(a)+", "+f.text(b), f.text(b)+", "+f.text(a)).edits = []edit{*ea, *eb}
	}
}

func (f *finder) empty(e ast.Expr) {
	b, ok := f.info.Types[e].Type.Underlying().(*types.Basic)
	if ok && b.Info()&types.IsString != 0 {
		f.replace(remedy, e, `""`)
	}
}

// sibling takes the next field of the type instead of the one that is named.
func (f *finder) sibling(e *ast.SelectorExpr) {
	sel := f.info.Selections[e]
	if sel == nil || sel.Kind() != types.FieldVal || len(sel.Index()) != 1 || f.addressed[e] {
		return
	}
	t := sel.Recv().Underlying()
	if p, ok := t.(*types.Pointer); ok {
		t = p.Elem().Underlying()
	}
	fields, ok := t.(*types.Struct)
	if !ok {
		return
	}
	this := sel.Index()[0]
	for i := range fields.NumFields() - 1 {
		other := fields.Field((this + 1 + i) % fields.NumFields())
		if types.Identical(other.Type(), sel.Type()) && (other.Exported() || other.Pkg() == f.pkg) && other.Name() != "_" {
			f.replace(column, e, f.operand(e.X)+"."+other.Name())
			return
		}
	}
}

// use is a place where a constant of the package ends up in a value: the
// largest constant expression around it is halved or doubled there.
func (f *finder) use(id *ast.Ident, stack []ast.Node) {
	twice := f.constants[constantKey(f.info.Uses[id])]
	if twice == nil {
		return
	}
	var name, whole ast.Expr = id, id
	for _, n := range slices.Backward(stack) {
		e, ok := n.(ast.Expr)
		if !ok || f.info.Types[e].Value == nil {
			if b, ok := n.(*ast.BinaryExpr); ok && (b.Op == token.SHL || b.Op == token.SHR) {
				return // a shift's count takes its type from elsewhere
			}
			break
		}
		if sel, ok := e.(*ast.SelectorExpr); ok && sel.Sel == id {
			name = sel // of another package
		}
		whole = e
	}
	text, at, code := f.text(whole), int(name.Pos()-whole.Pos()), f.text(name)
	for i, value := range []string{"2 * " + code, f.half(code, f.info.Types[whole].Type)} {
		if e := f.edit(whole, text[:at]+"("+value+")"+text[at+len(code):]); e != nil {
			twice[i].edits = append(twice[i].edits, *e)
		}
	}
}

// constantKey returns what all packages know a constant by: one that another package exports is
// not the same object there.
func constantKey(o types.Object) any {
	if o != nil && o.Pkg() != nil && o.Parent() == o.Pkg().Scope() {
		return o.Pkg().Path() + "." + o.Name()
	}
	return o
}

// half divides without loss where the result is no whole number.
func (f *finder) half(code string, t types.Type) string {
	if b := types.Default(t).Underlying().(*types.Basic); b.Info()&types.IsInteger != 0 {
		return code + " / 2"
	}
	return code + " / 2.0"
}

// replace adds a mutant of one expression.
func (f *finder) replace(k kind, e ast.Expr, code string) {
	if one := f.edit(e, code); one != nil {
		f.fault(k, e, f.text(e), code).edits = []edit{*one}
	}
}

func (f *finder) fault(k kind, at ast.Node, before, after string) *mutant {
	where := f.fset.Position(at.Pos())
	m := &mutant{Kind: k, Package: path.Base(f.path), File: f.name(at), Line: where.Line, Func: f.fn, Before: oneLine(before), After: oneLine(after)}
	f.list = append(f.list, m)
	return m
}

// edit returns nil when code would not compile in place of the expression, or is a
// constant of the same value.
func (f *finder) edit(e ast.Expr, code string) *edit {
	is := f.info.Types[e]
	t := types.Default(is.Type)
	if !f.nameable(t) {
		return nil
	}
	will, ok := f.check(e, code)
	if !ok || !types.AssignableTo(will.Type, t) {
		return nil
	}
	if will.Value != nil {
		// Only a conversion tells whether a constant is too large.
		_, fits := f.check(e, t.Underlying().String()+"("+code+")")
		if !fits || is.Value != nil && constant.Compare(is.Value, token.EQL, will.Value) {
			return nil
		}
	}
	return &edit{e, t, code, f.source}
}

// check gives the type and the value of code in place of an expression; ok is
// false when it would not compile.
func (f *finder) check(e ast.Expr, code string) (result types.TypeAndValue, ok bool) {
	expr, err := parser.ParseExpr(code)
	if err != nil {
		return result, false
	}
	info := &types.Info{Types: map[ast.Expr]types.TypeAndValue{}}
	err = types.CheckExpr(f.fset, f.pkg, e.Pos(), expr, info)
	return info.Types[expr], err == nil
}

// nameable reports whether a declaration of the package can name a type.
func (f *finder) nameable(t types.Type) bool {
	switch t := types.Unalias(t).(type) {
	case *types.Basic:
		return t.Info()&types.IsUntyped == 0 && t.Kind() != types.Invalid
	case *types.Named:
		obj := t.Obj()
		return t.TypeArgs().Len() == 0 &&
			(obj.Pkg() == nil || obj.Parent() == obj.Pkg().Scope() && (obj.Pkg() == f.pkg || obj.Exported()))
	case *types.Pointer:
		return f.nameable(t.Elem())
	case *types.Slice:
		return f.nameable(t.Elem())
	case *types.Array:
		return f.nameable(t.Elem())
	case *types.Map:
		return f.nameable(t.Key()) && f.nameable(t.Elem())
	}
	return false
}

// operand returns the code of an expression as a part of a product.
func (f *finder) operand(e ast.Expr) string {
	switch e.(type) {
	case *ast.BinaryExpr, *ast.StarExpr:
		return "(" + f.text(e) + ")"
	}
	return f.text(e)
}

func isPointer(t types.Type) bool {
	_, ok := t.Underlying().(*types.Pointer)
	return ok
}

func isNumber(t types.Type) bool {
	if t == nil {
		return false
	}
	b, ok := t.Underlying().(*types.Basic)
	return ok && b.Info()&(types.IsInteger|types.IsFloat) != 0
}

// isEnumeration reports whether the values of a type are names and no
// quantities: its package has constants of it. Durations have them too.
func isEnumeration(t types.Type) bool {
	named, ok := types.Unalias(t).(*types.Named)
	if !ok || named.Obj().Pkg() == nil || types.TypeString(t, nil) == "time.Duration" {
		return false
	}
	scope := named.Obj().Pkg().Scope()
	return slices.ContainsFunc(scope.Names(), func(name string) bool {
		c, ok := scope.Lookup(name).(*types.Const)
		return ok && types.Identical(c.Type(), t)
	})
}

func isZero(v types.TypeAndValue) bool { return v.Value != nil && constant.Sign(v.Value) == 0 }

func isAdvice(t types.Type) bool {
	if p, ok := t.(*types.Pointer); ok {
		t = p.Elem()
	}
	named, ok := types.Unalias(t).(*types.Named)
	return ok && named.Obj().Name() == adviceType
}
