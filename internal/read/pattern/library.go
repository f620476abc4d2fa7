package pattern

import (
	"go/ast"
	"go/constant"
	"path/filepath"
	"strings"
)

// What the standard library does the long way because of what it is given: a type that it does not know, an
// expression of many words, a statement for one query.

// imagePixels matches an image that is drawn or encoded pixel by pixel.
func (s *site) imagePixels(n node) *match {
	call, ok := n.Node.(*ast.CallExpr)
	if !ok {
		return nil
	}
	draws := s.callee == drawsPixels && s.calls(call, "image/draw", "Draw", "DrawMask")
	encodes := s.callee == encodePixels && s.calls(call, "image/jpeg", "Encode")
	if !draws && !encodes {
		return nil
	}
	return s.whole(call)
}

// regexpWords matches a text that is looked through by an expression which is nothing but a list of words. Which
// expression it is, is not followed: all that the package compiles are such.
func (s *site) regexpWords(n node) *match {
	call := s.call(n)
	if call == nil {
		return nil
	}
	words, others := 0, 0
	at := filepath.Dir(s.Set.Position(s.Body.Pos()).Filename)
	for _, file := range s.Files {
		if filepath.Dir(s.Set.Position(file.Pos()).Filename) != at {
			continue
		}
		ast.Inspect(file, func(n ast.Node) bool {
			switch made, ok := n.(*ast.CallExpr); {
			case !ok || !s.calls(made, "regexp", "Compile", "MustCompile") || len(made.Args) != 1:
			case s.joinsWords(made.Args[0]):
				words++
			default:
				others++
			}
			return true
		})
	}
	if words == 0 || others > 0 {
		return nil
	}
	return s.whole(call)
}

// joinsWords reports whether a text has a list in it whose elements are joined as alternatives, and beside it no
// operator that reads more than letters and their bounds.
func (s *site) joinsWords(x ast.Expr) bool {
	joins, more := false, false
	ast.Inspect(x, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			if s.calls(n, "strings", "Join") && len(n.Args) == 2 && s.is(n.Args[1], `"|"`) {
				joins = true
				return false
			}
		case *ast.BasicLit:
			if v := s.Info.Types[n].Value; v != nil && v.Kind() == constant.String {
				more = more || strings.ContainsAny(constant.StringVal(v), ".*+[{")
			}
		}
		return true
	})
	return joins && !more
}

// preparePerCall matches a statement that is prepared for one query: it is given back at once, or no loop uses it and
// nobody keeps it.
func (s *site) preparePerCall(n node) *match {
	call := s.call(n)
	if call == nil || s.runsOnce(n) {
		return nil
	}
	switch up := n.parent(0).(type) {
	case *ast.ReturnStmt:
		return s.whole(call)
	case *ast.AssignStmt:
		v := s.variable(up.Lhs[0])
		if !local(v) {
			return nil // a field, or a variable of the package
		}
		loop := s.loop(n)
		if _, once := s.uses(v, s.code(), func(u node) bool {
			_, asked := u.parent(0).(*ast.SelectorExpr)
			return asked && s.loop(u) == loop
		}); once {
			return s.whole(call)
		}
	}
	return nil
}

// tagsPerValue matches the tags of a struct's type, which are looked up for each value of it: not text that is read as tags.
func (s *site) tagsPerValue(n node) *match {
	call := s.call(n)
	if call == nil {
		return nil
	}
	sel, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr)
	if made, converted := ast.Unparen(sel.X).(*ast.CallExpr); !ok || converted && s.Info.Types[made.Fun].IsType() {
		return nil
	}
	return s.whole(call)
}
