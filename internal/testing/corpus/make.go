package corpus

import (
	"context"
	"crypto/sha256"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gowhy/gowhy/internal/testing/attempt"
)

//go:embed testdata/programs
var sources embed.FS

// A Program is one of the corpus.
type Program struct {
	Name  string
	Minor int // of the oldest Go that builds it
	Cgo   bool
	Size  int // used when the Spec says 0
}

// Programs lists what can be run. Each has its source, with a comment on what
// it does, in testdata/programs.
var Programs = []Program{
	{Name: "chans", Minor: 21, Size: 4},
	{Name: "http", Minor: 21, Size: 4},
	{Name: "gc", Minor: 21, Size: 4},
	{Name: "files", Minor: 21, Size: 8},
	{Name: "annotations", Minor: 21, Size: 4},
	{Name: "coroutines", Minor: 23, Size: 4},
	{Name: "spawn", Minor: 21, Size: 100},
	{Name: "cgo", Minor: 21, Cgo: true, Size: 4},
	{Name: "compute", Minor: 21, Size: 6},
	{Name: "timers", Minor: 21, Size: 10},
	{Name: "locks", Minor: 21, Size: 8},
	{Name: "selects", Minor: 21, Size: 50},
	{Name: "flight", Minor: 25, Size: 8},
}

// Toolchains are the other releases that traces are made with: the last of each
// format and of each minor version that wrote it, and one that is newer.
var Toolchains = []string{"go1.21.13", "go1.22.12", "go1.23.12", "go1.24.11", "go1.25.5", "go1.27.4"}

// A Spec says how a trace comes about. The zero value of every field but
// Program means the usual.
type Spec struct {
	Program    string
	Toolchain  string        // as GOTOOLCHAIN wants it; "" is the local one
	Duration   time.Duration // of the work; 0 is 400 ms, or a minute with Bytes
	Bytes      int64         // end the work when the trace has grown to this
	Size       int           // how much the program does at once
	Procs      int           // GOMAXPROCS
	Advance    time.Duration // length of a generation; the runtime's is a second
	Godebug    string        // further settings, "key=value,key=value"
	CPUProfile bool
}

// String names s for the name of a subtest.
func (s Spec) String() string {
	name := s.Program + "/" + s.Toolchain
	if s.Toolchain == "" {
		name = s.Program + "/" + localVersion
	}
	if s.Procs > 0 {
		name += fmt.Sprintf("/procs=%d", s.Procs)
	}
	if s.CPUProfile {
		name += "/cpuprofile"
	}
	if s.Godebug != "" {
		name += "/" + s.Godebug
	}
	return name
}

// Specs returns the traces that tests of a reader go through: everything with the
// local toolchain and, if all tests are asked for, the main programs with each
// of [Toolchains]. Each has several generations, and is a megabyte or so, or a
// fifth of that if it is kept.
func Specs(t testing.TB) []Spec {
	list := local()
	if attempt.All(t) {
		list = append(list, pastReleases()...)
	}
	return list
}

// local returns the traces of the local toolchain.
func local() (list []Spec) {
	for _, p := range Programs {
		list = append(list, Spec{Program: p.Name}.several(1<<20))
	}
	return append(list,
		Spec{Program: "chans", Procs: 8, Size: 40}.several(1<<20),
		Spec{Program: "files", Procs: 8, Size: 60}.several(1<<20),
		Spec{Program: "compute", CPUProfile: true}.several(1<<20),
		Spec{Program: "gc", Godebug: "traceallocfree=1"}.several(1<<20))
}

// pastReleases are traces of the Go releases of the past.
func pastReleases() (list []Spec) {
	for _, t := range Toolchains {
		for _, p := range Programs {
			// Building net/http takes each toolchain longer than all the rest.
			if p.Minor <= minorOf(t) && p.Name != "http" {
				list = append(list, Spec{Program: p.Name, Toolchain: t}.several(300<<10))
			}
		}
	}
	return list
}

// several asks for several generations in about so many bytes.
func (s Spec) several(size int64) Spec {
	s.Bytes, s.Duration, s.Advance = size, 400*time.Millisecond, 60*time.Millisecond
	switch s.Program {
	case "chans", "coroutines", "spawn", "gc", "files", "http": // fill up in a few milliseconds
		s.Advance = 6 * time.Millisecond
	}
	return s
}

// Old are traces of the format before Go 1.22.
func Old(program string) Spec {
	return Spec{Program: program, Toolchain: Toolchains[0], Bytes: 1 << 18, Duration: 100 * time.Millisecond}
}

// OldPrograms are those of which Go 1.21 makes a trace in its own format.
var OldPrograms = []string{"chans", "http", "gc", "files", "annotations", "spawn", "compute", "timers", "locks", "selects"}

// An Unavailable error says that this machine cannot make a trace.
type Unavailable struct {
	What string // the toolchain or compiler that is missing
	Why  error
}

func (e *Unavailable) Error() string { return fmt.Sprintf("%s is not available: %v", e.What, e.Why) }
func (e *Unavailable) Unwrap() error { return e.Why }

// Trace gives the path of the trace that s asks for: of the one that is kept in
// the repository, or if all tests are asked for, of one that this machine makes.
// It skips the test when the machine cannot.
func Trace(t testing.TB, s Spec) string {
	t.Helper()
	if !attempt.All(t) {
		if path := s.unpackRecording(t); path != "" {
			return path
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	var path string
	err := attempt.Repeat(t, func() (err error) {
		path, err = Make(ctx, s)
		var missing *Unavailable
		if errors.As(err, &missing) {
			t.Skip(missing)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// Make gives the path of the trace that s asks for. It and the program that
// made it stay in the directory GOWHY_CORPUS, or one in the user's cache, by a
// hash of all that went into them, and of what judges whether a recording is
// fit. The error is an [Unavailable] when a toolchain or compiler is missing,
// and an [Unfit] when the machine was too busy.
func Make(ctx context.Context, s Spec) (string, error) {
	p, err := s.complete()
	if err != nil {
		return "", err
	}
	dir, err := cacheDir()
	if err != nil {
		return "", err
	}
	tc, err := toolchain(ctx, s.Toolchain)
	if err != nil {
		return "", err
	}
	if p.Minor > minorOf(tc.version) {
		return "", &Unavailable{p.Name + " for " + tc.version, fmt.Errorf("it needs go1.%d", p.Minor)}
	}
	making.Lock() // two programs at once would disturb each other's traces
	defer making.Unlock()
	bin, err := tc.build(ctx, dir, p)
	if err != nil {
		return "", err
	}
	return s.run(ctx, dir, bin, tc.version)
}

var making sync.Mutex

func (s *Spec) complete() (Program, error) {
	for _, p := range Programs {
		if p.Name == s.Program {
			if s.Size == 0 {
				s.Size = p.Size
			}
			if s.Duration == 0 {
				s.Duration = 400 * time.Millisecond
				if s.Bytes > 0 {
					s.Duration = time.Minute
				}
			}
			return p, nil
		}
	}
	return Program{}, fmt.Errorf("corpus: no program %q", s.Program)
}

func cacheDir() (string, error) {
	dir := os.Getenv("GOWHY_CORPUS")
	if dir == "" {
		base, err := os.UserCacheDir()
		if err != nil {
			return "", fmt.Errorf("corpus: %w; GOWHY_CORPUS can name a directory", err)
		}
		dir = filepath.Join(base, "gowhy-corpus")
	}
	return dir, os.MkdirAll(dir, 0o777)
}

// A tool is a Go toolchain that has shown that it works.
type tool struct {
	name, version string
	cc            string // C compiler
}

var (
	toolMu sync.Mutex
	tools  = make(map[string]func() (tool, error))
)

func toolchain(ctx context.Context, name string) (tool, error) {
	if name == "" {
		name = "local"
	}
	toolMu.Lock()
	get := tools[name]
	if get == nil {
		get = sync.OnceValues(func() (tool, error) { return findTool(ctx, name) })
		tools[name] = get
	}
	toolMu.Unlock()
	return get()
}

func findTool(ctx context.Context, name string) (tool, error) {
	out, err := goCommand(ctx, name, "", false, "env", "GOVERSION", "CC").Output()
	if err != nil {
		return tool{}, &Unavailable{"toolchain " + name, describe(err, nil)}
	}
	f := strings.Split(strings.TrimSpace(string(out)), "\n")
	return tool{name, f[0], f[len(f)-1]}, nil
}

func goCommand(ctx context.Context, toolchain, dir string, cgo bool, args ...string) *exec.Cmd {
	c := exec.CommandContext(ctx, "go", args...)
	c.Dir = dir
	if dir == "" {
		c.Dir = os.TempDir() // a go.mod near by would choose the toolchain
	}
	enabled := "0"
	if cgo {
		enabled = "1"
	}
	c.Env = append(os.Environ(), "GOTOOLCHAIN="+toolchain, "GOWORK=off", "GOFLAGS=", "CGO_ENABLED="+enabled)
	return c
}

// describe makes an error of what a command said.
func describe(err error, out []byte) error {
	var exit *exec.ExitError
	if errors.As(err, &exit) && out == nil {
		out = exit.Stderr
	}
	if s := strings.TrimSpace(string(out)); s != "" {
		return fmt.Errorf("%w: %s", err, s)
	}
	return err
}

// minorOf is N of "go1.N.M"; a development version counts as the newest.
func minorOf(version string) int {
	rest, ok := strings.CutPrefix(version, "go1.")
	if !ok {
		return 1 << 10
	}
	digits := strings.IndexFunc(rest+".", func(r rune) bool { return r < '0' || r > '9' })
	n, err := strconv.Atoi(rest[:digits])
	if err != nil {
		return 1 << 10
	}
	return n
}

// build gives the path of program p, built by t.
func (t tool) build(ctx context.Context, dir string, p Program) (string, error) {
	if p.Cgo {
		if _, err := exec.LookPath(strings.Fields(t.cc + " cc")[0]); err != nil {
			return "", &Unavailable{"a C compiler", err}
		}
	}
	files, err := programFiles(p, minorOf(t.version))
	if err != nil {
		return "", err
	}
	h := sha256.New()
	fmt.Fprintln(h, t.version, runtime.GOOS, runtime.GOARCH)
	for _, f := range files {
		fmt.Fprintf(h, "%s %d\n%s", f.name, len(f.data), f.data)
	}
	bin := filepath.Join(dir, fmt.Sprintf("%s-%s-%x", p.Name, t.version, h.Sum(nil)[:6]))
	return bin, makeFile(bin, func(tmp string) error {
		src, err := os.MkdirTemp("", "corpus")
		if err != nil {
			return err
		}
		defer os.RemoveAll(src)
		for _, f := range files {
			if err := os.WriteFile(filepath.Join(src, f.name), f.data, 0o666); err != nil {
				return err
			}
		}
		out, err := goCommand(ctx, t.name, src, p.Cgo, "build", "-o", tmp, ".").CombinedOutput()
		if err != nil {
			return fmt.Errorf("corpus: building %s with %s: %w", p.Name, t.version, describe(err, out))
		}
		return nil
	})
}

type file struct {
	name string
	data []byte
}

func programFiles(p Program, minor int) ([]file, error) {
	root := "testdata/programs"
	files := []file{{"go.mod", fmt.Appendf(nil, "module corpus\n\ngo 1.%d\n", min(minor, runtimeMinor))}}
	for _, name := range []string{"harness/main.go", p.Name + ".go"} {
		data, err := fs.ReadFile(sources, path.Join(root, name))
		if err != nil {
			return nil, err
		}
		files = append(files, file{path.Base(name), data})
	}
	return files, nil
}

// localVersion is that of the local toolchain.
var localVersion = runtime.Version()

// runtimeMinor bounds the language version written for development versions.
var runtimeMinor = minorOf(localVersion)

// run gives the path of the trace that bin writes.
func (s Spec) run(ctx context.Context, dir, bin, version string) (string, error) {
	args := []string{
		"-d", s.Duration.String(), "-bytes", fmt.Sprint(s.Bytes),
		"-size", fmt.Sprint(s.Size), "-procs", fmt.Sprint(s.Procs),
	}
	if s.CPUProfile {
		args = append(args, "-cpuprofile")
	}
	h := sha256.New()
	fmt.Fprintf(h, "%s %q %s\n%s", filepath.Base(bin), args, s.godebug(), judge)
	name := fmt.Sprintf("%s-%s-%x.trace", s.Program, version, h.Sum(nil)[:6])
	trace := filepath.Join(dir, name)
	return trace, makeFile(trace, func(tmp string) error {
		c := exec.CommandContext(ctx, bin, append([]string{"-o", tmp}, args...)...)
		c.Env = append(os.Environ(), "GODEBUG="+s.godebug(), "GOMAXPROCS=", "GOGC=", "GOMEMLIMIT=")
		before := machineNow()
		out, err := c.Output()
		if err != nil {
			return fmt.Errorf("corpus: running %s: %w", filepath.Base(bin), describe(err, nil))
		}
		starved, err := time.ParseDuration(strings.TrimSpace(string(out)))
		if err != nil {
			return fmt.Errorf("corpus: %s says how long it was starved: %w", filepath.Base(bin), err)
		}
		if err := fit(before, machineNow(), c.ProcessState.UserTime()+c.ProcessState.SystemTime(), starved); err != nil {
			return err
		}
		data, err := os.ReadFile(tmp)
		switch {
		case err != nil:
			return err
		case nameless(data):
			return errNameless
		case s.Program == "cgo" && madeTwice(data):
			return errMadeTwice
		}
		return nil
	})
}

func (s Spec) godebug() string {
	var set []string
	if s.Advance > 0 {
		set = append(set, fmt.Sprintf("traceadvanceperiod=%d", s.Advance.Nanoseconds()))
	}
	if s.Godebug != "" {
		set = append(set, s.Godebug)
	}
	return strings.Join(set, ",")
}

// makeFile makes the file path with f unless it is there. What f leaves behind
// takes the name only when it is complete: another process may look.
func makeFile(path string, f func(tmp string) error) error {
	if _, err := os.Stat(path); err == nil {
		return nil
	}
	tmp := fmt.Sprintf("%s.%d", path, os.Getpid())
	defer os.Remove(tmp)
	if err := f(tmp); err != nil {
		return err
	}
	return os.Rename(tmp, path)
}
