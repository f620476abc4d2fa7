package remote

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/gowhy/gowhy/internal/ground/problem"
)

// onPath makes commands that are found before those of this machine.
func onPath(t *testing.T, scripts map[string]string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	for name, script := range scripts {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"+script), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", dir+":/usr/bin:/bin")
	return dir
}

// fakeSSH is a host of its own: it has another PATH and a folder for temporary files, and
// does with the last argument what a login shell does there.
const fakeSSH = `[ "$1 $2" = "-T --" ] || { echo "unknown options $*" >&2; exit 255; }
[ "$3" = nowhere ] && { echo "ssh: Could not resolve hostname nowhere" >&2; exit 255; }
PATH=$THERE:/usr/bin:/bin TMPDIR=$THERE exec sh -c "$4"
`

// fakeGowhy records what it was told.
const fakeGowhy = `[ "$1" = --version ] && { echo "gowhy v1.2.3 go1.26 linux/amd64"; exit; }
[ "$1 $2 $3" = "record --no-diagnose -o" ] || { echo "gowhy: unknown command" >&2; exit 2; }
out=$4; shift 4
case "$*" in
*4041*) printf 'gowhy: there is no process 4041\nhint: gowhy list\n' >&2; exit 6 ;;
*--forever*) trap 'echo "ended $*" > "$out"; exit 143' TERM; echo begun > "$THERE/begun"; while :; do sleep 0.05; done ;;
esac
echo "recorded $*" > "$out"
exit 3
`

func hostOf(t *testing.T, version string) (h *Host, there string) {
	t.Helper()
	onPath(t, map[string]string{"ssh": fakeSSH})
	there = t.TempDir()
	t.Setenv("THERE", there)
	program := filepath.Join(t.TempDir(), "mine")
	if err := os.WriteFile(program, []byte("#!/bin/sh\n"+fakeGowhy), 0o755); err != nil {
		t.Fatal(err)
	}
	return &Host{Name: "me@there", Program: program, Version: version, System: runtime.GOOS + "/" + runtime.GOARCH}, there
}

// leftBehind returns the files on the host beside what was there.
func leftBehind(t *testing.T, there string) []string {
	t.Helper()
	left, _ := filepath.Glob(filepath.Join(there, "gowhy-*"))
	return left
}

func TestRecord(t *testing.T) {
	h, there := hostOf(t, "gowhy v1.2.3 go1.26 linux/amd64\n")
	var b bytes.Buffer
	record := func(args ...string) error {
		b.Reset()
		return h.Record(t.Context(), args, &b)
	}
	if err := record("-d", "5s", "--url", "http://localhost:6060/it's"); err != nil || b.String() != "recorded -d 5s --url http://localhost:6060/it's\n" {
		t.Errorf("copied: %q, %v", &b, err)
	}
	err := record("--pid", "4041")
	var known *problem.Error
	if !errors.As(err, &known) || known.What != "on me@there: there is no process 4041" || known.Hint != "gowhy list" {
		t.Errorf("no process: %v", err)
	}
	if left := leftBehind(t, there); len(left) > 0 {
		t.Errorf("left there: %q", left)
	}
	// One of the same version that is there is used: nothing can be copied from here.
	h.Program = "/nonexistent"
	if err := record("--pid", "1"); err == nil {
		t.Error("a program that is not there was copied")
	}
	if err := os.WriteFile(filepath.Join(there, "gowhy"), []byte("#!/bin/sh\n"+fakeGowhy), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := record("--pid", "1"); err != nil || b.String() != "recorded --pid 1\n" {
		t.Errorf("their own: %q, %v", &b, err)
	}
	if left := leftBehind(t, there); len(left) > 0 {
		t.Errorf("left there: %q", left)
	}
}

func TestRecordFails(t *testing.T) {
	h, there := hostOf(t, "gowhy v2.0.0")
	for name, c := range map[string]struct {
		host, system string
		want, hint   string
	}{
		"no such host":      {"nowhere", h.System, "ssh nowhere: ssh: Could not resolve hostname nowhere", "ssh nowhere true   # has to work"},
		"an option":         {"-oProxyCommand=evil", h.System, `"-oProxyCommand=evil" is no host`, "--ssh user@host"},
		"another processor": {"there", "plan9/mips", "where this gowhy, of plan9/mips, does not run, and its own is none", "install the same version of gowhy there: gowhy v2.0.0"},
	} {
		other := *h
		other.Name, other.System = c.host, c.system
		err := other.Record(t.Context(), nil, &bytes.Buffer{})
		var known *problem.Error
		if !errors.As(err, &known) || !strings.HasSuffix(known.What, c.want) || known.Hint != c.hint {
			t.Errorf("%s: %+v, want %q and the hint %q", name, err, c.want, c.hint)
		}
	}
	if left := leftBehind(t, there); len(left) > 0 {
		t.Errorf("left there: %q", left)
	}
}

// A shell that prints something first has not said which directory is ours: none is removed.
func TestTalkingShell(t *testing.T) {
	h, there := hostOf(t, "gowhy v2.0.0")
	kept := filepath.Join(there, "kept")
	if err := os.Mkdir(kept, 0o755); err != nil {
		t.Fatal(err)
	}
	onPath(t, map[string]string{"ssh": "echo " + kept + "\n" + fakeSSH})
	err := h.Record(t.Context(), nil, &bytes.Buffer{})
	if _, gone := os.Stat(kept); err == nil || !strings.Contains(err.Error(), "does not answer as a shell does") || gone != nil {
		t.Errorf("error %v; %v", err, gone)
	}
}

// What is told is what ended it, not what it was doing before.
func TestFailed(t *testing.T) {
	h := &Host{Name: "there"}
	exit := func(script string) error { return exec.Command("sh", "-c", script).Run() }
	for _, c := range []struct{ script, stderr, want string }{
		{"exit 255", "gowhy: recording 1m0s of process 1\nclient_loop: send disconnect: Broken pipe\n", "ssh there: client_loop: send disconnect: Broken pipe"},
		{"kill -9 $$", "gowhy: recording 1m0s of process 1\n", "ssh there: the connection broke"},
		{"exit 6", "Welcome!\ngowhy: recording 1m0s of process 1\ngowhy: there is no process 1,\nand none before\nhint: gowhy list\n", "on there: there is no process 1, and none before"},
		{"exit 127", "sh: gowhy: not found\n", "on there: sh: gowhy: not found"},
		{"exit 3", "", "on there: exit status 3"},
	} {
		if err := h.failed(exit(c.script), c.stderr); err.Error() != c.want {
			t.Errorf("%s: %q, want %q", c.script, err, c.want)
		}
	}
}

// An interrupt here ends the recording there, and what there is of it comes.
func TestRecordInterrupted(t *testing.T) {
	h, there := hostOf(t, "")
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	var b bytes.Buffer
	go func() { done <- h.Record(ctx, []string{"--forever"}, &b) }()
	for begun := false; !begun; time.Sleep(10 * time.Millisecond) {
		_, err := os.Stat(filepath.Join(there, "begun"))
		begun = err == nil
	}
	cancel()
	if err := <-done; err != nil || b.String() != "ended --forever\n" {
		t.Errorf("%q, %v; want what was recorded until then", &b, err)
	}
	if left := leftBehind(t, there); len(left) > 0 {
		t.Errorf("left there: %q", left)
	}
}
