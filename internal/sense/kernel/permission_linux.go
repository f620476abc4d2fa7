//go:build amd64 || arm64

package kernel

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/cilium/ebpf"
	"golang.org/x/sys/unix"
)

// Commands that allow things. A file's capabilities are the narrowest grant:
// they are for this program only and last.
const (
	grantCommand     = "sudo setcap cap_perfmon,cap_bpf,cap_sys_ptrace,cap_syslog+ep \"$(command -v gowhy)\""
	paranoidCommand  = "sudo sysctl kernel.perf_event_paranoid=1"
	namesCommand     = "sudo sysctl kernel.kptr_restrict=0 kernel.perf_event_paranoid=1"
	containerCommand = "docker run --cap-add PERFMON --cap-add BPF --cap-add SYS_PTRACE --cap-add SYSLOG --security-opt seccomp=unconfined …"
)

// sysctl reads a number below /proc/sys/kernel.
func sysctl(name string) (int, bool) {
	b, err := os.ReadFile("/proc/sys/kernel/" + name)
	if err != nil {
		return 0, false
	}
	n, err := strconv.Atoi(strings.TrimSpace(string(b)))
	return n, err == nil
}

// explain says why the kernel refused a part, and what would allow it.
func explain(what string, pid int, err error) (why, how string) {
	why = reason(err)
	if !permissionDenied(err) && !errors.Is(err, os.ErrPermission) && !errors.Is(err, os.ErrNotExist) {
		return why, ""
	}
	if errors.Is(err, unix.ENOSYS) {
		return why + ": the kernel lacks the call, or a seccomp filter hides it", containerCommand
	}
	if os.Geteuid() == 0 {
		return why + " for root: capabilities are missing, as in a container", containerCommand
	}
	if what == "syscalls" {
		return why + ": counting system calls takes CAP_BPF and CAP_PERFMON", grantCommand
	}
	if foreign(pid) {
		return why + ": the process is another user's", grantCommand
	}
	if level, ok := sysctl("perf_event_paranoid"); ok && level > 1 {
		return fmt.Sprintf("%s: kernel.perf_event_paranoid is %d", why, level), paranoidCommand
	}
	return why, grantCommand
}

// reason returns the text of an error without what each caller says anyway.
func reason(err error) string {
	if errno := unix.Errno(0); errors.As(err, &errno) {
		return errno.Error()
	}
	return err.Error()
}

// foreign tells whether a process runs as another user.
func foreign(pid int) bool {
	var st unix.Stat_t
	return unix.Stat("/proc/"+strconv.Itoa(pid), &st) == nil && int(st.Uid) != os.Geteuid()
}

// tracepointID reads the number of a tracepoint, if tracefs is mounted.
func tracepointID(name string) (uint64, error) {
	var first error
	for _, dir := range []string{"/sys/kernel/tracing", "/sys/kernel/debug/tracing"} {
		b, err := os.ReadFile(dir + "/events/" + name + "/id")
		if err == nil {
			return strconv.ParseUint(strings.TrimSpace(string(b)), 10, 64)
		}
		if first == nil || errors.Is(err, os.ErrPermission) {
			first = err
		}
	}
	return 0, first
}

// kernelNames tells whether the kernel shows the addresses of its functions.
func kernelNames() (why, how string, ok bool) {
	f, err := os.Open("/proc/kallsyms")
	if err != nil {
		return "no names: " + reason(err), "", false
	}
	defer f.Close()
	const enough = 64 // the first may well be at 0: per-CPU symbols
	in := bufio.NewScanner(f)
	for range enough {
		if !in.Scan() {
			break
		}
		if addr, _, ok := parseSymbol(in.Bytes()); ok && addr != 0 {
			return "", "", true
		}
	}
	level, _ := sysctl("kptr_restrict")
	if level >= 2 {
		return fmt.Sprintf("no names: kernel.kptr_restrict is %d", level), "sudo sysctl kernel.kptr_restrict=0", false
	}
	return fmt.Sprintf("no names: kernel.kptr_restrict is %d and CAP_SYSLOG is missing", level), namesCommand, false
}

// Check tells what of the kernel's evidence this process may use on processes
// of its own user.
func Check() []Permission {
	pid := os.Getpid()
	return []Permission{checkCPU(pid), checkStacks(pid), checkSwitches(pid), checkCalls(pid)}
}

// tryEvents opens events for this process and closes them again.
func tryEvents(pid int, userOnly bool, kinds ...eventKind) error {
	e, err := openEvents(pid, plan{kinds: kinds, period: time.Second, userOnly: userOnly})
	if err == nil {
		e.close()
	}
	return err
}

func permission(what string, pid int, err error) Permission {
	if err == nil {
		return Permission{What: what, OK: true}
	}
	why, how := explain(what, pid, err)
	return Permission{What: what, Why: why, How: how}
}

func checkCPU(pid int) Permission {
	err := tryEvents(pid, false, kindCPU)
	if err != nil && tryEvents(pid, true, kindCPU) == nil {
		p := permission("cpu", pid, err)
		p.OK, p.Why = true, "without time in the kernel: "+p.Why
		return p
	}
	return permission("cpu", pid, err)
}

func checkStacks(pid int) Permission {
	if err := tryEvents(pid, false, kindCPU); err != nil {
		return permission("kernel stacks", pid, err)
	}
	why, how, ok := kernelNames()
	return Permission{What: "kernel stacks", OK: ok, Why: why, How: how}
}

func checkSwitches(pid int) Permission {
	err := tryProbes(func(p *probes, pid int) error { return p.watchSwitches(pid, false) })
	if err == nil && kernelAtLeast(5, 18) {
		return Permission{What: "offcpu", OK: true}
	}
	err = tryEvents(pid, false, kindSwitch)
	if err != nil && tryEvents(pid, true, kindSwitch) == nil {
		p := permission("offcpu", pid, err)
		p.OK, p.Why = true, "only times, no stacks: "+p.Why
		return p
	}
	p := permission("offcpu", pid, err)
	if err == nil {
		p.Why, p.How = "by records of each switch, which costs more than eBPF", grantCommand
	}
	return p
}

func checkCalls(pid int) Permission {
	err := tryProbes(func(p *probes, pid int) error { return p.watchCalls(pid, false) })
	if err == nil {
		return Permission{What: "syscalls", OK: true}
	}
	return permission("syscalls", pid, err)
}

// tryProbes attaches programs to this process and detaches them again.
func tryProbes(watch func(*probes, int) error) error {
	t, err := targetOf(os.Getpid())
	if err != nil {
		return err
	}
	p, err := newProbes(t)
	if err != nil {
		return err
	}
	defer p.close()
	err = watch(p, os.Getpid())
	var rejected *ebpf.VerifierError
	if errors.As(err, &rejected) {
		return fmt.Errorf("the kernel does not take the program: %v", rejected)
	}
	return err
}
