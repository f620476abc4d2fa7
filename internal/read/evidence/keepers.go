package evidence

import (
	"cmp"
	"go/ast"
	"go/types"
	"iter"
	"path/filepath"
	"slices"
	"strconv"
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
	// keptPackages is how many packages of a program are read for them.
	keptPackages = 256
	// keptShare is the part of what a holder has that must lie behind a container.
	keptShare = 0.5
)

// contextMakers are the functions that make contexts of a type.
var contextMakers = map[string][]string{
	"context.afterFuncCtx": {"AfterFunc"},
	"context.timerCtx":     {"WithTimeout", "WithDeadline", "WithTimeoutCause", "WithDeadlineCause"},
	"context.cancelCtx":    {"WithCancel", "WithCancelCause"},
}

// joinKeepers finds the lines that put something where most of what is held stands.
func (l *loader) joinKeepers() {
	if l.opts.NoSource || l.opts.Elsewhere || len(l.m.Run.Holders) == 0 {
		return
	}
	look := l.m.Run.Holders[len(l.m.Run.Holders)-1]
	r := l.reasoner()
	r.most += maxHotPackages // beside those of hot lines
	var packages []codePackage
	for i := range look.Holders[:min(len(look.Holders), keptMost)] {
		h := &look.Holders[i]
		p := putsOf(look, h)
		if p == nil {
			continue
		}
		if packages == nil {
			packages = l.ownPackages(r)
		}
		h.Keepers = r.lines(packages, p)
	}
}

// puts tells the statements and calls that put something somewhere. A package that does has one of the names.
type puts struct {
	names []string
	does  func(ast.Node, *types.Info) bool
}

// putsOf returns what puts something where a holder has most; nil where that is not known.
func putsOf(look *model.HeapLook, h *model.Holder) *puts {
	if makers := contextMakers[look.Contexts(h)]; makers != nil {
		return &puts{makers, func(n ast.Node, info *types.Info) bool { return calls(n, "context", makers, info) }}
	}
	if h.Kind == model.HeldByTimers {
		makers := []string{"AfterFunc"}
		return &puts{makers, func(n ast.Node, info *types.Info) bool { return calls(n, "time", makers, info) }}
	}
	container := keptIn(h)
	if container == "" || h.Kind == model.HeldByRuntime {
		return nil
	}
	element, _, _ := strings.Cut(container[strings.LastIndexByte(container, '.')+1:], "[")
	return &puts{[]string{element}, func(n ast.Node, info *types.Info) bool { return writes(n, container, info) }}
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

// A codePackage is one of the program, by one of its files as stacks name them.
type codePackage struct{ path, file string }

// ownPackages returns those that are not the standard library's or the recorder's: of profiles of the heap and the CPU, those with most
// samples first, and then what these import of their own module.
func (l *loader) ownPackages(r *reasoner) (list []codePackage) {
	sum, first := map[string]int{}, map[string]string{}
	for _, p := range []*model.Profile{l.m.Heap, l.m.LiveHeap.End, l.m.CPU} {
		if p == nil {
			continue
		}
		for i := range p.Samples {
			for _, f := range l.m.Stacks.Frames(p.Samples[i].Stack) {
				if model.IsStd(f.Func) || f.File == "" || model.OfRecording([]model.Frame{f}) {
					continue
				}
				pkg, _ := model.SplitSymbol(f.Func)
				sum[pkg]++
				first[pkg] = cmp.Or(first[pkg], f.File)
			}
		}
	}
	for pkg, file := range first {
		list = append(list, codePackage{pkg, file})
	}
	slices.SortFunc(list, func(a, b codePackage) int {
		return cmp.Or(cmp.Compare(sum[b.path], sum[a.path]), cmp.Compare(a.path, b.path))
	})
	for i := 0; i < len(list) && len(list) < keptPackages; i++ {
		for path, file := range r.ownImports(list[i].file) {
			if first[path] == "" {
				first[path] = file
				list = append(list, codePackage{path, file})
			}
		}
	}
	return list[:min(len(list), keptPackages)]
}

// ownImports returns a file of each package that one imports of its own module, by their paths.
func (r *reasoner) ownImports(file string) iter.Seq2[string, string] {
	return func(yield func(string, string) bool) {
		g := r.file(file)
		if g == nil {
			return
		}
		dir := filepath.Dir(g.set.Position(g.file.Pos()).Filename)
		for _, f := range r.builtFiles(dir) {
			for _, spec := range f.Imports {
				path, err := strconv.Unquote(spec.Path.Value)
				if err != nil || model.IsStd(path+".x") {
					continue
				}
				if files, own := r.importFiles(path, dir); own && len(files) > 0 && !yield(path, r.set.Position(files[0].Pos()).Filename) {
					return
				}
			}
		}
	}
}

// lines returns those of some packages at which something is done, none where they are many; those last whose function takes
// something out, too. Types are checked of what has one of some names in it.
func (r *reasoner) lines(packages []codePackage, p *puts) (lines []model.Frame) {
	var last []model.Frame
	for _, pkg := range packages {
		g := r.file(pkg.file)
		if g == nil || !r.mentions(filepath.Dir(g.set.Position(g.file.Pos()).Filename), p.names) {
			continue
		}
		checked := r.checkPackage(model.Frame{Func: pkg.path + ".init"}, g)
		if checked == nil || checked.info == nil {
			continue
		}
		for _, file := range checked.files {
			for _, d := range file.Decls {
				decl, ok := d.(*ast.FuncDecl)
				if !ok || decl.Body == nil || runsOnce(decl) {
					continue
				}
				to := &lines
				if removes(decl) {
					to = &last
				}
				ast.Inspect(decl.Body, func(n ast.Node) bool {
					if n != nil && p.does(n, checked.info) {
						where := r.set.Position(n.Pos())
						file := filepath.Join(filepath.Dir(pkg.file), filepath.Base(where.Filename))
						*to = append(*to, model.Frame{Func: pkg.path + "." + pattern.DeclaredName(decl), File: file, Line: where.Line})
					}
					return true
				})
			}
		}
	}
	if len(lines)+len(last) > keptLines {
		return nil
	}
	return append(lines, last...)
}

// removes reports whether a function also takes something out of a map or a slice, or begins one anew with a part of another.
func removes(decl *ast.FuncDecl) (does bool) {
	ast.Inspect(decl.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.SliceExpr:
			high, ok := n.High.(*ast.BasicLit)
			does = does || n.Low == nil && ok && high.Value == "0"
		case *ast.CallExpr:
			name := types.ExprString(n.Fun)
			does = does || name == "delete" || strings.HasPrefix(name, "slices.Delete") ||
				name == "append" && n.Ellipsis.IsValid() && isCut(n.Args[len(n.Args)-1])
		}
		return !does
	})
	return does
}

// mentions reports whether the package in a folder has one of some names.
func (r *reasoner) mentions(dir string, names []string) (has bool) {
	for _, f := range r.builtFiles(dir) {
		ast.Inspect(f, func(n ast.Node) bool {
			id, ok := n.(*ast.Ident)
			has = has || ok && slices.Contains(names, id.Name)
			return !has
		})
	}
	return has
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

// calls reports whether a call is of one of some functions of a package.
func calls(n ast.Node, pkg string, names []string, info *types.Info) bool {
	call, ok := n.(*ast.CallExpr)
	if !ok {
		return false
	}
	x, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr)
	if !ok {
		return false
	}
	f := info.Uses[x.Sel]
	return f != nil && f.Pkg() != nil && f.Pkg().Path() == pkg && slices.Contains(names, f.Name())
}
