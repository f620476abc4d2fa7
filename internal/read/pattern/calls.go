package pattern

import (
	"fmt"
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/gowhy/gowhy/internal/know/model"
)

// Calls that need not be made, or have a cheaper sister.

// constantFirst matches a call whose first argument is a constant.
func (s *site) constantFirst(n node) *match {
	call := s.call(n)
	if call == nil || len(call.Args) == 0 || !s.constant(call.Args[0]) || s.runsOnce(n) {
		return nil
	}
	return s.whole(call)
}

// runsOnce reports whether code runs once in the life of a program.
func (s *site) runsOnce(n node) bool {
	if s.Decl == nil || s.Decl.Recv != nil || s.Body != s.Decl.Body || len(s.loops(n)) > 0 {
		return false
	}
	return s.Decl.Name.Name == "init" || s.Decl.Name.Name == "main"
}

// pureCall returns a node as the call that the stack shows, of a function whose name is one
// of the pure and not only begins like one.
func (s *site) pureCall(n node) *ast.CallExpr {
	call := s.call(n)
	if call == nil || len(call.Args) == 0 || call.Ellipsis.IsValid() {
		return nil
	}
	pkg, _ := model.SplitSymbol(s.callee)
	if !s.calls(call, pkg, pure[pkg]...) {
		return nil
	}
	return call
}

// constantCall matches a call with nothing but constants.
func (s *site) constantCall(n node) *match {
	call := s.pureCall(n)
	if call == nil || s.runsOnce(n) || slices.ContainsFunc(call.Args, func(x ast.Expr) bool { return !s.constant(x) }) {
		return nil
	}
	return s.whole(call)
}

// invariantCall matches a call in a loop with arguments that do not change there.
func (s *site) invariantCall(n node) *match {
	call := s.pureCall(n)
	loop := s.loop(n)
	if call == nil {
		call = s.unchangedMethod(n, loop)
	}
	if own, decl := s.ownCall(n); call == nil && own != nil && loop != nil && decl != s.Decl && s.computes(decl, 0) {
		call = own
	}
	if call == nil || loop == nil || chosen(n, loop) || s.ofOuter(n, loop) {
		return nil
	}
	constants := 0
	for _, x := range call.Args {
		if !s.isInvariant(x, loop) {
			return nil
		}
		if s.constant(x) {
			constants++
		}
	}
	if constants == len(call.Args) && s.callee != formatTime {
		return nil // constantCall's
	}
	return s.whole(call)
}

// chosen reports whether code in a loop is one of several that a switch has: done in few
// rounds, or in one.
func chosen(n node, loop ast.Stmt) bool {
	for i := len(n.path) - 1; i >= 0 && n.path[i] != loop; i-- {
		switch n.path[i].(type) {
		case *ast.CaseClause, *ast.CommClause:
			return true
		}
	}
	return false
}

// ofOuter reports whether a loop walks over a part of what an outer loop is at: of the values
// of a header there is mostly one.
func (s *site) ofOuter(n node, loop ast.Stmt) bool {
	r, ok := loop.(*ast.RangeStmt)
	if !ok {
		return false
	}
	loops := s.loops(n)
	at := slices.Index(loops, loop)
	found := false
	ast.Inspect(r.X, func(x ast.Node) bool {
		id, ok := x.(*ast.Ident)
		if !ok {
			return !found
		}
		v := s.variable(id)
		found = found || v != nil && at >= 0 && at+1 < len(loops) && isInside(v, loops[at+1])
		return !found
	})
	return found
}

// formatTime makes text of a time, which is a value.
const formatTime = "time.Time.Format"

// unchangedMethod returns a node as that call of a time which is the same all through a loop.
func (s *site) unchangedMethod(n node, loop ast.Stmt) *ast.CallExpr {
	call := s.call(n)
	if call == nil || loop == nil || s.callee != formatTime {
		return nil
	}
	sel, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr)
	if !ok || !s.isUnchanged(s.variable(sel.X), loop) {
		return nil
	}
	return call
}

// textKey matches fmt.Sprintf of values of basic types of which nothing is wanted but a key.
func (s *site) textKey(n node) *match {
	call := s.call(n)
	if call == nil || call.Ellipsis.IsValid() || len(call.Args) < 2 {
		return nil
	}
	for _, x := range call.Args {
		if !isBasic(s.typ(x)) {
			return nil
		}
	}
	if s.keyOf(n) || s.isOnlyValue(n, s.keyOf) {
		return &match{at: call}
	}
	return nil
}

// keyOf reports whether a node is the key of a map, and nothing else.
func (s *site) keyOf(n node) bool {
	index, ok := n.parent(0).(*ast.IndexExpr)
	if ok && index.Index == n.Node && isMap(s.typ(index.X)) {
		return s.keysHidden(index.X)
	}
	call := s.builtin(n.parent(0), "delete")
	return call != nil && call.Args[1] == n.Node && s.keysHidden(call.Args[0])
}

// keysHidden reports whether nobody sees the keys of a map, so that they may be of another
// type: the package only looks up in it, and does not give it away. A parameter is taken to be
// the map of a caller in the package.
func (s *site) keysHidden(x ast.Expr) bool {
	id := last(x)
	if id == nil {
		return false
	}
	v, ok := s.Info.Uses[id].(*types.Var)
	if !ok || !local(v) && v.Exported() {
		return false
	}
	in := []ast.Node{s.code()}
	if !local(v) {
		in = in[:0]
		for _, f := range s.Files {
			in = append(in, f)
		}
	} else if s.Decl != nil && s.Decl.Name.IsExported() && isInside(v, s.Decl.Type) {
		return false
	}
	return !slices.ContainsFunc(in, func(n ast.Node) bool {
		_, only := s.uses(v, n, s.hidesKeys)
		return !only
	})
}

// hidesKeys reports whether a use of a map tells nobody a key: a look-up, a walk over the
// elements, a length, or a new map.
func (s *site) hidesKeys(u node) bool {
	if field, ok := u.parent(0).(*ast.SelectorExpr); ok && field.Sel == u.Node {
		u = u.outer()
	}
	switch up := u.parent(0).(type) {
	case *ast.IndexExpr:
		return up.X == u.Node && s.madeText(up.Index)
	case *ast.RangeStmt:
		return up.X == u.Node && (up.Key == nil || types.ExprString(up.Key) == "_")
	case *ast.AssignStmt:
		return len(up.Lhs) == 1 && up.Lhs[0] == u.Node && s.newMap(up.Rhs[0])
	case *ast.KeyValueExpr:
		return up.Key == u.Node && s.newMap(up.Value)
	case *ast.BinaryExpr:
		return true // compared with nil
	case *ast.CallExpr:
		return s.builtin(up, "len") != nil || s.builtin(up, "delete") != nil || s.builtin(up, "clear") != nil
	}
	return false
}

// madeText reports whether a text is put together of values where it is written, or before in
// a variable: one that only data know would be no key of another type.
func (s *site) madeText(x ast.Expr) (made bool) {
	switch x := ast.Unparen(x).(type) {
	case *ast.CallExpr:
		return s.calls(x, "fmt", "Sprint", "Sprintf", "Sprintln") || s.calls(x, "strconv", "Itoa", "FormatInt", "FormatUint")
	case *ast.BinaryExpr:
		return s.joins(x)
	case *ast.Ident:
		v := s.variable(x)
		if !local(v) {
			return false
		}
		for _, f := range s.Files {
			ast.Inspect(f, func(n ast.Node) bool {
				set, ok := n.(*ast.AssignStmt)
				if ok && len(set.Lhs) == 1 && len(set.Rhs) == 1 && s.variable(set.Lhs[0]) == v {
					_, again := ast.Unparen(set.Rhs[0]).(*ast.Ident)
					made = !again && s.madeText(set.Rhs[0])
				}
				return true
			})
		}
	}
	return made
}

// newMap reports whether an expression makes a map without elements.
func (s *site) newMap(x ast.Expr) bool {
	lit, ok := x.(*ast.CompositeLit)
	return ok && len(lit.Elts) == 0 || s.builtin(x, "make") != nil
}

// isOnlyValue reports whether a node is the only value that a new variable gets, and all uses
// of that are as wanted.
func (s *site) isOnlyValue(n node, want func(node) bool) bool {
	set, ok := n.parent(0).(*ast.AssignStmt)
	if !ok || set.Tok != token.DEFINE || len(set.Rhs) != 1 {
		return false
	}
	v := s.variable(set.Lhs[0]) // the second is whether there was one
	if v == nil {
		return false
	}
	uses, ok := s.uses(v, s.Body, want)
	return ok && uses > 0
}

// maxVerbs is how many values a text that is put together by hand may have.
const maxVerbs = 4

// simpleFormat matches a format of texts and whole numbers, which + and strconv do as well.
func (s *site) simpleFormat(n node) *match {
	call := s.call(n)
	if call == nil || call.Ellipsis.IsValid() || len(call.Args) < 2 || len(call.Args) > 1+maxVerbs {
		return nil
	}
	format := s.Info.Types[call.Args[0]].Value
	if format == nil || format.Kind() != constant.String || !strings.HasSuffix(s.callee, "f") {
		return nil
	}
	parts, ok := s.plainFormat(constant.StringVal(format), call.Args[1:])
	if !ok {
		return nil
	}
	return &match{at: call, instead: strings.Join(parts, " + ")}
}

// plainFormat returns the parts of a format of texts and whole numbers, as texts.
func (s *site) plainFormat(rest string, args []ast.Expr) (parts []string, ok bool) {
	for {
		text, verb, more := strings.Cut(rest, "%")
		if text != "" {
			parts = append(parts, strconv.Quote(text))
		}
		if !more {
			return parts, len(args) == 0
		}
		if verb == "" || len(args) == 0 {
			return nil, false
		}
		if text, ok = s.plain(args[0], verb[0]); !ok {
			return nil, false
		}
		parts, rest, args = append(parts, text), verb[1:], args[1:]
	}
}

// plain returns a value's text without fmt, for the verbs that have no flags.
func (s *site) plain(x ast.Expr, verb byte) (text string, ok bool) {
	b, _ := s.typ(x).(*types.Basic) // a named type may have a method String
	if b == nil {
		return "", false
	}
	text = types.ExprString(x)
	switch {
	case b.Info()&types.IsString != 0 && (verb == 's' || verb == 'v'):
		return text, true
	case b.Info()&types.IsInteger == 0 || verb != 'd' && verb != 'v':
		return "", false
	case b.Kind() == types.Int:
		return "strconv.Itoa(" + text + ")", true
	case b.Info()&types.IsUnsigned != 0:
		return fmt.Sprintf("strconv.FormatUint(uint64(%s), 10)", text), true
	}
	return fmt.Sprintf("strconv.FormatInt(int64(%s), 10)", text), true
}

// scanText matches fmt.Sscanf and its like where they read numbers and words.
func (s *site) scanText(n node) *match {
	call := s.call(n)
	if call == nil || call.Ellipsis.IsValid() || len(call.Args) < 2 {
		return nil
	}
	values := call.Args[1:]
	if s.callee == "fmt.Sscanf" {
		if !s.constant(call.Args[1]) {
			return nil
		}
		values = call.Args[2:]
	}
	for _, x := range values {
		p, ok := underlying(s.typ(x)).(*types.Pointer)
		if !ok {
			return nil
		}
		if b, ok := p.Elem().(*types.Basic); !ok || b.Info()&(types.IsInteger|types.IsFloat|types.IsString) == 0 {
			return nil
		}
	}
	return s.whole(call)
}

// lowerCompare matches a text that is lowered to be compared with another, or a constant.
func (s *site) lowerCompare(n node) *match {
	call := s.call(n)
	compare, ok := n.parent(0).(*ast.BinaryExpr)
	if call == nil || !ok || compare.Op != token.EQL && compare.Op != token.NEQ {
		return nil
	}
	var texts [2]string
	for i, x := range []ast.Expr{compare.X, compare.Y} {
		lower, ok := ast.Unparen(x).(*ast.CallExpr)
		switch {
		case ok && s.calls(lower, "strings", "ToLower", "ToUpper"):
			texts[i] = types.ExprString(lower.Args[0])
		case s.constant(x):
			texts[i] = types.ExprString(x)
		default:
			return nil
		}
	}
	not := ""
	if compare.Op == token.NEQ {
		not = "!"
	}
	return &match{at: compare, through: []string{"strings.ToLower", "strings.ToUpper"}, instead: not + "strings.EqualFold(" + texts[0] + ", " + texts[1] + ")"}
}

// splitFirst matches a split of which only the first or the last field is used.
func (s *site) splitFirst(n node) *match {
	call := s.call(n)
	if call == nil || len(call.Args) < 2 {
		return nil
	}
	two := len(call.Args) == 3
	if two && !s.is(call.Args[2], "2") {
		return nil
	}
	field := func(u node) bool {
		index, ok := u.parent(0).(*ast.IndexExpr)
		if !ok || index.X != u.Node {
			return false
		}
		return s.is(index.Index, "0") || two && s.is(index.Index, "1") || s.lastOf(index)
	}
	counted := func(u node) bool { return field(u) || two && s.builtin(u.parent(0), "len") != nil }
	within := func(u node) bool { // len(fields) of fields[len(fields)-1]
		index, ok := u.outer().outer().parent(0).(*ast.IndexExpr)
		return field(u) || ok && s.lastOf(index)
	}
	if !field(n) && !s.isOnlyValue(n, within) && !(two && s.isOnlyValue(n, counted)) {
		return nil
	}
	return s.whole(call)
}

// lastOf reports whether an index is that of the last element.
func (s *site) lastOf(index *ast.IndexExpr) bool {
	minus, ok := ast.Unparen(index.Index).(*ast.BinaryExpr)
	if !ok || minus.Op != token.SUB || !s.is(minus.Y, "1") {
		return false
	}
	length := s.builtin(minus.X, "len")
	return length != nil && types.ExprString(length.Args[0]) == types.ExprString(index.X)
}

// splitCount matches a split of which only the number of fields is used.
func (s *site) splitCount(n node) *match {
	call := s.call(n)
	if call == nil || len(call.Args) != 2 || !s.constant(call.Args[1]) || s.is(call.Args[1], `""`) {
		return nil
	}
	if s.builtin(n.parent(0), "len") == nil && !s.isOnlyValue(n, func(u node) bool { return s.builtin(u.parent(0), "len") != nil }) {
		return nil
	}
	return &match{at: call, instead: types.ExprString(call.Fun.(*ast.SelectorExpr).X) + ".Count(" + types.ExprString(call.Args[0]) + ", " + types.ExprString(call.Args[1]) + ") + 1"}
}

// splitRange matches a split that is only walked over, without the indices.
func (s *site) splitRange(n node) *match {
	call := s.call(n)
	if call == nil || !s.since("go1.24") || !slices.Contains([]string{"Split", "Fields"}, s.callee[strings.LastIndexByte(s.callee, '.')+1:]) {
		return nil
	}
	walked := func(u node) bool {
		r, ok := u.parent(0).(*ast.RangeStmt)
		return ok && r.X == u.Node && (r.Key == nil || types.ExprString(r.Key) == "_")
	}
	if !walked(n) && !s.isOnlyValue(n, walked) {
		return nil
	}
	return &match{at: call, instead: types.ExprString(call.Fun) + "Seq(" + argumentsText(call) + ")"}
}

func argumentsText(call *ast.CallExpr) string {
	list := make([]string, len(call.Args))
	for i, x := range call.Args {
		list[i] = types.ExprString(x)
	}
	return strings.Join(list, ", ")
}

// decodeAny matches what is decoded into any, or a map of any, of which the function reads
// members with constant names.
func (s *site) decodeAny(n node) *match {
	call := s.call(n)
	if call == nil || len(call.Args) == 0 {
		return nil
	}
	address, ok := ast.Unparen(call.Args[len(call.Args)-1]).(*ast.UnaryExpr)
	if !ok || address.Op != token.AND {
		return nil
	}
	v := s.variable(address.X)
	if !local(v) || !isAny(v.Type()) && !isAnyMap(v.Type()) {
		return nil
	}
	members := 0
	_, ok = s.uses(v, s.code(), func(u node) bool {
		if u.parent(0) == address {
			return true
		}
		members++
		return s.readsMember(u)
	})
	if !ok || members == 0 {
		return nil
	}
	return s.whole(call)
}

// readsMember reports whether a use of what was decoded is m["name"], of a map itself or of
// what is taken to be one.
func (s *site) readsMember(u node) bool {
	if assert, ok := u.parent(0).(*ast.TypeAssertExpr); ok && assert.Type != nil {
		if !isAnyMap(s.typ(assert.Type)) {
			return false
		}
		if at := u.outer(); !s.memberOf(at) {
			return s.isOnlyValue(at, s.memberOf)
		}
		return true
	}
	return s.memberOf(u)
}

func (s *site) memberOf(u node) bool {
	index, ok := u.parent(0).(*ast.IndexExpr)
	return ok && index.X == u.Node && s.constant(index.Index)
}

func isAnyMap(t types.Type) bool {
	m, ok := underlying(t).(*types.Map)
	return ok && isAny(m.Elem())
}

func isAny(t types.Type) bool {
	i, ok := underlying(t).(*types.Interface)
	return ok && i.Empty()
}

// compressors are the packages whose values keep tables that are made once in their life.
var compressors = []string{"compress/gzip", "compress/zlib", "compress/flate"}

// freshCodec matches a compressor that a function makes for itself, or that another function of
// its package makes: what makes tables below the line tells that it is a new one.
func (s *site) freshCodec(node) *match {
	var made *ast.CallExpr
	ast.Inspect(s.Body, func(n ast.Node) bool {
		set, ok := n.(*ast.AssignStmt)
		if !ok || len(set.Rhs) != 1 {
			return true
		}
		call, ok := set.Rhs[0].(*ast.CallExpr)
		if ok && local(s.variable(set.Lhs[0])) && s.makesCodec(call) {
			made = call
		}
		return true
	})
	if made == nil {
		return s.codecMadeElsewhere()
	}
	if s.runsOnce(node{Node: made}) || s.pooled(s.code()) {
		return nil
	}
	return &match{at: made, line: true}
}

// makesCodec reports whether a call makes a compressor, or what undoes it, as the line has one.
func (s *site) makesCodec(call *ast.CallExpr) bool {
	names := []string{"NewWriter", "NewWriterLevel", "NewWriterDict", "NewWriterLevelDict"}
	if s.callee == flateReader {
		names = []string{"NewReader", "NewReaderDict"}
	}
	return slices.ContainsFunc(compressors, func(pkg string) bool { return s.calls(call, pkg, names...) })
}

// codecMadeElsewhere matches where one function of the package makes all of its compressors. It may
// make what a pool has not: if that costs much, the pool mostly has none.
func (s *site) codecMadeElsewhere() *match {
	var made *ast.CallExpr
	var maker ast.Decl
	for _, file := range s.Files {
		for _, d := range file.Decls {
			var here *ast.CallExpr
			ast.Inspect(d, func(n ast.Node) bool {
				if call, ok := n.(*ast.CallExpr); ok && s.makesCodec(call) {
					here = call
				}
				return true
			})
			if here != nil && made != nil {
				return nil
			}
			if here != nil {
				made, maker = here, d
			}
		}
	}
	decl, ok := maker.(*ast.FuncDecl)
	if !ok || decl.Name.Name == "init" {
		return nil
	}
	return &match{at: made, line: true, maker: decl}
}

// freshGob matches an encoder or decoder of package gob that is made for the value that the
// line encodes or decodes.
func (s *site) freshGob(n node) *match {
	call, ok := n.Node.(*ast.CallExpr)
	if !ok {
		return nil
	}
	sel, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr)
	if !ok || sel.Sel.Name != "Encode" && sel.Sel.Name != "Decode" {
		return nil
	}
	made, ok := ast.Unparen(sel.X).(*ast.CallExpr)
	if !ok {
		made = s.madeFor(sel.X, n)
	}
	if made == nil || s.runsOnce(n) || !s.calls(made, "encoding/gob", "NewEncoder", "NewDecoder") {
		return nil
	}
	return &match{at: call, line: true}
}

// madeFor returns the call that makes the local variable whose method a node calls, where it
// is made as often as the method is called and does nothing else; nil for any other.
func (s *site) madeFor(x ast.Expr, n node) (made *ast.CallExpr) {
	v := s.variable(x)
	if !local(v) {
		return nil
	}
	ast.Inspect(s.Body, func(at ast.Node) bool {
		set, ok := at.(*ast.AssignStmt)
		if ok && set.Tok == token.DEFINE && len(set.Lhs) == 1 && len(set.Rhs) == 1 && s.variable(set.Lhs[0]) == v {
			made, _ = set.Rhs[0].(*ast.CallExpr)
		}
		return true
	})
	methods, ok := s.uses(v, s.Body, func(u node) bool {
		sel, ok := u.parent(0).(*ast.SelectorExpr)
		return ok && ast.Unparen(sel.X) == u.Node
	})
	if loop := s.loop(n); !ok || methods != 1 || loop != nil && !isInside(v, loop) {
		return nil
	}
	return made
}

// randomPerItem matches a random number of the system's for each round of a loop.
func (s *site) randomPerItem(n node) *match {
	call := s.call(n)
	if call == nil || len(call.Args) != 2 || s.loop(n) == nil {
		return nil
	}
	from, ok := ast.Unparen(call.Args[0]).(*ast.SelectorExpr)
	if !ok || from.Sel.Name != "Reader" || s.packageOf(from.X) != "crypto/rand" {
		return nil // a reader of the program's own may have many bytes at hand
	}
	return s.whole(call)
}

// pooled reports whether some code makes things for a pool, or those that one has not.
func (s *site) pooled(code ast.Node) (found bool) {
	ast.Inspect(code, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.SelectorExpr:
			found = found || n.Sel.Name == "Get" && typeName(s.typ(n.X)) == "sync.Pool"
		case *ast.CompositeLit:
			found = found || n.Type != nil && types.ExprString(n.Type) == "sync.Pool"
		}
		return !found
	})
	return found
}

// constantError matches an error that is the same each time.
func (s *site) constantError(n node) *match {
	call := s.call(n)
	if call == nil || len(call.Args) != 1 || s.callee != "errors.New" && s.callee != "fmt.Errorf" {
		return nil
	}
	return s.constantFirst(n)
}

// regexpLiteral matches an expression without operators, whose text package strings finds.
func (s *site) regexpLiteral(n node) *match {
	call := s.call(n)
	if call == nil || len(call.Args) != 1 {
		return nil
	}
	sel, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr)
	if !ok {
		return nil
	}
	text, ok := s.expressionOf(s.variable(sel.X))
	if !ok {
		return nil
	}
	inner := strings.TrimSuffix(strings.TrimPrefix(text, "^"), "$")
	if inner == "" || regexp.QuoteMeta(inner) != inner {
		return nil
	}
	pkg, arg := "strings", types.ExprString(call.Args[0])
	if sel.Sel.Name == "Match" {
		pkg, inner = "bytes", "[]byte("+strconv.Quote(inner)+")"
	} else if inner = strconv.Quote(inner); sel.Sel.Name != "MatchString" {
		return nil
	}
	switch begin, end := strings.HasPrefix(text, "^"), strings.HasSuffix(text, "$"); {
	case begin && end && pkg == "bytes":
		return &match{at: call, instead: "bytes.Equal(" + arg + ", " + inner + ")"}
	case begin && end:
		return &match{at: call, instead: arg + " == " + inner}
	case begin:
		return &match{at: call, instead: pkg + ".HasPrefix(" + arg + ", " + inner + ")"}
	case end:
		return &match{at: call, instead: pkg + ".HasSuffix(" + arg + ", " + inner + ")"}
	}
	return &match{at: call, instead: pkg + ".Contains(" + arg + ", " + inner + ")"}
}

// expressionOf returns the constant that a variable is compiled of where it is declared, and
// nowhere else.
func (s *site) expressionOf(v *types.Var) (text string, ok bool) {
	if v == nil || v.IsField() {
		return "", false
	}
	for _, file := range s.Files {
		if s.rewritten(v, file) {
			return "", false
		}
		ast.Inspect(file, func(n ast.Node) bool {
			switch d := n.(type) {
			case *ast.ValueSpec:
				for i, id := range d.Names {
					if s.Info.Defs[id] == v && i < len(d.Values) {
						text, ok = s.compiled(d.Values[i])
					}
				}
			case *ast.AssignStmt:
				if id, is := d.Lhs[0].(*ast.Ident); is && d.Tok == token.DEFINE && len(d.Rhs) == 1 && s.Info.Defs[id] == v {
					text, ok = s.compiled(d.Rhs[0])
				}
			}
			return true
		})
	}
	return text, ok
}

// rewritten reports whether a variable gets another value than that of its declaration.
func (f *Function) rewritten(v *types.Var, in ast.Node) (found bool) {
	ast.Inspect(in, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			found = found || n.Tok != token.DEFINE && slices.ContainsFunc(n.Lhs, func(x ast.Expr) bool { return f.variable(x) == v })
		case *ast.UnaryExpr:
			found = found || n.Op == token.AND && f.variable(n.X) == v
		}
		return !found
	})
	return found
}

func (s *site) compiled(x ast.Expr) (text string, ok bool) {
	call, is := x.(*ast.CallExpr)
	if !is || !s.calls(call, "regexp", "MustCompile", "Compile") || len(call.Args) != 1 {
		return "", false
	}
	value := s.Info.Types[call.Args[0]].Value
	if value == nil || value.Kind() != constant.String {
		return "", false
	}
	return constant.StringVal(value), true
}

// powSmall matches math.Pow with an exponent for which there is something cheaper.
func (s *site) powSmall(n node) *match {
	call, ok := n.Node.(*ast.CallExpr)
	if !ok || !s.calls(call, "math", "Pow") || len(call.Args) != 2 {
		return nil
	}
	x := types.ExprString(call.Args[0])
	if _, simple := ast.Unparen(call.Args[0]).(*ast.Ident); !simple {
		x = "x"
	}
	switch {
	case s.is(call.Args[1], "2"):
		return &match{at: call, through: []string{"math.Pow", "math.pow", "math.archPow"}, instead: x + " * " + x}
	case s.is(call.Args[1], "3"):
		return &match{at: call, through: []string{"math.Pow", "math.pow", "math.archPow"}, instead: x + " * " + x + " * " + x}
	}
	return nil
}

// powTen matches math.Pow of ten or two to a whole number.
func (s *site) powTen(n node) *match {
	call, ok := n.Node.(*ast.CallExpr)
	if !ok || !s.calls(call, "math", "Pow") || len(call.Args) != 2 {
		return nil
	}
	to := s.conversion(ast.Unparen(call.Args[1]), func(t types.Type) bool { return types.Identical(t, types.Typ[types.Float64]) })
	if to == nil || !s.isNumber(to) {
		return nil
	}
	text := types.ExprString(to)
	if b, ok := s.typ(to).(*types.Basic); !ok || b.Kind() != types.Int {
		text = "int(" + text + ")"
	}
	switch {
	case s.is(call.Args[0], "10"):
		return &match{at: call, through: []string{"math.Pow", "math.pow", "math.archPow"}, instead: "math.Pow10(" + text + ")"}
	case s.is(call.Args[0], "2"):
		return &match{at: call, through: []string{"math.Pow", "math.pow", "math.archPow"}, instead: "math.Ldexp(1, " + text + ")"}
	}
	return nil
}

// sortSlice matches sort.Slice, for which there is a sister without reflection.
func (s *site) sortSlice(n node) *match {
	call := s.call(n)
	if call == nil || len(call.Args) != 2 || !s.since("go1.21") {
		return nil
	}
	_, literal := call.Args[1].(*ast.FuncLit)
	if _, list := underlying(s.typ(call.Args[0])).(*types.Slice); !list || !literal {
		return nil
	}
	name := "slices.SortFunc("
	if s.callee == "sort.SliceStable" {
		name = "slices.SortStableFunc("
	}
	return &match{at: call, instead: name + types.ExprString(call.Args[0]) + ", func(a, b T) int { return cmp.Compare(a.key, b.key) })"}
}

// copyByJSON matches a value that is encoded to decode another of its type from the text.
func (s *site) copyByJSON(n node) *match {
	call, from, to := s.throughJSON(n)
	if call == nil || isAny(to) || !types.Identical(from, to) {
		return nil
	}
	return s.whole(call)
}

// retypeByJSON matches what was decoded without a type, and is encoded only to decode it into one.
func (s *site) retypeByJSON(n node) *match {
	call, from, to := s.throughJSON(n)
	if call == nil || !untyped(from) {
		return nil
	}
	if _, parameter := types.Unalias(to).(*types.TypeParam); !parameter && untyped(to) {
		return nil
	}
	return s.whole(call)
}

// untyped reports whether a type is what JSON is decoded into where nobody says a type.
func untyped(t types.Type) bool {
	list, _ := underlying(t).(*types.Slice)
	return isAny(t) || isAnyMap(t) || list != nil && isAny(list.Elem())
}

// throughJSON returns a node as a call that is a half of what a function does to a value: encode it and decode the
// text, for which there is no other use. It has the types of both values.
func (s *site) throughJSON(n node) (call *ast.CallExpr, from, to types.Type) {
	if call = s.call(n); call == nil {
		return nil, nil, nil
	}
	var encode, decode *ast.CallExpr
	var text *types.Var
	ast.Inspect(s.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			if c, ok := n.Rhs[0].(*ast.CallExpr); ok && len(n.Rhs) == 1 && s.calls(c, "encoding/json", "Marshal") {
				encode, text = c, s.variable(n.Lhs[0])
			}
		case *ast.CallExpr:
			if text != nil && s.calls(n, "encoding/json", "Unmarshal") && len(n.Args) == 2 && s.variable(n.Args[0]) == text {
				decode = n
			}
		}
		return true
	})
	if encode == nil || decode == nil || call != encode && call != decode || len(encode.Args) != 1 {
		return nil, nil, nil
	}
	from, to = value(s.typ(encode.Args[0])), value(s.typ(decode.Args[1]))
	if _, only := s.uses(text, s.Body, func(u node) bool { return u.parent(0) == decode }); !only || from == nil || to == nil {
		return nil, nil, nil
	}
	return call, from, to
}

// value returns a type, or what a pointer of it points to.
func value(t types.Type) types.Type {
	if p, ok := underlying(t).(*types.Pointer); ok {
		return p.Elem()
	}
	return t
}

// stackPerCall matches a stack that is not taken of a panic.
func (s *site) stackPerCall(n node) *match {
	call := s.call(n)
	if call == nil {
		return nil
	}
	recovers := false
	ast.Inspect(s.code(), func(n ast.Node) bool {
		recovers = recovers || s.builtin(n, "recover") != nil
		return !recovers
	})
	if recovers || s.givenAny() {
		return nil
	}
	return s.whole(call)
}

// givenAny reports whether a function is given a value of any type, like that of a panic which
// its caller recovered from.
func (s *site) givenAny() bool {
	return s.Decl != nil && slices.ContainsFunc(s.Decl.Type.Params.List, func(p *ast.Field) bool { return isAny(s.typ(p.Type)) })
}
