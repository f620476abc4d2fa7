package proc

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

// ErrStopped is that somebody else has stopped a process already.
var ErrStopped = errors.New("somebody else has")

// A Freeze keeps a process from running.
type Freeze struct {
	By string // what stopped it

	thaw  func() error
	began time.Time
	timer *time.Timer

	mu    sync.Mutex
	ended time.Time
	err   error
	early bool
}

const (
	// freezePoll is how often it is looked whether a process stands still.
	freezePoll = 100 * time.Microsecond
	// freezeTries is how often it is tried to stop a process: on a busy machine its threads may all wait
	// for a CPU, without which none of them stops. freezeRest is how much longer it runs between.
	freezeTries, freezeRest = 5, 10
)

var errNotStill = errors.New("it did not stand still in time")

// Stop stops a process for so long at most, by its control group's freezer where it is alone in one,
// else by SIGSTOP. Whoever calls it ends it by [Freeze.Thaw]. Where it does not stand still in that time
// it is let go, and stopped again later, a few times.
func Stop(pid int, longest time.Duration) (f *Freeze, err error) {
	for try := 1; ; try++ {
		if f, err = stopOnce(pid, longest); !errors.Is(err, errNotStill) || try == freezeTries {
			return f, err
		}
		time.Sleep(freezeRest * longest)
	}
}

func stopOnce(pid int, longest time.Duration) (*Freeze, error) {
	if some, all := stopped(pid); some || all { // who stops it may not have done so with all threads yet
		return nil, ErrStopped
	}
	f := &Freeze{By: "SIGSTOP", thaw: func() error { return syscall.Kill(pid, syscall.SIGCONT) }, began: time.Now()}
	still := func() bool { _, all := stopped(pid); return all }
	stop := func() error { return syscall.Kill(pid, syscall.SIGSTOP) }
	if dir := ownGroup(pid); dir != "" {
		f.By, f.thaw = "its control group's freezer", func() error { return writeFreezer(dir, "0") }
		still = func() bool { return frozen(dir) }
		stop = func() error { return writeFreezer(dir, "1") }
	}
	if err := stop(); err != nil {
		return nil, err
	}
	f.timer = time.AfterFunc(longest, func() { f.end(true) })
	for !still() {
		if time.Since(f.began) >= longest {
			f.end(true)
			return nil, fmt.Errorf("%w, which is %v", errNotStill, longest)
		}
		time.Sleep(freezePoll)
	}
	return f, nil
}

// Thaw lets the process run, and says how long it stood still at most, and whether its time
// was over before.
func (f *Freeze) Thaw() (stood time.Duration, early bool, err error) {
	f.timer.Stop()
	f.end(false)
	return f.ended.Sub(f.began), f.early, f.err
}

func (f *Freeze) end(early bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.ended.IsZero() {
		f.err, f.ended, f.early = f.thaw(), time.Now(), early
	}
}

// stopped reports whether some of a process's threads are stopped, and whether all that have not ended
// are: also where there are none, but not where that cannot be read.
func stopped(pid int) (some, all bool) {
	dir := filepath.Join("/proc", strconv.Itoa(pid), "task")
	list, err := os.ReadDir(dir)
	all = err == nil
	for _, e := range list {
		text, err := os.ReadFile(filepath.Join(dir, e.Name(), "stat"))
		if err != nil {
			continue // it has ended
		}
		s, err := parseStat(text)
		switch {
		case err != nil || s.state == 'Z' || s.state == 'X':
		case s.state == 'T' || s.state == 't':
			some = true
		default:
			all = false
		}
	}
	return some, all
}

// ownGroup returns the control group that a process has for itself alone, if it can be frozen.
func ownGroup(pid int) string {
	dir := unifiedGroup(pid)
	in, err := os.ReadFile(filepath.Join(dir, "cgroup.procs"))
	if dir == "" || err != nil || strings.TrimSpace(string(in)) != strconv.Itoa(pid) {
		return ""
	}
	file, err := os.OpenFile(filepath.Join(dir, "cgroup.freeze"), os.O_WRONLY, 0)
	if err != nil {
		return ""
	}
	file.Close()
	return dir
}

// unifiedGroup returns the directory of a process's group of version 2; "" without one.
func unifiedGroup(pid int) string {
	mounts, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return ""
	}
	h := findHierarchy(parseMounts(mounts), membersOf("/", pid), "none of version 1")
	if !h.v2 || len(h.dirs) == 0 {
		return ""
	}
	return h.dirs[0]
}

func writeFreezer(dir, what string) error {
	return os.WriteFile(filepath.Join(dir, "cgroup.freeze"), []byte(what), 0o644)
}

func frozen(dir string) bool {
	text, err := os.ReadFile(filepath.Join(dir, "cgroup.events"))
	return err == nil && strings.Contains(string(text), "frozen 1")
}
