package cli

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/term"

	"github.com/gowhy/gowhy/internal/ground/figures"
	"github.com/gowhy/gowhy/internal/ground/layout"
	"github.com/gowhy/gowhy/internal/ground/problem"
)

// terminal returns the file behind w when it is a terminal.
func terminal(w io.Writer) (*os.File, bool) {
	f, ok := w.(*os.File)
	return f, ok && term.IsTerminal(int(f.Fd()))
}

// onTerminal reports whether a command that gets our standard streams has a
// terminal, which sends an interrupt to it as well as to us.
func (c *command) onTerminal() bool {
	in, ok := c.Stdin.(*os.File)
	_, out := terminal(c.Stdout)
	_, err := terminal(c.Stderr)
	return ok && term.IsTerminal(int(in.Fd())) || out || err
}

// canAsk reports whether somebody sits there who reads a question and can answer.
func (c *command) canAsk() bool {
	in, ok := c.Stdin.(*os.File)
	_, seen := terminal(c.Stderr)
	return ok && term.IsTerminal(int(in.Fd())) && seen
}

// layout returns how a report on standard output looks: --width, else the terminal's own, and
// colours; or plain text of 80 columns. CLICOLOR_FORCE keeps the colours where something else
// than a terminal shows them.
func (c *command) layout() layout.Options {
	var o layout.Options
	if n, err := strconv.Atoi(os.Getenv("COLUMNS")); err == nil && n > 0 {
		o.Width = n
	}
	f, ok := terminal(c.Stdout)
	if ok {
		if w, h, err := term.GetSize(int(f.Fd())); err == nil && w > 0 {
			o.Width, o.Height = w, h
		}
		o.Color = os.Getenv("TERM") != "dumb"
	}
	if forced := os.Getenv("CLICOLOR_FORCE"); forced != "" && forced != "0" {
		o.Color = true
	}
	o.Color = o.Color && os.Getenv("NO_COLOR") == ""
	o.Width = cmp.Or(c.width, o.Width)
	return o
}

// narrowest is the width below which no table has room.
const narrowest = 40

// output runs write on standard output, or on the file that -o names. The
// file appears when it is complete: a report that failed half way is not left
// behind, nor one destroyed that was there.
func (c *command) output(path string, write func(io.Writer, layout.Options) error) error {
	if path == "" || path == "-" {
		err := write(c.Stdout, c.layout())
		if errors.Is(err, context.Canceled) {
			return problem.New(problem.Interrupt, "", "interrupted: what was written is not all")
		}
		return err
	}
	if err := checkOutput(path); err != nil {
		return err
	}
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return toFile(path, os.O_WRONLY, write) // a device or a pipe
	}
	tmp := path + ".tmp-" + strconv.Itoa(os.Getpid())
	err := toFile(tmp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, write)
	if err == nil {
		err = os.Rename(tmp, path)
	}
	if err != nil {
		os.Remove(tmp)
	}
	if file := (*fs.PathError)(nil); errors.As(err, &file) {
		return problem.New(problem.Failure, "choose another file with -o", "cannot write %q: %v", path, file.Err)
	}
	return err
}

// wrote says that a file which people open is there, and how large it is.
func (c *command) wrote(path string) {
	if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
		fmt.Fprintf(c.Stderr, "gowhy: wrote %s, %s\n", layout.Safe(path), figures.Bytes(info.Size()))
	}
}

// checkOutput refuses a file that cannot be written, so that a command can do
// so before it reads for a minute.
func checkOutput(path string) error {
	if path == "" || path == "-" {
		return nil
	}
	cannot := func(why any) error {
		return problem.New(problem.Failure, "choose another file with -o", "cannot write %q: %v", path, why)
	}
	info, err := os.Stat(path)
	if err == nil && info.IsDir() {
		return cannot("it is a directory")
	}
	if err == nil && !info.Mode().IsRegular() {
		return nil // a device or a pipe
	}
	// Permissions have many sources; a file that can be made tells surely.
	probe, err := os.CreateTemp(filepath.Dir(path), ".gowhy-*")
	if err != nil {
		return cannot(problem.Cause(err))
	}
	return errors.Join(probe.Close(), os.Remove(probe.Name()))
}

func toFile(path string, flags int, write func(io.Writer, layout.Options) error) error {
	f, err := os.OpenFile(path, flags, 0o666)
	if err != nil {
		return err
	}
	b := bufio.NewWriterSize(f, 1<<16)
	return errors.Join(write(b, layout.Options{}), b.Flush(), f.Close())
}

// progressDelay is how long a command may be silent.
const progressDelay = time.Second

// A progress is a line on the terminal that tells how far reading is.
type progress struct {
	w          io.Writer
	verb       string
	unit       int64 // of what is counted; 0 when only the share is worth telling
	read, size atomic.Int64
	quit, done chan struct{}
	once       sync.Once
}

// startProgress returns nil, which is a progress too, when nobody looks.
func (c *command) startProgress(verb string, unit int64) *progress {
	if _, ok := terminal(c.Stderr); !ok {
		return nil
	}
	p := &progress{w: c.Stderr, verb: verb, unit: unit, quit: make(chan struct{}), done: make(chan struct{})}
	go p.show()
	return p
}

// callback learns how far reading is; nil when nobody looks.
func (p *progress) callback() func(read, size int64) {
	if p == nil {
		return nil
	}
	return func(read, size int64) {
		p.read.Store(read)
		p.size.Store(size)
	}
}

// stop erases the line.
func (p *progress) stop() {
	if p == nil {
		return
	}
	p.once.Do(func() { close(p.quit) })
	<-p.done
}

func (p *progress) show() {
	defer close(p.done)
	shown := false
	next := time.NewTimer(progressDelay)
	defer next.Stop()
	for {
		select {
		case <-p.quit:
			if shown {
				fmt.Fprint(p.w, "\r\x1b[K")
			}
			return
		case <-next.C:
			shown = true
			fmt.Fprintf(p.w, "\r\x1b[K%s", p.line())
			next.Reset(200 * time.Millisecond)
		}
	}
}

// mebibytes is the unit of a progress in bytes.
const mebibytes = 1 << 20

func (p *progress) line() string {
	read, size := p.read.Load(), p.size.Load()
	switch {
	case size > 0 && p.unit > 0:
		return fmt.Sprintf("%s… %d%% of %d MiB", p.verb, 100*min(read, size)/size, size/p.unit)
	case size > 0:
		return fmt.Sprintf("%s… %d%%", p.verb, 100*min(read, size)/size)
	case p.unit > 0:
		return fmt.Sprintf("%s… %d MiB", p.verb, read/p.unit)
	}
	return p.verb + "…"
}

// A statusLine is a line on the terminal that is written over, for those who
// know themselves what to say.
type statusLine struct {
	mu     sync.Mutex
	w      io.Writer
	tty    bool
	layout layout.Options
	shown  bool
	quit   chan struct{} // of the clock behind the line; nil without one
}

func (c *command) statusLine() *statusLine {
	_, tty := terminal(c.Stderr)
	return &statusLine{w: c.Stderr, tty: tty, layout: c.layout()}
}

// Set replaces the line; nobody sees it who is not at a terminal.
func (l *statusLine) Set(format string, args ...any) {
	if !l.tty {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.stopClock()
	l.write(fmt.Sprintf(format, args...), "")
}

// SetClock replaces the line, with a clock behind it that runs until the next one: what
// stands still for a minute looks as if it hung.
func (l *statusLine) SetClock(format string, args ...any) {
	if !l.tty {
		return
	}
	text := fmt.Sprintf(format, args...)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.stopClock()
	l.write(text, "")
	quit := make(chan struct{})
	l.quit = quit
	go l.runClock(quit, text, time.Now())
}

// Step says what is begun that takes a while: on a terminal with a clock, in a log as
// a line of its own.
func (l *statusLine) Step(format string, args ...any) {
	if !l.tty {
		l.Log(fmt.Sprintf(format, args...))
		return
	}
	l.SetClock(format, args...)
}

// runClock counts the seconds behind the line until quit is closed.
func (l *statusLine) runClock(quit chan struct{}, text string, begin time.Time) {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for {
		select {
		case <-quit:
			return
		case <-tick.C:
		}
		l.mu.Lock()
		if l.quit == quit { // else another line came meanwhile
			l.write(text, "  "+time.Since(begin).Truncate(time.Second).String())
		}
		l.mu.Unlock()
	}
}

// stopClock ends the clock, if there is one. The caller holds mu.
func (l *statusLine) stopClock() {
	if l.quit != nil {
		close(l.quit)
		l.quit = nil
	}
}

// write writes over the line, and cuts the text before what stands behind it. The
// caller holds mu.
func (l *statusLine) write(text, behind string) {
	l.shown = true
	fmt.Fprint(l.w, "\r\x1b[K"+cut(layout.Safe(text), l.columns()-1-len(behind))+behind)
}

// columns returns how wide the terminal is now.
func (l *statusLine) columns() int {
	if f, ok := terminal(l.w); ok {
		if w, _, err := term.GetSize(int(f.Fd())); err == nil && w > 1 {
			return w
		}
	}
	return 80
}

// cut shortens s to n columns: of a line that wraps only the end could be
// erased again.
func cut(s string, n int) string {
	r := []rune(s)
	if len(r) <= n {
		return s
	}
	return string(r[:max(0, n-1)]) + "…"
}

// Log writes a line that stays.
func (l *statusLine) Log(s string) {
	l.Clear()
	l.mu.Lock()
	defer l.mu.Unlock()
	fmt.Fprint(l.w, layout.Wrap("gowhy: "+s, l.layout))
}

// Clear erases the line.
func (l *statusLine) Clear() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.stopClock()
	if l.shown {
		fmt.Fprint(l.w, "\r\x1b[K")
		l.shown = false
	}
}

// isClosedPipe reports whether the reader of our output went away.
func isClosedPipe(err error) bool { return errors.Is(err, syscall.EPIPE) }
