package live

import (
	"time"

	"golang.org/x/sys/unix"
)

// sinceBoot returns how long the machine has run, its sleep included.
func sinceBoot() time.Duration {
	var t unix.Timespec
	if unix.ClockGettime(unix.CLOCK_BOOTTIME, &t) != nil {
		return 0
	}
	return time.Duration(t.Nano())
}
