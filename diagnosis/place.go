package diagnosis

import (
	"strings"
	"time"

	"github.com/gowhy/gowhy/model"
)

// IsStd reports whether a function, named as the runtime names it, belongs
// to the standard library or the runtime: the first element of its import
// path has no dot, and it is not main. Functions of the go command's test
// binaries ("main.test…") and vendored copies inside the standard library
// count by the same rule, "vendor/golang.org/…" being the library's own.
func IsStd(function string) bool {
	pkg := packagePath(function)
	if pkg == "" || pkg == "main" {
		return false
	}
	first, _, _ := strings.Cut(pkg, "/")
	return first == "vendor" || !strings.Contains(first, ".") && stdRoots[first]
}

// stdRoots are the first path elements of the standard library's packages. A
// module may be named without a dot ("module app"), so the absence of a dot
// alone would take such a program's own code for the library's.
var stdRoots = func() map[string]bool {
	m := map[string]bool{}
	for _, n := range strings.Fields(`archive arena bufio builtin bytes cmd cmp compress
		container context crypto database debug embed encoding errors expvar flag fmt go
		hash html image index internal io iter log maps math mime net os path plugin
		reflect regexp runtime simd slices sort strconv strings structs sync syscall
		testing text time type unicode unique unsafe weak _cgo gosave crosscall2 cgo`) {
		m[n] = true
	}
	return m
}()

// packagePath returns the import path in a symbol like
// "github.com/a/b.(*T[go.shape.int]).f.func1": everything up to the first dot
// after the last slash, slashes inside type arguments left aside. A symbol
// without a dot, as C code and assembly have, has no package.
func packagePath(function string) string {
	name, _, _ := strings.Cut(function, "[")
	// A receiver may hold a path only inside type arguments, cut off above.
	slash := strings.LastIndexByte(name, '/') + 1
	dot := strings.IndexByte(name[slash:], '.')
	if dot < 0 {
		return ""
	}
	// The linker writes dots in a path's last element as %2e.
	return strings.ReplaceAll(name[:slash+dot], "%2e", ".")
}

// UserPlace returns the frame of a stack nearest to the leaf that is not of
// the standard library or the runtime: the line its author can change.
func (p *Pass) UserPlace(s model.Stack) (Place, bool) { return UserPlace(p.Model.Stacks.Frames(s)) }

// UserPlace is [Pass.UserPlace] for frames, leaf first. Functions of the
// kernel and of C have no line; some have dots in their names as Go's have.
func UserPlace(frames []model.Frame) (Place, bool) {
	for _, f := range frames {
		if f.Line > 0 && packagePath(f.Func) != "" && !IsStd(f.Func) {
			return Place{f.Func, f.File, f.Line}, true
		}
	}
	return Place{}, false
}

// GroupPlace returns where a group comes from: its start function when that
// is the user's own, else the user's code that created it.
func (p *Pass) GroupPlace(g *model.Group) (Place, bool) {
	if g.Name != "" && !IsStd(g.Name) {
		return Place{g.Name, g.Start.File, g.Start.Line}, true
	}
	return p.UserPlace(g.Creator)
}

// Seconds is the length of the window, 0 when unknown.
func (p *Pass) Seconds() float64 { return p.Model.Run.Duration.Seconds() }

// Procs is GOMAXPROCS, or the number of Ps seen; at least 1.
func (p *Pass) Procs() int {
	n := p.Model.Run.Procs
	if n == 0 && p.Model.Sched != nil {
		n = len(p.Model.Sched.Procs)
	}
	return max(n, 1)
}

// Share returns what part of the Ps' time in the window d is.
func (p *Pass) Share(d time.Duration) float64 {
	return ratio(d.Seconds(), p.Seconds()*float64(p.Procs()))
}

// CPUTime returns the CPU time of a profile and its number of samples; zero
// without one.
func CPUTime(m *model.Model) (time.Duration, int64) {
	return cpuWhere(m, nil)
}

// CPUShare returns the share of CPU time, 0 to 1, of samples with any frame
// for which match holds, and how many samples those were. Without a CPU
// profile both are 0: see [model.Model.Has].
func (p *Pass) CPUShare(match func(function string) bool) (share float64, samples int64) {
	d, n := cpuWhere(p.Model, match)
	all, _ := CPUTime(p.Model)
	return ratio(d.Seconds(), all.Seconds()), n
}

func cpuWhere(m *model.Model, match func(string) bool) (d time.Duration, n int64) {
	if m.CPU == nil {
		return 0, 0
	}
	count, nanos := m.CPU.Columns()
	for i := range m.CPU.Samples {
		s := &m.CPU.Samples[i]
		if match != nil && !anyFrame(m, s.Stack, match) {
			continue
		}
		if count >= 0 && count < len(s.Values) {
			n += s.Values[count]
		} else {
			n++
		}
		if nanos >= 0 && nanos < len(s.Values) {
			d += time.Duration(s.Values[nanos])
		}
	}
	return d, n
}

func anyFrame(m *model.Model, s model.Stack, match func(string) bool) bool {
	for _, f := range m.Stacks.Frames(s) {
		if match(f.Func) {
			return true
		}
	}
	return false
}
