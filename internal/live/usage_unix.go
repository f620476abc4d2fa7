//go:build unix

package live

import (
	"syscall"
	"time"
)

// ownCPU is the CPU time of this process so far.
func ownCPU() time.Duration {
	var r syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &r) != nil {
		return 0
	}
	return time.Duration(r.Utime.Nano() + r.Stime.Nano())
}
