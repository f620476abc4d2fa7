package evidence

import (
	"cmp"
	"context"
	"debug/buildinfo"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/gowhy/gowhy/recording"
)

// A Target is what to record: exactly one of its fields is set.
type Target struct {
	// URL is a server that has net/http/pprof's handlers: http://host:port
	// with or without the path at which they are.
	URL string
	// Command is a program to start. A Go test binary is given the flags that
	// make it record itself; of any other the listening ports are searched
	// for net/http/pprof.
	Command []string
}

// RecordOptions say how to record.
type RecordOptions struct {
	Out string // the recording to write
	// Duration is how long a server is recorded; 0 means 5 s. A test binary is
	// recorded from its start to its end.
	Duration time.Duration
	// Startup is how long a started program may take to open its port; 0
	// means 10 s.
	Startup time.Duration
	// Stdin, Stdout and Stderr are the command's.
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	// Log is told what happens, in words for the user. It may be nil.
	Log func(string)
}

// Recorded says what came of a recording.
type Recorded struct {
	// Written is set when there is a recording at Out.
	Written bool
	// ExitCode is the command's: 128 and the signal's number when one ended
	// it, 0 when the command was ended because the recording was over.
	ExitCode int
	// Refused is what was asked for and not had.
	Refused []recording.Refusal
}

// Record records a target. When ctx is cancelled, the recording ends and what
// there is of it is kept, without an error. When nothing could be recorded,
// the error is a [Problem], and the result still tells the command's exit code.
func Record(ctx context.Context, t Target, o RecordOptions) (*Recorded, error) {
	o.Duration, o.Startup = cmp.Or(o.Duration, 5*time.Second), cmp.Or(o.Startup, 10*time.Second)
	if o.Log == nil {
		o.Log = func(string) {}
	}
	if (t.URL == "") == (len(t.Command) == 0) {
		return nil, errors.New("evidence: a target is either a URL or a command")
	}
	if t.URL != "" {
		if err := checkURL(t.URL); err != nil {
			return nil, err
		}
	} else if err := checkCommand(t.Command, o.Out); err != nil {
		return nil, err
	}
	w, err := recording.Create(o.Out)
	if err != nil {
		return nil, &Problem{What: fmt.Sprintf("cannot write %q: %v", o.Out, err), Hint: "choose another file with -o", Err: err}
	}
	r := &recorder{o: o, w: w, man: recording.Manifest{Start: time.Now(), URL: t.URL, Command: t.Command}}
	var res Recorded
	switch {
	case t.URL != "":
		err = r.server(ctx, t.URL)
	case testBinary(t.Command[0]):
		res.ExitCode, err = r.test(ctx, t.Command)
	default:
		res.ExitCode, err = r.command(ctx, t.Command)
	}
	return &res, r.finish(&res, err)
}

// A recorder is the state of one Record.
type recorder struct {
	o   RecordOptions
	w   *recording.Writer
	man recording.Manifest
}

func (r *recorder) refuse(member, why string) {
	r.man.Refused = append(r.man.Refused, recording.Refusal{Member: member, Why: why})
}

// has reports whether a member was written.
func (r *recorder) has(member string) bool {
	info, err := os.Stat(r.w.Path(member))
	return err == nil && info.Size() > 0
}

func (r *recorder) finish(res *Recorded, err error) error {
	r.man.End = time.Now()
	res.Refused = r.man.Refused
	any := r.has(recording.TraceMember) || r.has(recording.CPUMember)
	if !any {
		discard := r.w.Discard()
		if err == nil {
			err = r.nothing()
		}
		return errors.Join(err, discard)
	}
	if ferr := r.w.Finish(r.man); ferr != nil {
		return errors.Join(err, &Problem{What: "cannot write the recording: " + ferr.Error(), Err: ferr})
	}
	res.Written = true
	return err
}

func (r *recorder) nothing() error {
	p := &Problem{What: "nothing was recorded", None: true, Hint: pprofHint}
	for _, f := range r.man.Refused {
		p.What += fmt.Sprintf("; %s: %s", f.Member, f.Why)
	}
	return p
}

const pprofHint = `import _ "net/http/pprof" in the program and serve HTTP, or record a test: go test -exec 'gowhy record --' -bench .`

// checkCommand refuses what cannot be recorded before anything is started.
func checkCommand(argv []string, out string) error {
	if _, err := exec.LookPath(argv[0]); err != nil {
		return &Problem{What: fmt.Sprintf("cannot start %q: %v", argv[0], errors.Unwrap(err)), Hint: "gowhy record -o run.gowhy -- ./PROGRAM ARGS", Err: err}
	}
	if name := filepath.Base(argv[0]); (name == "go" || name == "go.exe") && len(argv) > 1 && argv[1] == "test" {
		// go test runs one binary for each package; only -exec reaches them.
		return &Problem{What: "go test is recorded through its -exec flag",
			Hint: "go test -exec " + quote("gowhy record -o "+out+" --") + " " + quoteAll(argv[2:])}
	}
	return nil
}

func quoteAll(args []string) string {
	quoted := make([]string, len(args))
	for i, a := range args {
		quoted[i] = quote(a)
	}
	return strings.Join(quoted, " ")
}

// testBinary reports whether a program is what `go test -c` makes, by the
// name that the go command gives it.
func testBinary(name string) bool {
	return strings.HasSuffix(name, ".test") || strings.HasSuffix(name, ".test.exe")
}

// test runs a test binary with the flags that make it record itself.
func (r *recorder) test(ctx context.Context, argv []string) (code int, err error) {
	args := slices.Clone(argv[1:])
	var own, theirs []string
	for _, f := range []struct{ flag, member string }{
		{"test.trace", recording.TraceMember},
		{"test.cpuprofile", recording.CPUMember},
		{"test.memprofile", recording.AllocsMember},
	} {
		if path, ok := flagValue(args, f.flag); ok {
			theirs = append(theirs, path, f.member)
		} else {
			own = append(own, "-"+f.flag+"="+r.w.Path(f.member))
		}
	}
	p, err := r.start(argv[0], append(own, args...))
	if err != nil {
		return 0, err
	}
	select {
	case <-p.done:
	case <-ctx.Done():
		p.end()
	}
	dir, _ := flagValue(args, "test.outputdir")
	for i := 0; i < len(theirs); i += 2 {
		r.copyIn(theirs[i], dir, theirs[i+1])
	}
	return p.code(), nil
}

// flagValue returns the value of a flag as package flag would take it.
func flagValue(args []string, name string) (value string, ok bool) {
	for i, a := range args {
		switch {
		case a == "--" || !strings.HasPrefix(a, "-"):
			// Values of flags stand alone too; only "--" surely ends them.
			if a == "--" {
				return value, ok
			}
		case strings.TrimLeft(a, "-") == name && i+1 < len(args):
			value, ok = args[i+1], true
		case strings.HasPrefix(strings.TrimLeft(a, "-"), name+"="):
			_, value, _ = strings.Cut(a, "=")
			ok = true
		}
	}
	return value, ok
}

// copyIn takes a file into the recording that the user had asked the test for.
func (r *recorder) copyIn(path, dir, member string) {
	if dir != "" && !filepath.IsAbs(path) {
		path = filepath.Join(dir, path)
	}
	err := func() error {
		from, err := os.Open(path)
		if err != nil {
			return err
		}
		defer from.Close()
		to, err := os.Create(r.w.Path(member))
		if err != nil {
			return err
		}
		_, err = io.Copy(to, from)
		return errors.Join(err, to.Close())
	}()
	if err != nil {
		r.refuse(member, err.Error())
	}
}

// command starts a program, looks for its profiling port, records it there and
// ends it.
func (r *recorder) command(ctx context.Context, argv []string) (code int, err error) {
	p, err := r.start(argv[0], argv[1:])
	if err != nil {
		return 0, err
	}
	base, err := r.findServer(ctx, p)
	if err != nil {
		if ctx.Err() != nil || !p.ended() {
			p.end()
		}
		return p.code(), err
	}
	r.o.Log(fmt.Sprintf("recording %v at %s", r.o.Duration, base))
	r.man.URL = base
	fetch, stop := context.WithCancel(ctx)
	defer stop()
	go func() { // a program that ends takes its port with it
		select {
		case <-p.done:
			stop()
		case <-fetch.Done():
		}
	}()
	err = r.fetchAll(fetch, localClient(), base)
	if p.ended() {
		return p.code(), err
	}
	p.end()
	return p.code(), err
}

// findServer waits until one of the program's ports answers as net/http/pprof.
func (r *recorder) findServer(ctx context.Context, p *process) (base string, err error) {
	deadline := time.NewTimer(r.o.Startup)
	defer deadline.Stop()
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	seen := map[string]bool{} // ports that answered as something else
	for {
		addrs, err := listening("/proc", p.pid())
		if err != nil {
			return "", &Problem{What: "cannot look for the program's ports: " + err.Error(),
				Hint: "start it yourself, then: gowhy record --url http://localhost:PORT", Err: err}
		}
		for _, a := range addrs {
			if seen[a] {
				continue
			}
			base := "http://" + a + "/debug/pprof/"
			switch probe(ctx, base) {
			case probeFound:
				return base, nil
			case probeOther:
				seen[a] = true
			}
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return "", &Problem{What: "the recording was ended before the program opened a profiling port", Hint: pprofHint, None: true}
		case <-p.done:
			return "", &Problem{What: fmt.Sprintf("%q ended and offered nothing to record", filepath.Base(r.man.Command[0])), Hint: pprofHint, None: true}
		case <-deadline.C:
			return "", r.noServer(seen)
		}
	}
}

func (r *recorder) noServer(seen map[string]bool) error {
	what := fmt.Sprintf("%q opened no port within %v", filepath.Base(r.man.Command[0]), r.o.Startup)
	if len(seen) > 0 {
		var ports []string
		for a := range seen {
			ports = append(ports, a)
		}
		slices.Sort(ports)
		what = fmt.Sprintf("%q serves no /debug/pprof/ at %s", filepath.Base(r.man.Command[0]), strings.Join(ports, ", "))
	}
	return &Problem{What: what, Hint: pprofHint, None: true}
}

// A process is a started command.
type process struct {
	cmd    *exec.Cmd
	done   chan struct{}
	killed bool // by us, at the end of the recording
}

func (r *recorder) start(name string, args []string) (*process, error) {
	if info, err := buildinfo.ReadFile(name); err == nil {
		r.man.Go = info.GoVersion
	}
	cmd := exec.Command(name, args...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = r.o.Stdin, r.o.Stdout, r.o.Stderr
	// Grandchildren may hold the output open; the command's end is what counts.
	cmd.WaitDelay = time.Second
	if err := cmd.Start(); err != nil {
		return nil, &Problem{What: fmt.Sprintf("cannot start %q: %v", name, err), Err: err}
	}
	p := &process{cmd: cmd, done: make(chan struct{})}
	go func() {
		cmd.Wait()
		close(p.done)
	}()
	return p, nil
}

func (p *process) pid() int { return p.cmd.Process.Pid }

func (p *process) ended() bool {
	select {
	case <-p.done:
		return true
	default:
		return false
	}
}

// Grace periods for a program to end: first on the signal that a terminal
// sends to it as well as to us, then on ours.
const (
	graceAlone     = 300 * time.Millisecond
	graceInterrupt = 5 * time.Second
)

// end ends the program and waits for it.
func (p *process) end() {
	p.killed = true
	if p.within(graceAlone) {
		return
	}
	p.cmd.Process.Signal(os.Interrupt)
	if p.within(graceInterrupt) {
		return
	}
	p.cmd.Process.Kill()
	<-p.done
}

func (p *process) within(d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-p.done:
		return true
	case <-t.C:
		return false
	}
}

// code returns the exit code to pass on; call it after the program ended.
func (p *process) code() int {
	s := p.cmd.ProcessState
	if p.killed || s == nil {
		return 0
	}
	if ws, ok := s.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
		return 128 + int(ws.Signal())
	}
	return s.ExitCode()
}
