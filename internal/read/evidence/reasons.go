package evidence

import (
	"cmp"
	"go/ast"
	"go/build"
	"go/types"
	"maps"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gowhy/gowhy/internal/know/model"
	"github.com/gowhy/gowhy/internal/read/pattern"
	"github.com/gowhy/gowhy/internal/read/sourcefile"
)

// Whether the work of a hot line is necessary is written in its source: the lines that
// profiles name are read, and what is known to have a cheaper equivalent is a reason of
// the model. Lines are found by where they call to: who is called tells the types that
// source alone does not.

const (
	// hotLine is the part of all CPU time, or of all bytes, under a call of a line from which
	// its source is looked at: half of what accuses, for several lines may be one reason.
	hotLine = 0.05
	// maxHotLines and maxHotPackages bound what is read: of a profile no more than 20 calls
	// at a depth can have a twentieth.
	maxHotLines    = 100
	maxHotPackages = 16
)

// A hotCall is a line of a function and what it calls; the line itself where that is "".
type hotCall struct {
	caller model.Frame
	callee string
}

// joinReasons finds why work is not necessary.
func (l *loader) joinReasons() {
	if l.opts.NoSource || l.opts.Elsewhere {
		return
	}
	calls, parts := l.hotCalls()
	if len(calls) == 0 {
		return
	}
	r := l.reasoner()
	for _, c := range calls { // what one line says may hang on who calls it, from another package
		if g, body := r.code(c.caller); body != nil {
			r.checkPackage(c.caller, g)
		}
	}
	for _, c := range calls {
		if reason, ok := r.reason(c); ok && !(reason.Pattern == model.TextForLog && isLogged(c, reason.Line, reason.Last, parts)) && !slices.ContainsFunc(l.m.Reasons, func(o model.Reason) bool { return o.Same(&reason) }) {
			l.m.Reasons = append(l.m.Reasons, reason)
		}
	}
	if len(r.differing) > 0 {
		l.note("the source of %s is not what the program was built from, and was not used", strings.Join(slices.Sorted(maps.Keys(r.differing)), ", "))
	}
}

// reasoner returns the one of a recording, which has read what it was asked for.
func (l *loader) reasoner() *reasoner {
	if l.reasons != nil {
		return l.reasons
	}
	r := &reasoner{sourceReader: l.sourceReader(), version: l.m.Run.Go, most: maxHotPackages, infos: map[string]*checkedPackage{}, differing: map[string]bool{}, modules: map[string]*sourcefile.Module{}}
	if r.version == "" && l.m.Build != nil {
		r.version = l.m.Build.Go
	}
	if l.m.Run.Dir != "" {
		r.dirs = []string{l.m.Run.Dir}
	}
	r.types = pattern.NewTypes(r.set, l.goroot(), r.importFiles)
	l.reasons = r
	return r
}

// isLogged reports whether the call that logs takes a good part of what is made for it: a message that nobody wants
// costs its text and next to nothing besides.
func isLogged(text hotCall, first, last int, parts map[hotCall]float64) bool {
	others := 0.0
	for c, part := range parts {
		if c.caller.Func == text.caller.Func && c.caller.File == text.caller.File && first <= c.caller.Line && c.caller.Line <= last && model.OfDebugging(c.callee) {
			others += part
		}
	}
	return others >= parts[text]/2
}

// hotCalls returns the calls of lines with enough of the CPU time or of the bytes, most first, and
// the parts of all calls.
func (l *loader) hotCalls() (calls []hotCall, parts map[hotCall]float64) {
	parts = map[hotCall]float64{}
	profile := l.m.CPU
	if profile == nil && l.m.Kernel != nil {
		profile = l.m.Kernel.CPU
	}
	if profile != nil {
		_, value := profile.Columns()
		l.addCalls(parts, profile, max(value, 0), false)
	}
	if l.m.Heap != nil {
		l.addCalls(parts, l.m.Heap, l.m.Heap.Column("alloc_space"), true)
	}
	for c, part := range parts {
		if part >= hotLine {
			calls = append(calls, c)
		}
	}
	slices.SortFunc(calls, func(a, b hotCall) int {
		return cmp.Or(cmp.Compare(parts[b], parts[a]), cmp.Compare(a.caller.Func, b.caller.Func), cmp.Compare(a.caller.Line, b.caller.Line), cmp.Compare(a.callee, b.callee))
	})
	return calls[:min(len(calls), maxHotLines)], parts
}

// addCalls adds up a profile. One of the heap leaves out the runtime's functions, so that a
// line at its leaf is where an operator allocates.
func (l *loader) addCalls(parts map[hotCall]float64, profile *model.Profile, column int, heap bool) {
	all := 0.0
	sums, once := map[hotCall]float64{}, map[hotCall]bool{}
	for i := range profile.Samples {
		s := &profile.Samples[i]
		v := s.Value(column)
		all += v
		clear(once)
		frames := l.m.Stacks.Frames(s.Stack)
		if model.OfRecording(frames) {
			continue
		}
		for _, c := range callsOf(frames) {
			if heap && c.callee == "" {
				c.callee = pattern.Allocation
			}
			if !once[c] {
				once[c] = true
				sums[c] += v
			}
		}
	}
	for c, v := range sums {
		if all > 0 {
			parts[c] = max(parts[c], v/all)
		}
	}
}

// callsOf returns the calls of a stack's lines that somebody can change.
func callsOf(frames []model.Frame) (calls []hotCall) {
	nearest := true
	for i, f := range frames {
		if f.Line <= 0 || f.File == "" || model.IsStd(f.Func) {
			continue
		}
		c := hotCall{caller: model.Frame{Func: f.Func, File: f.File, Line: f.Line}}
		if i > 0 {
			c.callee = frames[i-1].Func
		}
		calls = append(calls, c)
		if nearest {
			nearest = false
			for _, deep := range pattern.DeepCallees() {
				if slices.ContainsFunc(frames[:i], func(f model.Frame) bool { return f.Func == deep }) {
					c.callee = deep
					calls = append(calls, c)
				}
			}
		}
	}
	return calls
}

// goroot finds the standard library that the program was built from, or else this
// machine's.
func (l *loader) goroot() string {
	for s := range model.Stack(l.m.Stacks.Len()) {
		for _, f := range l.m.Stacks.Frames(s) {
			if !model.IsStd(f.Func) || !filepath.IsAbs(f.File) {
				continue
			}
			pkg, _ := model.SplitSymbol(f.Func)
			root, ok := strings.CutSuffix(filepath.ToSlash(filepath.Dir(f.File)), "/src/"+pkg)
			if info, err := os.Stat(filepath.Join(root, "src")); ok && err == nil && info.IsDir() {
				return root
			}
		}
	}
	return build.Default.GOROOT
}

// A reasoner finds reasons in functions.
type reasoner struct {
	*sourceReader
	types     *pattern.Types
	version   string
	most      int                           // packages whose types are checked
	infos     map[string]*checkedPackage    // by the package's folder
	differing map[string]bool               // files that are not the program's
	modules   map[string]*sourcefile.Module // by folder; nil where there is none around it
}

// A checkedPackage is what is known of a package's types.
type checkedPackage struct {
	files []*ast.File
	info  *types.Info
}

func (r *reasoner) reason(c hotCall) (reason model.Reason, ok bool) {
	g, body := r.code(c.caller)
	if body == nil && r.file(c.caller.File) != nil {
		r.differing[filepath.Base(c.caller.File)] = true
	}
	if body == nil {
		return reason, false
	}
	checked := r.checkPackage(c.caller, g)
	if checked == nil {
		return reason, false
	}
	f := pattern.Function{Set: r.set, Info: checked.info, Files: r.types.Files(checked.files), Body: body, Go: r.version}
	if fn := r.function(c.caller); fn != nil {
		f.Decl = fn.decl
	}
	callee := c.callee
	if model.OfLine(callee) && strings.HasPrefix(callee, "internal/") {
		callee = "" // one of the assembly's names for comparing
	}
	reason, ok = pattern.Find(&f, c.caller.Line, callee)
	reason.Func, reason.File = c.caller.Func, c.caller.File
	if m := &reason.Maker; m.Func != "" && filepath.Dir(m.File) == filepath.Dir(r.set.Position(body.Pos()).Filename) {
		pkg, _ := model.SplitSymbol(c.caller.Func)
		m.Func, m.File = pkg+"."+m.Func, filepath.Join(filepath.Dir(c.caller.File), filepath.Base(m.File))
	} else if m.Func != "" {
		m.Func = r.packageAt(filepath.Dir(m.File)) + "." + m.Func
	}
	return reason, ok
}

// checkPackage returns the types of the package that a file is of; nil when too many were asked for.
func (r *reasoner) checkPackage(f model.Frame, g *goFile) *checkedPackage {
	name := g.set.Position(g.file.Pos()).Filename
	dir := filepath.Dir(name)
	if strings.HasSuffix(name, "_test.go") {
		dir = name
	}
	if c, ok := r.infos[dir]; ok {
		return c
	}
	if len(r.infos) >= r.most {
		return nil
	}
	c := &checkedPackage{files: r.builtFiles(filepath.Dir(name))}
	if !slices.Contains(c.files, g.file) {
		c.files = append(c.files, g.file) // a test, or of another system
	}
	pkg, _ := model.SplitSymbol(f.Func)
	if plain, err := url.PathUnescape(pkg); err == nil {
		pkg = plain
	}
	c.info = r.types.Check(pkg, c.files)
	r.infos[dir] = c
	return c
}

// builtFiles returns the files of the package in a folder that are built here.
func (r *reasoner) builtFiles(dir string) (files []*ast.File) {
	names, _ := filepath.Glob(filepath.Join(dir, "*.go"))
	for _, name := range names[:min(len(names), maxBeside)] {
		if ok, err := build.Default.MatchFile(dir, filepath.Base(name)); !ok || err != nil || strings.HasSuffix(name, "_test.go") {
			continue
		}
		if g := r.file(name); g != nil && (len(files) == 0 || g.file.Name.Name == files[0].Name.Name) {
			files = append(files, g.file)
		}
	}
	return files
}

// module returns the one around a folder; nil for none.
func (r *reasoner) module(dir string) *sourcefile.Module {
	m, ok := r.modules[dir]
	if !ok {
		m = sourcefile.ModuleAround(dir)
		r.modules[dir] = m
	}
	return m
}

// importFiles finds the files of a package that one in a folder imports.
func (r *reasoner) importFiles(pkg, dir string) (files []*ast.File, own bool) {
	m := r.module(dir)
	if m == nil {
		return nil, false
	}
	folder, own := m.Folder(pkg)
	if folder == "" {
		return nil, false
	}
	return r.builtFiles(folder), own
}

// packageAt returns the path of the package in a folder, as symbols have it.
func (r *reasoner) packageAt(dir string) string {
	m := r.module(dir)
	if m == nil {
		return filepath.Base(dir)
	}
	rest, err := filepath.Rel(m.Root, dir)
	if err != nil {
		return filepath.Base(dir)
	}
	return path.Join(m.Path, filepath.ToSlash(rest))
}
