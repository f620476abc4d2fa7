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
	pids, err := processes(proc)
	if err != nil {
		return nil, err
	}
	s := search{proc: proc, sockets: sockets{proc: proc}, builds: map[fileID]build{}}
	for _, pid := range pids {
		if ctx.Err() != nil {
			return list, ctx.Err()
		}
		if len(list) == maxPrograms {
			return list, fmt.Errorf("more than %d programs run here; the others were left out", maxPrograms)
		}
		if p, ok := s.program(pid); ok {
			list = append(list, p)
		}
	}
	return list, nil
}

// search looks through processes.
type search struct {
	proc    string
	sockets sockets
	builds  map[fileID]build // a machine runs many processes of few files
}

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

// program looks at one process; ok is false when it is not a Go program.
func (s *search) program(pid int) (Program, bool) {
	dir := filepath.Join(s.proc, strconv.Itoa(pid))
	p := Program{PID: pid}
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
func (s *search) build(path string) build {
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

// describe fills in what everyone may read, and sockets where permitted. It
// is false for a thread of the kernel and when the process ended meanwhile.
func (s *search) describe(p *Program, dir string) bool {
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
	if p.Err == nil {
		p.Listening = s.sockets.of(p.PID)
	}
	return true
}
