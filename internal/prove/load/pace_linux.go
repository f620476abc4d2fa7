package load

import (
	"context"
	"os"
	"syscall"
	"time"
	"unsafe"
)

// A pacer sleeps to the microsecond. The runtime's own timers are exact to a
// millisecond while a program idles, because epoll counts in these; a timerfd
// in the same epoll is not, and blocks no thread.
type pacer struct{ timer *os.File }

// itimerspec is the kernel's; syscall has none.
type itimerspec struct{ interval, value syscall.Timespec }

const (
	clockMonotonic = 1
	timerFlags     = syscall.O_CLOEXEC | syscall.O_NONBLOCK
)

// newPacer falls back to the runtime's timers where there is no timerfd.
func newPacer(ctx context.Context) (p *pacer, stop func()) {
	fd, _, errno := syscall.Syscall(syscall.SYS_TIMERFD_CREATE, clockMonotonic, timerFlags, 0)
	if errno != 0 {
		return &pacer{}, func() {}
	}
	p = &pacer{os.NewFile(fd, "timer")}
	cancel := context.AfterFunc(ctx, func() { _ = p.timer.SetReadDeadline(time.Unix(1, 0)) })
	return p, func() { cancel(); p.timer.Close() }
}

// sleep returns after d, or before when ctx is cancelled.
func (p *pacer) sleep(ctx context.Context, d time.Duration) {
	if p.timer == nil || d <= 0 || !p.arm(d) {
		nap(ctx, d)
		return
	}
	var expired [8]byte
	_, _ = p.timer.Read(expired[:]) // fails only when ctx is cancelled
}

func (p *pacer) arm(d time.Duration) bool {
	raw, err := p.timer.SyscallConn()
	if err != nil {
		return false
	}
	spec := itimerspec{value: syscall.NsecToTimespec(int64(d))}
	var errno syscall.Errno
	err = raw.Control(func(fd uintptr) {
		_, _, errno = syscall.RawSyscall6(syscall.SYS_TIMERFD_SETTIME, fd, 0, uintptr(unsafe.Pointer(&spec)), 0, 0, 0)
	})
	return err == nil && errno == 0
}
