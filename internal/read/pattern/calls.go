package pattern

import (
	"fmt"
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"slices"
	"strconv"
	"strings"

	"github.com/gowhy/gowhy/internal/know/model"
)

// Calls that need not be made, or have a cheaper sister.

// constantFirst matches a call whose first argument is a constant.
func (s *site) constantFirst(n node) *match {
	call := s.call(n)
	if call == nil || len(call.Args) == 0 || !s.constant(call.Args[0]) || s.onceOnly(n) {
		return nil
	}
	return s.whole(call)
}

// onceOnly reports whether code runs once in the life of a program.
func (s *site) onceOnly(n node) bool {
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
	if call == nil || s.onceOnly(n) || slices.ContainsFunc(call.Args, func(x ast.Expr) bool { return !s.constant(x) }) {
		return nil
	}
	return s.whole(call)
}

// invariantCall matches a call in a loop with arguments that do not change there.
func (s *site) invariantCall(n node) *match {
	call := s.pureCall(n)
	if call == nil {
		return nil
	}
	loop := s.loop(n)
	constants := 0
	for _, x := range call.Args {
		if loop == nil || !s.fixed(x, loop) {
			return nil
		}
		if s.constant(x) {
			constants++
		}
	}
	if constants == len(call.Args) {
		return nil // constantCall's
	}
	return s.whole(call)
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
	if s.keyOf(n) || s.assigned(n, s.keyOf) {
		return &match{at: call}
	}
	return nil
}

// keyOf reports whether a node is the key of a map, and nothing else.
func (s *site) keyOf(n node) bool {
	index, ok := n.up(0).(*ast.IndexExpr)
	if ok && index.Index == n.Node && isMap(s.typ(index.X)) {
		return true
	}
	call := s.builtin(n.up(0), "delete")
	return call != nil && call.Args[1] == n.Node
}

// assigned reports whether a node is the only value that a new variable gets, and all uses
// of that are as wanted.
func (s *site) assigned(n node, want func(node) bool) bool {
	set, ok := n.up(0).(*ast.AssignStmt)
	if !ok || set.Tok != token.DEFINE || len(set.Lhs) != 1 || len(set.Rhs) != 1 {
		return false
	}
	v := s.variable(set.Lhs[0])
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
	var parts []string
	rest, args := constant.StringVal(format), call.Args[1:]
	for {
		text, verb, ok := strings.Cut(rest, "%")
		if text != "" {
			parts = append(parts, strconv.Quote(text))
		}
		if !ok {
			break
		}
		if verb == "" || len(args) == 0 {
			return nil
		}
		text, ok = s.plain(args[0], verb[0])
		if !ok {
			return nil
		}
		parts, rest, args = append(parts, text), verb[1:], args[1:]
	}
	if len(args) > 0 {
		return nil
	}
	return &match{at: call, instead: strings.Join(parts, " + ")}
}

// plain is a value's text without fmt, for the verbs that have no flags.
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
		p, ok := under(s.typ(x)).(*types.Pointer)
		if !ok {
			return nil
		}
		if b, ok := p.Elem().(*types.Basic); !ok || b.Info()&(types.IsNumeric|types.IsString) == 0 {
			return nil
		}
	}
	return s.whole(call)
}

// lowerCompare matches a text that is lowered to be compared with another, or a constant.
func (s *site) lowerCompare(n node) *match {
	call := s.call(n)
	compare, ok := n.up(0).(*ast.BinaryExpr)
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
		index, ok := u.up(0).(*ast.IndexExpr)
		if !ok || index.X != u.Node {
			return false
		}
		return s.is(index.Index, "0") || two && s.is(index.Index, "1") || s.lastOf(index)
	}
	counted := func(u node) bool { return field(u) || two && s.builtin(u.up(0), "len") != nil }
	within := func(u node) bool { // len(fields) of fields[len(fields)-1]
		index, ok := u.outer().outer().up(0).(*ast.IndexExpr)
		return field(u) || ok && s.lastOf(index)
	}
	if !field(n) && !s.assigned(n, within) && !(two && s.assigned(n, counted)) {
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
	if s.builtin(n.up(0), "len") == nil && !s.assigned(n, func(u node) bool { return s.builtin(u.up(0), "len") != nil }) {
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
		r, ok := u.up(0).(*ast.RangeStmt)
		return ok && r.X == u.Node && (r.Key == nil || types.ExprString(r.Key) == "_")
	}
	if !walked(n) && !s.assigned(n, walked) {
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

// decodeAny matches what is decoded into a map of any of which the function reads known keys.
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
	m, ok := under(typeOf(v)).(*types.Map)
	if !ok || !local(v) || !isAny(m.Elem()) {
		return nil
	}
	keys := 0
	_, ok = s.uses(v, s.code(), func(u node) bool {
		if u.up(0) == address {
			return true
		}
		index, ok := u.up(0).(*ast.IndexExpr)
		keys++
		return ok && index.X == u.Node && s.constant(index.Index)
	})
	if !ok || keys == 0 {
		return nil
	}
	return s.whole(call)
}

func typeOf(v *types.Var) types.Type {
	if v == nil {
		return nil
	}
	return v.Type()
}

func isAny(t types.Type) bool {
	i, ok := under(t).(*types.Interface)
	return ok && i.Empty()
}

// freshCodec matches a compressor that a function makes for itself.
func (s *site) freshCodec(node) *match {
	names := []string{"NewWriter", "NewWriterLevel", "NewWriterDict", "NewWriterLevelDict"}
	if s.callee == flateReader {
		names = []string{"NewReader", "NewReaderDict"}
	}
	var made *ast.CallExpr
	ast.Inspect(s.Body, func(n ast.Node) bool {
		set, ok := n.(*ast.AssignStmt)
		if !ok || len(set.Rhs) != 1 {
			return true
		}
		call, ok := set.Rhs[0].(*ast.CallExpr)
		if ok && local(s.variable(set.Lhs[0])) && slices.ContainsFunc([]string{"compress/gzip", "compress/zlib", "compress/flate"}, func(pkg string) bool {
			return s.calls(call, pkg, names...)
		}) {
			made = call
		}
		return true
	})
	if made == nil || s.onceOnly(node{Node: made}) {
		return nil
	}
	return &match{at: made, line: true}
}
