package count

import (
	"context"
	"debug/buildinfo"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/gowhy/gowhy/internal/ground/problem"
	"github.com/gowhy/gowhy/internal/ground/shell"
	"github.com/gowhy/gowhy/internal/know/model"
	"github.com/gowhy/gowhy/internal/prove/subject"
	"github.com/gowhy/gowhy/internal/read/loadresult"
)

// A program is how a command is built and run.
type program struct {
	spec     subject.BuildSpec // without an output
	path     string            // import path of the package; empty until something was built
	test     bool
	args     []string
	dir      string // where it runs
	env      []string
	binary   string // the command's own, when it is one
	counting string
}

// name returns the program for messages.
func (p *program) name() string {
	if at, err := filepath.Abs(p.spec.Dir); err == nil && p.packagePath() == "." {
		return shell.Word(filepath.Base(at))
	}
	return shell.Word(p.packagePath())
}

// packagePath returns the package for the go command.
func (p *program) packagePath() string {
	if p.spec.Package == "" {
		return "."
	}
	return p.spec.Package
}

// binaryPath returns a file for a binary; a recorder knows those of tests by their names.
func (p *program) binaryPath(file string) string {
	if p.test {
		return file + ".test"
	}
	return file
}

// setPath takes the import path from what was built.
func (p *program) setPath(binary string) {
	if info, err := buildinfo.ReadFile(binary); err == nil {
		p.path = strings.TrimSuffix(info.Path, ".test")
	}
}

// program finds out how a command is built.
func (s *Setup) program(ctx context.Context) (p *program, err error) {
	if filepath.Base(s.Command[0]) == "go" && len(s.Command) > 1 {
		p, err = s.goCommand(ctx)
	} else {
		p, err = s.built(ctx)
	}
	if err != nil {
		return nil, err
	}
	p.env = s.Env
	p.spec.Test = p.test
	// Without -trimpath, samples name files where they are, and packages of the standard
	// library are those that the user's builds have in the cache.
	p.spec.Flags = append(p.spec.Flags, "-trimpath=false")
	return p, nil
}

// goCommand returns the program of `go run` or `go test`.
func (s *Setup) goCommand(ctx context.Context) (*program, error) {
	verb := s.Command[1]
	if verb != "run" && verb != "test" {
		return nil, problem.New(problem.Misuse, "gowhy count -- go run ./cmd/app -n 1000   or   go test -bench .", "go %s runs no program", verb)
	}
	g := parseGo(s.Command[2:], verb == "test")
	p := &program{spec: subject.BuildSpec{Dir: s.Dir, Flags: g.flags}, test: verb == "test", args: g.args, dir: s.Dir}
	if g.dir != "" {
		p.spec.Dir = filepath.Join(s.Dir, g.dir)
	}
	switch {
	case len(g.packages) > 1:
		return nil, problem.New(problem.Misuse, "gowhy count -- go "+verb+" "+shell.Word(g.packages[0]), "%d packages were given, and one can be counted", len(g.packages))
	case len(g.packages) == 0 && !p.test:
		return nil, problem.New(problem.Misuse, "gowhy count -- go run ./cmd/app -n 1000", "go run was given no package")
	case len(g.packages) == 1:
		p.spec.Package = g.packages[0]
	}
	if strings.HasSuffix(p.spec.Package, ".go") { // the go command finds its module from there
		p.spec.Dir, p.spec.Package = filepath.Join(p.spec.Dir, filepath.Dir(p.spec.Package)), filepath.Base(p.spec.Package)
	}
	if !p.test {
		return p, nil
	}
	switch local := filepath.FromSlash(p.spec.Package); { // tests run where their data is
	case filepath.IsAbs(local):
		p.dir = local
	case local == "" || local[0] == '.':
		p.dir = filepath.Join(p.spec.Dir, local)
	default:
		var err error
		if p.dir, err = subject.PackageDir(ctx, p.spec.Dir, p.spec.Package); err != nil {
			return nil, err
		}
	}
	return p, nil
}

// goWords are the words of a go command, parted.
type goWords struct {
	dir             string // of -C
	flags           []string
	packages        []string
	args            []string // of the program, with -test. before the names of go test's own
	afterwards, own bool
}

var (
	// buildValues are flags of the go command with a value, testValues and testSwitches those
	// that the test binary has.
	buildValues = strings.Fields(`C p asmflags buildmode compiler gccgoflags gcflags installsuffix ldflags mod modfile
		overlay pgo pkgdir tags toolexec exec o covermode coverpkg coverprofile vet`)
	testValues = strings.Fields(`bench benchtime blockprofile blockprofilerate count cpu cpuprofile fuzz fuzzminimizetime fuzztime list
		memprofile memprofilerate mutexprofile mutexprofilefraction outputdir parallel run shuffle skip timeout trace`)
	testSwitches = strings.Fields("benchmem failfast fullpath short v")
	// unwanted are flags that say what becomes of the result, or would count otherwise.
	unwanted = strings.Fields(`exec o cover covermode coverpkg coverprofile vet json race msan asan a n x work
		blockprofile cpuprofile memprofile mutexprofile trace outputdir`)
)

// parseGo parts the words behind `go run` or `go test`.
func parseGo(words []string, test bool) (g goWords) {
	for i := 0; i < len(words); i++ {
		w := words[i]
		if !strings.HasPrefix(w, "-") || w == "-" {
			switch {
			case test && (g.own || g.afterwards && len(g.packages) > 0):
				g.args = append(g.args, w)
			case test:
				g.packages = append(g.packages, w)
			case len(g.packages) == 0 || strings.HasSuffix(w, ".go") && strings.HasSuffix(g.packages[0], ".go"):
				g.packages = append(g.packages, w)
			default:
				g.args = append(g.args, words[i:]...)
				return g
			}
			continue
		}
		if !test && len(g.packages) > 0 {
			g.args = append(g.args, words[i:]...)
			return g
		}
		g.afterwards = g.afterwards || len(g.packages) > 0
		name, value, joined := strings.Cut(strings.TrimLeft(w, "-"), "=")
		name = strings.TrimPrefix(name, "test.")
		ofTest := test && (slices.Contains(testValues, name) || slices.Contains(testSwitches, name))
		if takes := slices.Contains(buildValues, name) || test && slices.Contains(testValues, name); takes && !joined && i+1 < len(words) {
			i++
			value, joined = words[i], true
		}
		if joined {
			w = "-" + name + "=" + value
		}
		switch {
		case test && name == "args":
			g.args = append(g.args, words[i+1:]...)
			return g
		case slices.Contains(unwanted, name):
		case name == "C":
			g.dir = value
		case ofTest:
			g.args = append(g.args, "-test."+strings.TrimPrefix(w, "-"))
		case test && !slices.Contains(buildValues, name):
			g.args, g.own = append(g.args, words[i]), true
		default:
			g.flags = append(g.flags, w)
		}
	}
	return g
}

// built returns the program of a binary, whose package the binary or the recording names.
func (s *Setup) built(ctx context.Context) (*program, error) {
	p := &program{args: s.Command[1:], dir: s.Dir}
	path, settings := "", map[string]string{}
	file := s.Command[0]
	if s.Dir != "" && filepath.Base(file) != file && !filepath.IsAbs(file) {
		file = filepath.Join(s.Dir, file)
	}
	file, err := exec.LookPath(file)
	if err == nil {
		file, err = filepath.Abs(file)
	}
	if info, failed := buildinfo.ReadFile(file); err == nil && failed == nil {
		p.binary, path = file, info.Path
		for _, set := range info.Settings {
			settings[set.Key] = set.Value
		}
	} else if b := s.recordedBuild(); b != nil { // it was built somewhere else, or is gone
		path, settings = b.Path, b.Settings
	}
	if path == "" {
		return nil, problem.New(problem.Absence, "gowhy count -- go run ./cmd/app -n 1000   # or: go test -bench . ./parser", "%s does not tell the package that it is built from", shell.Word(s.Command[0]))
	}
	path, p.test = strings.CutSuffix(path, ".test")
	for _, name := range []string{"-tags", "-ldflags"} {
		if v := settings[name]; v != "" {
			p.spec.Flags = append(p.spec.Flags, name+"="+v)
		}
	}
	p.path, p.spec.Package = path, path
	if p.spec.Dir, err = s.moduleDir(ctx, path); err != nil {
		return nil, err
	}
	if path == "command-line-arguments" { // a file was built: its directory is found
		p.spec.Package, p.path = ".", ""
	}
	return p, nil
}

// recordedBuild returns the build information of the recording; nil without.
func (s *Setup) recordedBuild() *model.Build {
	if s.Model == nil {
		return nil
	}
	return s.Model.Build
}

// moduleDir returns a directory from which the go command finds the package: where main's file is
// that samples name, where the program ran, here, or beside the binary.
func (s *Setup) moduleDir(ctx context.Context, path string) (string, error) {
	dirs := []string{s.Dir, ".", filepath.Dir(s.Command[0])}
	if main := s.mainFile(); main != "" {
		dirs = append([]string{filepath.Dir(main)}, dirs...)
		if path == "command-line-arguments" {
			return filepath.Dir(main), nil
		}
	}
	for _, dir := range slices.Compact(dirs) {
		if at, err := subject.PackageDir(ctx, dir, path); err == nil && at != "" {
			return dir, nil
		} else if ctx.Err() != nil {
			return "", ctx.Err()
		}
	}
	return "", problem.New(problem.Absence, "cd to its module, then gowhy count again   # or: gowhy count -- go run ./cmd/app",
		"the source of %s is found neither here nor where it ran: counting needs it", path)
}

// mainFile returns the file of the program's main that samples name; empty without.
func (s *Setup) mainFile() string {
	if s.Model == nil {
		return ""
	}
	for i := range s.Model.Stacks.Len() {
		for _, f := range s.Model.Stacks.Frames(model.Stack(i)) {
			if f.Func == "main.main" && filepath.IsAbs(f.File) {
				return f.File
			}
		}
	}
	return ""
}

// benchmarks reports whether arguments of a test binary run benchmarks.
func benchmarks(args []string) bool {
	return slices.ContainsFunc(args, func(w string) bool {
		name, _, _ := strings.Cut(strings.TrimLeft(w, "-"), "=")
		return name == "test.bench"
	})
}

// roundsFlag is how many rounds a benchmark makes.
const roundsFlag = "test.benchtime"

// fixedRounds reports whether benchmarks make a number of rounds, rather than as many as a
// time allows.
func fixedRounds(args []string) (fixed bool) {
	for i, w := range args {
		name, value, joined := strings.Cut(strings.TrimLeft(w, "-"), "=")
		if name != roundsFlag {
			continue
		}
		if !joined && i+1 < len(args) {
			value = args[i+1]
		}
		fixed = strings.HasSuffix(value, "x")
	}
	return fixed
}

// withRounds has benchmarks make a number of rounds: of two flags the last one counts.
func withRounds(args []string, n int64) []string {
	k := &Knob{Name: "-" + roundsFlag}
	with, _ := k.apply(args, strconv.FormatInt(n, 10)+"x")
	return with
}

// leastRounds returns the least number of rounds that one of several benchmarks made; 0 of none.
func leastRounds(r *loadresult.Result) (n int64) {
	if r == nil {
		return 0
	}
	for _, b := range r.Benchmarks {
		if n == 0 || b.N < n {
			n = max(b.N, 1)
		}
	}
	return n
}

// note adds what a reader has to know about the figures.
func (r *Report) note(format string, args ...any) {
	if text := fmt.Sprintf(format, args...); !slices.Contains(r.Notes, text) {
		r.Notes = append(r.Notes, text)
	}
}
