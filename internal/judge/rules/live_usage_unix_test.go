//go:build unix

package rules

import (
	"syscall"
	"time"

	"github.com/gowhy/gowhy/internal/know/model"
)

// ownProcess returns what the system counts of this process.
func ownProcess() (s model.ProcessSample, ok bool) {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return s, false
	}
	return model.ProcessSample{
		User: time.Duration(u.Utime.Nano()), System: time.Duration(u.Stime.Nano()),
		Voluntary: u.Nvcsw, Involuntary: u.Nivcsw, RSS: uint64(u.Maxrss) << 10, FDs: -1,
	}, true
}
