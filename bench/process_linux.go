package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/gowhy/gowhy/internal/sense/proc"
)

// startPinned starts cmd; on one core, that is the last that this process may
// use, for the first ones get most of a machine's interrupts.
func startPinned(cmd *exec.Cmd, oneCore bool) error {
	if !oneCore {
		return cmd.Start()
	}
	// A child inherits the affinity of the thread that forks it.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var all, one unix.CPUSet
	if err := unix.SchedGetaffinity(0, &all); err != nil {
		return fmt.Errorf("reading the CPU affinity: %w", err)
	}
	last := len(all)*64 - 1
	for last > 0 && !all.IsSet(last) {
		last--
	}
	one.Set(last)
	if err := unix.SchedSetaffinity(0, &one); err != nil {
		return fmt.Errorf("pinning to CPU %d: %w", last, err)
	}
	defer unix.SchedSetaffinity(0, &all)
	return cmd.Start()
}

// maxRSS returns the peak resident memory of a process that has ended, in bytes.
func maxRSS(state *os.ProcessState) int64 {
	return state.SysUsage().(*syscall.Rusage).Maxrss * 1024
}

// ownCPU returns the CPU time of this process, user and system.
func ownCPU() (time.Duration, error) {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0, err
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano()), nil
}

// peakOf returns the peak resident memory of a running process so far, in bytes; 0
// when it is gone. Pages of files that it has mapped count.
func peakOf(pid string) int64 {
	return 1024 * procField("/proc/"+pid+"/status", "VmHWM:")
}

// procField reads the number after a name at the start of a line.
func procField(path, name string) int64 {
	data, err := os.ReadFile(path)
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(data)) {
		if rest, ok := strings.CutPrefix(line, name); ok {
			if f := strings.Fields(rest); len(f) > 0 {
				n, _ := strconv.ParseInt(f[0], 10, 64)
				return n
			}
		}
	}
	return 0
}

// machineCPU returns the CPU time that the whole machine has used since it
// started; negative when not known.
func machineCPU() time.Duration {
	data, err := os.ReadFile("/proc/stat")
	if err != nil {
		return -1
	}
	fields := strings.Fields(firstLine(string(data)))
	// cpu user nice system idle iowait irq softirq steal …
	if len(fields) < 9 || fields[0] != "cpu" {
		return -1
	}
	var sum int64
	for i, f := range fields[1:9] {
		n, err := strconv.ParseInt(f, 10, 64)
		if err != nil {
			return -1
		}
		if idle := i == 3 || i == 4; !idle {
			sum += n
		}
	}
	return time.Duration(sum) * machineTick
}

// hardware names the CPU and tells the memory in bytes.
func hardware() (cpu string, memory int64) {
	if data, err := os.ReadFile("/proc/cpuinfo"); err == nil {
		for line := range strings.Lines(string(data)) {
			if name, model, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(name) == "model name" {
				cpu = strings.TrimSpace(model)
				break
			}
		}
	}
	return cpu, 1024 * procField("/proc/meminfo", "MemTotal:")
}

// lookAt reads what a process has of memory, descriptors and CPU time.
func lookAt(pid int) (look, error) {
	p, err := proc.Open(pid)
	if err != nil {
		return look{}, err
	}
	defer p.Close()
	s, err := p.Sample(false)
	if err != nil {
		return look{}, err
	}
	status := fmt.Sprintf("/proc/%d/status", pid)
	return look{at: s.Time, cpu: s.Process.User + s.Process.System, descriptors: s.Process.FDs,
		resident: 1024 * procField(status, "VmRSS:"), own: 1024 * procField(status, "RssAnon:")}, nil
}

// runAlone runs this program again where there are no other processes. It takes root, and
// is errNotAlone without.
func runAlone(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	// The shell mounts the namespace's /proc over the machine's, for itself and its own.
	const script = `mount -t proc proc /proc || exit 77; exec "$0" "$@"`
	c := exec.CommandContext(ctx, "sh", append([]string{"-c", script, self}, args...)...)
	c.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWPID, Unshareflags: syscall.CLONE_NEWNS}
	c.Env, c.Stdout, c.Stderr = append(os.Environ(), aloneWord+"=1"), stdout, stderr
	if err := c.Start(); err != nil {
		return errNotAlone
	}
	err = c.Wait()
	if c.ProcessState.ExitCode() == 77 {
		return errNotAlone
	}
	return err
}

func stopProcess(p *os.Process) error     { return p.Signal(unix.SIGSTOP) }
func continueProcess(p *os.Process) error { return p.Signal(unix.SIGCONT) }
