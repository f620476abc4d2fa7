//go:build linux && (amd64 || arm64)

package kernel

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gowhy/gowhy/internal/testing/attempt"
)

// watcherMode makes the test binary a program that watches a child of its own
// and tells what came of it: so the tests see other users and namespaces.
const watcherMode = "GOWHY_KERNEL_WATCHER"

type watched struct {
	Err     string
	Result  *Result
	Refused []Refusal
	Check   []Permission
	Used    time.Duration
}

// TestWatcher is that program; it is started by the tests below.
func TestWatcher(t *testing.T) {
	mode := os.Getenv(watcherMode)
	if mode == "" {
		t.Skip("not a watcher")
	}
	if strings.HasPrefix(mode, "proc ") {
		mode = strings.TrimPrefix(mode, "proc ")
		// First of all keep to ourselves what is mounted here.
		if err := syscall.Mount("none", "/", "", syscall.MS_REC|syscall.MS_PRIVATE, ""); err != nil {
			t.Fatal(err)
		}
		if err := syscall.Mount("proc", "/proc", "proc", 0, ""); err != nil {
			t.Fatal(err)
		}
	}
	var w watched
	w.Check = Check()
	c := startChild(t, mode)
	s, err := Start(Options{PID: c.cmd.Process.Pid, Hz: 997, OffCPU: true, Syscalls: true, AllSyscalls: true})
	if err != nil {
		w.Err = err.Error()
	} else {
		w.Refused = s.Refusals()
		w.Used = c.work(t)
		if w.Result, err = s.Stop(); err != nil {
			w.Err = err.Error()
		}
	}
	out := os.NewFile(3, "out")
	defer out.Close()
	if err := json.NewEncoder(out).Encode(w); err != nil {
		t.Fatal(err)
	}
}

// runWatcher runs the watcher in another environment.
func runWatcher(t *testing.T, mode string, attr *syscall.SysProcAttr) watched {
	t.Helper()
	attempt.Only(t, "becomes another user or enters a namespace, which takes root")
	if os.Geteuid() != 0 {
		t.Skip("only root may become another user or enter a namespace")
	}
	exe := publicCopy(t)
	in, out, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	cmd := exec.Command(exe, "-test.run=^TestWatcher$")
	cmd.Dir = "/"
	cmd.Env = append(os.Environ(), watcherMode+"="+mode)
	cmd.SysProcAttr = attr
	cmd.ExtraFiles = []*os.File{out}
	var text strings.Builder
	cmd.Stdout, cmd.Stderr = &text, &text
	if err := cmd.Start(); err != nil {
		out.Close()
		t.Skipf("not permitted: %v", err)
	}
	out.Close()
	b, _ := io.ReadAll(in)
	if err := cmd.Wait(); err != nil {
		t.Fatalf("watcher: %v\n%s", err, text.String())
	}
	var w watched
	if err := json.Unmarshal(b, &w); err != nil {
		t.Fatalf("watcher: %v\n%s", err, text.String())
	}
	return w
}

// publicCopy returns the test binary where everybody may start it.
func publicCopy(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "gowhy-kernel")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile("/proc/self/exe")
	if err != nil {
		t.Fatal(err)
	}
	exe := filepath.Join(dir, "kernel.test")
	if err := os.WriteFile(exe, b, 0o755); err != nil {
		t.Fatal(err)
	}
	return exe
}

// TestOtherUser holds that without privileges there is less, and that it is
// said: what was asked for is there or refused.
func TestOtherUser(t *testing.T) {
	const nobody = 65534
	attr := &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	w := runWatcher(t, "busy 300", attr)
	refused := map[string]Refusal{}
	for _, r := range w.Refused {
		refused[r.What] = r
		if r.Why == "" {
			t.Errorf("%s is refused for %q, want a reason", r.What, r.Why)
		}
	}
	level, _ := sysctl("perf_event_paranoid")
	t.Logf("perf_event_paranoid is %d, refused %+v, Check() = %+v", level, w.Refused, w.Check)
	if r, ok := refused["syscalls"]; !ok || r.How != grantCommand {
		t.Errorf("system calls: %+v, want them refused, with %s", r, grantCommand)
	}
	if level > 2 || level < 2 {
		return // what else is refused is another story
	}
	if r := refused["kernel stacks"]; r.How != paranoidCommand || !strings.Contains(r.Why, "perf_event_paranoid is 2") {
		t.Errorf("kernel stacks: %+v, want them refused for perf_event_paranoid, with %s", r, paranoidCommand)
	}
	if r := refused["offcpu"]; r.How != paranoidCommand {
		t.Errorf("off CPU: %+v, want it refused, with %s", r, paranoidCommand)
	}
	if w.Result == nil || !w.Result.UserOnly || w.Result.Syscalls != nil {
		t.Fatalf("result %+v, error %q; want user mode only and no system calls", w.Result, w.Err)
	}
	if got := sumTime(w.Result.CPU, has("kernel.busyLoop")); !within(got, w.Used, 0.3) {
		t.Errorf("busyLoop has %v, want about %v", got, w.Used)
	}
	if len(w.Result.Off) == 0 || w.Result.Off[0].Stack != nil {
		t.Errorf("off CPU: %+v, want it without stacks", w.Result.Off)
	}
}

// TestRootRefused holds that root without capabilities is not told to become
// root.
func TestRootRefused(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("for root")
	}
	why, how := explain("cpu", os.Getpid(), fmt.Errorf("opening: %w", syscall.EACCES))
	if !strings.Contains(why, "permission denied") || how != containerCommand {
		t.Errorf("explain() to root = %q, %q; want permission denied, %s", why, how, containerCommand)
	}
}

// TestNamespaces counts the calls of a process in a namespace of processes of
// its own: seen from outside, and from inside, where programs in the kernel see
// other numbers than we do.
func TestNamespaces(t *testing.T) {
	t.Run("outside", func(t *testing.T) {
		if os.Geteuid() != 0 {
			t.Skip("only root may make a namespace")
		}
		c := startChild(t, "calls 1000", func(cmd *exec.Cmd) {
			cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWPID}
		})
		s, err := Start(Options{PID: c.cmd.Process.Pid, Hz: 99, OffCPU: true, Syscalls: true, AllSyscalls: true})
		if err != nil || !s.callBPF {
			t.Skipf("not permitted: %v", err)
		}
		c.work(t)
		r, err := s.Stop()
		if err != nil {
			t.Fatal(err)
		}
		if c := callNamed(t, r, "getppid"); c.Count != 1000 {
			t.Errorf("getppid: %+v, want 1000", c)
		}
	})
	t.Run("inside", func(t *testing.T) {
		attr := &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWPID | syscall.CLONE_NEWNS}
		w := runWatcher(t, "proc calls 100000", attr)
		if w.Result == nil {
			t.Fatalf("no result: %s", w.Err)
		}
		for _, r := range w.Refused {
			if r.What == "syscalls" {
				t.Skipf("%s is refused: %s", r.What, r.Why)
			}
		}
		if c := callNamed(t, w.Result, "getppid"); c.Count != 100000 {
			t.Errorf("getppid: %+v, want 100000", c)
		}
		if got := sumTime(w.Result.CPU, has("kernel.callWork")); got < w.Used/3 {
			t.Errorf("callWork has %v of %v, want a third or more", got, w.Used)
		}
		if len(w.Result.Off) == 0 {
			t.Error("no switches")
		}
	})
}

func TestCheck(t *testing.T) {
	got := Check()
	var names []string
	for _, p := range got {
		names = append(names, p.What)
		if !p.OK && p.Why == "" {
			t.Errorf("Check(): %s is refused for %q, want a reason", p.What, p.Why)
		}
	}
	if want := "cpu,kernel stacks,offcpu,syscalls"; strings.Join(names, ",") != want {
		t.Errorf("checked %v, want %s", names, want)
	}
}
