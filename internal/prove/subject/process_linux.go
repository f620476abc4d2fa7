package subject

import (
	"syscall"

	"golang.org/x/sys/unix"
)

// peakUnit is that of rusage's peak, in bytes.
const peakUnit = 1 << 10

// ownGroup makes a process the first of a new group. It ends with us, even if
// we are killed: a server that is left behind would answer the next experiment.
// The kernel means the thread that started it; Go ends only threads that a
// goroutine was locked to and left so, which nobody here does.
func ownGroup() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

// awaitEnd waits until a child has ended and leaves it to be waited for.
func awaitEnd(pid int) bool {
	for {
		err := unix.Waitid(unix.P_PID, pid, nil, unix.WEXITED|unix.WNOWAIT, nil)
		if err != unix.EINTR {
			return err == nil
		}
	}
}
