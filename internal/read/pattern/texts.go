package pattern

import (
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"github.com/gowhy/gowhy/internal/know/model"
)

// Text and files: what is made of values only to look, and what is read or written a piece at
// a time.

// isBuffer reports whether a type is a writer in memory, which takes text without fmt.
func isBuffer(t types.Type) bool {
	return slices.Contains([]string{"bytes.Buffer", "strings.Builder", "bufio.Writer"}, typeName(t))
}

// typeName returns the name of a type, or of what a pointer points to, with its package's path.
func typeName(t types.Type) string {
	if p, ok := t.(*types.Pointer); ok {
		t = p.Elem()
	}
	n, ok := t.(*types.Named)
	if !ok || n.Obj().Pkg() == nil {
		return ""
	}
	return n.Obj().Pkg().Path() + "." + n.Obj().Name()
}

// fprintPlain matches fmt.Fprint and its like of texts and whole numbers into a buffer.
func (s *site) fprintPlain(n node) *match {
	call := s.call(n)
	if call == nil || call.Ellipsis.IsValid() || len(call.Args) < 2 || !isBuffer(s.typ(call.Args[0])) {
		return nil
	}
	parts, ok := s.plainArguments(call.Args[1:], strings.TrimPrefix(s.callee, "fmt.F"))
	if !ok {
		return nil
	}
	to := call.Args[0]
	if address, ok := ast.Unparen(to).(*ast.UnaryExpr); ok {
		to = address.X
	}
	for i, p := range parts {
		parts[i] = types.ExprString(to) + ".WriteString(" + p + ")"
	}
	return &match{at: call, instead: strings.Join(parts, "; ")}
}

// plainArguments returns the parts of what a function of fmt prints, as texts.
func (s *site) plainArguments(args []ast.Expr, name string) (parts []string, ok bool) {
	if name == "printf" {
		format := s.Info.Types[args[0]].Value
		if format == nil || format.Kind() != constant.String || len(args) < 2 {
			return nil, false
		}
		return s.plainFormat(constant.StringVal(format), args[1:])
	}
	for i, x := range args {
		text, ok := s.plain(x, 'v')
		if !ok {
			return nil, false
		}
		if i > 0 && name == "println" {
			parts = append(parts, `" "`)
		}
		parts = append(parts, text)
	}
	if name == "println" {
		parts = append(parts, `"\n"`)
	}
	return parts, name == "println" || len(args) == 1 // Print puts spaces between some
}

// numberKey matches a number that becomes text to be the key of a map.
func (s *site) numberKey(n node) *match {
	call := s.call(n)
	if call == nil || s.callee != "strconv.Itoa" && s.callee != "strconv.FormatInt" && s.callee != "strconv.FormatUint" {
		return nil
	}
	if !s.keyOf(n) && !s.isOnlyValue(n, s.keyOf) {
		return nil
	}
	return s.whole(call)
}

// concatKey matches texts that are joined to be the key of a map.
func (s *site) concatKey(n node) *match {
	sum, ok := n.Node.(*ast.BinaryExpr)
	if !ok || !s.joins(sum) || !s.keyOf(n) && !s.isOnlyValue(n, s.keyOf) {
		return nil
	}
	parts := 0
	ast.Inspect(sum, func(x ast.Node) bool {
		if b, ok := x.(*ast.BinaryExpr); ok && s.joins(b) {
			return true
		}
		if p, ok := x.(ast.Expr); ok && !s.constant(p) {
			if _, inner := x.(*ast.ParenExpr); inner {
				return true
			}
			parts++
		}
		return false
	})
	if parts < 2 {
		return nil
	}
	return &match{at: sum, through: []string{"runtime.concatstring"}}
}

// textCompare matches text of two values that is made to compare them.
func (s *site) textCompare(n node) *match {
	call := s.call(n)
	if call == nil {
		return nil
	}
	if s.callee == "encoding/json.Marshal" {
		return s.encodedCompare(n, call)
	}
	compare, ok := n.parent(0).(*ast.BinaryExpr)
	if !ok || compare.Op != token.EQL && compare.Op != token.NEQ {
		return nil
	}
	other, ok := ast.Unparen(compare.X).(*ast.CallExpr)
	if ok && other == call {
		other, ok = ast.Unparen(compare.Y).(*ast.CallExpr)
	}
	if !ok || types.ExprString(other.Fun) != types.ExprString(call.Fun) || len(other.Args) != len(call.Args) {
		return nil
	}
	for i, x := range call.Args {
		if t := s.typ(x); t == nil || s.typ(other.Args[i]) == nil || !types.Identical(t, s.typ(other.Args[i])) || isAny(t) {
			return nil // values of two types may have one text
		}
	}
	return s.whole(call)
}

// ownTextCompare matches two calls of a function that makes a text of a value, to compare what
// they return.
func (s *site) ownTextCompare(n node) *match {
	call, decl := s.ownCall(n)
	compare, ok := n.parent(0).(*ast.BinaryExpr)
	if call == nil || !ok || compare.Op != token.EQL && compare.Op != token.NEQ || len(call.Args) != 1 || !isString(s.typ(call)) {
		return nil
	}
	for _, x := range []ast.Expr{compare.X, compare.Y} {
		side, ok := ast.Unparen(x).(*ast.CallExpr)
		if !ok || len(side.Args) != 1 || types.ExprString(side.Fun) != types.ExprString(call.Fun) {
			return nil
		}
	}
	if _, ok := underlying(s.typ(call.Args[0])).(*types.Struct); !ok || !s.makesText(decl) {
		return nil
	}
	return &match{at: compare}
}

// makesText reports whether a function makes the only value that it is given JSON, or a text by
// package fmt.
func (s *site) makesText(decl *ast.FuncDecl) (makes bool) {
	if decl.Body == nil || decl.Recv != nil || decl.Type.Params.NumFields() != 1 || len(decl.Type.Params.List[0].Names) != 1 {
		return false
	}
	value := s.Info.Defs[decl.Type.Params.List[0].Names[0]]
	ast.Inspect(decl.Body, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if ok && (s.calls(call, "encoding/json", "Marshal") || s.calls(call, "fmt", "Sprint", "Sprintf")) {
			for _, x := range call.Args {
				makes = makes || value != nil && s.variable(x) == value
			}
		}
		return !makes
	})
	return makes
}

// encodedCompare is textCompare of JSON that is kept in variables.
func (s *site) encodedCompare(n node, call *ast.CallExpr) *match {
	compared := func(u node) bool {
		if c, ok := u.parent(0).(*ast.CallExpr); ok && (s.calls(c, "bytes", "Equal", "Compare") || s.calls(c, "reflect", "DeepEqual")) {
			return s.encoded(c.Args[0], s.typ(call.Args[0])) && s.encoded(c.Args[1], s.typ(call.Args[0]))
		}
		if s.conversion(u.parent(0), isString) == nil {
			return false
		}
		b, ok := u.outer().parent(0).(*ast.BinaryExpr)
		return ok && (b.Op == token.EQL || b.Op == token.NEQ) && s.encoded(b.X, s.typ(call.Args[0])) && s.encoded(b.Y, s.typ(call.Args[0]))
	}
	if len(call.Args) != 1 || s.typ(call.Args[0]) == nil || types.IsInterface(s.typ(call.Args[0])) || !s.isOnlyValue(n, compared) {
		return nil
	}
	return s.whole(call)
}

// encoded reports whether an expression is a variable with the JSON of a value of some type.
func (s *site) encoded(x ast.Expr, of types.Type) (is bool) {
	if text := s.conversion(ast.Unparen(x), isString); text != nil {
		x = text
	}
	v := s.variable(x)
	if v == nil {
		return false
	}
	ast.Inspect(s.Body, func(n ast.Node) bool {
		set, ok := n.(*ast.AssignStmt)
		if ok && len(set.Rhs) == 1 && s.variable(set.Lhs[0]) == v {
			call, ok := set.Rhs[0].(*ast.CallExpr)
			is = is || ok && s.calls(call, "encoding/json", "Marshal") && s.typ(call.Args[0]) != nil && types.Identical(value(s.typ(call.Args[0])), value(of))
		}
		return !is
	})
	return is
}

// binaryReflect matches binary.Read and Write of values whose types are known.
func (s *site) binaryReflect(n node) *match {
	call := s.call(n)
	if call == nil || len(call.Args) != 3 {
		return nil
	}
	t := s.typ(call.Args[2])
	if t == nil || isBytes(t) || types.IsInterface(t) || types.IsInterface(value(t)) || !known(value(t), 0) {
		return nil
	}
	return s.whole(call)
}

// lineAsString matches the text of a line that is only looked at.
func (s *site) lineAsString(n node) *match {
	call := s.call(n)
	if call == nil || len(call.Args) != 0 {
		return nil
	}
	looks := func(u node) bool {
		switch up := u.parent(0).(type) {
		case *ast.IndexExpr:
			if up.X == u.Node {
				return true // one byte
			}
			set, ok := u.outer().parent(0).(*ast.AssignStmt)
			return isMap(s.typ(up.X)) && (!ok || !slices.Contains(set.Lhs, ast.Expr(up)))
		case *ast.BinaryExpr:
			return up.Op == token.EQL || up.Op == token.NEQ
		case *ast.CallExpr:
			return s.builtin(up, "len") != nil || s.calls(up, "strings", twins...)
		}
		return false
	}
	if !looks(n) && !s.isOnlyValue(n, looks) {
		return nil
	}
	return s.whole(call)
}

// memoryReader matches a buffered reader of what is in memory, of which only methods are called.
func (s *site) memoryReader(n node) *match {
	call := s.call(n)
	if call == nil || len(call.Args) == 0 || !slices.Contains([]string{"strings.Reader", "bytes.Reader", "bytes.Buffer"}, typeName(s.typ(call.Args[0]))) {
		return nil
	}
	method := func(u node) bool {
		sel, ok := u.parent(0).(*ast.SelectorExpr)
		if !ok || sel.X != u.Node {
			return false
		}
		_, ok = u.outer().parent(0).(*ast.CallExpr)
		return ok && sel.Sel.Name != "WriteTo"
	}
	if !method(n) && !s.isOnlyValue(n, method) {
		return nil
	}
	return s.whole(call)
}

// openers are functions of package os that open a file.
var openers = []string{"Open", "OpenFile", "Create", "CreateTemp"}

// opened returns the call by which a function opens a file that it keeps in a variable.
func (s *site) opened(v *types.Var) (open *ast.CallExpr) {
	if !local(v) || typeName(v.Type()) != "os.File" {
		return nil
	}
	ast.Inspect(s.Body, func(n ast.Node) bool {
		set, ok := n.(*ast.AssignStmt)
		if ok && len(set.Rhs) == 1 && len(set.Lhs) > 0 && s.variable(set.Lhs[0]) == v {
			if call, ok := set.Rhs[0].(*ast.CallExpr); ok && s.calls(call, "os", openers...) {
				open = call
			}
		}
		return true
	})
	return open
}

// unbufferedWrite matches writes in a loop to a file that the function opens for itself.
func (s *site) unbufferedWrite(n node) *match {
	call := s.call(n)
	loop := s.loop(n)
	if call == nil || loop == nil || len(call.Args) == 0 {
		return nil
	}
	file := call.Args[0]
	if sel, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr); ok && s.packageOf(sel.X) == "" {
		file = sel.X
	}
	v := s.variable(file)
	if v == nil || isInside(v, loop) || s.opened(v) == nil {
		return nil
	}
	_, quiet := s.uses(v, loop, func(u node) bool {
		sel, method := u.parent(0).(*ast.SelectorExpr)
		return !method || sel.Sel.Name == "Write" || sel.Sel.Name == "WriteString"
	})
	if !quiet {
		return nil // it wants each on the disk, or another place
	}
	return s.whole(call)
}

// readAllFile matches a file that is opened to read all of it.
func (s *site) readAllFile(n node) *match {
	call := s.call(n)
	if call == nil || len(call.Args) != 1 {
		return nil
	}
	v := s.variable(call.Args[0])
	open := s.opened(v)
	if open == nil || !s.calls(open, "os", "Open") {
		return nil
	}
	_, only := s.uses(v, s.code(), func(u node) bool {
		sel, method := u.parent(0).(*ast.SelectorExpr)
		return u.parent(0) == call || method && slices.Contains([]string{"Close", "Name", "Stat"}, sel.Sel.Name)
	})
	if !only {
		return nil
	}
	return &match{at: call, instead: "os.ReadFile(" + types.ExprString(open.Args[0]) + ")"}
}

// textForLog matches what is made for a message of a level that may be off. Whether it is the stacks tell.
func (s *site) textForLog(n node) *match {
	call := s.anyCall(n)
	if call == nil || !s.onlyMakes(call, 0) {
		return nil
	}
	for i := len(n.path) - 1; i >= 0; i-- {
		switch at := n.path[i].(type) {
		case *ast.CallExpr:
			sel, ok := ast.Unparen(at.Fun).(*ast.SelectorExpr)
			if ok && model.OfDebugging(sel.Sel.Name) {
				return &match{at: call, around: at}
			}
		case ast.Stmt:
			return nil
		}
	}
	return nil
}

// findAllFirst matches all matches of an expression of which the first is wanted, or whether
// there is any.
func (s *site) findAllFirst(n node) *match {
	call := s.call(n)
	if call == nil || len(call.Args) != 2 || !s.is(call.Args[1], "-1") {
		return nil
	}
	first := func(u node) bool {
		if index, ok := u.parent(0).(*ast.IndexExpr); ok && index.X == u.Node {
			return s.is(index.Index, "0")
		}
		b, ok := u.outer().parent(0).(*ast.BinaryExpr)
		return s.builtin(u.parent(0), "len") != nil && ok && (s.is(b.X, "0") || s.is(b.Y, "0"))
	}
	if !first(n) && !s.isOnlyValue(n, first) {
		return nil
	}
	sel := ast.Unparen(call.Fun).(*ast.SelectorExpr)
	return &match{at: call, instead: types.ExprString(sel.X) + "." + strings.Replace(sel.Sel.Name, "FindAll", "Find", 1) + "(" + types.ExprString(call.Args[0]) + ")"}
}

// encodeAny matches a map of any with fixed names of members that is made to be encoded.
func (s *site) encodeAny(n node) *match {
	call := s.call(n)
	if call == nil || len(call.Args) == 0 {
		return nil
	}
	lit, ok := ast.Unparen(call.Args[0]).(*ast.CompositeLit)
	if v := s.variable(call.Args[0]); !ok && local(v) && !s.rewritten(v, s.code()) {
		if uses, only := s.uses(v, s.code(), func(u node) bool { return u.parent(0) == call }); uses == 1 && only {
			lit = s.literalOf(v)
		}
	}
	if lit == nil || !isAnyMap(s.typ(lit)) || len(lit.Elts) < 2 {
		return nil
	}
	for _, x := range lit.Elts {
		if pair, ok := x.(*ast.KeyValueExpr); !ok || !s.constant(pair.Key) {
			return nil
		}
	}
	return s.whole(call)
}

// literalOf returns the literal that a variable is declared with.
func (s *site) literalOf(v *types.Var) (lit *ast.CompositeLit) {
	ast.Inspect(s.Body, func(n ast.Node) bool {
		set, ok := n.(*ast.AssignStmt)
		if ok && len(set.Lhs) == 1 && len(set.Rhs) == 1 && s.variable(set.Lhs[0]) == v {
			lit, _ = ast.Unparen(set.Rhs[0]).(*ast.CompositeLit)
		}
		return true
	})
	return lit
}

// runesInLoop matches a text that becomes a list in each round of a loop, for one element.
func (s *site) runesInLoop(n node) *match {
	text := s.conversion(n.Node, func(t types.Type) bool { return isRunes(t) || isBytes(t) })
	loop := s.loop(n)
	if text == nil || loop == nil || !isString(s.typ(text)) || s.constant(text) || !s.isInvariant(text, loop) {
		return nil
	}
	switch up := n.parent(0).(type) {
	case *ast.IndexExpr, *ast.SliceExpr:
	case *ast.RangeStmt:
		if up.X != n.Node {
			return nil
		}
	default:
		return nil
	}
	return s.whole(n.Node.(*ast.CallExpr))
}
