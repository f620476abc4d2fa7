package testbed

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// A group is a command with all that it started.
type group struct {
	cmd            *exec.Cmd
	stdout, stderr output
	began          time.Time
	took           time.Duration // once it ended
	ended          chan struct{}
	err            error
}

// start starts a command. A line of its standard output that begins with ready
// is awaited by awaitReady.
func start(program string, args []string, ready string) (*group, error) {
	g := &group{cmd: exec.Command(program, args...), ended: make(chan struct{})}
	g.stdout.await(ready)
	g.cmd.Stdout, g.cmd.Stderr = &g.stdout, &g.stderr
	g.cmd.WaitDelay = time.Second // what it started may hold its output open
	ownGroup(g.cmd)
	g.began = time.Now()
	if err := g.cmd.Start(); err != nil {
		return nil, fmt.Errorf("cannot start %s: %w", filepath.Base(program), err)
	}
	go func() {
		err := g.cmd.Wait()
		g.took = time.Since(g.began)
		if err != nil && !errors.Is(err, exec.ErrWaitDelay) {
			g.err = g.failed(err)
		}
		close(g.ended)
	}()
	return g, nil
}

// failed says what a command failed with.
func (g *group) failed(err error) error {
	text := fmt.Sprintf("%s %s: ", filepath.Base(g.cmd.Path), strings.Join(g.cmd.Args[1:], " "))
	if said := tail(g.stderr.String()); said != "" {
		return fmt.Errorf("%s%w\n%s", text, err, said)
	}
	return fmt.Errorf("%s%w", text, err)
}

// wait waits for the command's end; when ctx is done first, the group is ended.
func (g *group) wait(ctx context.Context) error {
	select {
	case <-g.ended:
		return g.err
	case <-ctx.Done():
		g.kill()
		<-g.ended
		return g.failed(whyDone(ctx))
	}
}

// awaitReady waits for the line that says that load may be offered.
func (g *group) awaitReady(ctx context.Context) error {
	select {
	case <-g.stdout.ready:
		return nil
	case <-g.ended:
		if g.err != nil {
			return g.err
		}
		return g.failed(errors.New("it ended before it was ready"))
	case <-ctx.Done():
		return g.failed(fmt.Errorf("it was not ready in time: %w", whyDone(ctx)))
	}
}

func whyDone(ctx context.Context) error {
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return errTooLong
	}
	return ctx.Err()
}

// interrupt asks the command to end, and only the command: gowhy passes it on
// when it has what it needs.
func (g *group) interrupt() { _ = g.cmd.Process.Signal(os.Interrupt) }

// kill ends all that is left of the group.
func (g *group) kill() { killGroup(g.cmd.Process) }

// maxOutput is what is kept of a command's output: its beginning and, of what
// is longer, not the rest. gowhy's longest JSON is a trial's, some 100 kB.
const maxOutput = 16 << 20

// An output keeps what a command wrote and sees a line in it.
type output struct {
	mu     sync.Mutex
	text   bytes.Buffer
	prefix string
	seen   int           // the beginning of the line that is not ended yet
	ready  chan struct{} // closed when a line began with prefix
}

func (o *output) await(prefix string) { o.prefix, o.ready = prefix, make(chan struct{}) }

// Write keeps what there is room for. It never fails: a program is not to notice.
func (o *output) Write(b []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.text.Write(b[:min(len(b), maxOutput-o.text.Len())])
	o.look()
	return len(b), nil
}

// look searches whole lines for the awaited one.
func (o *output) look() {
	for o.prefix != "" {
		rest := o.text.Bytes()[o.seen:]
		end := bytes.IndexByte(rest, '\n')
		if end < 0 {
			return
		}
		o.seen += end + 1
		if bytes.HasPrefix(rest, []byte(o.prefix)) {
			o.prefix = ""
			close(o.ready)
		}
	}
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.String()
}
