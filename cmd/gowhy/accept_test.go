//go:build linux

package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gowhy/gowhy/internal/testing/attempt"
)

// The exit codes of gowhy.
const (
	well         = 0
	broken       = 1
	misused      = 2
	regression   = 4
	inconclusive = 5
)

// A lab is a directory with the sick program of testdata, in a repository of
// its own, and a PATH on which gowhy is found: what a user has.
type lab struct {
	t    testing.TB
	dir  string
	path string
}

func newLab(t testing.TB, program string) *lab {
	t.Helper()
	attempt.Only(t, "records and measures programs, many times")
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip(err)
	}
	l := &lab{t: t, dir: t.TempDir()}
	here, err := os.Getwd()
	l.must(err)
	l.must(os.CopyFS(l.dir, os.DirFS(filepath.Join("testdata", program))))
	l.write("go.mod", "module example.com/"+program+"\n\ngo 1.26.0\n\n"+
		"require github.com/gowhy/gowhy/agent v0.0.0\n\nreplace github.com/gowhy/gowhy/agent => "+filepath.Join(here, "../../agent")+"\n")
	l.write(".gitignore", "/sick\n*.gowhy\n*.json\n*.md\n/trace\n")
	l.path, err = built()
	l.must(err)
	l.ok("git init -q && git add -A && git commit -qm program")
	return l
}

// built is the directory of the gowhy command, which is built once.
var built = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "gowhy-test-")
	if err != nil {
		return "", err
	}
	removed = append(removed, dir)
	out, err := exec.Command("go", "build", "-o", filepath.Join(dir, "gowhy"), ".").CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("go build: %w\n%s", err, out)
	}
	return dir, nil
})

var removed []string // when all tests have run

func TestMain(m *testing.M) {
	code := m.Run()
	for _, dir := range removed {
		os.RemoveAll(dir)
	}
	os.Exit(code)
}

// sick returns a lab in which the sick program is built.
func sick(t testing.TB) *lab {
	l := newLab(t, "sick")
	l.ok("go build -o sick .")
	return l
}

// A result is how a command ended.
type result struct {
	command        string
	code           int
	stdout, stderr string
}

// sh runs a line of a shell in the lab's directory, as a user pastes it.
func (l *lab) sh(line string, env ...string) result {
	l.t.Helper()
	cmd := exec.CommandContext(l.t.Context(), "sh", "-c", line)
	l.in(cmd, env)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	begin := time.Now()
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		l.t.Fatalf("%s: %v", line, err)
	}
	l.t.Logf("%.1f s: %s", time.Since(begin).Seconds(), line)
	return result{line, cmd.ProcessState.ExitCode(), stdout.String(), stderr.String()}
}

func (l *lab) in(cmd *exec.Cmd, env []string) {
	cmd.Dir = l.dir
	cmd.Env = append(os.Environ(), "PATH="+l.path+":"+os.Getenv("PATH"), "GOWORK=off", "GOFLAGS=-mod=mod", "GOPROXY=off",
		"GIT_CONFIG_GLOBAL=/dev/null", "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@localhost", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@localhost")
	cmd.Env = append(cmd.Env, env...)
}

// ok runs a line that must succeed.
func (l *lab) ok(line string, env ...string) result {
	l.t.Helper()
	r := l.sh(line, env...)
	r.ends(l.t, well)
	return r
}

// ends fails the test when the command ended with none of the exit codes.
func (r result) ends(t testing.TB, codes ...int) {
	t.Helper()
	if err := r.ended(codes...); err != nil {
		t.Fatal(err)
	}
}

// ended returns an error when the command ended with none of the exit codes.
func (r result) ended(codes ...int) error {
	if !slices.Contains(codes, r.code) {
		return fmt.Errorf("%s: exit code %d, want one of %d\n%s\n%s", r.command, r.code, codes, r.stdout, r.stderr)
	}
	return nil
}

// says fails the test when the command's output lacks one of the texts.
func (r result) says(t testing.TB, texts ...string) {
	t.Helper()
	if err := r.said(texts...); err != nil {
		t.Error(err)
	}
}

// said returns an error when the command's output lacks one of the texts.
func (r result) said(texts ...string) error {
	for _, text := range texts {
		if !strings.Contains(r.stdout, text) {
			return fmt.Errorf("%s does not say %q:\n%s\n%s", r.command, text, r.stdout, r.stderr)
		}
	}
	return nil
}

// decode reads JSON that the command wrote.
func (r result) decode(t testing.TB, v any) {
	t.Helper()
	if err := json.Unmarshal([]byte(r.stdout), v); err != nil {
		t.Fatalf("%s: %v in\n%s\n%s", r.command, err, r.stdout, r.stderr)
	}
}

func (l *lab) write(name, text string) {
	l.t.Helper()
	l.must(os.WriteFile(filepath.Join(l.dir, name), []byte(text), 0o600))
}

// change replaces a text that a file has just once.
func (l *lab) change(name, from, to string) {
	l.t.Helper()
	text, err := os.ReadFile(filepath.Join(l.dir, name))
	l.must(err)
	if strings.Count(string(text), from) != 1 {
		l.t.Fatalf("%s has %q %d times", name, from, strings.Count(string(text), from))
	}
	l.write(name, strings.Replace(string(text), from, to, 1))
}

func (l *lab) must(err error) {
	l.t.Helper()
	if err != nil {
		l.t.Fatal(err)
	}
}

// freeAddress returns an address of this machine on which nothing listens.
func (l *lab) freeAddress() string {
	l.t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	l.must(err)
	defer listener.Close()
	return listener.Addr().String()
}

// start starts a line of a shell and ends what it became with the test.
func (l *lab) start(line string) {
	l.t.Helper()
	cmd := exec.Command("sh", "-c", "exec "+line)
	l.in(cmd, nil)
	l.must(cmd.Start())
	l.t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait() // it was killed
	})
}

// waitFor waits until something listens at an address.
func (l *lab) waitFor(address string) {
	l.t.Helper()
	for begin := time.Now(); ; time.Sleep(10 * time.Millisecond) {
		c, err := net.Dial("tcp", address)
		if err == nil {
			c.Close()
			return
		}
		if time.Since(begin) > time.Minute {
			l.t.Fatal(err)
		}
	}
}

// What the documented JSON promises, as far as these tests look at it.
type (
	finding struct {
		Rule     string
		Try      []string
		Missing  string
		Prove    string
		Symptoms []finding
	}
	effect struct {
		Metric, Verdict string
		Ratio           *float64
		Exact           bool
	}
	trial struct {
		Kind, Primary, Conclusion, Why string
		Pairs                          int
		Rounds                         []struct{}
		Effects                        []effect
	}
)

func (tr *trial) effect(metric string) effect {
	for _, e := range tr.Effects {
		if e.Metric == metric {
			return e
		}
	}
	return effect{}
}

// diagnose returns all findings of some files, causes before their symptoms.
func (l *lab) diagnose(files string) (list []finding) {
	l.t.Helper()
	var d struct{ Findings []finding }
	l.ok("gowhy diagnose --format json "+files).decode(l.t, &d)
	for _, f := range d.Findings {
		list = append(append(list, f), f.Symptoms...)
	}
	return list
}

// find returns the finding of a rule.
func (l *lab) find(files, rule string) (f finding, ok bool) {
	l.t.Helper()
	list := l.diagnose(files)
	i := slices.IndexFunc(list, func(f finding) bool { return f.Rule == rule })
	if i < 0 {
		return finding{}, false
	}
	return list[i], true
}

// recorded records a run of the sick program into RULE.gowhy and returns what
// the rule finds in it.
func (l *lab) recorded(rule, procs, command string) finding {
	l.t.Helper()
	return l.untilFound(rule, func() string { return l.record(rule, procs, command) })
}

// record records a run of the sick program and returns the name of the file.
func (l *lab) record(name, procs, command string) string {
	l.t.Helper()
	file := name + ".gowhy"
	l.ok("rm -f " + file + "; GOMAXPROCS=" + procs + " gowhy record --no-diagnose -o " + file + " -- " + command)
	return file
}

// untilFound returns what the rule finds in the file that it is given: while
// other programs have the processors, a program that waits for them looks like
// that, and not like what it is.
func (l *lab) untilFound(rule string, run func() (file string)) (f finding) {
	l.t.Helper()
	err := attempt.Repeat(l.t, func() error {
		file, ok := run(), false
		if f, ok = l.find(file, rule); ok {
			return nil
		}
		return fmt.Errorf("the findings of %s are %+v, want one of %s", file, l.diagnose(file), rule)
	})
	l.must(err)
	return f
}
