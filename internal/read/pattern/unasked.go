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

// makers are functions of the standard library that do nothing but make a value, beside the pure
// ones. Some change what they are given in a way that nobody sees, as a body that is dumped.
var makers = map[string][]string{
	"encoding/json":     {"Marshal", "MarshalIndent"},
	"encoding/hex":      {"EncodeToString", "Dump", "DecodeString"},
	"net/http/httputil": {"DumpRequest", "DumpRequestOut", "DumpResponse"},
	"runtime/debug":     {"Stack"},
	"errors":            {"New"},
}

// parsers are those that read something that hardly ever changes: keys, expressions, templates.
var parsers = map[string][]string{
	"encoding/pem":  {"Decode"},
	"crypto/x509":   {"ParseCertificate", "ParsePKCS1PrivateKey", "ParsePKCS8PrivateKey", "ParseECPrivateKey", "ParsePKIXPublicKey", "ParsePKCS1PublicKey"},
	"crypto/tls":    {"X509KeyPair"},
	"regexp":        {"Compile", "MustCompile"},
	"time":          {"LoadLocation", "ParseDuration"},
	"net/url":       {"Parse"},
	"net":           {"ParseCIDR", "ParseIP"},
	"net/netip":     {"ParseAddr", "MustParseAddr", "ParsePrefix", "MustParsePrefix"},
	"crypto/sha256": {"Sum256"},
	"crypto/sha512": {"Sum512"},
	"crypto/sha1":   {"Sum"},
	"crypto/md5":    {"Sum"},
	"crypto/pbkdf2": {"Key"},
	// What the system says of what a program keeps stays as it was at the start.
	"path/filepath": {"Abs", "EvalSymlinks"},
	"os/exec":       {"LookPath"},
	"os/user":       {"Lookup", "LookupId", "LookupGroup"},
}

// walkers are functions that look at each letter or element by a function that they are given, and change nothing.
var walkers = map[string][]string{
	"strings": {"Map", "FieldsFunc", "TrimFunc", "IndexFunc", "ContainsFunc", "ContainsRune", "EqualFold", "HasPrefix", "HasSuffix", "CutPrefix", "CutSuffix", "Cut", "Join", "ContainsAny",
		"Compare", "IndexByte", "IndexAny", "LastIndexByte", "SplitSeq", "FieldsSeq", "Lines"},
	"slices": {"Contains", "ContainsFunc", "Index", "IndexFunc", "Max", "Min", "Sorted", "BinarySearch"},
}

// computing are packages whose functions do nothing but compute.
var computing = []string{"cmp", "math", "math/bits", "unicode", "unicode/utf8"}

// coders are the methods of what the library's packages read and write numbers and text with.
var coders = map[string][]string{
	"encoding/binary.bigEndian":    {"Uint16", "Uint32", "Uint64"},
	"encoding/binary.littleEndian": {"Uint16", "Uint32", "Uint64"},
	"encoding/base64.Encoding":     {"EncodeToString", "DecodeString"},
	"encoding/base32.Encoding":     {"EncodeToString", "DecodeString"},
}

// builders are what text is put together in: one of a function's own is nobody else's.
var builders = []string{"strings.Builder", "bytes.Buffer"}

// scanners are what text is gone through with.
var scanners = []string{"bufio.Scanner", "bufio.Reader", "strings.Reader", "bytes.Reader", "encoding/csv.Reader"}

// namesOf returns the functions of such a list as stacks have them.
func namesOf(list map[string][]string) (names []string) {
	for pkg, functions := range list {
		for _, name := range functions {
			names = append(names, pkg+"."+name)
		}
	}
	slices.Sort(names)
	return names
}

// maxMakerDepth bounds how far calls are followed to know whether a function only makes a value.
const maxMakerDepth = 3

// onlyMakes reports whether a call does nothing but make a value of what it is given.
func (f *Function) onlyMakes(call *ast.CallExpr, depth int) bool {
	if f.Info.Types[call.Fun].IsType() {
		return true
	}
	if id, ok := ast.Unparen(call.Fun).(*ast.Ident); ok {
		if _, ok := f.Info.Uses[id].(*types.Builtin); ok {
			return !slices.Contains([]string{"delete", "clear", "copy", "close", "print", "println"}, id.Name)
		}
	}
	if sel, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr); ok {
		pkg := f.packageOf(sel.X)
		if slices.Contains(computing, pkg) || slices.ContainsFunc([]map[string][]string{pure, makers, parsers, walkers}, func(list map[string][]string) bool {
			return slices.Contains(list[pkg], sel.Sel.Name)
		}) {
			return true
		}
		if slices.Contains(coders[typeName(f.typ(sel.X))], sel.Sel.Name) {
			return true
		}
		if v := f.variable(sel.X); local(v) && slices.Contains(builders, typeName(v.Type())) {
			return true
		}
		if strings.HasPrefix(sel.Sel.Name, "New") && len(call.Args) > 0 && slices.Contains(scanners, typeName(f.typ(call))) {
			inner, ok := ast.Unparen(call.Args[0]).(*ast.CallExpr)
			return !ok && (isString(f.typ(call.Args[0])) || isBytes(f.typ(call.Args[0]))) || ok && f.onlyMakes(inner, depth)
		}
		if pkg == "fmt" && sel.Sel.Name == "Errorf" {
			return true
		}
		if pkg == "fmt" && strings.HasPrefix(sel.Sel.Name, "Fprint") {
			to, ok := ast.Unparen(call.Args[0]).(*ast.UnaryExpr)
			return ok && local(f.variable(to.X)) && slices.Contains(builders, typeName(f.typ(to.X)))
		}
		if slices.Contains([]string{"Error", "String"}, sel.Sel.Name) && len(call.Args) == 0 {
			return true
		}
	}
	decl := f.calledHere(call)
	return decl != nil && depth < maxMakerDepth && f.makes(decl, depth+1)
}

// calleeDecl returns the declaration of the function or method of the package that a call is of.
func (f *Function) calledHere(call *ast.CallExpr) *ast.FuncDecl { return f.functionOf(call.Fun) }

// functionOf returns the declaration of the function or method of the program that an expression names; nil for none.
func (f *Function) functionOf(x ast.Expr) *ast.FuncDecl {
	switch fun := ast.Unparen(x).(type) {
	case *ast.Ident:
		return f.declared(fun)
	case *ast.SelectorExpr:
		return f.declared(fun.Sel)
	}
	return nil
}

// calleeDecl returns the declaration also of a method that is called through an interface, where the call is the one
// that the stack shows.
func (s *site) calleeDecl(call *ast.CallExpr) *ast.FuncDecl {
	decl := s.Function.calledHere(call)
	sel, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr)
	if decl != nil || !ok {
		return decl
	}
	pkg, name := model.SplitSymbol(s.callee)
	if !types.IsInterface(orInvalid(s.typ(sel.X))) || !strings.HasSuffix(name, "."+sel.Sel.Name) {
		return nil
	}
	for _, file := range s.Files {
		for _, d := range file.Decls {
			method, ok := d.(*ast.FuncDecl)
			if !ok || method.Recv == nil || DeclaredName(method) != name {
				continue
			}
			if fn, ok := s.Info.Defs[method.Name].(*types.Func); ok && fn.Pkg() != nil && fn.Pkg().Path() == pkg {
				return method
			}
		}
	}
	return nil
}

// anyCall returns a node as the call that the stack shows, also of a function of the package.
func (s *site) anyCall(n node) *ast.CallExpr {
	if call := s.call(n); call != nil {
		return call
	}
	call, _ := s.ownCall(n)
	return call
}

// makes reports whether a function changes nothing but its own variables and calls only such.
func (f *Function) makes(decl *ast.FuncDecl, depth int) bool {
	if decl.Body == nil || decl.Type.Results == nil {
		return false
	}
	only := true
	ast.Inspect(decl.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.GoStmt, *ast.DeferStmt, *ast.SelectStmt, *ast.SendStmt:
			only = false
		case *ast.UnaryExpr:
			only = only && n.Op != token.ARROW
		case *ast.AssignStmt:
			only = only && !slices.ContainsFunc(n.Lhs, func(x ast.Expr) bool { return !f.ownVariable(x, decl) })
		case *ast.IncDecStmt:
			only = only && f.ownVariable(n.X, decl)
		case *ast.CallExpr:
			only = only && (f.onlyMakes(n, depth) || f.fillsOwn(n, decl))
		}
		return only
	})
	return only
}

// fillsOwn reports whether a call changes nothing but what a function has made: it sorts that, reads a text into it, or
// takes the next of a scanner.
func (f *Function) fillsOwn(call *ast.CallExpr, decl *ast.FuncDecl) bool {
	sel, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr)
	if !ok {
		return false
	}
	switch pkg := f.packageOf(sel.X); {
	case pkg == "":
		v := f.variable(sel.X)
		return local(v) && isInside(v, decl.Body) && slices.Contains(scanners, typeName(v.Type()))
	case pkg == "sort", pkg == "slices" && strings.HasPrefix(sel.Sel.Name, "Sort"):
		return len(call.Args) > 0 && f.ownVariable(call.Args[0], decl)
	case sel.Sel.Name == "Unmarshal" && len(call.Args) == 2:
		to, ok := ast.Unparen(call.Args[1]).(*ast.UnaryExpr)
		return ok && to.Op == token.AND && f.ownVariable(to.X, decl)
	}
	return false
}

// ownVariable reports whether an expression is a variable of a function, or a part of what the function has made and
// keeps in one, or nothing.
func (f *Function) ownVariable(x ast.Expr, decl *ast.FuncDecl) bool {
	if id, ok := x.(*ast.Ident); ok && id.Name == "_" {
		return true
	}
	part := false
	for {
		switch e := ast.Unparen(x).(type) {
		case *ast.StarExpr:
			return f.pointsToOwn(f.variable(e.X), decl)
		case *ast.IndexExpr:
			x, part = e.X, true
			continue
		case *ast.SelectorExpr:
			x, part = e.X, true
			continue
		}
		break
	}
	v := f.variable(x)
	return local(v) && (isInside(v, decl.Body) || decl.Type.Results != nil && isInside(v, decl.Type.Results)) && (!part || f.freshIn(v, decl))
}

// pointsToOwn reports whether a variable goes over a list that is written down and has addresses of the function's
// own variables.
func (f *Function) pointsToOwn(v *types.Var, decl *ast.FuncDecl) (own bool) {
	if !local(v) {
		return false
	}
	ast.Inspect(decl.Body, func(n ast.Node) bool {
		over, ok := n.(*ast.RangeStmt)
		if !ok || over.Value == nil || f.variable(over.Value) != v {
			return !own
		}
		list, ok := ast.Unparen(over.X).(*ast.CompositeLit)
		own = ok && !slices.ContainsFunc(list.Elts, func(x ast.Expr) bool {
			of, ok := ast.Unparen(x).(*ast.UnaryExpr)
			return !ok || of.Op != token.AND || !f.ownVariable(of.X, decl)
		})
		return false
	})
	return own
}

// freshIn reports whether all that a variable of a function ever is was made by it.
func (f *Function) freshIn(v *types.Var, decl *ast.FuncDecl) bool {
	switch underlying(v.Type()).(type) {
	case *types.Struct, *types.Array:
		return true
	}
	made := true
	ast.Inspect(decl, func(n ast.Node) bool {
		switch at := n.(type) {
		case *ast.AssignStmt:
			for i, to := range at.Lhs {
				if f.variable(to) == v {
					made = made && len(at.Lhs) == len(at.Rhs) && f.makesNew(at.Rhs[i])
				}
			}
		case *ast.ValueSpec:
			for i, id := range at.Names {
				if f.Info.Defs[id] == v && len(at.Values) > 0 {
					made = made && len(at.Names) == len(at.Values) && f.makesNew(at.Values[i])
				}
			}
		case *ast.RangeStmt:
			made = made && (at.Key == nil || f.variable(at.Key) != v) && (at.Value == nil || f.variable(at.Value) != v)
		}
		return made
	})
	return made
}

// makesNew reports whether an expression is a value that nobody else has.
func (f *Function) makesNew(x ast.Expr) bool {
	switch e := ast.Unparen(x).(type) {
	case *ast.CompositeLit:
		return true
	case *ast.UnaryExpr:
		_, lit := ast.Unparen(e.X).(*ast.CompositeLit)
		return e.Op == token.AND && lit
	case *ast.CallExpr:
		return f.builtin(e, "make") != nil || f.builtin(e, "new") != nil || f.builtin(e, "append") != nil
	}
	return types.ExprString(x) == "nil"
}

// madeUnasked matches a value that is made in any case, and used only where something failed or
// somebody wants to see more.
func (s *site) madeUnasked(n node) *match {
	call := s.anyCall(n)
	if call == nil || s.rarely(n) || !s.onlyMakes(call, 0) {
		return nil
	}
	set, ok := n.parent(0).(*ast.AssignStmt)
	if !ok || len(set.Rhs) != 1 || set.Tok != token.DEFINE {
		return nil
	}
	v := s.variable(set.Lhs[0])
	if !local(v) {
		return nil
	}
	used, ok := s.uses(v, s.code(), s.rarely)
	if used == 0 || !ok {
		return nil
	}
	return &match{at: call, line: true}
}

// rarely reports whether a node is reached only where something failed or somebody wants to
// see more.
func (s *site) rarely(n node) bool {
	for i := len(n.path) - 1; i >= 0; i-- {
		cond, ok := n.path[i].(*ast.IfStmt)
		if ok && isInside(n, cond.Body) && s.exceptional(cond.Cond) {
			return true
		}
	}
	return false
}

// exceptional reports whether a condition is of failures or of levels that are mostly off.
func (s *site) exceptional(x ast.Expr) bool {
	switch x := ast.Unparen(x).(type) {
	case *ast.BinaryExpr:
		switch x.Op {
		case token.LAND:
			return s.exceptional(x.X) || s.exceptional(x.Y)
		case token.NEQ:
			t := s.typ(x.X)
			return t != nil && types.Identical(t, types.Universe.Lookup("error").Type()) && types.ExprString(x.Y) == "nil"
		case token.GEQ, token.GTR:
			return s.ofFailures(x.Y) && saysAny(x.X, "status", "code")
		}
	case *ast.CallExpr:
		return saysAny(x.Fun, "enabled", "debug", "verbose")
	case *ast.Ident, *ast.SelectorExpr:
		return saysAny(x, "debug", "verbose", "trace")
	}
	return false
}

// ofFailures reports whether an expression is the least status of an answer that says that
// something failed.
func (s *site) ofFailures(x ast.Expr) bool {
	v := s.Info.Types[x].Value
	if v == nil || v.Kind() != constant.Int {
		return false
	}
	n, _ := constant.Int64Val(v)
	return n == 399 || n == 400 || n == 499 || n == 500
}

// saysAny reports whether the name of what an expression is, or of its method, has one of some
// words.
func saysAny(x ast.Expr, words ...string) bool {
	id := last(x)
	return id != nil && slices.ContainsFunc(words, func(w string) bool { return strings.Contains(strings.ToLower(id.Name), w) })
}
