package pattern

import (
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"slices"
)

// bufferPerCall matches a buffer that a function makes for itself alone: it is filled, read or written out, and nobody
// has it afterwards.
func (s *site) bufferPerCall(n node) *match {
	made := s.builtin(n.Node, "make")
	if made == nil || len(made.Args) < 2 || s.runsOnce(n) {
		return nil
	}
	list, ok := underlying(s.typ(made)).(*types.Slice)
	if !ok || !isBasic(list.Elem()) || isString(list.Elem()) || s.short(made) {
		return nil
	}
	if !s.isOnlyValue(n, s.lends) || s.pooled(s.code()) {
		return nil
	}
	return &match{at: made, through: []string{"runtime.makeslice", "runtime.mallocgc"}}
}

// short reports whether a list is made with a length that costs little to make.
func (s *site) short(made *ast.CallExpr) bool {
	v := s.Info.Types[made.Args[len(made.Args)-1]].Value
	if v == nil {
		return false
	}
	n, ok := constant.Int64Val(constant.ToInt(v))
	return ok && n < 1024
}

// lends reports whether a use of a list leaves it to nobody: an element, its length, a walk, or a call of a function
// that is known to keep nothing.
func (s *site) lends(u node) bool {
	if slice, ok := u.parent(0).(*ast.SliceExpr); ok && slice.X == u.Node {
		u = u.outer()
	}
	switch up := u.parent(0).(type) {
	case *ast.IndexExpr:
		return up.X == u.Node
	case *ast.RangeStmt:
		return up.X == u.Node
	case *ast.AssignStmt:
		return len(up.Lhs) == 1 && up.Lhs[0] == u.Node // another length of itself
	case *ast.CallExpr:
		return s.borrows(up, u.Node)
	}
	return false
}

// borrowers are functions of the standard library that keep nothing of a list that they are given, by package.
var borrowers = map[string][]string{
	"io":              {"ReadFull", "ReadAtLeast", "CopyBuffer"},
	"bytes":           {"Index", "IndexByte", "Count", "Contains", "Equal", "Compare"},
	"hash/crc32":      {"ChecksumIEEE", "Checksum", "Update"},
	"crypto/sha256":   {"Sum256"},
	"crypto/md5":      {"Sum"},
	"crypto/sha1":     {"Sum"},
	"encoding/hex":    {"Encode", "EncodeToString"},
	"unicode/utf8":    {"DecodeRune", "Valid"},
	"slices":          {"Sort", "Max", "Min", "Contains", "Index", "BinarySearch", "Reverse"},
	"sort":            {"Ints", "Float64s"},
	"encoding/binary": {"PutUvarint", "PutVarint", "Uvarint", "Varint"},
}

// borrowing are methods that by their contract keep nothing of a list that they are given, and those of byte orders.
var borrowing = []string{
	"Read", "Write", "ReadAt", "WriteAt", "ReadFrom", "EncodeToString", "Encode", "Decode", "XORKeyStream", "CryptBlocks",
	"Uint16", "Uint32", "Uint64", "PutUint16", "PutUint32", "PutUint64",
}

func (s *site) borrows(call *ast.CallExpr, x ast.Node) bool {
	for _, name := range []string{"len", "cap", "copy", "clear"} {
		if s.builtin(call, name) != nil {
			return true
		}
	}
	if s.builtin(call, "append") != nil {
		return call.Args[0] != x && call.Ellipsis.IsValid()
	}
	if to := s.Info.Types[call.Fun]; to.IsType() {
		return isString(to.Type) // a copy
	}
	sel, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr)
	if !ok {
		return false
	}
	if pkg := s.packageOf(sel.X); pkg != "" {
		return slices.Contains(borrowers[pkg], sel.Sel.Name)
	}
	return slices.Contains(borrowing, sel.Sel.Name)
}

// A profile of the heap ends at the line whose operator allocates and does not say which
// operator. Where a line has one alone, all is that one's.

// operators counts what some lines have that allocates without a call, as far as types tell.
func (s *site) operators(first, last int) (n int) {
	ast.Inspect(s.Body, func(x ast.Node) bool {
		if x == nil || s.lineOf(x.Pos()) > last || s.lineOf(x.End()-1) < first {
			return false
		}
		if at := s.lineOf(x.Pos()); at < first {
			return true
		}
		n += s.allocations(x)
		switch x := x.(type) {
		case *ast.FuncLit:
			return false // its own lines
		case *ast.BinaryExpr:
			return !s.joins(x) // a + b + c is made at once
		case *ast.AssignStmt:
			return x.Tok != token.ADD_ASSIGN || !isString(s.typ(x.Lhs[0])) || s.hasCall(x.Rhs[0])
		}
		return true
	})
	return n
}

// allocations counts how often a node itself may allocate.
func (s *site) allocations(x ast.Node) (n int) {
	one := func(is bool) int {
		if is {
			return 1
		}
		return 0
	}
	switch x := x.(type) {
	case *ast.FuncLit, *ast.DeferStmt, *ast.GoStmt:
		return 1
	case *ast.UnaryExpr:
		_, made := ast.Unparen(x.X).(*ast.CompositeLit)
		return one(x.Op == token.AND && made)
	case *ast.CompositeLit:
		switch underlying(s.typ(x)).(type) {
		case *types.Slice, *types.Map:
			return 1
		}
	case *ast.BinaryExpr:
		return one(s.joins(x))
	case *ast.AssignStmt:
		if x.Tok == token.ADD_ASSIGN && isString(s.typ(x.Lhs[0])) {
			return 1
		}
		for _, to := range x.Lhs {
			index, ok := to.(*ast.IndexExpr)
			n += one(ok && isMap(s.typ(index.X)))
		}
	case *ast.CallExpr:
		if s.builtin(x, "make") != nil || s.builtin(x, "new") != nil || s.builtin(x, "append") != nil {
			return 1
		}
		if from := s.conversion(x, func(types.Type) bool { return true }); from != nil {
			return one(isString(s.typ(from)) != isString(s.typ(x)))
		}
		return s.boxed(x)
	}
	return n
}

// joins reports whether a sum is of texts, and not made by the compiler.
func (s *site) joins(x *ast.BinaryExpr) bool {
	return x.Op == token.ADD && isString(s.typ(x)) && !s.constant(x)
}

// boxed counts the arguments of a call that become values of interfaces.
func (s *site) boxed(call *ast.CallExpr) (n int) {
	signature, ok := underlying(s.typ(call.Fun)).(*types.Signature)
	if !ok {
		return 0
	}
	for i, x := range call.Args {
		var to types.Type
		switch params := signature.Params(); {
		case signature.Variadic() && i >= params.Len()-1 && !call.Ellipsis.IsValid():
			to = params.At(params.Len() - 1).Type().(*types.Slice).Elem()
		case i < params.Len():
			to = params.At(i).Type()
		}
		if to != nil && types.IsInterface(to) && s.typ(x) != nil && !types.IsInterface(s.typ(x)) && !s.constant(x) {
			if _, pointer := underlying(s.typ(x)).(*types.Pointer); !pointer {
				n++
			}
		}
	}
	return n
}

// fewestColumns is from how many names on a map with constant ones is a row: two are a pair or an option.
const fewestColumns = 3

// mapRows matches a map with constant names that is kept as one of many: a row with columns that the source knows.
func (s *site) mapRows(n node) *match {
	switch at := n.Node.(type) {
	case *ast.CompositeLit:
		if s.isRow(at) && (s.keptRow(n) || s.keptByName(n)) && s.readByName(s.typ(at)) {
			return &match{at: at}
		}
	case *ast.AssignStmt: // row["name"] = name
		index, ok := at.Lhs[0].(*ast.IndexExpr)
		if !ok || len(at.Lhs) != 1 || !s.rowType(s.typ(index.X)) || s.Info.Types[index.Index].Value == nil {
			return nil
		}
		if v := s.variable(index.X); local(v) && s.parameter(v) < 0 && s.setsNames(v) >= fewestColumns && s.appended(v) && s.readByName(v.Type()) {
			return &match{at: at, line: true}
		}
	}
	return nil
}

// readByName reports whether the program reads values of a row by their names: what only a library reads, or what is
// encoded, may have to be a map.
func (s *site) readByName(row types.Type) (reads bool) {
	for _, file := range s.Files {
		var stored []ast.Expr
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.AssignStmt:
				stored = append(stored, n.Lhs...)
			case *ast.IndexExpr:
				t := s.typ(n.X)
				reads = reads || t != nil && types.Identical(t, row) && !slices.Contains(stored, ast.Expr(n)) &&
					(typeName(row) != "" || s.constant(n.Index) && s.ofMany(n.X, file))
			}
			return !reads
		})
	}
	return reads
}

// ofMany reports whether an expression is an element of a list, or the variable of a loop over one.
func (s *site) ofMany(x ast.Expr, in ast.Node) (many bool) {
	if index, ok := ast.Unparen(x).(*ast.IndexExpr); ok {
		return s.Info.Types[index.X].Type != nil && elementOf(s.typ(index.X)) != nil
	}
	v := s.variable(x)
	ast.Inspect(in, func(n ast.Node) bool {
		over, ok := n.(*ast.RangeStmt)
		many = many || ok && v != nil && over.Value != nil && s.variable(over.Value) == v
		return !many
	})
	return many
}

// rowType reports whether a type is a map of names to values of any or a basic type.
func (s *site) rowType(t types.Type) bool {
	m, ok := underlying(t).(*types.Map)
	return ok && isString(m.Key()) && (isAny(m.Elem()) || isBasic(m.Elem()))
}

// isRow reports whether a literal is a map with a row's fewest columns or more, all named by constants.
func (s *site) isRow(row *ast.CompositeLit) bool {
	return len(row.Elts) >= fewestColumns && s.rowType(s.typ(row)) && !slices.ContainsFunc(row.Elts, func(e ast.Expr) bool {
		pair, ok := e.(*ast.KeyValueExpr)
		return !ok || s.Info.Types[pair.Key].Value == nil
	})
}

// keptRow reports whether a value is added to a list, or to those of a list or map in a loop, or goes into a channel.
func (s *site) keptRow(n node) bool {
	switch up := n.parent(0).(type) {
	case *ast.CallExpr:
		return s.builtin(up, "append") != nil
	case *ast.AssignStmt:
		_, element := up.Lhs[0].(*ast.IndexExpr)
		return element && len(up.Lhs) == 1 && s.loop(n) != nil
	case *ast.SendStmt:
		return true
	}
	return false
}

// keptByName reports whether a value gets a name, by which it is added to a list.
func (s *site) keptByName(n node) bool {
	set, ok := n.parent(0).(*ast.AssignStmt)
	if !ok || set.Tok != token.DEFINE || len(set.Lhs) != 1 {
		return false
	}
	v := s.variable(set.Lhs[0])
	return v != nil && s.appended(v)
}

// appended reports whether a variable is added to a list.
func (s *site) appended(v *types.Var) (found bool) {
	s.uses(v, s.Body, func(u node) bool {
		call, ok := u.parent(0).(*ast.CallExpr)
		found = found || ok && s.builtin(call, "append") != nil && !call.Ellipsis.IsValid()
		return true
	})
	return found
}

// setsNames returns how many elements of a map the function sets whose names are constants; none where one is not.
func (s *site) setsNames(v *types.Var) (n int) {
	constants := true
	s.uses(v, s.Body, func(u node) bool {
		index, ok := u.parent(0).(*ast.IndexExpr)
		if ok && index.X == u.Node && s.stores(u.outer()) {
			n++
			constants = constants && s.Info.Types[index.Index].Value != nil
		}
		return true
	})
	if !constants {
		return 0
	}
	return n
}
