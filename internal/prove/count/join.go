package count

import (
	"cmp"
	"context"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gowhy/gowhy/internal/know/model"
	"github.com/gowhy/gowhy/internal/prove/subject"
	"github.com/gowhy/gowhy/internal/read/coverage"
)

// What is hot: a function with a twentieth of the cost itself, or with a tenth below it, of
// CPU time or of bytes. Counting what costs less answers no question.
const (
	hotSelf = 0.05
	hotCum  = 0.10
	// leastBytes are those of which a part is looked at: of one sample for each 512 KiB there are
	// too few below that to tell a tenth, and what begins a program is much of it.
	leastBytes = 16 << 20
)

// maxPackages bounds how many are counted, and maxSource the files that are read for it.
const (
	maxPackages = 40
	maxSource   = 4 << 20
)

// uncounted are packages of the standard library that what counts rests on, that have no
// source but assembly, or that run tests: what recording a test takes is not the program's.
var uncounted = strings.Fields("runtime internal sync/atomic unsafe syscall testing vendor")

// countable reports whether the go command can count in a package.
func countable(pkg string) bool {
	if pkg == "" || !model.IsStd(pkg+".f") {
		return pkg != ""
	}
	return !slices.ContainsFunc(uncounted, func(p string) bool { return pkg == p || strings.HasPrefix(pkg, p+"/") })
}

// hotPackages returns the import paths of what is hot, and that of main: a program whose main does
// not count writes no counters. It is nil, for those of the main module, without a model or
// where main's path is not known.
func hotPackages(m *model.Model, main string) (list []string) {
	if m == nil || main == "" {
		return nil
	}
	list = append(list, main)
	functions, all := m.Functions()
	for _, f := range functions {
		hot := float64(f.CPU) >= hotSelf*float64(all.CPU) && f.CPU > 0 || float64(f.CumCPU) >= hotCum*float64(all.CPU) && f.CumCPU > 0 ||
			f.CumBytes >= hotCum*all.Bytes && all.Bytes >= leastBytes
		if !hot {
			continue
		}
		if p := packageOf(f.Name, main); countable(p) && !slices.Contains(list, p) && len(list) < maxPackages {
			list = append(list, p)
		}
	}
	return list
}

// aloneSamples is the fewest samples that tell who runs what is hot: of twenty, one at least is of
// another goroutine that does a seventh of it, in 19 cases of 20. A program that is sampled less often is
// short, and may as well count more carefully.
const aloneSamples = 20

// singleGoroutine reports whether only one goroutine at a time runs what is hot: the main one, or that
// of a benchmark or of the only test. A stack that is cut short tells none of them.
func singleGoroutine(m *model.Model, main string, hot []string) bool {
	p := m.BelievedCPU()
	if p == nil {
		return false
	}
	test, seen := "", int64(0)
	for i := range p.Samples {
		frames := m.Stacks.Frames(p.Samples[i].Stack)
		counted := slices.ContainsFunc(frames, func(f model.Frame) bool { return slices.Contains(hot, packageOf(f.Func, main)) })
		if counted {
			seen += p.Samples[i].Values[0]
		}
		if !counted || slices.ContainsFunc(frames, func(f model.Frame) bool { return slices.Contains(ofOne, f.Func) }) {
			continue
		}
		own := testOf(frames)
		if own == "" || test != "" && own != test {
			return false
		}
		test = own
	}
	return seen >= aloneSamples
}

// testOf returns the test whose goroutine a stack is of; empty for others. A subtest is a literal,
// or has a name that is no test's, and may run beside others.
func testOf(frames []model.Frame) string {
	i := slices.IndexFunc(frames, func(f model.Frame) bool { return f.Func == "testing.tRunner" })
	if i < 1 {
		return ""
	}
	name := frames[i-1].Func
	if _, local := model.SplitSymbol(name); !strings.HasPrefix(local, "Test") || strings.Contains(local, ".") {
		return ""
	}
	return name
}

// ofOne are functions below which one goroutine at a time runs.
var ofOne = []string{"runtime.main", "testing.(*B).launch", "testing.(*B).run1.func1"}

// packageOf returns the import path of a function's package.
func packageOf(function, main string) string {
	pkg, _ := model.SplitSymbol(function)
	if pkg == "main" {
		return main
	}
	return pkg
}

// A join is the counters of runs with the source that has them.
type join struct {
	main   string
	files  map[string][][]*coverage.Function // by the counters' name of a file: of each run
	joined map[string]int                    // frames of a file that are at their functions
	astray map[string]int                    // and at others
}

// newJoin reads the source of what was counted.
func newJoin(ctx context.Context, p *program, profiles []*coverage.Profile) (*join, error) {
	j := &join{main: p.path, files: map[string][][]*coverage.Function{},
		joined: map[string]int{}, astray: map[string]int{}}
	var packages []string
	for name := range profiles[0].Files {
		packages = append(packages, path.Dir(name))
	}
	slices.Sort(packages)
	dirs, err := subject.PackageDirs(ctx, p.spec.Dir, slices.Compact(packages))
	if err != nil {
		return nil, err
	}
	for name := range profiles[0].Files {
		dir := dirs[path.Dir(name)]
		if path.Dir(name) == "command-line-arguments" {
			dir = p.spec.Dir
		}
		set := token.NewFileSet()
		file := parseFile(set, filepath.Join(dir, path.Base(name)))
		if dir == "" || file == nil {
			continue
		}
		for _, profile := range profiles {
			j.files[name] = append(j.files[name], coverage.Functions(set, file, profile.Files[name]))
		}
	}
	return j, nil
}

func parseFile(set *token.FileSet, name string) *ast.File {
	if info, err := os.Stat(name); err != nil || !info.Mode().IsRegular() || info.Size() > maxSource {
		return nil
	}
	text, err := os.ReadFile(name)
	if err != nil {
		return nil
	}
	file, _ := parser.ParseFile(set, name, text, parser.SkipObjectResolution)
	return file
}

// A counted function, by the name of its file and its place among those of the file.
type counted struct {
	file string
	n    int
}

// of returns the function of a frame, as the run counted it that costs are of.
func (j *join) of(f model.Frame, run int) (key counted, fn *coverage.Function) {
	file := packageOf(f.Func, j.main) + "/" + filepath.Base(f.File)
	runs := j.files[file]
	if runs == nil || f.Line <= 0 {
		return key, nil
	}
	_, name := model.SplitSymbol(f.Func)
	parts := strings.FieldsFunc(model.WithoutTypes(name), func(r rune) bool { return strings.ContainsRune(".()*", r) })
	fn = coverage.Find(runs[run], f.Line, isLiteral(parts))
	if fn == nil || fn.Name != "" && !slices.ContainsFunc(parts, func(p string) bool { return plain(p) == fn.Name }) {
		j.astray[path.Base(file)]++
		return key, nil
	}
	j.joined[path.Base(file)]++
	return counted{file, slices.Index(runs[run], fn)}, fn
}

// isLiteral reports whether the parts of a name are of a literal in a function, by the
// compiler's names for these: f.func1, f.func1.2.
func isLiteral(parts []string) bool {
	if len(parts) == 0 {
		return false
	}
	last := plain(parts[len(parts)-1])
	number, ok := strings.CutPrefix(last, "func")
	return last != "" && strings.Trim(number, "0123456789") == "" && (number != "" && ok || !ok && number != "")
}

// plain returns a part of a name without what the compiler adds for the body of a loop over a
// function, and for a method as a value.
func plain(part string) string {
	part, _, _ = strings.Cut(part, "-")
	return part
}

// A cost is CPU time or bytes of one function, by its loops: what is in none has number 0, a
// loop its own and one.
type cost struct {
	self, cum    float64
	loops, below map[int]float64
	lines        map[int]float64
	callers      map[model.Frame]float64
	name, file   string
}

// costs adds up a profile by functions that were counted. What calls nothing that was
// counted, as the runtime, is part of the line that called it.
func (j *join) costs(m *model.Model, p *model.Profile, column, run int) (costs map[counted]*cost, all float64) {
	costs = map[counted]*cost{}
	for i := range p.Samples {
		v := p.Samples[i].Value(column)
		all += v
		frames := m.Stacks.Frames(p.Samples[i].Stack)
		seen, first := map[counted]map[int]bool{}, true
		for n, f := range frames {
			key, fn := j.of(f, run)
			if fn == nil {
				continue
			}
			c := costs[key]
			if c == nil {
				c = &cost{loops: map[int]float64{}, below: map[int]float64{}, lines: map[int]float64{}, callers: map[model.Frame]float64{}, name: f.Func, file: f.File}
				costs[key] = c
			}
			loop := fn.Loop(f.Line)
			if first {
				c.self += v
				c.loops[loop+1] += v
				c.lines[f.Line] += v
				first = false
			}
			if seen[key] == nil {
				seen[key] = map[int]bool{}
				c.cum += v
				if n+1 < len(frames) {
					c.callers[model.Frame{Func: frames[n+1].Func, File: frames[n+1].File, Line: frames[n+1].Line}] += v
				}
			}
			for {
				if !seen[key][loop+1] {
					seen[key][loop+1] = true
					c.below[loop+1] += v
				}
				if loop < 0 {
					break
				}
				loop = fn.Loops[loop].Outer
			}
		}
	}
	return costs, all
}

// report fills a report: what is hot by the model, or else what ran most.
func (j *join) report(m *model.Model, r *Report) {
	var cpu, bytes map[counted]*cost
	var allBytes float64
	if m != nil {
		if p := m.BelievedCPU(); p != nil {
			_, nanos := p.Columns()
			cpu, r.CPU = j.costs(m, p, nanos, r.Base)
		}
		if p := m.Heap; p != nil {
			bytes, allBytes = j.costs(m, p, p.Column("alloc_space"), r.Base)
		}
		if allBytes < leastBytes {
			bytes, allBytes = nil, 0
		}
	}
	costs := cpu
	if costs == nil {
		costs = bytes
	}
	keys := slices.Collect(maps.Keys(cpu))
	for k := range bytes {
		if cpu[k] == nil {
			keys = append(keys, k)
		}
	}
	if cpu == nil {
		keys = j.busiest(r.Base)
	}
	for _, k := range keys {
		f := j.function(k, cpu[k], bytes[k], j.callers(k, costs, r.Base), r, allBytes)
		if f.Self >= hotSelf || f.Cum >= hotCum || f.CumBytes >= hotCum || m == nil {
			r.Functions = append(r.Functions, f)
		}
	}
	slices.SortFunc(r.Functions, func(a, b Function) int {
		return cmp.Or(cmp.Compare(b.Self, a.Self), cmp.Compare(b.Cum, a.Cum), cmp.Compare(b.CumBytes, a.CumBytes), cmp.Compare(b.most(), a.most()), cmp.Compare(a.Name, b.Name), cmp.Compare(a.Line, b.Line))
	})
	if stale := j.stale(); len(stale) > 0 {
		r.note("the source of %s is not what was recorded, and was not joined: record it again", strings.Join(stale, ", "))
	}
}

// strays is the part of a file's frames that may be at other functions: now and then the
// compiler gives an instruction the line of what it inlined, and the name of what that is in.
const strays = 0.05

// stale returns the files whose source changed since the recording: not just strays are at
// other functions there.
func (j *join) stale() (files []string) {
	for file, astray := range j.astray {
		if float64(astray) > strays*float64(astray+j.joined[file]) {
			files = append(files, file)
		}
	}
	slices.Sort(files)
	return files
}

// callersUp is how far up the loop is looked for in which a function is called.
const callersUp = 16

// An enclosingLoop is a loop around another, or around a call.
type enclosingLoop struct {
	*coverage.Loop
	at Place
}

// callers returns the loops from which most of a function's cost comes, the nearest first.
func (j *join) callers(k counted, costs map[counted]*cost, run int) (loops []enclosingLoop) {
	for range callersUp {
		c := costs[k]
		if c == nil {
			break
		}
		at := c.caller()
		if at == nil {
			break
		}
		key, fn := j.of(model.Frame{Func: at.Function, File: at.File, Line: at.Line}, run)
		if fn == nil || key == k { // a function that calls itself has its own loop around it
			break
		}
		for i := fn.Loop(at.Line); i >= 0; i = fn.Loops[i].Outer {
			loops = append(loops, enclosingLoop{&fn.Loops[i], Place{at.Function, at.File, fn.Loops[i].Line}})
		}
		k = key
	}
	return loops
}

// mostBusiest bounds the functions of a report without a profile that says which are hot.
const mostBusiest = 10

// busiest returns the functions whose loops or calls ran most.
func (j *join) busiest(run int) (keys []counted) {
	most := map[counted]uint64{}
	for file, runs := range j.files {
		for n, fn := range runs[run] {
			k := counted{file, n}
			most[k] = fn.Calls
			for _, l := range fn.Loops {
				most[k] = max(most[k], l.Rounds)
			}
			if most[k] > 0 {
				keys = append(keys, k)
			}
		}
	}
	slices.SortFunc(keys, func(a, b counted) int {
		return cmp.Or(cmp.Compare(most[b], most[a]), cmp.Compare(a.file, b.file), cmp.Compare(a.n, b.n))
	})
	return keys[:min(len(keys), mostBusiest)]
}
