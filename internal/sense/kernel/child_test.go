//go:build linux && (amd64 || arm64)

package kernel

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/gowhy/gowhy/internal/testing/attempt"
)

// childMode makes the test binary a program to watch: what to do, and how
// much of it.
const childMode = "GOWHY_KERNEL_CHILD"

func TestMain(m *testing.M) {
	if mode := os.Getenv(childMode); mode != "" {
		childMain(mode)
		return
	}
	os.Exit(m.Run())
}

// childMain says "ready", waits for a line, works, tells the CPU time of the
// work in nanoseconds, and goes when its input ends.
func childMain(mode string) {
	in := bufio.NewReader(os.Stdin)
	fmt.Println("ready")
	in.ReadString('\n')
	name, arg, _ := strings.Cut(mode, " ")
	n, _ := strconv.Atoi(arg)
	before := usage()
	if work := children[name]; work != nil {
		work(n)
	}
	fmt.Println(int64(usage() - before))
	io.Copy(io.Discard, in)
}

func usage() time.Duration {
	var r syscall.Rusage
	syscall.Getrusage(syscall.RUSAGE_SELF, &r)
	return time.Duration(r.Utime.Nano() + r.Stime.Nano())
}

var children = map[string]func(n int){
	"busy":     func(ms int) { busyWork(time.Duration(ms) * time.Millisecond) },
	"calls":    callWork,
	"steady":   steadyWork,
	"mixed":    mixedWork,
	"wake":     func(n int) { wakeWork(n, func() {}) },
	"pinned":   pinnedWork,
	"threads":  threadWork,
	"ticks":    tickWork,
	"loop":     loopWork,
	"forever":  func(int) { busyWork(time.Hour) },
	"sleeping": func(ms int) { sleepThread(time.Duration(ms) * time.Millisecond) },
}

// busyWork computes until it has used so much time.
//
//go:noinline
func busyWork(d time.Duration) {
	sum := 0
	for begin := time.Now(); time.Since(begin) < d; {
		sum += busyLoop(sum)
	}
	runtime.KeepAlive(sum)
}

// loopWork computes for n thousand steps, however long they take.
func loopWork(n int) {
	sum := 0
	for range n / 200 {
		sum += busyLoop(sum)
	}
	runtime.KeepAlive(sum)
}

//go:noinline
func busyLoop(seed int) int {
	for i := range 200_000 {
		seed = innerStep(seed, i)
	}
	return seed
}

// innerStep is inlined, and must be found all the same.
func innerStep(seed, i int) int { return seed*31 + i ^ seed>>7 }

// callWork makes a known number of calls: n of getppid, n/10 of read that fail
// with EBADF, and n/10 of read that bring 100 bytes.
func callWork(n int) {
	runtime.LockOSThread()
	zero, _ := syscall.Open("/dev/zero", syscall.O_RDONLY, 0)
	buf := make([]byte, 100)
	for range n {
		syscall.RawSyscall(syscall.SYS_GETPPID, 0, 0, 0)
	}
	for range n / 10 {
		syscall.Read(-1, buf)
		syscall.Read(zero, buf)
	}
	syscall.Close(zero)
}

// steadyWork makes the calls of callWork in small portions, n times ten of
// getppid, and computes in between.
func steadyWork(n int) {
	runtime.LockOSThread()
	zero, _ := syscall.Open("/dev/zero", syscall.O_RDONLY, 0)
	buf := make([]byte, 100)
	sum := 0
	for range n {
		for range 10 {
			syscall.RawSyscall(syscall.SYS_GETPPID, 0, 0, 0)
		}
		syscall.Read(-1, buf)
		syscall.Read(zero, buf)
		for i := range 10_000 {
			sum = innerStep(sum, i)
		}
	}
	runtime.KeepAlive(sum)
	syscall.Close(zero)
}

// mixedWork spends its time in the kernel: in read and in write.
func mixedWork(n int) {
	runtime.LockOSThread()
	zero, _ := syscall.Open("/dev/zero", syscall.O_RDONLY, 0)
	null, _ := syscall.Open("/dev/null", syscall.O_WRONLY, 0)
	buf := make([]byte, 16<<10)
	for range n {
		syscall.Read(zero, buf)
		syscall.Write(null, buf)
		syscall.RawSyscall(syscall.SYS_GETPPID, 0, 0, 0)
	}
}

// pinnedWork is wakeWork on one CPU, for measuring: on several the kernel puts the
// two threads together now and then, and they switch twenty times as often until it
// parts them.
func pinnedWork(n int) {
	var all, cpu unix.CPUSet
	unix.SchedGetaffinity(0, &all)
	for i := 0; cpu.Count() == 0; i++ {
		if all.IsSet(i) {
			cpu.Set(i)
		}
	}
	wakeWork(n, func() {
		if err := unix.SchedSetaffinity(0, &cpu); err != nil {
			panic(err)
		}
	})
}

// wakeWork passes a byte to and fro between two threads, n times. Each thread
// calls ready before it begins.
func wakeWork(n int, ready func()) {
	var a, b [2]int
	syscall.Pipe(a[:])
	syscall.Pipe(b[:])
	var wg sync.WaitGroup
	pass := func(from, to int, first bool) {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread() // the thread stays, and its counters
		ready()
		buf := []byte{1}
		for range n {
			if first {
				syscall.Write(to, buf)
				syscall.Read(from, buf)
			} else {
				syscall.Read(from, buf)
				syscall.Write(to, buf)
			}
		}
	}
	wg.Go(func() { pass(a[0], b[1], true) })
	wg.Go(func() { pass(b[0], a[1], false) })
	wg.Wait()
}

// threadWork works on threads of its own, one after the other.
func threadWork(n int) {
	for range n {
		done := make(chan bool)
		go func() {
			runtime.LockOSThread() // and never unlock: the thread ends with it
			busyWork(100 * time.Millisecond)
			close(done)
		}()
		<-done
	}
}

// tickWork wakes n times, a millisecond apart, and works a little.
func tickWork(n int) {
	for range n {
		time.Sleep(time.Millisecond)
		busyLoop(n)
	}
}

func sleepThread(d time.Duration) {
	runtime.LockOSThread()
	ts := syscall.NsecToTimespec(int64(d))
	syscall.Nanosleep(&ts, nil)
}

// A child is a process under watch.
type child struct {
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
}

func startChild(t testing.TB, mode string, change ...func(*exec.Cmd)) *child {
	t.Helper()
	attempt.Only(t, "watches a program from the kernel's side: what it sees depends on rights and on timing")
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(exe)
	cmd.Env = append(os.Environ(), childMode+"="+mode)
	cmd.Stderr = os.Stderr
	for _, f := range change {
		f(cmd)
	}
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	c := &child{cmd, in, bufio.NewReader(out)}
	t.Cleanup(func() { c.end() })
	if line := c.line(t); line != "ready" {
		t.Fatalf("child says %q, want ready", line)
	}
	return c
}

func (c *child) line(t testing.TB) string {
	t.Helper()
	line, err := c.out.ReadString('\n')
	if err != nil {
		t.Fatalf("child: %v", err)
	}
	return strings.TrimSpace(line)
}

// work lets the child work and returns the CPU time that took it.
func (c *child) work(t testing.TB) time.Duration {
	t.Helper()
	io.WriteString(c.in, "go\n")
	n, err := strconv.ParseInt(c.line(t), 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return time.Duration(n)
}

func (c *child) end() {
	c.in.Close()
	c.cmd.Process.Kill()
	c.cmd.Wait()
}
