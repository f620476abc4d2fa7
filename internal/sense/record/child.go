package record

import (
	"debug/buildinfo"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/gowhy/gowhy/agent/recording"
)

// A command may be a wrapper: a shell, make, go run. What is meant is then the
// first Go program that it starts.

// follow turns to the program that a wrapper has started, once there is one,
// and reports whether it did.
func (r *recorder) follow(p *process) bool {
	if !p.wrapper || p.child != 0 {
		return false
	}
	child := GoProgram(p.pid())
	if child == 0 {
		return false
	}
	p.child = child
	if child != p.pid() {
		r.o.Log(fmt.Sprintf("recording process %d, which %s started", child, filepath.Base(p.cmd.Path)))
	}
	p.observer.end()
	for _, m := range []string{recording.ProcMember, recording.KernelMember, recording.OffCPUMember, recording.SyscallsMember} {
		os.Remove(r.w.Path(m))
	}
	r.man.Start = r.clock.now()
	exe := filepath.Join("/proc", strconv.Itoa(child), "exe")
	r.build(exe)
	p.profiled = mentions(exe, pprofSymbol)
	p.observer = r.observe(child, true)
	r.seen = p.observer
	return true
}

// wraps reports whether a program is one that starts others: it is not Go's,
// or it is the go command. gofmt and the compiler are meant themselves by who records them.
func wraps(info *buildinfo.BuildInfo) bool { return info == nil || info.Path == "cmd/go" }

// toolchains reports whether a program comes with Go: go run starts the
// compiler before it starts what was meant.
func toolchains(info *buildinfo.BuildInfo) bool { return strings.HasPrefix(info.Path, "cmd/") }

// GoProgram returns a process that runs a Go program: the given one or one
// that it started; 0 when there is none.
func GoProgram(pid int) int {
	for _, p := range append([]int{pid}, descendants(pid)...) {
		info, err := buildinfo.ReadFile(filepath.Join("/proc", strconv.Itoa(p), "exe"))
		if err == nil && !wraps(info) && (p == pid || !toolchains(info)) {
			return p
		}
	}
	return 0
}

// maxDescendants bounds the search; a build has some dozens.
const maxDescendants = 1000

// descendants returns the processes that a process started, and those that they
// did, parents first.
func descendants(pid int) (list []int) {
	for next := []int{pid}; len(next) > 0 && len(list) < maxDescendants; next = next[1:] {
		tasks, _ := filepath.Glob(filepath.Join("/proc", strconv.Itoa(next[0]), "task", "*", "children"))
		for _, t := range tasks {
			text, _ := os.ReadFile(t) // it may have ended
			for _, f := range strings.Fields(string(text)) {
				if n, err := strconv.Atoi(f); err == nil {
					list, next = append(list, n), append(next, n)
				}
			}
		}
	}
	return list
}
