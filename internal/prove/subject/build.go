package subject

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/gowhy/gowhy/internal/ground/problem"
	"github.com/gowhy/gowhy/internal/ground/shell"
)

// A BuildSpec is a package to build at a revision.
type BuildSpec struct {
	// Dir is in the module and the git repository; empty is the current one.
	Dir string
	// Package is as for go build: a path that begins with ./ or ../ is from Dir,
	// any other an import path; empty is the package in Dir.
	Package string
	// Revision is whatever git understands: v1.2, HEAD~3, main. Empty is the
	// working tree as it is, which needs no git.
	Revision string
	// Test builds the package's test binary.
	Test bool
	// Modules are built in these versions, as MODULE@VERSION, and not in those of go.mod.
	Modules []string
	// Go is the release of Go to build with, like 1.26.3; empty is the go command's own choice.
	Go string
	// Alone leaves the workspace of a go.work out, as Modules do: they are one module's.
	Alone bool
	// Flags are more flags of go build, like -gcflags=-l.
	Flags []string
	// Out is the binary to write. When empty it is "program" (or "program.test")
	// in a new directory, which is then the caller's to remove. Such names are
	// of one length; see [Program] for why that matters.
	Out string
	// Log is called with what happens. It may be nil.
	Log func(string)
}

// sameFlags make equal binaries of equal sources, wherever they lie: paths and
// revisions would move code and data, and so change the time that it takes.
var sameFlags = []string{"-trimpath", "-buildvcs=false"}

// BuildRevision builds a binary and returns its path. The user's tree, index
// and branches are not touched: another revision is checked out in a worktree in
// a temporary directory, which is removed again, also when ctx is cancelled.
// What git or the compiler has to say is in the error.
func BuildRevision(ctx context.Context, b BuildSpec) (path string, err error) {
	if b.Log == nil {
		b.Log = func(string) {}
	}
	if b.Dir, err = filepath.Abs(b.Dir); err != nil {
		return "", err
	}
	made := ""
	if b.Out == "" {
		if made, err = freshDir("build"); err != nil {
			return "", err
		}
		b.Out = filepath.Join(made, "program")
		if b.Test {
			b.Out += ".test" // a recorder knows tests by it
		}
	} else if b.Out, err = filepath.Abs(b.Out); err != nil {
		return "", err
	}
	if b.Revision == "" {
		err = b.build(ctx, b.Dir, nil)
	} else {
		err = b.revision(ctx)
	}
	if err != nil && made != "" {
		os.RemoveAll(made)
	}
	if err != nil {
		return "", err
	}
	return b.Out, nil
}

// freshDir makes a temporary directory whose path is always of one length:
// those of os.MkdirTemp are not.
func freshDir(what string) (string, error) {
	for {
		dir := filepath.Join(os.TempDir(), "gowhy-"+what+"-"+rand.Text()[:12])
		if err := os.Mkdir(dir, 0o700); !errors.Is(err, fs.ErrExist) {
			return dir, err
		}
	}
}

// revision builds in a worktree.
func (b BuildSpec) revision(ctx context.Context) error {
	repo, err := openRepository(ctx, b.Dir)
	if err != nil {
		return err
	}
	commit, err := repo.commit(ctx, b.Revision)
	if err != nil {
		return err
	}
	tree, err := freshDir("tree")
	if err != nil {
		return err
	}
	defer repo.remove(tree)
	b.Log(fmt.Sprintf("building %s at %s (%.12s)", orDot(b.Package), printable(b.Revision), commit))
	// Hooks of the user's are not for us: they may build, or ask something.
	if _, err := repo.git(ctx, "-c", "core.hooksPath=/dev/null", "worktree", "add", "--quiet", "--detach", "--force", tree, commit); err != nil {
		return err
	}
	dir := filepath.Join(tree, repo.prefix)
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return problem.New(problem.Misuse, fmt.Sprintf("git ls-tree -d --name-only %s", printable(b.Revision)), "%s has no directory %q", printable(b.Revision), repo.prefix)
	}
	return b.build(ctx, dir, repo.workspace(ctx, b.Dir, tree))
}

func orDot(s string) string {
	if s == "" {
		return "."
	}
	return printable(s)
}

// build runs the go command in a directory.
func (b BuildSpec) build(ctx context.Context, dir string, env []string) error {
	args := []string{"build"}
	if b.Test {
		args = []string{"test", "-c"}
	}
	pkg := b.Package
	if pkg == "" {
		pkg = "."
	}
	// A directory may be in a module of its own, which the go command finds only
	// from there.
	if local := filepath.FromSlash(pkg); pkg == "." || strings.HasPrefix(pkg, "./") || strings.HasPrefix(pkg, "../") || filepath.IsAbs(local) {
		if filepath.IsAbs(local) {
			rel, err := filepath.Rel(b.Dir, local)
			if err != nil {
				return err
			}
			local = rel
		}
		dir, pkg = filepath.Join(dir, local), "."
	}
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return problem.New(problem.Misuse, "--package ./cmd/app   # its directory, from the current one", "there is no package %s%s", orDot(b.Package), at(b.Revision))
	}
	if strings.HasPrefix(pkg, "-") {
		return problem.New(problem.Misuse, "--package ./cmd/app   # its directory, from the current one", "%s is no package", printable(pkg))
	}
	// Where it is interrupted, the go command leaves its files lying about.
	scratch, err := os.MkdirTemp(os.Getenv("GOTMPDIR"), "gowhy-go-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(scratch)
	env = slices.Concat(os.Environ(), env, []string{"GOTMPDIR=" + scratch})
	more, flags, err := b.versions(ctx, dir, scratch, env)
	if err != nil {
		return b.buildProblem(ctx, err)
	}
	env = append(env, more...)
	// No -- before the package: go test hands what comes after that to the tests.
	args = slices.Concat(args, sameFlags, flags, b.Flags, []string{"-o", b.Out, pkg})
	if _, err := run(ctx, dir, env, "go", args...); err != nil {
		return b.buildProblem(ctx, err)
	}
	info, err := os.Stat(b.Out)
	if err != nil { // of a package without tests the go command makes nothing, and is content
		return problem.New(problem.Misuse, "go test -c "+orDot(b.Package), "%s%s has no tests", orDot(b.Package), at(b.Revision))
	}
	if info.Mode()&0o111 == 0 {
		return problem.New(problem.Misuse, "--package ./cmd/app   # a package main; benchmarks go with --bench", "%s%s is no program", orDot(b.Package), at(b.Revision))
	}
	return nil
}

// PackageDir returns the directory of a package that an import path names, as the go
// command finds it from dir: its tests run there, where their data is.
func PackageDir(ctx context.Context, dir, path string) (string, error) {
	if strings.HasPrefix(path, "-") {
		return "", problem.New(problem.Misuse, "--package ./cmd/app   # its directory, from the current one", "%s is no package", printable(path))
	}
	text, err := run(ctx, dir, os.Environ(), "go", "list", "-f", "{{.Dir}}", path)
	var c *commandError
	if ctx.Err() == nil && errors.As(err, &c) {
		err = &problem.Error{Kind: problem.Misuse, What: fmt.Sprintf("the go command finds no package %s:%s", printable(path), c.lines()), Hint: "go list ./...   # those that there are", Err: err}
	}
	return strings.TrimSpace(text), err
}

func at(revision string) string {
	if revision == "" {
		return ""
	}
	return " at " + printable(revision)
}

func (b BuildSpec) buildProblem(ctx context.Context, err error) error {
	var c *commandError
	if ctx.Err() != nil || !errors.As(err, &c) {
		return err
	}
	hint := "go build -C " + b.Dir + " -o /dev/null " + orDot(b.Package)
	switch {
	case b.Revision != "" && strings.Contains(c.text, "replacement directory"):
		hint = "a replace directive points out of the repository; build that revision yourself: --a ./before --b ./after"
	case b.Revision != "":
		hint = fmt.Sprintf("git worktree add --detach ../before %s   # and see why it does not build there", printable(b.Revision))
	case b.Go != "":
		hint = "GOTOOLCHAIN=go" + b.Go + " go version   # is it there, and new enough for go.mod?"
	case len(b.Modules) > 0:
		hint = "go get " + shell.Words(b.Modules) + "   # and see what has to change"
	case b.Test:
		hint = "go test -c -o /dev/null " + orDot(b.Package)
	}
	return &problem.Error{What: fmt.Sprintf("%s%s%s does not build:%s", orDot(b.Package), at(b.Revision), b.with(), c.lines()), Hint: hint, Err: err}
}

// A repository is what git knows of a directory.
type repository struct {
	dir, top string
	prefix   string // of dir in the tree, empty at its top
}

func openRepository(ctx context.Context, dir string) (*repository, error) {
	if _, err := exec.LookPath("git"); err != nil {
		return nil, &problem.Error{What: "git is needed to build another revision, and is not there", Hint: "--a ./before --b ./after   # binaries that you built", Err: err}
	}
	r := &repository{dir: dir}
	top, err := r.git(ctx, "rev-parse", "--show-toplevel")
	if err != nil {
		var c *commandError
		if errors.As(err, &c) && strings.Contains(c.text, "not a git repository") {
			return nil, &problem.Error{Kind: problem.Misuse, What: fmt.Sprintf("%q is not in a git repository", dir), Hint: "--a ./before --b ./after   # binaries that you built", Err: err}
		}
		return nil, gitProblem(err)
	}
	prefix, err := r.git(ctx, "rev-parse", "--show-prefix")
	if err != nil {
		return nil, gitProblem(err)
	}
	r.top, r.prefix = top, filepath.FromSlash(prefix)
	return r, nil
}

// commit resolves a revision.
func (r *repository) commit(ctx context.Context, revision string) (string, error) {
	commit, err := r.git(ctx, "rev-parse", "--verify", "--quiet", "--end-of-options", revision+"^{commit}")
	if err == nil && commit == "" {
		err = errors.New("it names nothing")
	}
	if err != nil && ctx.Err() == nil {
		return "", &problem.Error{Kind: problem.Misuse, What: fmt.Sprintf("git knows no revision %q here", printable(revision)), Hint: "git log --oneline -5   # or, when it is on a server: git fetch --tags", Err: err}
	}
	return commit, err
}

// workspace returns the environment by which a build in a worktree finds the
// same go.work. One that lies outside of the repository names the directories
// of the user's own tree, and would build these instead: it is left out.
func (r *repository) workspace(ctx context.Context, dir, tree string) []string {
	text, err := run(ctx, dir, os.Environ(), "go", "env", "GOWORK")
	work := strings.TrimSpace(text)
	if err != nil || work == "" || work == "off" {
		return nil
	}
	if rel, err := filepath.Rel(r.top, work); err == nil && filepath.IsLocal(rel) {
		if there := filepath.Join(tree, rel); isFile(there) {
			return []string{"GOWORK=" + there}
		}
	}
	return []string{"GOWORK=off"}
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

// remove takes a worktree away, whatever has been made of it.
func (r *repository) remove(tree string) {
	ctx, cancel := context.WithTimeout(context.Background(), removeLimit)
	defer cancel()
	if _, err := r.git(ctx, "worktree", "remove", "--force", "--force", tree); err != nil {
		// It was not complete. The list of worktrees forgets what is not there.
		os.RemoveAll(tree)
		_, _ = r.git(ctx, "worktree", "prune")
	}
	os.RemoveAll(tree)
}

const removeLimit = 30 * time.Second

// git runs git on the repository and returns what it prints, trimmed.
func (r *repository) git(ctx context.Context, args ...string) (string, error) {
	text, err := run(ctx, r.dir, GitEnviron(), "git", args...)
	return strings.TrimSpace(text), err
}

// GitEnviron returns the environment for git: ours without what git says of the repository to a
// hook, in which we may run, and with locks only where they must be: reading refreshes the
// user's index otherwise.
func GitEnviron() []string {
	env := slices.DeleteFunc(os.Environ(), func(kv string) bool {
		name, _, _ := strings.Cut(kv, "=")
		return slices.Contains([]string{"GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX", "GIT_COMMON_DIR", "GIT_OBJECT_DIRECTORY", "GIT_NAMESPACE"}, name)
	})
	return append(env, "GIT_OPTIONAL_LOCKS=0", "GIT_TERMINAL_PROMPT=0", "LC_ALL=C")
}

func gitProblem(err error) error {
	var c *commandError
	if !errors.As(err, &c) {
		return err
	}
	return &problem.Error{What: "git:" + c.lines(), Err: err}
}

// SameTree reports whether the working tree that dir is in has the content of a revision, new
// files that are not ignored included. It is false when that is not known.
func SameTree(dir, revision string) bool {
	ctx, cancel := context.WithTimeout(context.Background(), removeLimit)
	defer cancel()
	dir, err := filepath.Abs(dir)
	if err != nil {
		return false
	}
	r, err := openRepository(ctx, dir)
	if err != nil {
		return false
	}
	r.dir = r.top
	commit, err := r.commit(ctx, revision)
	if err != nil {
		return false
	}
	if _, err := r.git(ctx, "diff", "--quiet", "--no-ext-diff", commit, "--"); err != nil {
		return false
	}
	untracked, err := r.git(ctx, "ls-files", "--others", "--exclude-standard")
	return err == nil && untracked == ""
}

// A commandError is a command that failed, with what it printed.
type commandError struct {
	err  error
	text string
}

func (e *commandError) Error() string { return e.err.Error() + ": " + printable(e.text) }
func (e *commandError) Unwrap() error { return e.err }

// lines returns those to show: of a compiler the first ones say most.
func (e *commandError) lines() string {
	var b strings.Builder
	n := 0
	for l := range strings.Lines(e.text) {
		if l = printable(strings.TrimRight(l, "\r\n")); l == "" {
			continue
		}
		if n++; n > tailLines {
			b.WriteString("\n    …")
			break
		}
		b.WriteString("\n    " + l)
	}
	if n == 0 {
		return " " + e.err.Error()
	}
	return b.String()
}

// maxText is how much of a tool's output is kept.
const maxText = 1 << 20

// toolGrace is how long git or the go command may take to end on a signal.
const toolGrace = 3 * time.Second

// run runs a tool to its end and returns its standard output. When ctx is done,
// it is interrupted with all that it started: killed, git would leave its locks
// behind.
func run(ctx context.Context, dir string, env []string, name string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	out, errs := &bounded{}, &bounded{}
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = dir, env, out, errs
	cmd.SysProcAttr = ownGroup()
	cmd.Cancel = func() error { return signalGroup(cmd.Process.Pid, syscall.SIGINT) }
	cmd.WaitDelay = toolGrace
	err := cmd.Run()
	switch {
	case err == nil, errors.Is(err, exec.ErrWaitDelay): // only something in the background goes on
		return out.String(), nil
	case ctx.Err() != nil:
		return "", ctx.Err()
	}
	return "", &commandError{err: fmt.Errorf("%s %s: %w", name, args[0], err), text: errs.String() + out.String()}
}

// A bounded buffer keeps the beginning of what is written.
type bounded struct{ bytes.Buffer }

func (b *bounded) Write(p []byte) (int, error) {
	b.Buffer.Write(p[:min(len(p), max(0, maxText-b.Len()))])
	return len(p), nil
}
