package record

import (
	"bytes"
	"errors"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gowhy/gowhy/agent/recording"
	"github.com/gowhy/gowhy/internal/know/model"
	"github.com/gowhy/gowhy/internal/read/evidence"
)

// A recorder that is killed takes its program along, and leaves what can be finished
// and a socket that the next one removes.
func TestRecorderKilled(t *testing.T) {
	dir := t.TempDir()
	cmd := exec.Command(os.Args[0])
	cmd.Dir, cmd.Env = dir, append(os.Environ(), serveEnv+"=recorder", "TMPDIR="+dir)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer cmd.Process.Kill()
	pid := 0
	await(t, "the recorded program", func() bool {
		text, _ := os.ReadFile(filepath.Join(dir, "pid"))
		pid, _ = strconv.Atoi(strings.TrimSpace(string(text)))
		written, _ := filepath.Glob(filepath.Join(dir, "run.gowhy"+recording.Unfinished+"*", recording.ProcMember))
		if pid == 0 || len(written) != 1 {
			return false
		}
		info, err := os.Stat(written[0])
		return err == nil && info.Size() > 0
	})
	cmd.Process.Kill()
	cmd.Wait()
	await(t, "the end of the program", func() bool { return errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) || zombie(pid) })

	left, _ := filepath.Glob(filepath.Join(dir, "run.gowhy"+recording.Unfinished+"*"))
	if len(left) != 1 {
		t.Fatalf("left behind: %q, want one directory", left)
	}
	w, begun, err := recording.Resume(left[0])
	if err != nil || !slices.Contains(begun.Command, "sh") || !begun.End.After(begun.Start) {
		t.Fatalf("Resume() = %+v, %v; want the manifest of its beginning", begun, err)
	}
	if err := w.Finish(begun); err != nil {
		t.Fatal(err)
	}
	if m := load(t, evidence.Options{}, filepath.Join(dir, "run.gowhy")); !m.Has(model.ProcFS) {
		t.Error("what was recorded is not in the finished recording")
	}

	// Its door has a socket only if a program with the agent listened.
	t.Setenv("TMPDIR", dir)
	doors, _ := filepath.Glob(filepath.Join(dir, "gowhy-[0-9]*"))
	if len(doors) != 1 {
		t.Fatalf("doors %q, want one", doors)
	}
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: filepath.Join(doors[0], "agent"), Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	l.SetUnlinkOnClose(false)
	removeOldSockets()
	if _, err := os.Stat(doors[0]); err != nil {
		t.Error("a door at which somebody listens was removed")
	}
	l.Close()
	removeOldSockets()
	if _, err := os.Stat(doors[0]); err == nil {
		t.Error("the door of a killed recorder stays")
	}
}

// await waits until something is so.
func await(t *testing.T, what string, is func() bool) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); !is(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("waited 20s for %s", what)
		}
	}
}

// zombie reports whether a process has ended and nobody has waited for it.
func zombie(pid int) bool {
	text, _ := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
	return bytes.Contains(text, []byte(") Z "))
}
