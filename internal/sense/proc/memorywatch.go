package proc

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// A MemoryWatch reads how near a process's memory is to the limits of its control groups: to
// that of its own group and of each around it, for the nearest is the one that kills. A look
// takes microseconds. It is for one goroutine at a time.
type MemoryWatch struct {
	root    string
	pid     int
	statm   *os.File
	groups  *groups
	member  string // of which groups it was, when that was looked at last
	levels  []memoryLevel
	next    time.Time // when limits are read again
	buf     []byte
	machine *os.File // /proc/vmstat, nil without
}

// A memoryLevel is a group with limits.
type memoryLevel struct {
	dir       string
	max, high uint64 // 0 without
	droppable uint64 // as it was read last
}

// A MemoryBound is a limit of a control group and what counts against it: without files'
// pages that the kernel would give up first, as [Group] has it.
type MemoryBound struct {
	Of          string // the file that sets it, like "memory.max"
	Limit, Used uint64
}

// Share returns the part of the limit that is used.
func (b *MemoryBound) Share() float64 { return float64(b.Used) / float64(b.Limit) }

// MemoryKills are counters of the kernel that tell, by what they were before, whether a
// process was killed for want of memory.
type MemoryKills struct {
	Group, Machine int64 // processes killed: of its groups, and in all; negative when not known
	Reached        int64 // how often a group had no memory left under its limit
}

// WatchMemory begins. The error is [ErrGone] or [ErrSystem].
func WatchMemory(pid int) (*MemoryWatch, error) { return watchMemory("/", pid) }

func watchMemory(root string, pid int) (*MemoryWatch, error) {
	statm, err := os.Open(filepath.Join(root, "proc", strconv.Itoa(pid), "statm"))
	if err != nil {
		if _, serr := os.Stat(filepath.Join(root, "proc", "self")); serr != nil {
			return nil, ErrSystem
		}
		return nil, asErrGone(err)
	}
	w := &MemoryWatch{root: root, pid: pid, statm: statm, buf: make([]byte, 16<<10), groups: newGroups(root, nil)}
	w.machine, _ = os.Open(filepath.Join(root, "proc", "vmstat"))
	return w, nil
}

// Close closes its files.
func (w *MemoryWatch) Close() {
	w.groups.close()
	w.statm.Close()
	if w.machine != nil {
		w.machine.Close()
	}
}

// Resident returns the process's resident memory in bytes; [ErrGone] when it has none, as one
// that has ended.
func (w *MemoryWatch) Resident() (uint64, error) {
	text, err := readAt(w.statm, w.buf)
	if err != nil {
		return 0, asErrGone(err)
	}
	return parseResident(text)
}

// ResidentOf returns the resident memory of a process in bytes, once; see [MemoryWatch.Resident].
func ResidentOf(pid int) (uint64, error) {
	text, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "statm"))
	if err != nil {
		return 0, asErrGone(err)
	}
	return parseResident(text)
}

func parseResident(text []byte) (uint64, error) {
	f := strings.Fields(string(text))
	if len(f) < 2 {
		return 0, ErrGone
	}
	pages, err := strconv.ParseUint(f[1], 10, 48)
	if err != nil || pages == 0 {
		return 0, ErrGone
	}
	return pages * uint64(os.Getpagesize()), nil
}

// Bounds returns the limits. What files have is read of groups alone that seem to use this share
// of a limit or more, as that takes the kernel longer than all else; of others it is as of then.
func (w *MemoryWatch) Bounds(now time.Time, near float64) (all []MemoryBound) {
	if !now.Before(w.next) {
		w.next = now.Add(limitsEvery)
		w.readLevels()
	}
	for i := range w.levels {
		l := &w.levels[i]
		used, ok := w.use(l, near)
		if !ok {
			continue
		}
		if l.max > 0 {
			all = append(all, MemoryBound{w.limitFile(), l.max, used})
		}
		if l.high > 0 {
			all = append(all, MemoryBound{"memory.high", l.high, used})
		}
	}
	return all
}

func (w *MemoryWatch) limitFile() string {
	if w.groups.memory.v2 {
		return "memory.max"
	}
	return "memory.limit_in_bytes"
}

// readLevels reads which groups have limits. A process may be put into another.
func (w *MemoryWatch) readLevels() {
	if member := membersOf(w.root, w.pid); len(member) > 0 && string(member) != w.member {
		w.groups.close()
		w.member, w.groups = string(member), newGroups(w.root, member)
	}
	w.groups.forgetMissing()
	known := map[string]uint64{}
	for _, l := range w.levels {
		known[l.dir] = l.droppable
	}
	w.levels = w.levels[:0]
	for _, dir := range w.groups.memory.dirs {
		l := memoryLevel{dir: dir, max: w.limit(dir, w.limitFile()), droppable: known[dir]}
		if w.groups.memory.v2 {
			l.high = w.limit(dir, "memory.high")
		}
		if l.max > 0 || l.high > 0 {
			w.levels = append(w.levels, l)
		}
	}
}

func (w *MemoryWatch) limit(dir, name string) uint64 {
	text, _ := w.groups.text(dir, name, w.buf)
	limit, ok := parseMemoryLimit(text)
	if !ok {
		return 0
	}
	return limit
}

// use returns what counts against the limits of a group.
func (w *MemoryWatch) use(l *memoryLevel, near float64) (uint64, bool) {
	name := "memory.usage_in_bytes"
	if w.groups.memory.v2 {
		name = "memory.current"
	}
	text, ok := w.groups.text(l.dir, name, w.buf)
	current, err := strconv.ParseUint(strings.TrimSpace(text), 10, 64)
	if !ok || err != nil {
		return 0, false
	}
	lowest := l.max
	if l.high > 0 && (lowest == 0 || l.high < lowest) {
		lowest = l.high
	}
	if float64(current-min(current, l.droppable)) >= near*float64(lowest) {
		c := Group{}
		text, _ := w.groups.text(l.dir, "memory.stat", w.buf)
		parseCache(text, w.groups.memory.v2, &c)
		l.droppable = c.Droppable
	}
	return current - min(current, l.droppable), true
}

// Kills reads the counters. In version 1 a group counts what was killed in it alone, in version 2
// also in those below it: that around the process's own has the count still when its own is gone.
func (w *MemoryWatch) Kills() MemoryKills {
	k := MemoryKills{Group: -1, Machine: w.counter(w.machine)}
	for i, dir := range w.groups.memory.dirs {
		if !w.groups.memory.v2 {
			if text, ok := w.groups.text(dir, "memory.oom_control", w.buf); ok && i == 0 {
				k.Group = valueOf(text, "oom_kill")
			}
			text, _ := w.groups.text(dir, "memory.failcnt", w.buf)
			k.Reached += max(0, number([]byte(strings.TrimSpace(text))))
			continue
		}
		if text, ok := w.groups.text(dir, "memory.events", w.buf); ok {
			k.Group = max(k.Group, valueOf(text, "oom_kill"))
			k.Reached = max(k.Reached, valueOf(text, "oom"))
		}
	}
	return k
}

func (w *MemoryWatch) counter(f *os.File) int64 {
	text, err := readAt(f, w.buf)
	if err != nil {
		return -1
	}
	return valueOf(string(text), "oom_kill")
}

// valueOf returns a number of a file with a name and a number in each line; -1 without it.
func valueOf(text, name string) int64 {
	for line := range strings.Lines(text) {
		if key, value, ok := strings.Cut(strings.TrimSpace(line), " "); ok && key == name {
			return number([]byte(value))
		}
	}
	return -1
}
