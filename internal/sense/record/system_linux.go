package record

import (
	"os/exec"
	"runtime"
	"syscall"

	"golang.org/x/sys/unix"
)

// monotonic is CLOCK_MONOTONIC, which the kernel's own evidence and, on Linux,
// execution traces are stamped with.
func monotonic() int64 {
	var t unix.Timespec
	if unix.ClockGettime(unix.CLOCK_MONOTONIC, &t) != nil {
		return 0
	}
	return t.Nano()
}

// endsWithUs lets the kernel end a program when we are killed: nobody would wait for it any
// more.
func endsWithUs() *syscall.SysProcAttr { return &syscall.SysProcAttr{Pdeathsig: syscall.SIGTERM} }

// startStopped starts a command that stands still before its first
// instruction, until release is called, so that nothing of it is missed. It
// is what a debugger does, and sees the least: where that is not permitted,
// it is an error; a program that would lose rights by it runs at once.
func startStopped(cmd *exec.Cmd) (release func(), err error) {
	started, quit, done := make(chan error), make(chan struct{}), make(chan struct{})
	if setuid(cmd.Path) {
		return func() {}, cmd.Start()
	}
	go func() {
		defer close(done)
		// All requests must come from the thread that started the command.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		attr := syscall.SysProcAttr{Ptrace: true}
		if cmd.SysProcAttr != nil {
			attr = *cmd.SysProcAttr
			attr.Ptrace = true
		}
		cmd.SysProcAttr = &attr
		err := cmd.Start()
		if err == nil {
			awaitStop(cmd.Process.Pid)
		}
		started <- err
		if err != nil {
			return
		}
		<-quit
		_ = syscall.PtraceDetach(cmd.Process.Pid) // fails only for one that was killed
	}()
	if err := <-started; err != nil {
		return nil, err
	}
	return func() { close(quit); <-done }, nil
}

func awaitStop(pid int) {
	for {
		var status syscall.WaitStatus
		if _, err := syscall.Wait4(pid, &status, 0, nil); err != syscall.EINTR {
			return
		}
	}
}

// setuid reports whether a program has another user's rights, which it does
// not get while it is traced.
func setuid(path string) bool {
	var st unix.Stat_t
	return unix.Stat(path, &st) == nil && st.Mode&(unix.S_ISUID|unix.S_ISGID) != 0
}

// awaitEnd waits until a child of ours has ended and leaves it to be waited
// for: until then the kernel keeps its counters.
func awaitEnd(cmd *exec.Cmd) bool {
	for {
		err := unix.Waitid(unix.P_PID, cmd.Process.Pid, nil, unix.WEXITED|unix.WNOWAIT, nil)
		if err != unix.EINTR {
			return err == nil
		}
	}
}

// diskFree returns how many bytes fit beside a file.
func diskFree(dir string) (uint64, bool) {
	var st unix.Statfs_t
	if unix.Statfs(dir, &st) != nil || st.Bsize <= 0 {
		return 0, false
	}
	return st.Bavail * uint64(st.Bsize), true
}
