package record

import (
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// unknownStatus is the signal of a process of which nothing tells how it ended.
const unknownStatus = -1

// An exitStatus tells how a process ended that is not a child of ours, where the kernel
// does: since Linux 6.15. It is -1 where it cannot be had.
type exitStatus int

func openStatus(pid int) exitStatus {
	fd, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		return -1
	}
	return exitStatus(fd)
}

func (s exitStatus) close() {
	if s >= 0 {
		unix.Close(int(s))
	}
}

// A pidfdInfo is the kernel's struct pidfd_info, as it was first.
type pidfdInfo struct {
	mask, cgroup uint64
	ids          [11]uint32 // of the process, its parent and its users
	exit         int32      // as wait has it
}

const (
	pidfdGetInfo  = 0xC040FF0B // _IOWR(0xFF, 11, struct pidfd_info)
	pidfdInfoExit = 1 << 3
)

// await returns the exit status, or the signal that ended it. It is known when the
// process's parent has asked for it.
func (s exitStatus) await() (code, signal int) {
	for end := time.Now().Add(statusWait); s >= 0 && time.Now().Before(end); time.Sleep(leastLook) {
		info := pidfdInfo{mask: pidfdInfoExit}
		_, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(s), pidfdGetInfo, uintptr(unsafe.Pointer(&info)))
		if errno != 0 && errno != unix.ESRCH {
			break
		}
		if errno == 0 && info.mask&pidfdInfoExit != 0 {
			ws := unix.WaitStatus(info.exit)
			if ws.Signaled() {
				return 0, int(ws.Signal())
			}
			return ws.ExitStatus(), 0
		}
	}
	return 0, unknownStatus
}
