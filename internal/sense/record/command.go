package record

import (
	"bytes"
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

	"github.com/gowhy/gowhy/agent/recording"
	"github.com/gowhy/gowhy/internal/ground/problem"
	"github.com/gowhy/gowhy/internal/ground/shell"
	"github.com/gowhy/gowhy/internal/sense/artifact"
	"github.com/gowhy/gowhy/internal/sense/proc"
)

// checkCommand refuses what cannot be recorded before anything is started.
func checkCommand(argv []string, dir string) error {
	if _, err := locate(argv[0], dir); err != nil {
		return &problem.Error{What: fmt.Sprintf("cannot start %q: %v", argv[0], cmp.Or(errors.Unwrap(err), err)), Hint: "gowhy record -o run.gowhy -- ./PROGRAM ARGS", Err: err}
	}
	if name := filepath.Base(argv[0]); (name == "go" || name == "go.exe") && len(argv) > 1 && argv[1] == "test" {
		// go test runs one binary for each package; only -exec reaches them.
		return problem.New(problem.Failure, "go test -exec "+shell.Word("gowhy record --")+" "+shell.Words(argv[2:]), "go test is recorded through its -exec flag")
	}
	return nil
}

// locate finds the file of a program that runs in dir, as the kernel will: a
// path that is relative is so to dir.
func locate(program, dir string) (string, error) {
	if dir != "" && filepath.Base(program) != program && !filepath.IsAbs(program) {
		abs, err := filepath.Abs(dir)
		if err != nil {
			return "", err
		}
		program = filepath.Join(abs, program)
	}
	return exec.LookPath(program)
}

// command starts a program and records it: what the kernel sees of it from its first
// instruction, what it says itself as soon as it answers.
func (r *recorder) command(ctx context.Context, argv []string) (code int, err error) {
	p, err := r.start(argv[0], argv[1:], true)
	if err != nil {
		return 0, err
	}
	stop, cancel := p.stopWith(ctx)
	defer cancel()
	var until time.Time
	if r.o.Duration > 0 {
		until = time.Now().Add(r.o.Duration)
	}
	endHolders := r.holders().follow(stop, p)
	at, started, why := r.endpointOf(stop, p, until)
	if at == nil {
		p.counted.end()
		r.man.End = r.clock.now()
		r.seen.end()
		endHolders()
		r.refuse(artifact.EndpointMember, why)
		return r.finishProcess(ctx, p), nil
	}
	p.counted.drop()
	r.man.URL = at.redactedAddress()
	f := &fetch{recorder: r, at: at}
	f.begin(stop)
	if r.o.Duration > 0 {
		until = time.Now().Add(r.o.Duration)
	}
	if where := at.redactedAddress(); where != "" {
		r.o.Log("recording at " + where)
	}
	course := r.followHeapOf(p.subject())
	r.window(stop, f, until, func() {
		started()
		if r.o.Began != nil {
			r.o.Began(p.subject())
		}
	})
	course.end(r)
	f.conclude(p.ended())
	endHolders()
	return r.finishProcess(ctx, p), nil
}

// stopWith is done when the recording is to end: with ctx, or with the
// program.
func (p *process) stopWith(ctx context.Context) (context.Context, func()) {
	stop, cancel := context.WithCancelCause(ctx)
	go func() {
		select {
		case <-p.exited:
			cancel(errProgramGone)
		case <-stop.Done():
		}
	}()
	return stop, func() { cancel(nil) }
}

// endpointOf waits for a program to begin to answer, at most until the end of the recording,
// or of the start of a program that will have a port. started is to be called when the
// recording of it has begun.
func (r *recorder) endpointOf(stop context.Context, p *process, until time.Time) (at *endpoint, started func(), why artifact.Refusal) {
	none := func() {}
	if p.agentSocket != nil && !p.wrapper {
		if at, err := r.awaitAgent(stop, p); err == nil {
			return at, func() { at.release(stop) }, why
		}
	}
	refused := map[string]bool{} // ports that answered as something else
	began := time.Now()
	until = r.patience(p, until)
	for {
		if r.follow(p) {
			until, began = r.patience(p, until), time.Now()
		}
		if at, err := p.agent(stop); err == nil {
			return at, func() { at.release(stop) }, why
		}
		addrs, err := proc.Listening(p.subject())
		if err != nil && !p.ended() {
			sleepUntil(stop, until)
			return nil, none, artifact.Refusal{Why: "the program's ports could not be looked for: " + err.Error()}
		}
		if at := firstEndpoint(stop, addrs, refused, localClient); at != nil {
			return at, none, why
		}
		r.countSilent(p, began)
		next := time.Now().Add(searchEvery(time.Since(began)))
		if !until.IsZero() && next.After(until) {
			next = until
		}
		sleepUntil(stop, next)
		if stop.Err() != nil || !until.IsZero() && !time.Now().Before(until) {
			if p.wrapper && p.child == 0 {
				return nil, none, artifact.Refusal{Why: p.startedNone()}
			}
			return nil, none, noEndpointIn(addrs, refused)
		}
	}
}

// startedNone says of a wrapper why there is nothing of a runtime.
func (p *process) startedNone() string {
	name := filepath.Base(p.cmd.Path)
	if p.ofGo {
		return name + " started no program but Go's own tools"
	}
	return name + " is no Go program, and started none"
}

// patience returns until when a program may begin to answer: to the end of the recording, and
// longer when it has handlers or is yet to start what is meant.
func (r *recorder) patience(p *process, until time.Time) time.Time {
	if until.IsZero() {
		return until
	}
	if p.profiled || p.wrapper && p.child == 0 {
		return time.Now().Add(max(r.o.Startup, r.o.Duration))
	}
	return time.Now().Add(r.o.Duration)
}

// searchEvery slows the search for ports down: each look at them is a walk
// through all processes.
func searchEvery(since time.Duration) time.Duration {
	switch {
	case since < 2*time.Second:
		return 100 * time.Millisecond
	case since < 15*time.Second:
		return 500 * time.Millisecond
	}
	return 3 * time.Second
}

func noEndpointIn(addrs []string, refused map[string]bool) artifact.Refusal {
	why := "the program opened no port"
	if len(refused) > 0 {
		ports := make([]string, 0, len(refused))
		for a := range refused {
			ports = append(ports, a)
		}
		slices.Sort(ports)
		why = "the program serves no /debug/pprof/ at " + strings.Join(ports, ", ")
	} else if len(addrs) > 0 {
		why = "the program does not answer at " + strings.Join(addrs, ", ")
	}
	return artifact.Refusal{Why: why, How: agentHint}
}

const agentHint = `import _ "github.com/gowhy/gowhy/agent" in the program`

// How long a program that has the agent may take to its init functions, and
// how often they are asked for.
const (
	agentWait  = 5 * time.Second
	agentEvery = 3 * time.Millisecond
)

// awaitAgent waits for the agent of a program that was started with a socket
// for it.
func (r *recorder) awaitAgent(stop context.Context, p *process) (*endpoint, error) {
	ctx, cancel := context.WithTimeout(stop, agentWait)
	defer cancel()
	for {
		at, err := p.agent(ctx)
		if err == nil {
			return at, nil
		}
		sleepUntil(ctx, time.Now().Add(agentEvery))
		if ctx.Err() != nil {
			return nil, err
		}
	}
}

// agent returns the endpoint of a program's agent, if it has begun to listen.
func (p *process) agent(ctx context.Context) (*endpoint, error) {
	if p.agentSocket == nil {
		return nil, errors.New("it does not listen")
	}
	return p.agentSocket.endpoint(ctx)
}

// release lets a program go on that waits in its agent for the recording to
// begin.
func (e *endpoint) release(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, probeLimit)
	defer cancel()
	_, _ = e.get(ctx, e.handlerURL("start"), 1<<16) // without it the agent waits for a second
}

// A process is a started command.
type process struct {
	cmd    *exec.Cmd
	exited chan struct{} // closed when it has ended; it is still to be waited for
	killed bool          // by us, at the end of the recording
	logs   []io.Closer
	// agentSocket is where its agent listens, if it has one, and profiled
	// whether it has net/http/pprof.
	agentSocket *AgentSocket
	profiled    bool
	observer    *observer
	counted     *countedProgram // while it does not answer
	// A wrapper starts the program that is meant; child is its process then,
	// once it is known.
	wrapper bool
	ofGo    bool // the wrapper is the go command
	child   int
}

// start starts a program. With agent, one that has gowhy's listens on a socket.
func (r *recorder) start(program string, args []string, agent bool, files ...*os.File) (*process, error) {
	p := &process{exited: make(chan struct{})}
	path, err := locate(program, r.o.Dir)
	if err != nil {
		path = program
	}
	info := r.build(path)
	env := append(os.Environ(), r.o.Env...)
	p.wrapper, p.ofGo = wraps(info), info != nil
	if agent {
		p.profiled = !p.wrapper && mentions(path, pprofSymbol)
		if p.wrapper || mentions(path, agentSymbol) {
			if p.agentSocket, err = NewAgentSocket(); err != nil {
				return nil, err
			}
			env = append(env, p.agentSocket.Env())
		}
	}
	p.cmd = exec.Command(program, args...)
	p.cmd.ExtraFiles, p.cmd.Dir, p.cmd.SysProcAttr = files, r.o.Dir, endsWithUs()
	p.cmd.Stdin, p.cmd.Stdout, p.cmd.Stderr = r.o.Stdin, r.o.Stdout, r.o.Stderr
	// Grandchildren may hold the output open; the command's end is what counts.
	p.cmd.WaitDelay = time.Second
	p.cmd.Env = r.streams(p, env, info)
	r.man.Env = artifact.GoEnvironment(append(os.Environ(), r.o.Env...)) // without what was added to record it
	r.man.Start = r.clock.now()
	if err := r.run(p); err != nil {
		p.cleanUp()
		return nil, problem.New(problem.Failure, "", "cannot start %q: %w", program, err)
	}
	return p, nil
}

// run starts the process and its observer, the observer first where it can be.
func (r *recorder) run(p *process) error {
	again := *p.cmd
	release, err := startStopped(p.cmd)
	if errors.Is(err, os.ErrPermission) {
		// A sandbox may forbid tracing; whether the program may be started at
		// all is then still to be seen.
		p.cmd, release = &again, func() {}
		err = p.cmd.Start()
	}
	if err != nil {
		return err
	}
	p.observer = r.observe(p.pid(), true)
	r.seen = p.observer
	release()
	go func() {
		defer close(p.exited)
		if !awaitEnd(p.cmd) {
			p.cmd.Wait()
		}
	}()
	return nil
}

const (
	pprofSymbol = "net/http/pprof.Index"
	agentSymbol = "github.com/gowhy/gowhy/agent.init.0"
)

// mentions reports whether a program has a function of this name. Names stay
// in Go's binaries when symbols are stripped, each between zeros.
func mentions(path, function string) bool {
	symbol := "\x00" + function + "\x00"
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	const piece = 1 << 20
	buf := make([]byte, piece+len(symbol))
	for kept := 0; ; {
		n, err := io.ReadFull(f, buf[kept:])
		if bytes.Contains(buf[:kept+n], []byte(symbol)) {
			return true
		}
		if err != nil {
			return false
		}
		kept = copy(buf, buf[kept+n-len(symbol):kept+n])
	}
}

// streams joins the standard streams of a command and returns its environment.
func (r *recorder) streams(p *process, env []string, info *buildinfo.BuildInfo) []string {
	create := func(member string) *os.File {
		f, err := os.Create(r.w.Path(member))
		if err != nil {
			r.refuse(member, artifact.Refusal{Why: err.Error()})
			return nil
		}
		p.logs = append(p.logs, f)
		return f
	}
	if r.o.OutputLogs {
		if f := create(recording.StdoutMember); f != nil {
			p.cmd.Stdout = tee(p.cmd.Stdout, f)
		}
		if f := create(recording.StderrMember); f != nil {
			p.cmd.Stderr = tee(p.cmd.Stderr, f)
		}
	}
	if r.o.Load == "" && benchmarks(p.cmd.Args) {
		results := &resultLines{path: r.w.Path(recording.LoadMember)}
		p.cmd.Stdout = tee(p.cmd.Stdout, results)
		p.logs = append(p.logs, results)
	}
	if info != nil && !wraps(info) && !r.o.NoGodebug {
		env = r.godebug(p, env, create)
	}
	return env
}

// godebug asks the runtime for its lines and takes them out of the program's
// standard error. Those that the user has asked for stay there, too.
func (r *recorder) godebug(p *process, env []string, create func(string) *os.File) []string {
	value := ""
	for _, kv := range env {
		if v, ok := strings.CutPrefix(kv, "GODEBUG="); ok {
			value = v
		}
	}
	theirs, to := value, map[string]io.Writer{}
	for _, k := range []struct{ source, setting, member string }{
		{"gctrace", "gctrace=1", recording.GCTraceMember},
		{"schedtrace", "schedtrace=1000", recording.SchedTraceMember},
	} {
		wanted, set := r.wants(k.source), strings.Contains(","+theirs, ","+k.source+"=")
		if !wanted && !set {
			continue
		}
		log := io.Discard
		if wanted {
			if f := create(k.member); f != nil {
				log = f
			}
		}
		if to[k.source] = log; set {
			to[k.source] = &timeStripper{log: log, rest: p.cmd.Stderr}
		} else {
			value = strings.TrimPrefix(value+","+k.setting, ",")
		}
	}
	if len(to) == 0 {
		return env
	}
	filter := newGodebugFilter(p.cmd.Stderr, to["gctrace"], to["schedtrace"])
	filter.now = r.clock.now
	p.cmd.Stderr = filter
	p.logs = append(p.logs, filter)
	return append(env, "GODEBUG="+value)
}

// A timeStripper keeps the runtime's lines and passes them on without the time
// that the filter puts before them.
type timeStripper struct{ log, rest io.Writer }

func (s *timeStripper) Write(p []byte) (int, error) {
	_, _ = s.log.Write(p)
	if _, line, ok := bytes.Cut(p, []byte(" ")); ok && s.rest != nil {
		return len(p), second(s.rest.Write(line))
	}
	return len(p), nil
}

func second(_ int, err error) error { return err }

// tee writes to both; the log is of less importance than the user.
func tee(to io.Writer, log io.Writer) io.Writer {
	if to == nil {
		return log
	}
	return io.MultiWriter(to, log)
}

func (p *process) pid() int { return p.cmd.Process.Pid }

// subject returns the process that is recorded.
func (p *process) subject() int { return cmp.Or(p.child, p.pid()) }

func (p *process) ended() bool {
	select {
	case <-p.exited:
		return true
	default:
		return false
	}
}

// Grace periods for a program to end: first on the signal that it may have got
// with us, then on ours.
const (
	graceAlone     = 300 * time.Millisecond
	graceInterrupt = 5 * time.Second
)

// finishProcess ends the program if it has not ended by itself, and returns the exit
// code to pass on.
func (r *recorder) finishProcess(ctx context.Context, p *process) int {
	if !p.ended() {
		r.endProcess(ctx, p)
	}
	p.observer.end() // it has the last look at what the kernel keeps until now
	if p.cmd.ProcessState == nil {
		p.cmd.Wait()
	}
	p.cleanUp()
	if by := p.cmd.ProcessState; !p.killed && by != nil && by.Exited() {
		r.man.Ended = &recording.Ending{Kind: recording.EndedByExit, Time: r.clock.now(), Code: by.ExitCode()}
	}
	return p.code()
}

// endProcess interrupts a program as a terminal does, with all that it
// started. One that has been interrupted together with us is not interrupted
// again while it ends: many give up everything on the second time.
func (r *recorder) endProcess(ctx context.Context, p *process) {
	switch {
	case ctx.Err() == nil:
	case r.o.Foreground && p.within(graceInterrupt), p.within(graceAlone):
		return
	}
	p.killed = true
	p.signal(os.Interrupt)
	if !p.within(graceInterrupt) {
		r.o.Log(fmt.Sprintf("%s did not end within %v of an interrupt, and was killed", filepath.Base(p.cmd.Path), graceInterrupt))
		p.signal(os.Kill)
		<-p.exited
	}
}

// signal sends a signal to a program, and through a wrapper to what it started.
func (p *process) signal(s os.Signal) {
	var others []int
	if p.wrapper {
		others = descendants(p.pid())
	}
	_ = p.cmd.Process.Signal(s) // it may just have ended
	for _, pid := range others {
		if o, err := os.FindProcess(pid); err == nil {
			_ = o.Signal(s)
		}
	}
}

func (p *process) cleanUp() {
	for _, c := range slices.Backward(p.logs) {
		c.Close()
	}
	if p.agentSocket != nil {
		p.agentSocket.Close()
	}
}

func (p *process) within(d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-p.exited:
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
