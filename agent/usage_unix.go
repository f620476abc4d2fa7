//go:build unix

package agent

import (
	"io/fs"
	"os"
	"syscall"
	"time"
)

// cpuTime returns the CPU time that the program has taken, in user and in
// kernel mode.
func cpuTime() (d time.Duration, ok bool) {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0, false
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano()), true
}

// belongsToUser reports whether a file belongs to the user that the program runs as.
func belongsToUser(info fs.FileInfo) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(st.Uid) == os.Geteuid()
}
