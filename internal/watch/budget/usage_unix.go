//go:build unix

package budget

import (
	"syscall"
	"time"
)

// OwnCPU returns the CPU time of this process so far.
func OwnCPU() time.Duration {
	var r syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &r) != nil {
		return 0
	}
	return time.Duration(r.Utime.Nano() + r.Stime.Nano())
}
