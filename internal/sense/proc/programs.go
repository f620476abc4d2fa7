package proc

import (
	"context"
	"debug/buildinfo"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"time"
)

// A Program is a running Go program, or a process that could not be looked
// into: then Err says why and Build is nil.
type Program struct {
	PID       int
	Exe       string   // path of its file, as its own root directory has it; empty with Err
	Args      []string // its command line, the program's name included
	Build     *debug.BuildInfo
	Listening []string      // TCP addresses to dial, its own only
	CPU       time.Duration // since its start
	Threads   int
	RSS       uint64 // bytes
	UID       int    // of its user; negative when not known
	Err       error  // fs.ErrPermission, or what is wrong with its file
}

// maxPrograms bounds the list. /proc has at most 4 million processes.
const maxPrograms = 10_000

// Programs lists the Go programs that run on this machine, by process id, and
// the processes that could not be looked into. When ctx ends it returns what
// it has with the context's error.
func Programs(ctx context.Context) ([]Program, error) {
	if runtime.GOOS != "linux" {
		return nil, ErrSystem
	}
	return programs(ctx, "/proc")
}

func programs(ctx context.Context, proc string) (list []Program, err error) {
	pids, err := Processes(proc)
	if err != nil {
		return nil, err
	}
	s := Finder{proc: proc, builds: map[fileID]build{}}
	net := sockets{proc: proc}
	for _, pid := range pids {
		if ctx.Err() != nil {
			return list, ctx.Err()
		}
		if len(list) == maxPrograms {
			return list, fmt.Errorf("more than %d programs run here; the others were left out", maxPrograms)
		}
		if p, ok := s.Find(pid); ok {
			if p.Err == nil {
				p.Listening = net.of(pid)
			}
			list = append(list, p)
		}
	}
	return list, nil
}

// A Finder tells Go programs from other processes. It reads each program's file
// once, however many processes run it. Use it from one goroutine.
type Finder struct {
	proc   string
	builds map[fileID]build // a machine runs many processes of few files
}

// NewFinder makes a finder for the processes of this machine.
func NewFinder() *Finder { return &Finder{proc: "/proc", builds: map[fileID]build{}} }

// A fileID tells files apart.
type fileID struct {
	device, inode uint64
	changed       time.Time
}

// A build is what a file says of how it was built; info is nil when it is not
// Go's.
type build struct {
	info *debug.BuildInfo
	err  error
}

// Find looks at one process; ok is false when it is not a Go program. The sockets
// are not looked for.
func (s *Finder) Find(pid int) (p Program, ok bool) {
	dir := filepath.Join(s.proc, strconv.Itoa(pid))
	p = Program{PID: pid}
	exe, err := os.Readlink(filepath.Join(dir, "exe"))
	var b build
	switch {
	case errors.Is(err, fs.ErrPermission):
		b.err = fs.ErrPermission
	case err != nil:
		return p, false // a thread of the kernel, or gone
	default:
		p.Exe = strings.TrimSuffix(exe, " (deleted)")
		b = s.build(filepath.Join(dir, "exe"))
	}
	if b.info == nil && b.err == nil {
		return p, false
	}
	p.Build, p.Err = b.info, b.err
	return p, s.describe(&p, dir)
}

// build reads a program's build information. Files that are not Go's have no
// error: they are not what is looked for.
func (s *Finder) build(path string) build {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrPermission) {
		return build{err: fs.ErrPermission}
	}
	if err != nil || !info.Mode().IsRegular() {
		return build{}
	}
	id := fileIDOf(info)
	if b, ok := s.builds[id]; ok {
		return b
	}
	var b build
	b.info, err = buildinfo.ReadFile(path)
	if errors.Is(err, fs.ErrPermission) {
		b.err = fs.ErrPermission
	}
	s.builds[id] = b
	return b
}

// describe fills in what everyone may read. It
// is false for a thread of the kernel and when the process ended meanwhile.
func (s *Finder) describe(p *Program, dir string) bool {
	text, err := os.ReadFile(filepath.Join(dir, "stat"))
	if err != nil {
		return false
	}
	st, err := parseStat(text)
	if err != nil || st.kernel || st.zombie() {
		return false
	}
	p.CPU, p.Threads, p.RSS = st.user+st.system, st.threads, st.rss
	if args, err := readLimited(filepath.Join(dir, "cmdline")); err == nil && len(args) > 0 {
		p.Args = strings.Split(strings.TrimSuffix(string(args), "\x00"), "\x00")
	}
	if info, err := os.Stat(dir); err == nil {
		p.UID = owner(info)
	}
	return true
}
