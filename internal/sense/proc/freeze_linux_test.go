package proc

import (
	"bufio"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// ticking starts a process that says all the time that it runs, and counts how often.
func ticking(t *testing.T) (pid int, said func() int64) {
	t.Helper()
	cmd := exec.Command("sh", "-c", "while :; do echo; done")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var lines atomic.Int64
	go func() {
		for s := bufio.NewScanner(out); s.Scan(); {
			lines.Add(1)
		}
	}()
	t.Cleanup(func() {
		syscall.Kill(cmd.Process.Pid, syscall.SIGKILL)
		cmd.Wait()
	})
	if !speaks(lines.Load) {
		t.Fatal("it says nothing")
	}
	return cmd.Process.Pid, lines.Load
}

// speaks reports whether a process goes on.
func speaks(said func() int64) bool {
	time.Sleep(time.Millisecond)
	const onItsWay = 64 << 10 // what a pipe has in it
	was := said()
	for end := time.Now().Add(10 * time.Second); time.Now().Before(end); time.Sleep(time.Millisecond) {
		if said() > was+onItsWay {
			return true
		}
	}
	return false
}

// What is stopped stands still until it is let go, and no longer than allowed.
func TestStop(t *testing.T) {
	pid, said := ticking(t)
	f, err := Stop(pid, time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	if _, all := stopped(pid); !all {
		t.Errorf("by %s, and it runs", f.By)
	}
	if _, err := Stop(pid, time.Minute); !errors.Is(err, ErrStopped) && f.By == "SIGSTOP" {
		t.Errorf("stopped twice: %v, want %v", err, ErrStopped)
	}
	stood, early, err := f.Thaw()
	if err != nil || early || stood <= 0 || stood > time.Minute {
		t.Errorf("Thaw() = %v, %v, %v", stood, early, err)
	}
	if !speaks(said) {
		t.Error("it does not go on")
	}

	f, err = Stop(pid, 50*time.Millisecond)
	if err != nil {
		t.Skip("the machine did not come to it in time: ", err)
	}
	if !speaks(said) {
		t.Error("its time is over, and it does not go on")
	}
	if stood, early, err := f.Thaw(); err != nil || !early || stood < 50*time.Millisecond {
		t.Errorf("Thaw() = %v, %v, %v; want that its time was over", stood, early, err)
	}
}

// threads is set in the environment of a test that is a process of many threads.
const threads = "GOWHY_THREADS"

// threaded starts a process of many threads, which all run.
func threaded(t *testing.T) (pid int) {
	t.Helper()
	cmd := exec.Command(os.Args[0], "-test.run=^TestStopStopped$")
	cmd.Env = append(os.Environ(), threads+"=1", "GOMAXPROCS=16")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
	})
	if _, err := out.Read(make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
	return cmd.Process.Pid
}

// runThreads is what such a process does.
func runThreads() {
	for range 6 {
		begun := make(chan bool)
		go func() {
			runtime.LockOSThread()
			for close(begun); ; {
				syscall.Getppid()
			}
		}()
		<-begun
	}
	os.Stdout.WriteString("\n")
	select {}
}

// What somebody else stopped stays so, also where not all of its threads have stopped yet.
func TestStopStopped(t *testing.T) {
	if os.Getenv(threads) != "" {
		runThreads()
	}
	one, _ := ticking(t)
	many := threaded(t)
	for name, pid := range map[string]int{"one thread": one, "many threads": many} {
		t.Run(name, func(t *testing.T) {
			for range 10 {
				syscall.Kill(pid, syscall.SIGSTOP)
				for some, all := stopped(pid); !some && !all; some, all = stopped(pid) {
				}
				if _, err := Stop(pid, time.Minute); !errors.Is(err, ErrStopped) {
					t.Errorf("Stop() = %v, want %v", err, ErrStopped)
				}
				for end := time.Now().Add(10 * time.Second); ; time.Sleep(time.Millisecond) {
					if _, all := stopped(pid); all {
						break
					} else if time.Now().After(end) {
						t.Fatal("it was let go")
					}
				}
				syscall.Kill(pid, syscall.SIGCONT)
				for some, _ := stopped(pid); some; some, _ = stopped(pid) {
				}
			}
		})
	}
}

// A process that is alone in a control group is stopped by its freezer, of which nobody hears.
func TestStopGroup(t *testing.T) {
	group := unifiedGroup(os.Getpid())
	if group == "" {
		t.Skip("no control groups of version 2")
	}
	dir := filepath.Join(group, "gowhy-freeze-"+strconv.Itoa(os.Getpid()))
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() { os.Remove(dir) })
	pid, said := ticking(t)
	if err := os.WriteFile(filepath.Join(dir, "cgroup.procs"), []byte(strconv.Itoa(pid)), 0o644); err != nil {
		t.Skip(err)
	}
	f, err := Stop(pid, time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if stat, _ := parseStat(text); err != nil || f.By == "SIGSTOP" || stat.state == 'T' {
		t.Errorf("stopped by %s, its state %c, %v; want by its control group", f.By, stat.state, err)
	}
	if _, early, err := f.Thaw(); err != nil || early || !speaks(said) {
		t.Errorf("it does not go on: %v, %v", early, err)
	}
}
