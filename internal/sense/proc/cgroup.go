package proc

import (
	"maps"
	"math"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Limits are what the process may use.
type Limits struct {
	CPUs int `json:"cpus"` // by affinity, online ones; 0 when unknown
	// Quota is how many CPUs' worth of time its control groups allow; 0 for no
	// limit. Groups are nested and each may set one: the least counts.
	Quota  float64       `json:"quota,omitempty"`
	Period time.Duration `json:"period_ns,omitempty"` // after which the quota begins anew
	Memory uint64        `json:"memory,omitempty"`    // bytes; 0 for no limit
	// MemoryHigh is over how many bytes a group is made to give memory back and is slowed
	// down; 0 for no such mark, which version 1 does not have.
	MemoryHigh uint64 `json:"memory_high,omitempty"`
	Files      uint64 `json:"files,omitempty"` // descriptors (RLIMIT_NOFILE); 0 when unknown or without a limit
}

// A Group is the state of the counters of a process's control group: of the
// one that has the tightest limit, else of the innermost.
type Group struct {
	// Usage is CPU time since the group was made; negative when the process is
	// in no group that counts it.
	Usage         time.Duration `json:"usage_ns"`
	Periods       int64         `json:"periods,omitempty"`   // of the quota, in which it ran
	Throttled     int64         `json:"throttled,omitempty"` // of these, how many it was stopped in
	ThrottledTime time.Duration `json:"throttled_ns,omitempty"`
	Memory        uint64        `json:"memory,omitempty"` // bytes, page cache included; 0 when not counted
	// Cache is the part of Memory that is pages of files, and shared memory; Droppable is what
	// of it was not used for long and would be given up first. They are read together with
	// the threads; 0 when not counted.
	Cache     uint64 `json:"cache,omitempty"`
	Droppable uint64 `json:"droppable,omitempty"`
}

// limitsEvery is how often limits are read again: they are changed by people.
const limitsEvery = time.Second

// groups reads the control groups of a process, or of several that are in the same.
type groups struct {
	cpu, account, memory hierarchy

	mu    sync.Mutex
	key   groupKey  // of those that several read
	users int       // guarded by sharedGroups
	at    time.Time // when it was read last, and what that gave
	group *Group

	limits Limits
	// Which levels have the tightest limit.
	cpuLevel, memoryLevel int
	next                  time.Time
	files                 map[string]*os.File // nil when there is none
}

// A hierarchy is the groups that one controller sees the process in.
type hierarchy struct {
	v2   bool
	dirs []string // from the process's own group to the outermost that is visible
	// root is set when the outermost may be the whole machine.
	root bool
}

// top reports whether the process may be in no group at all. In version 1 a
// container's root looks the same; in version 2 the true root lacks the files
// that limit.
func (h hierarchy) top() bool { return h.root && len(h.dirs) == 1 }

// sharedGroups are those of the processes that are watched with many others, which are
// in a few groups: each group's files are open once, and read once for all.
var sharedGroups = struct {
	sync.Mutex
	open map[groupKey]*groups
}{open: map[groupKey]*groups{}}

// A groupKey is what /proc/PID/cgroup says.
type groupKey struct{ root, member string }

// joinGroups opens the groups of a process, or joins those who have them open.
func joinGroups(root string, pid int) *groups {
	key := groupKey{root, string(membersOf(root, pid))}
	sharedGroups.Lock()
	defer sharedGroups.Unlock()
	g := sharedGroups.open[key]
	if g == nil {
		g = newGroups(root, []byte(key.member))
		g.key = key
		sharedGroups.open[key] = g
	}
	g.users++
	return g
}

func openGroups(root string, pid int) *groups { return newGroups(root, membersOf(root, pid)) }

// membersOf returns which groups a process is in; empty when that is not known.
func membersOf(root string, pid int) []byte {
	text, _ := os.ReadFile(filepath.Join(root, "proc", strconv.Itoa(pid), "cgroup"))
	return text
}

func newGroups(root string, member []byte) *groups {
	g := &groups{files: map[string]*os.File{}}
	if len(member) == 0 {
		return g
	}
	mountinfo, _ := os.ReadFile(filepath.Join(root, "proc/self/mountinfo"))
	mounts := parseMounts(mountinfo)
	find := func(controller string) hierarchy {
		h := findHierarchy(mounts, member, controller)
		for i, dir := range h.dirs {
			h.dirs[i] = filepath.Join(root, dir)
		}
		return h
	}
	g.cpu, g.account, g.memory = find("cpu"), find("cpuacct"), find("memory")
	return g
}

func (g *groups) close() {
	sharedGroups.Lock()
	defer sharedGroups.Unlock()
	if g.users--; g.users > 0 {
		return
	}
	delete(sharedGroups.open, g.key)
	for _, f := range g.files {
		if f != nil {
			f.Close()
		}
	}
}

// text reads a file of a group, which stays open.
func (g *groups) text(dir, name string, buf []byte) (string, bool) {
	path := filepath.Join(dir, name)
	f, known := g.files[path]
	if !known {
		f, _ = os.Open(path)
		g.files[path] = f
	}
	text, err := readAt(f, buf)
	return string(text), err == nil
}

// forgetMissing has files that were not there opened when they are read next: a group gets those
// of a controller when that is switched on for it.
func (g *groups) forgetMissing() {
	maps.DeleteFunc(g.files, func(_ string, f *os.File) bool { return f == nil })
}

// sameRead is for how long what was read for one process is another's too: a round
// through all of them takes some milliseconds.
const sameRead = 10 * time.Millisecond

// hurry makes everything due.
func (g *groups) hurry() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.next, g.at = time.Time{}, time.Time{}
}

func (g *groups) read(now time.Time, buf []byte) (Limits, *Group) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if since := now.Sub(g.at); g.users == 0 || since < 0 || since >= sameRead {
		g.group, g.at = g.readGroup(now, buf), now
	}
	return g.limits, g.group
}

// readGroup reads the counters, and the limits from time to time.
func (g *groups) readGroup(now time.Time, buf []byte) *Group {
	if !now.Before(g.next) {
		g.next = now.Add(limitsEvery)
		g.limits = Limits{}
		g.readQuota(buf)
		g.readMemoryLimit(buf)
	}
	counters := Group{Usage: -1}
	cpu := g.readCPU(&counters, buf)
	memory := g.readMemory(&counters, buf)
	if !cpu && !memory {
		return nil
	}
	return &counters
}

// parseFileLimit returns the soft limit of open files in /proc/PID/limits; 0 without one.
func parseFileLimit(text string) uint64 {
	for line := range strings.Lines(text) {
		if rest, ok := strings.CutPrefix(line, "Max open files "); ok {
			if f := strings.Fields(rest); len(f) > 0 {
				n, _ := strconv.ParseUint(f[0], 10, 63) // not "unlimited"
				return n
			}
		}
	}
	return 0
}

// readQuota finds the least quota on the way to the root.
func (g *groups) readQuota(buf []byte) {
	g.cpuLevel = 0
	for i, dir := range g.cpu.dirs {
		quota, period, ok := g.quota(dir, buf)
		if ok && (g.limits.Quota == 0 || quota < g.limits.Quota) {
			g.limits.Quota, g.limits.Period, g.cpuLevel = quota, period, i
		}
	}
}

func (g *groups) quota(dir string, buf []byte) (float64, time.Duration, bool) {
	var quota, period string
	if g.cpu.v2 {
		text, _ := g.text(dir, "cpu.max", buf)
		quota, period, _ = strings.Cut(strings.TrimSpace(text), " ")
	} else {
		quota, _ = g.text(dir, "cpu.cfs_quota_us", buf)
		period, _ = g.text(dir, "cpu.cfs_period_us", buf)
	}
	return parseQuota(quota, period)
}

// parseQuota reads microseconds of CPU in a period of microseconds. "max" and
// -1 are no limit.
func parseQuota(quota, period string) (float64, time.Duration, bool) {
	q := readDuration([]byte(strings.TrimSpace(quota)), time.Microsecond)
	p := readDuration([]byte(strings.TrimSpace(period)), time.Microsecond)
	if q <= 0 || p <= 0 {
		return 0, 0, false
	}
	return float64(q) / float64(p), p, true
}

func (g *groups) readMemoryLimit(buf []byte) {
	name := "memory.limit_in_bytes"
	if g.memory.v2 {
		name = "memory.max"
	}
	g.memoryLevel = 0
	for i, dir := range g.memory.dirs {
		text, _ := g.text(dir, name, buf)
		if limit, ok := parseMemoryLimit(text); ok && (g.limits.Memory == 0 || limit < g.limits.Memory) {
			g.limits.Memory, g.memoryLevel = limit, i
		}
		if !g.memory.v2 {
			continue
		}
		text, _ = g.text(dir, "memory.high", buf)
		if high, ok := parseMemoryLimit(text); ok && (g.limits.MemoryHigh == 0 || high < g.limits.MemoryHigh) {
			g.limits.MemoryHigh = high
		}
	}
}

// readCache reads what of a group's memory is of files.
func (g *groups) readCache(c *Group, buf []byte) {
	if c == nil || c.Memory == 0 {
		return
	}
	text, _ := g.text(g.memory.dirs[g.memoryLevel], "memory.stat", buf)
	parseCache(text, g.memory.v2, c)
}

// parseCache reads a memory.stat file.
func parseCache(text string, v2 bool, c *Group) {
	cache, droppable := "total_cache ", "total_inactive_file "
	if v2 {
		cache, droppable = "file ", "inactive_file "
	}
	for line := range strings.Lines(text) {
		if v, ok := strings.CutPrefix(line, cache); ok {
			c.Cache = uint64(number([]byte(strings.TrimSpace(v))))
		} else if v, ok := strings.CutPrefix(line, droppable); ok {
			c.Droppable = uint64(number([]byte(strings.TrimSpace(v))))
		}
	}
}

// parseMemoryLimit reads bytes. No limit is "max" in version 2 and, in version
// 1, the greatest number of bytes in whole pages.
func parseMemoryLimit(text string) (uint64, bool) {
	n, err := strconv.ParseUint(strings.TrimSpace(text), 10, 64)
	return n, err == nil && n > 0 && n < math.MaxInt64-1<<20
}

// readCPU reads the counters of the group with the tightest quota.
func (g *groups) readCPU(c *Group, buf []byte) bool {
	if len(g.cpu.dirs) == 0 {
		return g.readUsage(c, buf)
	}
	if g.cpu.top() && g.limits.Quota == 0 {
		if _, limitable := g.text(g.cpu.dirs[0], "cpu.max", buf); !limitable {
			return g.readUsage(c, buf)
		}
	}
	text, ok := g.text(g.cpu.dirs[g.cpuLevel], "cpu.stat", buf)
	if ok {
		parseCPUStat(text, c)
	}
	return g.readUsage(c, buf) || ok
}

// readUsage reads the CPU time where version 1 has it: in a controller of its
// own, nearly always mounted with or nested like that of quotas.
func (g *groups) readUsage(c *Group, buf []byte) bool {
	dirs := g.account.dirs
	if g.account.v2 || len(dirs) == 0 || g.account.top() {
		return false
	}
	level := 0
	if len(dirs) == len(g.cpu.dirs) {
		level = g.cpuLevel
	}
	text, ok := g.text(dirs[level], "cpuacct.usage", buf)
	if ok {
		c.Usage = readDuration([]byte(strings.TrimSpace(text)), 1)
	}
	return ok
}

// parseCPUStat reads cpu.stat of both versions; they share no name with
// different meanings.
func parseCPUStat(text string, c *Group) {
	for line := range strings.Lines(text) {
		key, value, _ := strings.Cut(strings.TrimSpace(line), " ")
		v := []byte(value)
		switch key {
		case "usage_usec":
			c.Usage = readDuration(v, time.Microsecond)
		case "nr_periods":
			c.Periods = number(v)
		case "nr_throttled":
			c.Throttled = number(v)
		case "throttled_usec":
			c.ThrottledTime = readDuration(v, time.Microsecond)
		case "throttled_time":
			c.ThrottledTime = readDuration(v, time.Nanosecond)
		}
	}
}

func (g *groups) readMemory(c *Group, buf []byte) bool {
	h := g.memory
	if len(h.dirs) == 0 || h.top() && !h.v2 && g.limits.Memory == 0 {
		return false
	}
	name := "memory.usage_in_bytes"
	if h.v2 {
		name = "memory.current"
	}
	text, ok := g.text(h.dirs[g.memoryLevel], name, buf)
	if !ok {
		return false
	}
	n, err := strconv.ParseUint(strings.TrimSpace(text), 10, 64)
	c.Memory = n
	return err == nil
}

// A mount is one mounted hierarchy of control groups.
type mount struct {
	point, root string // where, and which group is mounted there
	v2          bool
	controllers []string
}

// maxMounts and maxLevels bound what a strange system can make of us.
const (
	maxMounts = 256
	maxLevels = 64
)

// parseMounts reads the control groups' lines of a mountinfo file:
//
//	32 31 0:29 / /sys/fs/cgroup/cpu rw,relatime shared:9 - cgroup cgroup rw,cpu
func parseMounts(text []byte) (mounts []mount) {
	for line := range lines(text) {
		if len(mounts) == maxMounts {
			break
		}
		before, after, ok := strings.Cut(string(line), " - ")
		f, kind := strings.Fields(before), strings.Fields(after)
		if !ok || len(f) < 5 || len(kind) < 3 || kind[0] != "cgroup" && kind[0] != "cgroup2" {
			continue
		}
		mounts = append(mounts, mount{
			point: unescape(f[4]), root: unescape(f[3]),
			v2: kind[0] == "cgroup2", controllers: strings.Split(kind[2], ","),
		})
	}
	return mounts
}

// unescape undoes \040 and the like.
func unescape(s string) string {
	if !strings.Contains(s, `\`) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+3 < len(s) {
			if n, err := strconv.ParseUint(s[i+1:i+4], 8, 8); err == nil {
				b.WriteByte(byte(n))
				i += 3
				continue
			}
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// findHierarchy joins a process's /proc/PID/cgroup and the mounts. A
// controller that version 1 has is not in version 2, on mixed systems too.
func findHierarchy(mounts []mount, member []byte, controller string) hierarchy {
	path, v2, ok := membership(member, controller)
	if !ok {
		return hierarchy{}
	}
	for _, m := range mounts {
		if m.v2 != v2 || !v2 && !slices.Contains(m.controllers, controller) {
			continue
		}
		if dirs := levels(m, path); len(dirs) > 0 {
			return hierarchy{v2: v2, dirs: dirs, root: m.root == "/"}
		}
	}
	return hierarchy{}
}

// membership returns the process's group as a line "4:cpu,cpuacct:/a/b" or,
// in version 2, "0::/a/b" says. Paths count from the root of our own
// namespace, as those in mountinfo do.
func membership(text []byte, controller string) (path string, v2, ok bool) {
	for line := range lines(text) {
		f := strings.SplitN(string(line), ":", 3)
		if len(f) < 3 {
			continue
		}
		if f[0] == "0" && f[1] == "" {
			path, v2, ok = f[2], true, true
		} else if slices.Contains(strings.Split(f[1], ","), controller) {
			return f[2], false, true
		}
	}
	return path, v2, ok
}

// levels returns the directories of a group and of those around it.
func levels(m mount, group string) (dirs []string) {
	if !strings.HasPrefix(group, "/") {
		return nil
	}
	rel := group
	if m.root != "/" {
		// A container's own mount: its group is the root there.
		var ok bool
		if rel, ok = strings.CutPrefix(group, m.root); !ok || rel != "" && rel[0] != '/' {
			return nil
		}
	}
	rel, _ = strings.CutSuffix(rel, " (deleted)")
	if slices.Contains(strings.Split(rel, "/"), "..") {
		return nil // outside of what our namespace shows
	}
	for rel = path.Clean("/" + rel); len(dirs) < maxLevels; rel = path.Dir(rel) {
		dirs = append(dirs, path.Join(m.point, rel))
		if rel == "/" {
			break
		}
	}
	return dirs
}
