package subject

import (
	"context"
	"crypto/sha256"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gowhy/gowhy/internal/read/loadresult"
)

// A repo is a git repository with two commits of a module, one of a module
// inside it, and changes that are not committed.
type repo struct{ dir string }

func (r repo) git(t *testing.T, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = r.dir
	cmd.Env = append(GitEnviron(), "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.com", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.com",
		"GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

func (r repo) write(t *testing.T, name, text string) {
	t.Helper()
	path := filepath.Join(r.dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func says(word string) string {
	return "package main\n\nfunc main() { println(\"" + word + "\") }\n"
}

func newRepo(t *testing.T) repo {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("there is no git")
	}
	r := repo{t.TempDir()}
	r.git(t, "init", "--quiet", "--initial-branch=main")
	r.write(t, "go.mod", "module example.com/r\n\ngo 1.22\n")
	r.write(t, "cmd/app/main.go", says("first"))
	r.write(t, "lib/lib.go", "package lib\n")
	r.write(t, "lib/lib_test.go", "package lib\n\nimport \"testing\"\n\nfunc BenchmarkX(b *testing.B) {\n\tfor range b.N {\n\t\tsink = make([]byte, 48)\n\t}\n}\n\nvar sink []byte\n")
	r.write(t, "inner/go.mod", "module example.com/inner\n\ngo 1.22\n")
	r.write(t, "inner/app/main.go", says("inner first"))
	r.git(t, "add", ".")
	r.git(t, "commit", "--quiet", "-m", "one")
	r.git(t, "tag", "v1")
	r.write(t, "cmd/app/main.go", says("second"))
	r.write(t, "inner/app/main.go", says("inner second"))
	r.git(t, "commit", "--quiet", "-am", "two")
	r.write(t, "cmd/app/main.go", says("third"))
	return r
}

func outputOf(t *testing.T, path string) string {
	t.Helper()
	out, err := exec.Command(path).CombinedOutput()
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(out))
}

func TestBuildRevision(t *testing.T) {
	r := newRepo(t)
	r.write(t, ".git/hooks/post-checkout", "#!/bin/sh\ntouch \""+r.dir+"/hooked\"\n")
	os.Chmod(filepath.Join(r.dir, ".git/hooks/post-checkout"), 0o755)
	before := r.state(t)
	lengths := map[int]bool{}
	for _, c := range []struct{ dir, pkg, revision, want string }{
		{"", "./cmd/app", "v1", "first"},
		{"", "./cmd/app", "HEAD", "second"},
		{"", "./cmd/app", "", "third"},
		{"cmd", "./app", "v1", "first"},
		{"lib", "../cmd/app", "v1", "first"},
		{"", "example.com/r/cmd/app", "v1", "first"},
		{"", "./inner/app", "v1", "inner first"}, // a module of its own
		{"inner", "./app", "HEAD", "inner second"},
	} {
		path, err := BuildRevision(t.Context(), BuildSpec{Dir: filepath.Join(r.dir, c.dir), Package: c.pkg, Revision: c.revision})
		if err != nil {
			t.Errorf("BuildRevision() of %s at %q in %q: %v", c.pkg, c.revision, c.dir, err)
			continue
		}
		defer os.RemoveAll(filepath.Dir(path))
		lengths[len(path)] = true
		if got := outputOf(t, path); got != c.want {
			t.Errorf("%s at %q in %q says %q, want %q", c.pkg, c.revision, c.dir, got, c.want)
		}
	}
	if len(lengths) != 1 {
		t.Errorf("paths of lengths %v", lengths)
	}
	if after := r.state(t); after != before {
		t.Errorf("the repository was changed:\n%s\nwas\n%s", after, before)
	}
	if _, err := os.Stat(filepath.Join(r.dir, "hooked")); err == nil {
		t.Error("a hook of the user's was run")
	}
}

// state is everything that a build must leave alone.
func (r repo) state(t *testing.T) string {
	t.Helper()
	index, err := os.ReadFile(filepath.Join(r.dir, ".git/index"))
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(index)
	return strings.Join([]string{r.git(t, "--no-optional-locks", "status", "--porcelain"), r.git(t, "rev-parse", "HEAD"), r.git(t, "worktree", "list"),
		r.git(t, "for-each-ref"), string(sum[:])}, "\n")
}

// Equal sources become equal bytes, wherever they are.
func TestBuildsAreEqual(t *testing.T) {
	r := newRepo(t)
	var sums []string
	for _, revision := range []string{"HEAD", ""} {
		path, err := BuildRevision(t.Context(), BuildSpec{Dir: r.dir, Package: "./inner/app", Revision: revision})
		if err != nil {
			t.Fatal(err)
		}
		defer os.RemoveAll(filepath.Dir(path))
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		sum := sha256.Sum256(data)
		sums = append(sums, string(sum[:]))
	}
	if sums[0] != sums[1] {
		t.Error("the binaries differ")
	}
}

// A workspace in the repository counts; one outside of it would build the
// user's own tree instead of the revision.
func TestBuildWorkspace(t *testing.T) {
	r := newRepo(t)
	r.write(t, "cmd/app/main.go", "package main\n\nimport \"example.com/inner/word\"\n\nfunc main() { println(word.Is) }\n")
	r.write(t, "inner/word/word.go", "package word\n\nconst Is = \"committed\"\n")
	r.write(t, "go.work", "go 1.22\n\nuse (\n\t.\n\t./inner\n)\n")
	r.git(t, "add", ".")
	r.git(t, "commit", "--quiet", "-m", "three")
	r.write(t, "inner/word/word.go", "package word\n\nconst Is = \"changed\"\n")
	path, err := BuildRevision(t.Context(), BuildSpec{Dir: r.dir, Package: "./cmd/app", Revision: "HEAD"})
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(filepath.Dir(path))
	if got := outputOf(t, path); got != "committed" {
		t.Errorf("with the workspace inside: %q", got)
	}
	outer := filepath.Join(t.TempDir(), "go.work")
	if err := os.WriteFile(outer, []byte("go 1.22\n\nuse "+r.dir+"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	t.Setenv("GOWORK", outer)
	path, err = BuildRevision(t.Context(), BuildSpec{Dir: r.dir, Package: "./cmd/app", Revision: "v1"})
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(filepath.Dir(path))
	if got := outputOf(t, path); got != "first" {
		t.Errorf("with the workspace outside: %q", got)
	}
}

func TestBuildProblems(t *testing.T) {
	r := newRepo(t)
	r.write(t, "broken/main.go", "package main\n\nfunc main() { missing() }\n")
	r.git(t, "add", "broken")
	r.git(t, "commit", "--quiet", "-m", "broken")
	before := r.git(t, "worktree", "list")
	for name, c := range map[string]struct {
		spec BuildSpec
		want string
	}{
		"revision": {BuildSpec{Dir: r.dir, Package: "./cmd/app", Revision: "no-such"}, `git knows no revision "no-such"`},
		"option":   {BuildSpec{Dir: r.dir, Package: "./cmd/app", Revision: "--help"}, "git knows no revision"},
		"package":  {BuildSpec{Dir: r.dir, Package: "./cmd/nothing", Revision: "v1"}, "there is no package ./cmd/nothing at v1"},
		"broken":   {BuildSpec{Dir: r.dir, Package: "./broken", Revision: "HEAD"}, "undefined: missing"},
		"no main":  {BuildSpec{Dir: r.dir, Package: "./lib", Revision: "v1"}, "is no program"},
		"no tests": {BuildSpec{Dir: r.dir, Package: "./cmd/app", Revision: "", Test: true}, "has no tests"},
		"no repo":  {BuildSpec{Dir: t.TempDir(), Package: ".", Revision: "HEAD"}, "not in a git repository"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := BuildRevision(t.Context(), c.spec)
			if p := checkProblem(t, err, c.want); p.Hint == "" {
				t.Error("no hint")
			}
		})
	}
	if after := r.git(t, "worktree", "list"); after != before {
		t.Errorf("worktrees are left: %s", after)
	}
}

// A build that is given up leaves nothing behind.
// A build that is given up leaves nothing behind, while git works or the
// compiler.
func TestBuildCancelled(t *testing.T) {
	r := newRepo(t)
	for _, limit := range []time.Duration{30 * time.Millisecond, 500 * time.Millisecond} {
		dir := t.TempDir()
		t.Setenv("TMPDIR", dir)
		ctx, cancel := context.WithTimeout(t.Context(), limit)
		defer cancel()
		_, err := BuildRevision(ctx, BuildSpec{Dir: r.dir, Package: "./cmd/app", Revision: "v1", Flags: []string{"-a"}})
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("after %v: %v", limit, err)
		}
		if list := r.git(t, "worktree", "list"); strings.Count(list, "\n") != 0 {
			t.Errorf("after %v: worktrees %s", limit, list)
		}
		if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
			t.Errorf("after %v: %v in the temporary directory, %v", limit, left, err)
		}
	}
}

func TestSameTree(t *testing.T) {
	r := newRepo(t)
	if SameTree(r.dir, "HEAD") {
		t.Error("a changed file was not seen")
	}
	r.git(t, "checkout", "--quiet", ".")
	if !SameTree(r.dir, "HEAD") || !SameTree(filepath.Join(r.dir, "inner"), "main") {
		t.Error("no change is one")
	}
	if SameTree(r.dir, "v1") || SameTree(r.dir, "no-such") || SameTree(t.TempDir(), "HEAD") {
		t.Error("what differs is the same")
	}
	r.write(t, "new.go", "package main\n")
	if SameTree(filepath.Join(r.dir, "inner"), "HEAD") {
		t.Error("a new file was not seen")
	}
}

func TestBenchmark(t *testing.T) {
	r := newRepo(t)
	path, err := BuildRevision(t.Context(), BuildSpec{Dir: r.dir, Package: "./lib", Revision: "v1", Test: true})
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(filepath.Dir(path))
	s, err := NewBenchmark(BenchSpec{Binary: path, Benchtime: "2000x", Dir: filepath.Join(r.dir, "lib")})
	if err != nil {
		t.Fatal(err)
	}
	sample := sampleOf(t, s)
	// A test binary allocates some KiB on the side now and then.
	about48 := func(v float64) bool { return v >= 48 && v < 64 }
	if v := sample.Values; v["BenchmarkX ns/op"] <= 0 || v["BenchmarkX allocs/op"] != 1 || !about48(v["BenchmarkX B/op"]) {
		t.Errorf("values %v", v)
	}
	counted, _, err := s.Count(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if v := counted.Values; v["BenchmarkX allocs/op"] != 1 || !about48(v["BenchmarkX B/op"]) || len(v) != 2 {
		t.Errorf("counted %v", v)
	}
	s, err = NewBenchmark(BenchSpec{Binary: path, Bench: "Nothing"})
	if err != nil {
		t.Fatal(err)
	}
	_, err = s.Run(t.Context())
	checkProblem(t, err, `matches "Nothing"`)
}

func TestProcsSuffix(t *testing.T) {
	p := Program{Env: []string{"GOMAXPROCS=8"}}
	for _, c := range []struct {
		names string
		want  string
	}{
		{"BenchmarkA-8 BenchmarkB/x-8", "-8"},
		{"BenchmarkA/size-100 BenchmarkA/size-200", ""},
		{"BenchmarkA BenchmarkB-8", ""},
		{"BenchmarkA/size-4096", ""}, // no machine has so many
		{"BenchmarkA-8 BenchmarkA-4", ""},
		{"BenchmarkA-08", ""},
		{"BenchmarkA/size-2 BenchmarkB/size-2", ""}, // a size: it runs on 8
		{"BenchmarkA/size-2-8 BenchmarkB/size-2-8", "-8"},
	} {
		var list []loadresult.Benchmark
		for n := range strings.FieldsSeq(c.names) {
			list = append(list, loadresult.Benchmark{Name: n})
		}
		if got := procsSuffix(list, p); got != c.want {
			t.Errorf("%s: %q, want %q", c.names, got, c.want)
		}
	}
}

// A test is built by its import path as by its directory, and runs in that.
func TestBuildImportPath(t *testing.T) {
	r := newRepo(t)
	for _, revision := range []string{"", "v1"} {
		path, err := BuildRevision(t.Context(), BuildSpec{Dir: r.dir, Package: "example.com/r/lib", Revision: revision, Test: true, Out: filepath.Join(t.TempDir(), "x.test")})
		if err != nil {
			t.Fatal(err)
		}
		if out, err := exec.Command(path, "-test.list", ".").Output(); err != nil || !strings.Contains(string(out), "BenchmarkX") {
			t.Errorf("%q: %q, %v", revision, out, err)
		}
	}
	dir, err := PackageDir(t.Context(), r.dir, "example.com/r/lib")
	if want, _ := filepath.EvalSymlinks(filepath.Join(r.dir, "lib")); err != nil || dir != want && dir != filepath.Join(r.dir, "lib") {
		t.Errorf("%q, %v", dir, err)
	}
	if _, err := PackageDir(t.Context(), r.dir, "example.com/r/nosuch"); err == nil || !strings.Contains(err.Error(), "finds no package") {
		t.Error(err)
	}
	for _, pkg := range []string{"-x", "-toolexec=true"} {
		_, err := BuildRevision(t.Context(), BuildSpec{Dir: r.dir, Package: pkg, Out: filepath.Join(t.TempDir(), "x")})
		if _, listed := PackageDir(t.Context(), r.dir, pkg); err == nil || listed == nil || !strings.Contains(err.Error(), "is no package") {
			t.Errorf("%s: %v, %v", pkg, err, listed)
		}
	}
}
