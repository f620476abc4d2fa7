package gate

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/gowhy/gowhy/internal/ground/problem"
	"github.com/gowhy/gowhy/internal/prove/experiment"
	"github.com/gowhy/gowhy/internal/prove/subject"
)

// A runner builds the revisions and measures them.
type runner struct {
	repo *repository
	base string // commit
	tmp  string // holds the binaries
	log  func(string)
	made int
}

func newRunner(repo *repository, base string, o Options) (*runner, error) {
	tmp, err := os.MkdirTemp("", "gowhy-gate-")
	if err != nil {
		return nil, err
	}
	w := &runner{repo: repo, base: base, tmp: tmp, log: o.Log}
	if w.log == nil {
		w.log = func(string) {}
	}
	return w, nil
}

func (w *runner) close() { os.RemoveAll(w.tmp) }

func (w *runner) floor(ctx context.Context, step step) (float64, error) {
	step("measuring the noise of this machine", "")
	floor, _, err := subject.Floor(ctx, nil)
	return floor, err
}

func (w *runner) arms(ctx context.Context, c *CheckPolicy, step step) (pair, error) {
	dir, err := w.directory(ctx, c.Package)
	if err != nil {
		return pair{}, err
	}
	step("building the change", "")
	head, err := w.build(ctx, c, "")
	if err != nil {
		return pair{}, err
	}
	step("building the base", w.base[:min(len(w.base), 12)])
	base, err := w.build(ctx, c, w.base)
	if err != nil {
		if ctx.Err() == nil {
			err = &baseError{err}
		}
		return pair{}, err
	}
	if c.Command != "" {
		return w.commands(c, base, head)
	}
	p := pair{base: w.benchmarks(c, base, dir), head: w.benchmarks(c, head, dir), at: map[string]Position{}}
	for name, at := range benchmarksIn(dir) {
		p.at[name] = Position{w.repo.relative(at.File), at.Line}
	}
	return p, nil
}

// directory returns where a package of the working tree is. Both revisions run there, so that
// they find the same files. One that is named by its directory may be of a module of its own,
// which the go command finds only from there.
func (w *runner) directory(ctx context.Context, pkg string) (string, error) {
	from, path := w.repo.dir, pkg
	if pkg == "." || strings.HasPrefix(pkg, "./") || strings.HasPrefix(pkg, "../") {
		from, path = filepath.Join(from, filepath.FromSlash(pkg)), "."
	}
	cmd := exec.CommandContext(ctx, "go", "list", "-f", "{{.Dir}}", "--", path)
	cmd.Dir = from
	var words strings.Builder
	cmd.Stderr = &words
	out, err := cmd.Output()
	if err != nil {
		return "", problem.New(problem.Failure, "go list ./...", "there is no package %q: %s", pkg, firstLine(words.String(), err))
	}
	dirs := strings.Fields(strings.ReplaceAll(strings.TrimSpace(string(out)), " ", "\x00"))
	if len(dirs) != 1 {
		return "", problem.New(problem.Failure, "gowhy gate --init   # a check for each package", "%q is %d packages; a check is of one", pkg, len(dirs))
	}
	return strings.ReplaceAll(dirs[0], "\x00", " "), nil
}

func firstLine(s string, err error) string {
	line, _, _ := strings.Cut(strings.TrimSpace(s), "\n")
	if line == "" {
		return err.Error()
	}
	return line
}

func (w *runner) build(ctx context.Context, c *CheckPolicy, revision string) (string, error) {
	w.made++
	name := fmt.Sprintf("%06d", w.made) // of one length: a longer name moves the stack of a program
	if c.Command == "" {
		name += ".test"
	}
	return subject.BuildRevision(ctx, subject.BuildSpec{
		Dir: w.repo.dir, Package: c.Package, Revision: revision, Test: c.Command == "",
		Out: filepath.Join(w.tmp, name), Log: w.log,
	})
}

// benchmarks returns how to run those of a test binary.
func (w *runner) benchmarks(c *CheckPolicy, binary, dir string) arm {
	with := func(benchtime string) func(string) experiment.Runner {
		return func(pattern string) experiment.Runner {
			return func(ctx context.Context) (experiment.Sample, error) {
				s, err := subject.NewBenchmark(subject.BenchSpec{Binary: binary, Bench: pattern, Benchtime: benchtime, Dir: dir, Log: w.log})
				if err != nil {
					return experiment.Sample{}, err
				}
				defer s.Close()
				return s.Run(ctx)
			}
		}
	}
	return arm{count: with(strconv.Itoa(c.Iterations) + "x"), time: with(c.Benchtime.String())}
}

// commands returns how to run the command with each program.
func (w *runner) commands(c *CheckPolicy, base, head string) (p pair, err error) {
	if p.base, err = w.command(c, base); err == nil {
		p.head, err = w.command(c, head)
	}
	return p, err
}

func (w *runner) command(c *CheckPolicy, binary string) (arm, error) {
	program, err := subject.Parse(c.Command)
	if err != nil {
		return arm{}, err
	}
	program.Dir = w.repo.dir
	if program, err = program.WithSettings(map[string]string{"binary": binary}); err != nil {
		return arm{}, err
	}
	s, err := subject.New(subject.Spec{Program: program, Ops: c.Ops, Log: w.log})
	if err != nil {
		return arm{}, err
	}
	count := func(ctx context.Context) (experiment.Sample, error) {
		sample, _, err := s.Count(ctx)
		return sample, err
	}
	return arm{
		count: func(string) experiment.Runner { return count },
		time:  func(string) experiment.Runner { return s.Run },
	}, nil
}
