package record

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/gowhy/gowhy/internal/sense/proc"
)

// apartEnv is set for a process that is started in a network of its own, in which the
// loopback is down at first.
const apartEnv = "GOWHY_TEST_APART"

func init() {
	if os.Getenv(apartEnv) != "" {
		if err := raiseLoopback(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
}

func raiseLoopback() error {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	lo, err := unix.NewIfreq("lo")
	if err != nil {
		return err
	}
	lo.SetUint16(unix.IFF_UP)
	return unix.IoctlIfreq(fd, unix.SIOCSIFFLAGS, lo)
}

// A program in a container has its own 127.0.0.1, and is asked there.
func TestRecordApart(t *testing.T) {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), serveEnv+"=pprof", apartEnv+"=1")
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNET, Pdeathsig: syscall.SIGKILL}
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		t.Skipf("a network of its own needs root: %v", err)
	}
	defer func() { _ = cmd.Process.Kill(); _ = cmd.Wait() }()
	pid := cmd.Process.Pid
	var addrs []string
	for len(addrs) == 0 && cmd.Process.Signal(syscall.Signal(0)) == nil {
		time.Sleep(10 * time.Millisecond)
		addrs, _ = proc.Listening(pid)
	}
	if !apart(pid) || apart(os.Getpid()) {
		t.Errorf("the process has a network of its own: %v, this one: %v", apart(pid), apart(os.Getpid()))
	}
	if at, _ := Endpoint(t.Context(), addrs); at != "" {
		t.Fatalf("its port %q is here, too", addrs)
	}
	threadsStay(t, pid)
	_, res, err := record(t, t.Context(), Target{PID: pid})
	if err != nil {
		t.Fatal(err)
	}
	if why := refused(res, "trace"); why != "" || len(res.Members) == 0 {
		t.Errorf("no trace: %s", why)
	}
	there := false
	for _, m := range res.Members {
		there = there || strings.HasPrefix(m.Name, "trace")
	}
	if !there {
		t.Errorf("the members are %+v, want a trace among them", res.Members)
	}
}

// threadsStay has many goroutines in the other network at once, and then looks where all
// threads are.
func threadsStay(t *testing.T, pid int) {
	t.Helper()
	ours, err := os.Readlink("/proc/self/ns/net")
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	for range 50 {
		all.Go(func() {
			for range 5 {
				err := inNetwork(pid, func() error {
					if here, _ := os.Readlink(threadNetwork); here == ours {
						t.Error("it is not in the other network")
					}
					if self, _ := os.Readlink("/proc/self/ns/net"); self != ours {
						t.Error("the process's first thread is")
					}
					time.Sleep(time.Millisecond)
					return nil
				})
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	threads, _ := filepath.Glob("/proc/self/task/*/ns/net")
	for _, thread := range threads {
		if at, err := os.Readlink(thread); err == nil && at != ours {
			t.Errorf("%s stayed in the network %s, and ours is %s", thread, at, ours)
		}
	}
}
