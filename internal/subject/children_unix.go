//go:build unix

package subject

import (
	"syscall"
	"time"
)

// childrenCPU is the CPU time of the processes that this one started and that
// have ended.
func childrenCPU() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_CHILDREN, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
