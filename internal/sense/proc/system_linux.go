package proc

import (
	"io/fs"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// The clocks of a process, as clock_gettime(2) numbers them: all CPU time, all
// by ticks, and user time by ticks.
const (
	clockProf  = 0
	clockVirt  = 1
	clockSched = 2
)

// cpuClocks returns the CPU time of all threads, ended ones included, to the
// nanosecond, and its two parts as the timer's ticks found them (1 to 10 ms).
// Unlike /proc/PID/schedstat it is of all threads, unlike stat it is not cut
// to 10 ms, it costs three short system calls and no permission.
func cpuClocks(pid int) (total, user, system time.Duration, ok bool) {
	user, both, total := cpuClock(pid, clockVirt), cpuClock(pid, clockProf), cpuClock(pid, clockSched)
	if user < 0 || both < user || total < 0 {
		return 0, 0, 0, false
	}
	return total, user, both - user, true
}

// cpuTime returns the first of these alone.
func cpuTime(pid int) (total time.Duration, ok bool) {
	total = cpuClock(pid, clockSched)
	return total, total >= 0
}

// cpuClock is negative where there is no such process.
func cpuClock(pid, which int) time.Duration {
	var ts unix.Timespec
	if err := unix.ClockGettime(int32(^pid<<3|which), &ts); err != nil {
		return -1
	}
	return time.Duration(ts.Nano())
}

// ThreadTime returns the CPU time of the thread that asks; 0 where that is not known.
func ThreadTime() time.Duration {
	var ts unix.Timespec
	if unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &ts) != nil {
		return 0
	}
	return time.Duration(ts.Nano())
}

// readSmall reads a file that fits into buf in one piece, as those of threads
// do: three system calls, no allocation but for the path.
func readSmall(path string, buf []byte) ([]byte, bool) {
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, false
	}
	n, err := unix.Read(fd, buf)
	unix.Close(fd)
	if err != nil || n < 0 {
		return nil, false
	}
	return buf[:n], true
}

func fileIDOf(info fs.FileInfo) fileID {
	st := info.Sys().(*syscall.Stat_t)
	return fileID{uint64(st.Dev), st.Ino, info.ModTime()}
}

func owner(info fs.FileInfo) int { return int(info.Sys().(*syscall.Stat_t).Uid) }
