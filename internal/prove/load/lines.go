package load

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"
)

// A Feed is a program that is fed lines.
type Feed struct {
	Command []string
	Env     []string // added to the environment
	Dir     string
	// Lines are what it is fed, one an operation, again from the first when all
	// were; without line ends. None feeds it the operation's number.
	Lines [][]byte
	// NoReply is for programs that do not answer each line with one: an operation
	// then ends when the program's input took the line, which tells only of
	// back-pressure.
	NoReply bool
	Stderr  io.Writer // of the program; nil is nowhere
}

// Lines starts the program of a feed for each connection. It reads lines from
// its standard input and answers each with a line on its standard output, in
// the same order; the answer ends the operation. At the end its input is
// closed, and it is killed when that does not end it.
func Lines(f Feed) (Protocol, error) {
	if len(f.Command) == 0 {
		return nil, errors.New("no program to feed lines to")
	}
	if _, err := exec.LookPath(f.Command[0]); err != nil {
		return nil, err
	}
	total := 0
	for _, l := range f.Lines {
		total += len(l)
	}
	if total > MaxFeed {
		return nil, fmt.Errorf("%d MiB of lines are too many: at most %d", total>>20, MaxFeed>>20)
	}
	return &feed{Feed: f, parting: exitGrace}, nil
}

const (
	// MaxFeed bounds the bytes of all lines of a feed.
	MaxFeed = 1 << 30
	// exitGrace is how long a program may take to end once its input is closed.
	exitGrace = 2 * time.Second
	// linesDepth lines are in a program's hands at most, the others wait for
	// their turn: a pipe holds about as many.
	linesDepth = 1024
)

type feed struct {
	Feed
	// ended is how a program ended, or got stuck, that nobody asked to: none is
	// started after it, or each operation would start one more that ends.
	ended   atomic.Pointer[endedError]
	parting time.Duration // see there
}

// An endedError is a program that takes no more lines.
type endedError struct{ how string }

func (e *endedError) Error() string { return e.how }

func (f *feed) String() string { return "lines to " + filepath.Base(f.Command[0]) }

func (f *feed) Limits() Limits {
	if f.NoReply {
		return Limits{Connections: 1, Depth: 1}
	}
	return Limits{Connections: 1, Depth: linesDepth}
}

// Dial starts the program. It lives on when ctx ends, until it is closed.
func (f *feed) Dial(context.Context) (Conn, error) {
	if e := f.ended.Load(); e != nil {
		return nil, e
	}
	cmd := exec.Command(f.Command[0], f.Command[1:]...)
	cmd.Env = append(os.Environ(), f.Env...)
	cmd.Dir, cmd.Stderr = f.Dir, f.Stderr
	cmd.WaitDelay = f.parting // what it started may hold its errors open
	// Our own pipes have deadlines, those of exec have not.
	in, feeding, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer in.Close()
	cmd.Stdin = in
	c := &lineConn{feed: f, cmd: cmd, in: feeding, exited: make(chan struct{})}
	if !f.NoReply {
		answers, out, err := os.Pipe()
		if err != nil {
			feeding.Close()
			return nil, err
		}
		defer out.Close()
		cmd.Stdout, c.out, c.r = out, answers, bufio.NewReaderSize(answers, 64<<10)
	}
	if err := cmd.Start(); err != nil {
		c.closePipes()
		return nil, err
	}
	go func() {
		_ = cmd.Wait() // how it ended is seen in its answers
		close(c.exited)
	}()
	return c, nil
}

// A lineConn is one process.
type lineConn struct {
	*feed
	cmd     *exec.Cmd
	in, out *os.File
	r       *bufio.Reader
	w       []byte
	exited  chan struct{}
	closing sync.Once

	mu     sync.Mutex
	waits  []int64 // for answers, in order
	length int64   // of the answer that is being read
}

func (c *lineConn) closePipes() {
	c.in.Close()
	if c.out != nil {
		c.out.Close()
	}
}

// Close lets the program end by itself, for a while.
func (c *lineConn) Close() error {
	c.closing.Do(func() {
		c.in.Close()
		select {
		case <-c.exited:
		case <-time.After(c.parting):
			_ = c.cmd.Process.Kill() // it may have ended just now
			<-c.exited
		}
		if c.out != nil {
			c.out.Close()
		}
	})
	return nil
}

// Send writes a line. A program that does not take it in time gets no more:
// half a line would spoil the next.
func (c *lineConn) Send(seq int64, deadline time.Time) error {
	if err := c.in.SetWriteDeadline(deadline); err != nil {
		return err
	}
	c.mu.Lock()
	c.waits = append(c.waits, seq)
	c.mu.Unlock()
	if len(c.Lines) > 0 {
		c.w = append(c.w[:0], c.Lines[seq%int64(len(c.Lines))]...)
	} else {
		c.w = fmt.Appendf(c.w[:0], "%d", seq)
	}
	c.w = append(c.w, '\n')
	if _, err := c.in.Write(c.w); err != nil {
		return c.exitError(err)
	}
	return nil
}

// Ended is how the [loadresult.Failure] begins of operations for which there was no
// program any more.
const Ended = "the program ended"

// exitError says how the program ended whose pipes are gone.
func (c *lineConn) exitError(err error) error {
	if errors.Is(err, os.ErrClosed) { // by us
		return err
	}
	e := &endedError{}
	if errors.Is(err, os.ErrDeadlineExceeded) {
		e.how = "the program took no line for as long as the timeout is"
	} else {
		select {
		case <-c.exited:
			e.how = Ended + ": " + c.cmd.ProcessState.String()
		case <-time.After(c.parting):
			e.how = "the program closed its input or output"
		}
	}
	c.ended.CompareAndSwap(nil, e)
	return e
}

// Receive reads a line, which may come in pieces.
func (c *lineConn) Receive(deadline time.Time) (Reply, error) {
	if c.out == nil {
		return c.oldestPending(), nil
	}
	if err := c.out.SetReadDeadline(deadline); err != nil {
		return Reply{}, err
	}
	for {
		piece, err := c.r.ReadSlice('\n')
		c.length += int64(len(piece))
		switch {
		case err == nil:
			return c.oldestPending(), nil
		case errors.Is(err, os.ErrDeadlineExceeded):
			return Reply{}, ErrTimeout
		case !errors.Is(err, bufio.ErrBufferFull):
			return Reply{}, c.exitError(err)
		}
	}
}

// oldestPending returns the oldest operation that waits. A line that nobody waits for is no
// answer.
func (c *lineConn) oldestPending() Reply {
	c.mu.Lock()
	defer c.mu.Unlock()
	r := Reply{Seq: -1, Bytes: c.length}
	c.length = 0
	if len(c.waits) > 0 {
		r.Seq = c.waits[0]
		c.waits = c.waits[1:]
	}
	return r
}
