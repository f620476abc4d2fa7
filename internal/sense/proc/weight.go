package proc

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"time"
)

// A Weight is a process's proportional share of memory: pages that n processes
// share count an n-th.
type Weight struct {
	At   time.Time // when it was read
	PSS  uint64    // bytes, resident
	Swap uint64    // bytes, swapped out
}

// ErrUnweighed is the error of a kernel that adds no shares up: before Linux 4.14, or
// built without.
var ErrUnweighed = errors.New("this kernel does not tell it: no /proc/PID/smaps_rollup")

const (
	// weighEvery is the least between two readings of a process's share. Its memory is
	// walked through page by page, and meanwhile it may not map any.
	weighEvery = 10 * time.Second
	// weighRest makes it rare for a large process: it may take so small a part of
	// the time, 1 in 200. 0.6 GB in pages of 4 KiB took 16 ms.
	weighRest = 200
)

// Weigh reads the share of memory, or returns what it read before: each ten seconds at
// most, and for a 200th of the time. The error is fs.ErrPermission for another user's
// process, or [ErrUnweighed].
func (p *Process) Weigh(now time.Time) (Weight, error) {
	if now.Before(p.reweigh) {
		return p.weight, p.heavy
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	began := ThreadTime()
	p.weight, p.heavy = p.readWeight(now)
	p.reweigh = now.Add(weighAgain(ThreadTime() - began))
	return p.weight, p.heavy
}

// weighAgain returns when it is read again after a reading that took so much CPU time.
func weighAgain(took time.Duration) time.Duration { return max(weighEvery, weighRest*took) }

func (p *Process) readWeight(now time.Time) (Weight, error) {
	defer p.borrow()()
	f, err := os.Open(p.path("smaps_rollup"))
	if errors.Is(err, os.ErrNotExist) {
		if _, err := readAt(p.stat, p.buf); err == nil { // the process is there
			return Weight{}, ErrUnweighed
		}
	}
	if err != nil {
		return Weight{}, fmt.Errorf("process %d: %w", p.pid, asErrGone(err))
	}
	defer f.Close()
	text, err := readAt(f, p.buf)
	if err != nil {
		return Weight{}, fmt.Errorf("process %d: %w", p.pid, asErrGone(err))
	}
	pss, ok := rollupBytes(text, "Pss")
	if !ok {
		return Weight{}, ErrUnweighed
	}
	swap, _ := rollupBytes(text, "SwapPss")
	return Weight{At: now, PSS: pss, Swap: swap}, nil
}
