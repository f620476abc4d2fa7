package gate

import (
	"context"
	"errors"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/gowhy/gowhy/internal/ground/problem"
	"github.com/gowhy/gowhy/internal/prove/subject"
)

// A repository is the one that a directory belongs to.
type repository struct{ dir, root string }

func open(ctx context.Context, dir string) (*repository, error) {
	r := &repository{dir: dir}
	root, err := r.git(ctx, "rev-parse", "--show-toplevel")
	if err != nil {
		return nil, noRepository(dir, err)
	}
	r.root = filepath.FromSlash(root)
	return r, nil
}

// noRepository says what is wrong in git's own words, where they are not the
// usual ones: it refuses, for one, repositories of another user.
func noRepository(dir string, err error) error {
	var exit *exec.ExitError
	switch {
	case !errors.As(err, &exit):
		return problem.New(problem.Failure, "install git", "git does not run: %v", err)
	case !strings.Contains(string(exit.Stderr), "not a git repository"):
		return &problem.Error{What: "git does not tell the repository: " + firstLine(string(exit.Stderr), err), Hint: "git status"}
	}
	return problem.New(problem.Failure, "git init && git add . && git commit", "%q is in no git repository, so there is no revision to compare with", dir)
}

// git runs a command that only reads, and returns its first output.
func (r *repository) git(ctx context.Context, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "git", args...)
	cmd.Dir, cmd.Env = r.dir, subject.GitEnviron()
	out, err := cmd.Output()
	return strings.TrimSpace(string(out)), err
}

// commit resolves a revision.
func (r *repository) commit(ctx context.Context, name string) (string, bool) {
	c, err := r.git(ctx, "rev-parse", "--verify", "--quiet", "--end-of-options", name+"^{commit}")
	return c, err == nil && c != ""
}

// built are the new files, for git, that make a working tree differ: a result
// or a profile that lies about does not, and must not make HEAD its own base.
var built = []string{":/*.go", ":/*.s", ":/*.c", ":/*.h", ":/go.mod", ":/*/go.mod", ":/go.work", ":/testdata/*", ":/*/testdata/*"}

// head returns the working tree.
func (r *repository) head(ctx context.Context) (Revision, error) {
	h := Revision{Name: "working tree"}
	var ok bool
	if h.Commit, ok = r.commit(ctx, "HEAD"); !ok {
		return h, problem.New(problem.Failure, "git commit", "the repository has no commit yet, so there is no revision to compare with")
	}
	status, err := r.git(ctx, "status", "--porcelain", "--untracked-files=no")
	h.Modified = err == nil && status != ""
	if err == nil && !h.Modified {
		added, err := r.git(ctx, append([]string{"ls-files", "--others", "--exclude-standard", "--"}, built...)...)
		h.Modified = err == nil && added != ""
	}
	if !h.Modified {
		h.Name = "HEAD"
	}
	return h, nil
}

// base returns the revision to compare with: the one asked for, else where HEAD
// left the default branch. On that branch it is HEAD itself while the working
// tree differs from it, and the commit before it otherwise.
func (r *repository) base(ctx context.Context, asked string, head Revision) (Revision, error) {
	if asked != "" {
		if c, ok := r.commit(ctx, asked); ok {
			return Revision{Name: asked, Commit: c}, nil
		}
		return Revision{}, problem.New(problem.Failure, "git fetch origin   # in CI, fetch the history: fetch-depth: 0", "git knows no revision %q", asked)
	}
	if branch, ok := r.defaultBranch(ctx); ok {
		if c, err := r.git(ctx, "merge-base", "HEAD", branch); err == nil && c != "" && c != head.Commit {
			return Revision{Name: "merge base with " + strings.TrimPrefix(strings.TrimPrefix(branch, "refs/remotes/"), "refs/heads/"), Commit: c}, nil
		}
	}
	if head.Modified {
		return Revision{Name: "HEAD", Commit: head.Commit}, nil
	}
	if c, ok := r.commit(ctx, "HEAD~1"); ok {
		return Revision{Name: "HEAD~1", Commit: c}, nil
	}
	return Revision{}, problem.New(problem.Failure, "gowhy gate --base REV   # in CI, fetch the history: fetch-depth: 0", "there is no earlier revision to compare with")
}

func (r *repository) defaultBranch(ctx context.Context) (string, bool) {
	if b, err := r.git(ctx, "symbolic-ref", "--quiet", "refs/remotes/origin/HEAD"); err == nil && b != "" {
		return b, true
	}
	for _, b := range []string{"refs/remotes/origin/main", "refs/remotes/origin/master", "refs/heads/main", "refs/heads/master"} {
		if _, ok := r.commit(ctx, b); ok {
			return b, true
		}
	}
	return "", false
}

// relative returns a path from the repository's root, with slashes, for reports;
// the name of a file outside it.
func (r *repository) relative(path string) string {
	if abs, err := filepath.Abs(path); err == nil {
		path = abs
	}
	for _, root := range []string{r.root, resolved(r.root)} {
		for _, p := range []string{path, resolved(path)} {
			if rel, err := filepath.Rel(root, p); err == nil && filepath.IsLocal(rel) {
				return filepath.ToSlash(rel)
			}
		}
	}
	return filepath.Base(path)
}

// resolved returns a path without symbolic links: git tells the root so.
func resolved(path string) string {
	if p, err := filepath.EvalSymlinks(path); err == nil {
		return p
	}
	return path
}
