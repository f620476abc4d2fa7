package truth

import (
	"bytes"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// WaitsFile is the name of the file beside programs that wait.
const WaitsFile = "waits.yaml"

// Verdicts that may be wanted of a program that waits.
const (
	WantStalled = "stalled" // nothing goes on any more
	WantProblem = "problem" // it goes on, and is held up again and again
	WantNone    = "none"    // it is well: neither, and no finding
)

// Waits are programs of one binary whose goroutines wait, and what is true of each.
type Waits struct {
	Dir      string `yaml:"-"`
	About    string `yaml:"about"`
	Programs []Wait `yaml:"programs"`
}

// A Wait is one program: its verdict, and the lines that must be named.
type Wait struct {
	Name    string `yaml:"name"`
	Verdict string `yaml:"verdict"`
	// Allowed are rules that are right to speak although the program is well.
	Allowed []string `yaml:"allowed"`
	// Alone says that it uses the CPU: nothing else is to run meanwhile.
	Alone bool `yaml:"alone"`

	// Causes are lines at which goroutines wait for what is wrong, Holders those at which
	// who is waited for stands, and Cycle those of a circle, all of which must be named.
	Causes, Holders, Cycle []Mark `yaml:"-"`
}

// A Mark is a marked line of the source.
type Mark struct {
	Function string // as the runtime names it, without what a closure adds: "main.(*ledger).book"
	File     string // base name
	Line     int
}

// ReadWaits reads the truth about the programs in a folder, with the marks of their
// source.
func ReadWaits(dir string) (*Waits, error) {
	path := filepath.Join(dir, WaitsFile)
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	w := &Waits{Dir: dir}
	d := yaml.NewDecoder(bytes.NewReader(data))
	d.KnownFields(true)
	if err := d.Decode(w); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	sources, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		return nil, err
	}
	for _, source := range sources {
		if err := w.readMarks(source); err != nil {
			return nil, err
		}
	}
	if err := w.check(); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return w, nil
}

// Program returns the one of a name, nil when there is none.
func (w *Waits) Program(name string) *Wait {
	i := slices.IndexFunc(w.Programs, func(p Wait) bool { return p.Name == name })
	if i < 0 {
		return nil
	}
	return &w.Programs[i]
}

// waitMark is the comment of a marked line; roles are parted by semicolons.
var waitMark = regexp.MustCompile(`// want ((?:cause|holder|cycle) .*)$`)

// readMarks gives programs the marks of one file.
func (w *Waits) readMarks(path string) error {
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, path, nil, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	for _, group := range file.Comments {
		for _, comment := range group.List {
			m := waitMark.FindStringSubmatch(comment.Text)
			if m == nil {
				continue
			}
			at := Mark{Function: functionAt(file, comment.Pos()), File: filepath.Base(path), Line: files.Position(comment.Pos()).Line}
			for _, role := range strings.Split(m[1], ";") {
				if err := w.mark(at, strings.Fields(role)); err != nil {
					return fmt.Errorf("%s:%d: %w", at.File, at.Line, err)
				}
			}
		}
	}
	return nil
}

// mark gives the programs of a comment, a role and then names, a mark.
func (w *Waits) mark(at Mark, words []string) error {
	if len(words) < 2 {
		return errors.New("a mark has a role and names")
	}
	for _, name := range words[1:] {
		p := w.Program(name)
		if p == nil {
			return fmt.Errorf("there is no program %s", name)
		}
		switch words[0] {
		case "cause":
			p.Causes = append(p.Causes, at)
		case "holder":
			p.Holders = append(p.Holders, at)
		case "cycle":
			p.Cycle = append(p.Cycle, at)
		default:
			return fmt.Errorf("%s is no role of a mark", words[0])
		}
	}
	return nil
}

// functionAt returns the function of a place in a file of package main, as the runtime names it.
func functionAt(file *ast.File, at token.Pos) string {
	for _, d := range file.Decls {
		f, ok := d.(*ast.FuncDecl)
		if !ok || at < f.Pos() || at > f.End() {
			continue
		}
		if f.Recv == nil {
			return "main." + f.Name.Name
		}
		switch t := f.Recv.List[0].Type.(type) {
		case *ast.StarExpr:
			return fmt.Sprintf("main.(*%s).%s", t.X, f.Name.Name)
		default:
			return fmt.Sprintf("main.%s.%s", t, f.Name.Name)
		}
	}
	return ""
}

// check returns everything that is wrong with what is true of the programs.
func (w *Waits) check() error {
	var faults []error
	names := map[string]bool{}
	for _, p := range w.Programs {
		fault := func(format string, args ...any) {
			faults = append(faults, fmt.Errorf("%s: "+format, append([]any{p.Name}, args...)...))
		}
		if names[p.Name] {
			fault("it is there twice")
		}
		names[p.Name] = true
		marks := slices.Concat(p.Causes, p.Holders, p.Cycle)
		switch p.Verdict {
		case WantNone:
			if len(marks) > 0 {
				fault("it is well, and %s:%d is marked", marks[0].File, marks[0].Line)
			}
		case WantStalled, WantProblem:
			if len(p.Causes)+len(p.Cycle) == 0 {
				fault("no line is marked as its cause")
			}
			if len(p.Cycle) == 1 {
				fault("one line is no cycle")
			}
		default:
			fault("verdict %q is none of %s, %s and %s", p.Verdict, WantStalled, WantProblem, WantNone)
		}
		for _, m := range marks {
			if m.Function == "" {
				fault("%s:%d is in no function", m.File, m.Line)
			}
		}
	}
	return errors.Join(faults...)
}
