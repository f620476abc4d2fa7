// Package testbed runs a program of the lab through the gowhy command.
//
// It hides how programs and the gowhy command are built and kept for a test
// run, how a free port is found, how a server is waited for and given load,
// and that nothing that was started is left behind. Its types are [Bed], which
// builds and keeps programs, and [Job], one run that is to be recorded.
//
// It uses gowhy only as a user does, as a command: it imports nothing of it.
package testbed

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// A Bed is a place for programs and their runs. Its methods may be called at
// the same time.
type Bed struct {
	dir   string
	ours  bool // dir is temporary
	mu    sync.Mutex
	built map[string]*building
	rooms int
}

// A building is a program that is built once, whoever asks first.
type building struct {
	once sync.Once
	path string
	err  error
}

// New makes a bed in a folder, which it makes if need be; "" is a temporary
// one that [Bed.Close] removes.
func New(dir string) (*Bed, error) {
	b := &Bed{dir: dir, ours: dir == "", built: map[string]*building{}}
	var err error
	if b.ours {
		b.dir, err = os.MkdirTemp("", "gowhy-lab-")
	} else if b.dir, err = filepath.Abs(dir); err == nil {
		err = os.MkdirAll(b.dir, 0o700)
	}
	if err != nil {
		return nil, err
	}
	return b, nil
}

// Dir returns the bed's folder.
func (b *Bed) Dir() string { return b.dir }

// Close removes what the bed made, unless its folder was given.
func (b *Bed) Close() error {
	if !b.ours {
		return nil
	}
	return os.RemoveAll(b.dir)
}

// Build builds the main package in a folder, once for each bed.
func (b *Bed) Build(ctx context.Context, dir string) (program string, err error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	b.mu.Lock()
	one := b.built[abs]
	if one == nil {
		one = &building{path: filepath.Join(b.dir, "bin", strconv.Itoa(len(b.built)), filepath.Base(abs))}
		b.built[abs] = one
	}
	b.mu.Unlock()
	one.once.Do(func() { one.err = GoBuild(ctx, abs, one.path, ".") })
	return one.path, one.err
}

// Escapes returns a file with what the compiler says of the main package in a folder
// when it is asked what it puts on the heap, which is evidence beside a recording.
func (b *Bed) Escapes(ctx context.Context, dir string) (file string, err error) {
	program, err := b.Build(ctx, dir)
	if err != nil {
		return "", err
	}
	file = program + ".escapes.txt"
	b.mu.Lock() // the compiler answers from its cache: nobody waits for long
	defer b.mu.Unlock()
	if _, err := os.Stat(file); err == nil {
		return file, nil
	}
	cmd := exec.CommandContext(ctx, "go", "build", "-gcflags=-m", "-o", os.DevNull, ".")
	cmd.Dir = dir
	text, err := cmd.CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("go build -gcflags=-m in %s: %w\n%s", dir, err, tail(string(text)))
	}
	return file, os.WriteFile(file, text, 0o644)
}

// Variable names, in the environment, a gowhy command that is there already
// and is to be used, instead of one that is built: a release, for one.
const Variable = "GOWHY"

// Gowhy builds the gowhy command of the checkout that the lab is part of.
func (b *Bed) Gowhy(ctx context.Context) (program string, err error) {
	if given := os.Getenv(Variable); given != "" {
		return exec.LookPath(given)
	}
	root, err := Checkout()
	if err != nil {
		return "", err
	}
	return b.Build(ctx, filepath.Join(root, "cmd", "gowhy"))
}

// Answer runs gowhy and reads the JSON that it writes to standard output. That
// an experiment says no, or cannot tell, is an answer.
func (b *Bed) Answer(ctx context.Context, answer any, args ...string) (took time.Duration, err error) {
	gowhy, err := b.Gowhy(ctx)
	if err != nil {
		return 0, err
	}
	run, err := Run(ctx, gowhy, args...)
	if err != nil && !slices.Contains(answers, run.ExitCode) {
		return run.Took, err
	}
	if err := json.Unmarshal([]byte(run.Stdout), answer); err != nil {
		return run.Took, fmt.Errorf("gowhy %s: %w in\n%s", strings.Join(args, " "), err, tail(run.Stdout))
	}
	return run.Took, nil
}

// answers are gowhy's exit codes that are no failures: findings at the limit of
// --fail-on, a regression, and an experiment that could not tell.
var answers = []int{3, 4, 5}

// GoBuild builds a package, as seen from dir, into the file out.
func GoBuild(ctx context.Context, dir, out, pkg string) error {
	cmd := exec.CommandContext(ctx, "go", "build", "-o", out, pkg)
	cmd.Dir = dir
	if text, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("go build %s in %s: %w\n%s", pkg, dir, err, tail(string(text)))
	}
	return nil
}

// Checkout finds the folder of gowhy's own module above the current one.
func Checkout() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for from := dir; ; {
		mod, err := os.ReadFile(filepath.Join(dir, "go.mod"))
		if err == nil && bytes.HasPrefix(mod, []byte("module github.com/gowhy/gowhy\n")) {
			return dir, nil
		}
		up := filepath.Dir(dir)
		if up == dir {
			return "", fmt.Errorf("the module github.com/gowhy/gowhy is not above %s", from)
		}
		dir = up
	}
}

// A FinishedRun is one run of a program.
type FinishedRun struct {
	Stdout, Stderr string
	Took           time.Duration
	ExitCode       int
	State          *os.ProcessState
}

// Run runs a program to its end, or to ctx's, and then ends everything that
// the program started. The result is there beside the error of a program that
// ran and failed, which says what failed with the end of its standard error.
func Run(ctx context.Context, program string, args ...string) (FinishedRun, error) {
	g, err := start(program, args, "")
	if err != nil {
		return FinishedRun{}, err
	}
	defer g.kill()
	err = g.wait(ctx)
	f := FinishedRun{Stdout: g.stdout.String(), Stderr: g.stderr.String(), Took: g.took, State: g.cmd.ProcessState}
	f.ExitCode = f.State.ExitCode()
	return f, err
}

// Operations is N of the last line `operations: N` that a program printed, 0
// when it printed none.
func Operations(stdout string) float64 {
	var n float64
	for line := range strings.Lines(stdout) {
		if text, ok := strings.CutPrefix(strings.TrimSpace(line), "operations: "); ok {
			if v, err := strconv.ParseFloat(text, 64); err == nil {
				n = v
			}
		}
	}
	return n
}

const tailSize = 2000

// tail returns the end of a text that may be long.
func tail(s string) string {
	s = strings.TrimSpace(s)
	if len(s) > tailSize {
		s = "… " + strings.ToValidUTF8(s[len(s)-tailSize:], "")
	}
	return s
}

var errTooLong = errors.New("it took too long and was ended")
