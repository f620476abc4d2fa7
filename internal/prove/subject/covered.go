package subject

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/gowhy/gowhy/internal/ground/problem"
	"github.com/gowhy/gowhy/internal/read/coverage"
	"github.com/gowhy/gowhy/internal/read/loadresult"
)

// CoverFlags returns the flags of go build and go test for a program that counts what it runs of
// packages; without any they are those of the main module. Where several goroutines may count
// at once, counters have to be atomic to be exact, which costs a program that does little but
// count ten times more.
func CoverFlags(packages []string, atomic bool) []string {
	flags := []string{"-cover", "-covermode=count"}
	if atomic {
		flags[1] = "-covermode=atomic"
	}
	if len(packages) > 0 {
		flags = append(flags, "-coverpkg="+strings.Join(packages, ","))
	}
	return flags
}

// An Outcome is what became of one run to its end.
type Outcome struct {
	Elapsed, CPU time.Duration
	Ended        bool               // by a signal, after the time for it
	Result       *loadresult.Result // that it printed; nil when it printed none
}

// RunToEnd runs a program to its end, of which it measures nothing but the time. Where end is
// not 0, one that still runs then gets an interrupt; limit is the longest that it may take.
func RunToEnd(ctx context.Context, p Program, limit, end time.Duration) (*Outcome, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, limit, errTimeout{limit})
	defer cancel()
	r, err := start(p, "")
	if err != nil {
		return nil, err
	}
	o := &Outcome{Ended: end > 0 && r.interrupt(ctx, end)}
	if err := r.await(ctx); err != nil {
		return nil, err
	}
	o.Elapsed, o.CPU = r.ended.Sub(r.began), r.usage().cpu
	if err := r.failure(); err != nil && !o.Ended {
		return nil, err
	}
	if res, err := r.out.result(); err == nil {
		o.Result = res
	}
	return o, nil
}

// interrupt ends a process that still runs after a time: by an interrupt, for which many
// write what they have, and then as [process.stop] does. It reports whether it did.
func (r *process) interrupt(ctx context.Context, after time.Duration) bool {
	wait := func(d time.Duration) (over bool) {
		t := time.NewTimer(d)
		defer t.Stop()
		select {
		case <-r.exited:
			return true
		case <-ctx.Done():
			return true
		case <-t.C:
			return false
		}
	}
	if wait(after) {
		return false
	}
	if r.signal(syscall.SIGINT); !wait(stopGrace) {
		r.stop()
	}
	return true
}

// ErrNoCounters is the error of a program that ended without writing its counters: it does
// so where main returns or os.Exit is called, and not when a signal or a fault ends it.
var ErrNoCounters = errors.New("the program ended without writing its counters")

// RunServer runs a server under its load to the end of that, and then ends the server.
func (s *Subject) RunServer(ctx context.Context) (*Outcome, error) {
	ctx, cancel := s.withLimit(ctx)
	defer cancel()
	o := &Outcome{Ended: true}
	var server *process
	err := s.running(ctx, func(p *process) error {
		server = p
		generator, err := s.offer(ctx, p)
		if err == nil {
			o.Elapsed = generator.ended.Sub(generator.began)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	o.CPU = server.usage().cpu
	return o, nil
}

// RunCovered runs a program once that was built with [CoverFlags], and returns what it and the
// copies of itself that it started counted. dir is where the go command finds the toolchain
// that built it.
func RunCovered(ctx context.Context, p Program, dir string, once func(context.Context, Program) (*Outcome, error)) (*coverage.Profile, *Outcome, error) {
	tmp, err := os.MkdirTemp("", "gowhy-counters-")
	if err != nil {
		return nil, nil, err
	}
	defer os.RemoveAll(tmp)
	raw, text := filepath.Join(tmp, "raw"), filepath.Join(tmp, "text")
	if err := os.Mkdir(raw, 0o700); err != nil {
		return nil, nil, err
	}
	p.Env = append(p.Env[:len(p.Env):len(p.Env)], "GOCOVERDIR="+raw)
	if strings.HasSuffix(p.Command[0], ".test") { // one that ends in order writes nothing else
		p.Command = append([]string{p.Command[0], "-test.gocoverdir=" + raw}, p.Command[1:]...)
	}
	o, err := once(ctx, p)
	if err != nil {
		return nil, nil, err
	}
	if counters, _ := filepath.Glob(filepath.Join(raw, "covcounters.*")); len(counters) == 0 {
		return nil, o, ErrNoCounters
	}
	if _, err := run(ctx, dir, os.Environ(), "go", "tool", "covdata", "textfmt", "-i="+raw, "-o="+text); err != nil {
		var c *commandError
		if errors.As(err, &c) {
			err = problem.New(problem.Failure, "go tool covdata   # which has to run", "the counters cannot be read:%s", c.lines())
		}
		return nil, o, err
	}
	f, err := os.Open(text)
	if err != nil {
		return nil, o, err
	}
	defer f.Close()
	profile, err := coverage.Parse(f)
	return profile, o, err
}

// FindGo reports whether there is a go command, by the error that says what it is needed for.
func FindGo() error {
	if _, err := exec.LookPath("go"); err != nil {
		return problem.New(problem.Absence, "export PATH=$PATH:/usr/local/go/bin   # where the go command is", "the go command is needed to build a copy that counts, and is not there")
	}
	return nil
}

// ModuleDir returns the directory of a package's module, as the go command finds it from dir; that of
// the package where it is of none.
func ModuleDir(ctx context.Context, dir, path string) (string, error) {
	text, err := run(ctx, dir, os.Environ(), "go", "list", "-e", "-find", "-f", "{{with .Module}}{{.Dir}}{{else}}{{.Dir}}{{end}}", "--", path)
	return strings.TrimSpace(text), err
}

// PackageDirs returns the directories of packages by their import paths, as the go command finds
// them from dir; those that it does not find are left out.
func PackageDirs(ctx context.Context, dir string, paths []string) (map[string]string, error) {
	args := append([]string{"list", "-e", "-find", "-f", "{{.ImportPath}}\t{{.Dir}}", "--"}, paths...)
	text, err := run(ctx, dir, os.Environ(), "go", args...)
	if err != nil {
		return nil, err
	}
	dirs := map[string]string{}
	for line := range strings.Lines(text) {
		if path, at, ok := strings.Cut(strings.TrimSpace(line), "\t"); ok && at != "" {
			dirs[path] = at
		}
	}
	return dirs, nil
}
