package agent

import (
	"bytes"
	"os"
	"path"
	"strconv"
	"strings"
	"time"
)

// The groups of the process are where systems mount them. In a container that is often the
// process's own group, whatever its path says, so that the outermost is looked at always.
const groupMount, groupMountV1 = "/sys/fs/cgroup", "/sys/fs/cgroup/memory"

// limitsEvery is how often limits are read again: they are changed by people.
const limitsEvery = time.Second

// groupLimits are the control groups around the process, from its own outwards.
type groupLimits struct {
	groups []*groupLimit
	next   time.Time
	all    []limitUse // of the last look
	buf    []byte
}

// A groupLimit is a group with its files.
type groupLimit struct {
	files     map[string]*os.File
	v2        bool
	max, high uint64 // 0 without
	droppable uint64 // pages of files that were not used for long, as read last
}

// groupFiles are those of a version.
var groupFiles = map[bool][]string{true: {"memory.max", "memory.high", "memory.current", "memory.stat"},
	false: {"memory.limit_in_bytes", "memory.usage_in_bytes", "memory.stat"}}

// openGroupLimits finds the groups, which the program stays in as a rule.
func openGroupLimits() (g groupLimits) {
	text, _ := os.ReadFile("/proc/self/cgroup")
	return openLimits(string(text), groupMount, groupMountV1)
}

func openLimits(membership, v2, v1 string) (g groupLimits) {
	g.buf = make([]byte, 16<<10)
	mount, of := "", ""
	for _, line := range strings.Split(membership, "\n") {
		f := strings.SplitN(line, ":", 3)
		switch {
		case len(f) < 3:
		case f[1] == "memory" || strings.Contains(","+f[1]+",", ",memory,"):
			mount, of = v1, f[2]
		case f[1] == "" && mount == "":
			mount, of = v2, f[2]
		}
	}
	if mount == "" {
		return g
	}
	for dir := path.Clean("/" + of); ; dir = path.Dir(dir) {
		l := &groupLimit{files: map[string]*os.File{}, v2: mount == v2}
		for _, name := range groupFiles[l.v2] {
			if file, err := os.Open(path.Join(mount, dir, name)); err == nil {
				l.files[name] = file
			}
		}
		if len(l.files) > 0 {
			g.groups = append(g.groups, l)
		}
		if dir == "/" {
			return g
		}
	}
}

// read returns the limits; near is the share from which it matters what files have.
func (g *groupLimits) read(near float64) []limitUse {
	if now := time.Now(); !now.Before(g.next) {
		g.next = now.Add(limitsEvery)
		for _, l := range g.groups {
			l.max, l.high = l.bytes("memory.max", g.buf)+l.bytes("memory.limit_in_bytes", g.buf), l.bytes("memory.high", g.buf)
		}
	}
	g.all = g.all[:0]
	for _, l := range g.groups {
		if l.max == 0 && l.high == 0 {
			continue
		}
		current := l.bytes("memory.current", g.buf) + l.bytes("memory.usage_in_bytes", g.buf)
		lowest := l.max
		if l.high > 0 && (lowest == 0 || l.high < lowest) {
			lowest = l.high
		}
		if float64(current-min(current, l.droppable)) >= near*float64(lowest) {
			l.readDroppable(g.buf)
		}
		used := current - min(current, l.droppable)
		if of := "memory.max"; l.max > 0 {
			if !l.v2 {
				of = "memory.limit_in_bytes"
			}
			g.all = append(g.all, limitUse{of, used, l.max})
		}
		if l.high > 0 {
			g.all = append(g.all, limitUse{"memory.high", used, l.high})
		}
	}
	return g.all
}

// content returns what a file has now.
func (l *groupLimit) content(name string, buf []byte) []byte {
	f := l.files[name]
	if f == nil {
		return nil
	}
	n, _ := f.ReadAt(buf, 0)
	return bytes.TrimSpace(buf[:n])
}

// bytes reads a number; 0 where there is none, as where nothing is limited.
func (l *groupLimit) bytes(name string, buf []byte) uint64 {
	n, err := strconv.ParseUint(string(l.content(name, buf)), 10, 64)
	if err != nil || n >= 1<<62 { // "max", or what version 1 says for it
		return 0
	}
	return n
}

func (l *groupLimit) readDroppable(buf []byte) {
	name := "total_inactive_file "
	if l.v2 {
		name = "inactive_file "
	}
	for _, line := range bytes.Split(l.content("memory.stat", buf), []byte("\n")) {
		if v, ok := bytes.CutPrefix(line, []byte(name)); ok {
			l.droppable, _ = strconv.ParseUint(string(v), 10, 64)
		}
	}
}

func (g *groupLimits) close() {
	for _, l := range g.groups {
		for _, f := range l.files {
			f.Close()
		}
	}
}
