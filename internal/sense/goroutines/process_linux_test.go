package goroutines

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"github.com/gowhy/gowhy/internal/testing/corefile"
)

// goOn lets a program go on that was stopped.
func (s *subject) goOn() {
	if err := syscall.Kill(s.pid, syscall.SIGCONT); err != nil {
		s.t.Fatal(err)
	}
}

// stop stops a program until the test ends.
func (s *subject) stop() {
	s.t.Helper()
	s.t.Cleanup(func() { syscall.Kill(s.pid, syscall.SIGCONT) })
	if err := corefile.Stop(s.pid); err != nil {
		s.t.Fatal(err)
	}
}

// heap is this process's memory in use.
func heap() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// compares a program of the kind channels with what it says.
func (s *subject) compares(r *Reader) {
	s.t.Helper()
	got, err := r.Read()
	if err != nil {
		s.t.Fatal(err)
	}
	rest, moving := split(s.tracebacks())
	if err := compare(got, rest, moving, 81); err != nil {
		s.t.Error(err)
	}
}

// TestPlaces reads programs whose file is not where their mappings say.
func TestPlaces(t *testing.T) {
	if testing.Short() {
		t.Skip("builds a program")
	}
	exe := build(t, "local", source(t, "kinds"), "GOFLAGS=-ldflags=-s")
	program, err := os.ReadFile(exe)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name    string
		root    bool
		command func(dir, exe string) *exec.Cmd
		after   func(exe string) error
	}{
		{"deleted", false, nil, os.Remove},
		{"replaced", false, nil, func(exe string) error {
			if err := os.WriteFile(exe+".new", program[:len(program)/2], 0o755); err != nil {
				return err
			}
			return os.Rename(exe+".new", exe)
		}},
		{"a name with spaces", false, func(dir, exe string) *exec.Cmd {
			name := filepath.Join(dir, "a program (deleted) ")
			os.Rename(exe, name)
			return exec.Command(name, "channels")
		}, nil},
		{"another root", true, func(dir, _ string) *exec.Cmd {
			cmd := exec.Command("/program", "channels")
			cmd.SysProcAttr = &syscall.SysProcAttr{Chroot: dir}
			return cmd
		}, nil},
		{"other processes and mounts", true, func(dir, _ string) *exec.Cmd {
			cmd := exec.Command("/program", "channels")
			cmd.SysProcAttr = &syscall.SysProcAttr{Chroot: dir, Cloneflags: syscall.CLONE_NEWPID | syscall.CLONE_NEWNS | syscall.CLONE_NEWUTS | syscall.CLONE_NEWIPC}
			return cmd
		}, nil},
		{"a container", true, func(dir, _ string) *exec.Cmd { // on a file system that only it has
			cmd := exec.Command("sh", "-ec", `mount --make-rprivate / && mkdir in && mount -t tmpfs none in && cp program in && exec chroot in /program channels`)
			cmd.Dir = dir
			cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWPID | syscall.CLONE_NEWNS}
			return cmd
		}, nil},
		{"another user namespace", true, func(dir, exe string) *exec.Cmd {
			cmd := exec.Command(exe, "channels")
			cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWUSER | syscall.CLONE_NEWPID,
				UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: 0, Size: 1}}, GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: 0, Size: 1}}}
			return cmd
		}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.root && os.Getuid() != 0 {
				t.Skip("only root starts such a program")
			}
			dir := t.TempDir()
			exe := filepath.Join(dir, "program")
			if err := os.WriteFile(exe, program, 0o755); err != nil {
				t.Fatal(err)
			}
			cmd := exec.Command(exe, "channels")
			if c.command != nil {
				cmd = c.command(dir, exe)
			}
			s := startCommand(t, cmd)
			early := s.open()
			if c.after != nil {
				if err := c.after(exe); err != nil {
					t.Fatal(err)
				}
			}
			s.compares(early)
			s.compares(s.open())
		})
	}
}

// TestRefusals opens what cannot be read.
func TestRefusals(t *testing.T) {
	if !fits() {
		t.Skip("goroutines are read on Linux only")
	}
	command := func(name string, args ...string) *exec.Cmd {
		cmd := exec.Command(name, args...)
		if err := cmd.Start(); err != nil {
			t.Skip(err)
		}
		t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
		return cmd
	}
	zombie := command("true")
	for !ended(zombie.Process.Pid) {
		time.Sleep(time.Millisecond)
	}
	collected := command("true")
	collected.Wait()
	for _, c := range []struct {
		name string
		pid  int
		want error
		text string
	}{
		{"a program in C", command("sleep", "60").Process.Pid, ErrUnsure, "no Go program"},
		{"ended, not collected", zombie.Process.Pid, ErrGone, "it has ended"},
		{"ended", collected.Process.Pid, ErrGone, "it has ended"},
		{"never was", 1 << 30, ErrGone, "it has ended"},
		{"the kernel's", 2, ErrUnsure, "the kernel"},
	} {
		if name, _ := os.ReadFile("/proc/2/comm"); c.pid == 2 && string(name) != "kthreadd\n" {
			continue // in a container
		}
		if r, err := Open(c.pid); !errors.Is(err, c.want) || r != nil || !strings.Contains(err.Error(), c.text) {
			t.Errorf("%s: Open() = %v, %v, want %v with %q", c.name, r, err, c.want, c.text)
		}
	}
}

// TestPermission reads root's program as another user.
func TestPermission(t *testing.T) {
	if testing.Short() || os.Getuid() != 0 {
		t.Skip("builds a program, and only root has two users")
	}
	s := start(t, build(t, "local", source(t, "kinds")), "channels")
	root := s.open()
	type result struct {
		open, read error
	}
	c := make(chan result)
	go func() {
		runtime.LockOSThread() // and the thread ends with this goroutine
		const nobody = 65534
		if _, _, errno := syscall.RawSyscall(syscall.SYS_SETRESUID, nobody, nobody, nobody); errno != 0 {
			c <- result{errno, errno}
			return
		}
		_, err := Open(s.pid)
		_, err2 := root.Read()
		c <- result{err, err2}
	}()
	got := <-c
	for _, err := range []error{got.open, got.read} {
		if !errors.Is(err, fs.ErrPermission) || errors.Is(err, ErrUnsure) || !strings.Contains(err.Error(), "may not be read") {
			t.Errorf("another user gets %v, want %v", err, fs.ErrPermission)
		}
	}
	s.compares(root)
}

// TestGone reads a program all the time while it ends, or becomes another.
func TestGone(t *testing.T) {
	if testing.Short() {
		t.Skip("builds programs")
	}
	text := source(t, "kinds")
	exe := build(t, "local", text)
	other := build(t, "local", strings.ReplaceAll(text, "receives", "rectives")) // of the same size
	for _, c := range []struct{ name, command, text string }{
		{"ends", "end", "it has ended"},
		{"becomes itself", "become " + exe + " nothing", "another program"},
		{"becomes itself with as many", "become " + exe + " channels", "another program"},
		{"becomes its like", "become " + other + " channels", "another program"},
		{"becomes one in C", "become /bin/sleep 60", "another program"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := start(t, exe, "channels")
			r := s.open()
			fmt.Fprintln(s.in, c.command)
			var err error
			for deadline := time.Now().Add(10 * time.Second); err == nil && time.Now().Before(deadline); {
				var got *Snapshot
				if got, err = r.Read(); err == nil && got.Count != 81 {
					t.Errorf("%d goroutines, want 81", got.Count)
				}
			}
			if !errors.Is(err, ErrGone) {
				t.Fatalf("Read: %v, want %v", err, ErrGone)
			}
			for range 100 { // while it ends, and afterwards
				if _, err = r.Read(); !errors.Is(err, ErrGone) {
					t.Fatalf("Read once more: %v, want %v", err, ErrGone)
				}
			}
			// What it became is seen when it is there: a busy machine takes its time.
			for deadline := time.Now().Add(10 * time.Second); !strings.Contains(err.Error(), c.text) && time.Now().Before(deadline); time.Sleep(time.Millisecond) {
				if _, err = r.Read(); !errors.Is(err, ErrGone) {
					t.Fatalf("Read afterwards: %v, want %v", err, ErrGone)
				}
			}
			if !strings.Contains(err.Error(), c.text) {
				t.Errorf("Read afterwards: %v, want it with %q", err, c.text)
			}
			if got := r.Counters(); got.Procs >= 0 {
				t.Errorf("Counters() of what is gone has %d Ps, want less than 0", got.Procs)
			}
			if strings.Contains(c.command, "channels") {
				s.line("ready")
				s.rests()
				s.compares(s.open())
			}
		})
	}
}

// TestShared reads two processes of one file that is loaded anywhere: they share its
// tables, each has its own addresses, and one of them is read on when the other is not.
func TestShared(t *testing.T) {
	if testing.Short() {
		t.Skip("builds a program")
	}
	exe := build(t, "local", source(t, "kinds"), "GOFLAGS=-buildmode=pie")
	a, b := start(t, exe, "channels"), start(t, exe, "channels")
	first, err := Open(a.pid)
	if err != nil {
		t.Skip(err)
	}
	second := b.open()
	p, q := first.code.(program), second.code.(program)
	if p.image != q.image || tablesOf(p.image, "") != tablesOf(q.image, "") {
		t.Error("two processes of one file have two sets of tables")
	}
	if p.base == 0 || q.base == 0 {
		t.Errorf("bases %#x and %#x, want those of programs that are loaded anywhere", p.base, q.base)
	}
	s, err := first.Read()
	if err != nil || s.Count != 81 {
		t.Errorf("Read of the first: %+v, %v, want 81 goroutines", s, err)
	}
	first.Close()
	b.compares(second)
}

// TestGatherByFile reads as by process_vm_readv where a sandbox refuses that: up to the first place where nothing is.
func TestGatherByFile(t *testing.T) {
	m, err := openProcess(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	defer m.close()
	words := [2]uint64{0x1122334455667788, 42}
	at := func(i int) uint64 { return uint64(uintptr(unsafe.Pointer(&words[i]))) }
	for name, tt := range map[string]struct {
		spans []span
		want  int
	}{
		"all":          {[]span{{at(1), 8}, {at(0), 4}}, 12},
		"up to a hole": {[]span{{at(0), 8}, {4096, 8}, {at(1), 8}}, 8},
		"a hole":       {[]span{{4096, 8}}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			var got [2]string
			for i, refused := range []bool{false, true} {
				m.(*process).refused.Store(refused)
				b := make([]byte, 24)
				n, err := m.gather(b, tt.spans)
				if err != nil || n != tt.want {
					t.Errorf("gather() = %d, %v with the call refused: %t; want %d", n, err, refused, tt.want)
				}
				got[i] = string(b[:n])
			}
			if got[0] != got[1] {
				t.Errorf("gather() reads %q by the file, want %q", got[1], got[0])
			}
		})
	}
	if _, err := m.gather(make([]byte, 4), []span{{at(0), 8}}); err == nil {
		t.Error("gather() reads more than there is room for")
	}
	runtime.KeepAlive(&words)
}
