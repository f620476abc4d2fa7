//go:build unix && !linux

package subject

import (
	"runtime"
	"syscall"
)

// peakUnit is that of rusage's peak, in bytes: of the BSDs only Darwin counts
// single ones.
var peakUnit = func() uint64 {
	if runtime.GOOS == "darwin" {
		return 1
	}
	return 1 << 10
}()

func ownGroup() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

// awaitEnd cannot wait without taking the exit status away.
func awaitEnd(int) bool { return false }
