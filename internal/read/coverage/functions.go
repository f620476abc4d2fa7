package coverage

import (
	"go/ast"
	"go/token"
	"slices"
	"strings"
)

// A Function is a function or method of a file, or a literal in one.
type Function struct {
	Name       string // as declared, without a receiver; of a literal that of the function around it
	Literal    bool
	Line, Last int
	Calls      uint64
	Loops      []Loop // in the order of the source, so that an outer one is before those in it
	runs       map[int]uint64
}

// A Loop is one of a function's own, and not of a literal in it.
type Loop struct {
	Line, Last int
	Outer      int    // of the loops of the function the one around it; -1 without
	Entries    uint64 // how often it was begun
	Rounds     uint64
	// Early is how often it was left before its end, by a return or a jump out of it;
	// Leaves is how many statements do that, and Bounded is unset where there is no other way.
	Early   uint64
	Leaves  int
	Bounded bool
	// Prepared is set where the first line calls something once, before the rounds.
	Prepared bool
}

// Runs returns how often a line of the function ran; that of a loop's head is its rounds.
func (f *Function) Runs(line int) uint64 { return f.runs[line] }

// Loop returns the innermost loop that has a line, its head included; -1 without one.
func (f *Function) Loop(line int) int {
	for i, l := range slices.Backward(f.Loops) {
		if l.Line <= line && line <= l.Last {
			return i
		}
	}
	return -1
}

// Find returns the innermost function that has a line, a literal or not; nil without one.
func Find(list []*Function, line int, literal bool) *Function {
	for _, f := range slices.Backward(list) {
		if f.Line <= line && line <= f.Last && f.Literal == literal {
			return f
		}
	}
	return nil
}

// Functions joins the blocks of a file with its syntax. What has no block of its own, as a
// function in assembly, is left out.
func Functions(set *token.FileSet, file *ast.File, blocks []Block) (list []*Function) {
	j := &join{set: set, blocks: blocks}
	for _, d := range file.Decls {
		name := ""
		if decl, ok := d.(*ast.FuncDecl); ok && decl.Body != nil {
			name = decl.Name.Name
			list = j.add(list, &Function{Name: name}, decl, decl.Body)
		}
		ast.Inspect(d, func(n ast.Node) bool {
			if lit, ok := n.(*ast.FuncLit); ok {
				list = j.add(list, &Function{Name: name, Literal: true}, lit, lit.Body)
			}
			return true
		})
	}
	return list
}

type join struct {
	set    *token.FileSet
	blocks []Block // in the order of the source
}

func (j *join) position(p token.Pos) Position {
	at := j.set.PositionFor(p, false)
	return Position{at.Line, at.Column}
}

// add adds a function, unless it has no blocks.
func (j *join) add(list []*Function, f *Function, node ast.Node, body *ast.BlockStmt) []*Function {
	var ok bool
	if f.Calls, ok = j.first(body); !ok {
		return list
	}
	f.Line, f.Last = j.position(node.Pos()).Line, j.position(node.End()).Line
	var literals []*ast.FuncLit
	j.loops(f, body, -1, "", &literals)
	f.runs = j.lines(body, literals)
	for _, l := range f.Loops {
		f.runs[l.Line] = max(f.runs[l.Line], l.Rounds)
	}
	return append(list, f)
}

// first returns the count of the first block in braces, which runs each time that they are
// entered. Up to Go 1.26 it begins at the brace, later at the first statement.
func (j *join) first(body *ast.BlockStmt) (count uint64, ok bool) {
	from, to := j.position(body.Lbrace), j.position(body.Rbrace)
	i, _ := slices.BinarySearchFunc(j.blocks, from, func(b Block, p Position) int { return b.From.compare(p) })
	if i == len(j.blocks) || j.blocks[i].From.compare(to) > 0 {
		return 0, false
	}
	return j.blocks[i].Count, true
}

// at returns the count of the innermost block that has a position.
func (j *join) at(pos token.Pos) uint64 {
	p := j.position(pos)
	i, _ := slices.BinarySearchFunc(j.blocks, p, func(b Block, p Position) int {
		if b.From.compare(p) <= 0 {
			return -1
		}
		return 1
	})
	for i--; i >= 0; i-- {
		if j.blocks[i].To.compare(p) >= 0 {
			return j.blocks[i].Count
		}
	}
	return 0
}

// loops adds the loops below a node to a function, and collects its literals. label is that
// of the statement.
func (j *join) loops(f *Function, node ast.Node, outer int, label string, literals *[]*ast.FuncLit) {
	ast.Inspect(node, func(n ast.Node) bool {
		switch s := n.(type) {
		case *ast.FuncLit:
			*literals = append(*literals, s)
			return false
		case *ast.LabeledStmt:
			j.loops(f, s.Stmt, outer, s.Label.Name, literals)
			return false
		case *ast.ForStmt:
			prepared := s.Init != nil && hasCall(s.Init)
			j.loop(f, s, s.Body, outer, label, Loop{Bounded: s.Cond != nil, Prepared: prepared}, literals)
			return false
		case *ast.RangeStmt:
			j.loop(f, s, s.Body, outer, label, Loop{Bounded: true, Prepared: hasCall(s.X)}, literals)
			return false
		}
		return true
	})
}

func (j *join) loop(f *Function, s ast.Stmt, body *ast.BlockStmt, outer int, label string, l Loop, literals *[]*ast.FuncLit) {
	rounds, ok := j.first(body)
	if ok {
		l.Line, l.Last, l.Outer = j.position(s.Pos()).Line, j.position(s.End()).Line, outer
		l.Entries, l.Rounds = j.at(s.Pos()), rounds
		for _, jump := range leaving(body, label) {
			l.Early, l.Leaves = l.Early+j.at(jump.Pos()), l.Leaves+1
		}
		f.Loops = append(f.Loops, l)
		outer = len(f.Loops) - 1
	}
	ast.Inspect(s, func(n ast.Node) bool {
		if n == body {
			return false
		}
		if lit, ok := n.(*ast.FuncLit); ok {
			*literals = append(*literals, lit)
			return false
		}
		return true
	})
	j.loops(f, body, outer, "", literals)
}

// hasCall reports whether something is called, other than what costs nothing.
func hasCall(n ast.Node) (found bool) {
	ast.Inspect(n, func(n ast.Node) bool {
		if call, ok := n.(*ast.CallExpr); ok {
			name, _ := call.Fun.(*ast.Ident)
			found = found || name == nil || !slices.Contains(free, name.Name)
		}
		return !found
	})
	return found
}

// free are functions and conversions of the language that take no time.
var free = strings.Fields("cap float64 int int32 int64 len max min uint uint32 uint64")

// leaving returns the statements that leave a loop before its end: returns, and jumps to
// where it does not go on.
func leaving(body *ast.BlockStmt, label string) (list []ast.Stmt) {
	var visit func(n ast.Node, breaks bool)
	inside := map[string]bool{} // labels of statements in the loop
	visit = func(n ast.Node, breaks bool) {
		ast.Inspect(n, func(c ast.Node) bool {
			if c == n {
				return true
			}
			switch s := c.(type) {
			case *ast.FuncLit:
				return false
			case *ast.LabeledStmt:
				inside[s.Label.Name] = true
			case *ast.ForStmt, *ast.RangeStmt, *ast.SwitchStmt, *ast.TypeSwitchStmt, *ast.SelectStmt:
				visit(c, false)
				return false
			case *ast.ReturnStmt:
				list = append(list, s)
			case *ast.BranchStmt:
				if leaves(s, label, inside, breaks) {
					list = append(list, s)
				}
			}
			return true
		})
	}
	visit(body, true)
	return list
}

// leaves reports whether a jump leaves a loop with a label.
func leaves(s *ast.BranchStmt, label string, inside map[string]bool, breaks bool) bool {
	switch {
	case s.Tok != token.BREAK && s.Tok != token.CONTINUE:
		return false
	case s.Label == nil:
		return s.Tok == token.BREAK && breaks
	case s.Label.Name == label:
		return s.Tok == token.BREAK
	}
	return !inside[s.Label.Name]
}

// lines returns how often each line of a body ran, literals in it left out: of several blocks
// of a line, as of a condition and what depends on it, the count of the one that ran most.
func (j *join) lines(body *ast.BlockStmt, literals []*ast.FuncLit) map[int]uint64 {
	from, to := j.position(body.Lbrace), j.position(body.Rbrace)
	i, _ := slices.BinarySearchFunc(j.blocks, from, func(b Block, p Position) int { return b.From.compare(p) })
	runs := map[int]uint64{}
	for _, b := range j.blocks[i:] {
		if b.From.compare(to) > 0 {
			break
		}
		if slices.ContainsFunc(literals, func(l *ast.FuncLit) bool {
			return j.position(l.Body.Lbrace).compare(b.From) <= 0 && b.From.compare(j.position(l.Body.Rbrace)) <= 0
		}) {
			continue
		}
		for line := b.From.Line; line <= min(b.To.Line, to.Line); line++ {
			runs[line] = max(runs[line], b.Count)
		}
	}
	return runs
}
