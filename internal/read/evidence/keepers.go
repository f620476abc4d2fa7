package evidence

import (
	"cmp"
	"go/ast"
	"go/types"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gowhy/gowhy/internal/know/model"
	"github.com/gowhy/gowhy/internal/read/pattern"
)

// A heap says in which map or slice of the program what is held stands, and a profile who allocated it. Who put it there, and
// has to take it out again, is in neither: it is in the source, as the lines that write to a map or append to a slice
// of that type, and as those that make contexts or timers.

const (
	// keptMost is how many holders of a look are asked for, and keptLines how many lines each may have: of more, nobody
	// knows which it is.
	keptMost  = 3
	keptLines = 6
	// keptShare is the part of what a holder has that must lie behind a container.
	keptShare = 0.5
)

// contextMakers are the functions that make contexts of a type.
var contextMakers = map[string][]string{
	"context.afterFuncCtx": {"context.AfterFunc"},
	"context.timerCtx":     {"context.WithTimeout", "context.WithDeadline", "context.WithTimeoutCause", "context.WithDeadlineCause"},
	"context.cancelCtx":    {"context.WithCancel", "context.WithCancelCause"},
}

// joinKeepers finds the lines that put something where most of what is held stands.
func (l *loader) joinKeepers() {
	if l.opts.NoSource || l.opts.Elsewhere || len(l.m.Run.Holders) == 0 {
		return
	}
	look := l.m.Run.Holders[len(l.m.Run.Holders)-1]
	var frames []model.Frame
	for i := range look.Holders[:min(len(look.Holders), keptMost)] {
		h := &look.Holders[i]
		puts := putsOf(look, h)
		if puts == nil {
			continue
		}
		if frames == nil {
			frames = l.ownFrames()
		}
		h.Keepers = l.reasoner().lines(frames, puts)
	}
}

// putsOf returns what tells the statements and calls that put something where a holder has most; nil where that is not known.
func putsOf(look *model.HeapLook, h *model.Holder) func(ast.Node, *types.Info) bool {
	if makers := contextMakers[look.Contexts(h)]; makers != nil {
		return callsAny(makers)
	}
	if h.Kind == model.HeldByTimers {
		return callsAny([]string{"time.AfterFunc"})
	}
	if container := keptIn(h); container != "" && h.Kind != model.HeldByRuntime {
		return func(n ast.Node, info *types.Info) bool { return writes(n, container, info) }
	}
	return nil
}

// keptIn returns the type of the map or slice on the way to what a holder has, with a type of some package in it,
// behind which the objects become more: the last in which several are kept. It is "" where there is none.
func keptIn(h *model.Holder) (container string) {
	most := 0.0
	for i := range h.Path {
		s := &h.Path[i]
		if !strings.HasPrefix(s.Type, "map[") && !strings.HasPrefix(s.Type, "[]") || !strings.Contains(s.Type, ".") {
			continue
		}
		if i+1 == len(h.Path) || float64(s.Retained) < keptShare*float64(h.Bytes) {
			continue
		}
		if more := float64(h.Path[i+1].Objects) / float64(max(s.Objects, 1)); more > most {
			container, most = s.Type, more
		}
	}
	return container
}

// ownFrames returns a frame of each package that is not the standard library's or the recorder's, by profiles of the heap and
// the CPU, those with most first.
func (l *loader) ownFrames() (frames []model.Frame) {
	sum, first := map[string]float64{}, map[string]model.Frame{}
	for _, p := range []*model.Profile{l.m.Heap, l.m.LiveHeap.End, l.m.CPU} {
		if p == nil {
			continue
		}
		for i := range p.Samples {
			for _, f := range l.m.Stacks.Frames(p.Samples[i].Stack) {
				pkg, _ := model.SplitSymbol(f.Func)
				if model.IsStd(f.Func) || model.OfRecording([]model.Frame{f}) {
					continue
				}
				if _, ok := first[pkg]; !ok {
					first[pkg] = f
				}
				sum[pkg]++
			}
		}
	}
	for _, f := range first {
		frames = append(frames, f)
	}
	of := func(f model.Frame) string { pkg, _ := model.SplitSymbol(f.Func); return pkg }
	slices.SortFunc(frames, func(a, b model.Frame) int {
		return cmp.Or(cmp.Compare(sum[of(b)], sum[of(a)]), cmp.Compare(of(a), of(b)))
	})
	return frames
}

// lines returns those of some packages at which something is done; none where they are many.
func (r *reasoner) lines(frames []model.Frame, does func(ast.Node, *types.Info) bool) (lines []model.Frame) {
	for _, f := range frames {
		g := r.file(f.File)
		if g == nil {
			continue
		}
		checked := r.checked(f, g)
		if checked == nil || checked.info == nil {
			continue
		}
		pkg, _ := model.SplitSymbol(f.Func)
		for _, file := range checked.files {
			for _, d := range file.Decls {
				decl, ok := d.(*ast.FuncDecl)
				if !ok || decl.Body == nil || runsOnce(decl) {
					continue
				}
				ast.Inspect(decl.Body, func(n ast.Node) bool {
					if n != nil && does(n, checked.info) {
						where := r.set.Position(n.Pos())
						file := filepath.Join(filepath.Dir(f.File), filepath.Base(where.Filename))
						lines = append(lines, model.Frame{Func: pkg + "." + pattern.DeclaredName(decl), File: file, Line: where.Line})
					}
					return true
				})
			}
		}
	}
	if len(lines) > keptLines {
		return nil
	}
	return lines
}

// runsOnce reports whether a function is main or init: what is put somewhere there does not become more.
func runsOnce(decl *ast.FuncDecl) bool {
	return decl.Recv == nil && (decl.Name.Name == "main" || decl.Name.Name == "init")
}

// writes reports whether a statement or call puts something into a map or slice of a type.
func writes(n ast.Node, container string, info *types.Info) bool {
	is := func(x ast.Expr) bool {
		t := info.TypeOf(x)
		return t != nil && types.TypeString(t.Underlying(), (*types.Package).Name) == container
	}
	switch n := n.(type) {
	case *ast.AssignStmt:
		return slices.ContainsFunc(n.Lhs, func(x ast.Expr) bool {
			i, ok := ast.Unparen(x).(*ast.IndexExpr)
			return ok && is(i.X)
		})
	case *ast.CallExpr:
		id, ok := ast.Unparen(n.Fun).(*ast.Ident)
		if !ok || len(n.Args) < 2 || !is(n.Args[0]) || n.Ellipsis.IsValid() && isCut(n.Args[0]) && isCut(n.Args[1]) {
			return false // or it takes something out of the middle
		}
		b, ok := info.Uses[id].(*types.Builtin)
		return ok && b.Name() == "append"
	}
	return false
}

func isCut(x ast.Expr) bool {
	_, ok := ast.Unparen(x).(*ast.SliceExpr)
	return ok
}

// callsAny returns what tells calls of one of some functions, by package and name.
func callsAny(names []string) func(ast.Node, *types.Info) bool {
	return func(n ast.Node, info *types.Info) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok {
			return false
		}
		x, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr)
		if !ok {
			return false
		}
		f := info.Uses[x.Sel]
		return f != nil && f.Pkg() != nil && slices.Contains(names, f.Pkg().Path()+"."+f.Name())
	}
}
