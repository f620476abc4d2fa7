//go:build unix

package subject

import (
	"os"
	"syscall"
	"time"
)

// signalGroup sends a signal to a process and all that it started.
func signalGroup(pid int, s syscall.Signal) error { return syscall.Kill(-pid, s) }

// usageOf returns the usage of a process that was waited for.
func usageOf(state *os.ProcessState) usage {
	ru, ok := state.SysUsage().(*syscall.Rusage)
	if !ok {
		return usage{}
	}
	return usage{
		cpu:      time.Duration(ru.Utime.Nano() + ru.Stime.Nano()),
		faults:   float64(ru.Minflt) + float64(ru.Majflt),
		switches: float64(ru.Nvcsw) + float64(ru.Nivcsw),
		peak:     uint64(max(0, int64(ru.Maxrss))) * peakUnit,
	}
}

// childrenCPU returns the CPU time of the processes that this one started and that
// it has waited for, with what these waited for themselves.
func childrenCPU() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_CHILDREN, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
