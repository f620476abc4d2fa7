//go:build unix

package load

import (
	"syscall"
	"time"
)

// ownCPU returns the CPU time that this process has used, without its children.
func ownCPU() (time.Duration, bool) {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0, false
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano()), true
}
