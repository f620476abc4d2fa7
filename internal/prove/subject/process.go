package subject

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"time"

	"github.com/gowhy/gowhy/internal/ground/problem"
)

// How long a process may take to end after SIGTERM, and what it left behind to
// close its output.
const (
	stopGrace = 5 * time.Second
	pipeGrace = time.Second
)

// A process is a command that was started, in a process group of its own, so
// that what it starts can be ended with it.
type process struct {
	program Program
	cmd     *exec.Cmd
	out     *output
	began   time.Time
	exited  chan struct{} // closed when it has ended and was waited for

	mu sync.Mutex
	// over is set before it is waited for: from then on the number of its group
	// may become another's.
	over bool

	// Of the end:
	ended time.Time
	err   error // of Wait
}

// start starts a program. wait is a text that its output is watched for.
func start(p Program, wait string) (*process, error) {
	if err := p.check(); err != nil {
		return nil, err
	}
	r := &process{program: p, out: newOutput(wait), exited: make(chan struct{})}
	r.cmd = exec.Command(p.Command[0], p.Command[1:]...)
	r.cmd.Dir, r.cmd.Env = p.Dir, p.environ()
	r.cmd.Stdout, r.cmd.Stderr = r.out.stdout(), r.out.stderr()
	r.cmd.WaitDelay = pipeGrace
	r.cmd.SysProcAttr = ownGroup()
	r.began = time.Now()
	if err := r.cmd.Start(); err != nil {
		return nil, p.cannotStart(err)
	}
	go r.reap()
	return r, nil
}

// reap waits for the end. Whatever is left of the group is ended before the
// process is waited for: until then the number of the group belongs to it.
func (r *process) reap() {
	defer close(r.exited)
	if awaitEnd(r.pid()) {
		r.ended = time.Now()
		r.signal(syscall.SIGKILL)
	}
	r.mu.Lock()
	r.over = !r.ended.IsZero()
	r.mu.Unlock()
	r.err = r.cmd.Wait()
	if r.ended.IsZero() {
		r.ended = time.Now()
	}
}

func (r *process) pid() int { return r.cmd.Process.Pid }

func (r *process) gone() bool {
	select {
	case <-r.exited:
		return true
	default:
		return false
	}
}

// signal sends a signal to the whole group, as long as that is ours.
func (r *process) signal(s syscall.Signal) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.over && !r.gone() {
		_ = signalGroup(r.pid(), s) // it may just have ended
	}
}

// stop ends a process that would go on: by a signal that it may handle, and then by one that
// it cannot. It reports whether the first was enough.
func (r *process) stop() (well bool) {
	r.signal(syscall.SIGTERM)
	t := time.NewTimer(stopGrace)
	defer t.Stop()
	select {
	case <-r.exited:
		return true
	case <-t.C:
	}
	r.abandon()
	return false
}

// abandon ends a process at once and waits for that.
func (r *process) abandon() {
	r.signal(syscall.SIGKILL)
	<-r.exited
}

// await waits until the process has ended by itself. When ctx is done before,
// it is killed, and the error says that its time was over, or is the context's.
func (r *process) await(ctx context.Context) error {
	select {
	case <-r.exited:
		return nil
	case <-ctx.Done():
		r.abandon()
		return r.interrupted(ctx)
	}
}

// errTimeout is the cause of a context whose run took too long.
type errTimeout struct{ limit time.Duration }

func (e errTimeout) Error() string { return fmt.Sprintf("it did not end within %v", e.limit) }

func (r *process) interrupted(ctx context.Context) error {
	var timeout errTimeout
	if errors.As(context.Cause(ctx), &timeout) {
		return &problem.Error{What: fmt.Sprintf("%s did not end within %v and was ended%s", r.program.displayCommand(), timeout.limit, r.out.lastLines()), Hint: "--time-limit " + (2 * timeout.limit).String() + "   # or give it less work; what serves needs a --load that ends", Err: timeout}
	}
	return ctx.Err()
}

// failure says how a process failed; nil when it did not.
func (r *process) failure() error {
	if r.err == nil || errors.Is(r.err, exec.ErrWaitDelay) {
		return nil
	}
	var exit *exec.ExitError
	if !errors.As(r.err, &exit) {
		return fmt.Errorf("%s: %w", r.program.displayCommand(), r.err)
	}
	return failed(r.program, exit.ProcessState, r.out)
}

func failed(p Program, state *os.ProcessState, out *output) error {
	how := fmt.Sprintf("failed with exit code %d", state.ExitCode())
	if ws, ok := state.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
		how = "was ended by " + ws.Signal().String()
	}
	return failedAs(p, how, out)
}

func failedAs(p Program, how string, out *output) error {
	return problem.New(problem.Failure, "run it by itself until it succeeds; its time means nothing when it fails", "%s %s%s", p.displayCommand(), how, out.lastLines())
}

// usage is what a process that has ended used, its children that it waited for
// included.
type usage struct {
	cpu      time.Duration
	faults   float64
	switches float64
	peak     uint64 // bytes; see peak.go for when it is to be trusted
}

func (r *process) usage() (u usage) {
	state := r.cmd.ProcessState
	if state == nil {
		return u
	}
	return usageOf(state)
}
