package subject

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode"

	"github.com/gowhy/gowhy/internal/read/loadresult"
)

// Bounds on what is kept of what a program prints.
const (
	// maxResult is how much of its standard output a result is looked for in:
	// more than any tool prints that sums up, less than a log.
	maxResult = 16 << 20
	maxTail   = 8 << 10
	tailLines = 12
	lineWidth = 200 // characters of each of these lines
)

// An output takes what a process prints. It never fills memory: of the standard
// output it keeps the beginning, of both streams the last lines.
type output struct {
	mu    sync.Mutex
	head  []byte // of the standard output
	total int64  // bytes of the standard output
	limit int
	// The end of each stream is kept apart: a program that floods the one with
	// its log says on the other why it ends.
	outTail, errTail []byte
	wait             string        // the text that is waited for
	seen             chan struct{} // closed when it was printed
}

func newOutput(wait string) *output {
	return &output{limit: maxResult, wait: wait, seen: make(chan struct{})}
}

// A stream is one of a process's two.
type stream struct {
	o     *output
	out   bool
	carry []byte // the end of what was written before, for a text across two writes
}

func (o *output) stdout() io.Writer { return &stream{o: o, out: true} }
func (o *output) stderr() io.Writer { return &stream{o: o} }

func (s *stream) Write(p []byte) (int, error) {
	o := s.o
	o.mu.Lock()
	defer o.mu.Unlock()
	if s.out {
		o.total += int64(len(p))
		o.head = append(o.head, p[:min(len(p), o.limit-len(o.head))]...)
		o.outTail = keepTail(o.outTail, p)
	} else {
		o.errTail = keepTail(o.errTail, p)
	}
	if o.wait != "" {
		s.look(p)
	}
	return len(p), nil
}

// keepTail appends, and drops the beginning now and then.
func keepTail(tail, p []byte) []byte {
	p = p[max(0, len(p)-maxTail):]
	if len(tail)+len(p) > 2*maxTail {
		tail = append(tail[:0], tail[max(0, len(tail)-maxTail):]...)
	}
	return append(tail, p...)
}

func (s *stream) look(p []byte) {
	text := append(s.carry, p...)
	if bytes.Contains(text, []byte(s.o.wait)) {
		s.o.wait = ""
		close(s.o.seen)
		return
	}
	s.carry = append([]byte(nil), text[max(0, len(text)-len(s.o.wait)+1):]...)
}

var errLongOutput = fmt.Errorf("it printed more than %d MiB", maxResult>>20)

// result reads what a load generator or a benchmark printed. The error is
// loadresult.ErrUnknown when it is something else.
func (o *output) result() (*loadresult.Result, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.total > int64(o.limit) {
		if loadresult.Detect(o.head) {
			return nil, errLongOutput
		}
		return nil, loadresult.ErrUnknown
	}
	r, err := loadresult.Parse(bytes.NewReader(o.head))
	if err != nil && len(bytes.TrimSpace(o.head)) == 0 {
		err = loadresult.ErrUnknown
	}
	return r, err
}

// lastLines returns the last of what it printed, for an error message: the standard error's
// lines, and before them what there is room for of the standard output's. It is empty when
// nothing was printed.
func (o *output) lastLines() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	errs := lastOf(o.errTail, tailLines-tailLines/4)
	text := strings.Join(append(lastOf(o.outTail, tailLines-len(errs)), errs...), "\n    ")
	if text == "" {
		return ""
	}
	return "; it printed last:\n    " + text
}

// operations returns the number in the last line "operations: N" at the end of the
// standard output, by which a program says itself how much it did.
func (o *output) operations() (n float64, ok bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for line := range strings.Lines(string(o.outTail)) {
		said, found := strings.CutPrefix(strings.TrimSpace(line), "operations: ")
		if v, err := strconv.ParseUint(said, 10, 53); found && err == nil && v > 0 {
			n, ok = float64(v), true
		}
	}
	return n, ok
}

// lastOf returns the last lines of a stream, empty ones left out.
func lastOf(tail []byte, most int) (last []string) {
	lines := strings.Split(string(tail[max(0, len(tail)-maxTail):]), "\n")
	for i := len(lines) - 1; i >= 0 && len(last) < most; i-- {
		if l := cut(printable(strings.TrimRight(lines[i], "\r ")), lineWidth); l != "" {
			last = append(last, l)
		}
	}
	slices.Reverse(last)
	return last
}

// cut shortens a text that is longer than a number of characters.
func cut(s string, most int) string {
	if r := []rune(s); len(r) > most {
		return string(r[:most]) + "…"
	}
	return s
}

// printable returns a text without anything that a terminal would obey.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\t':
			return ' '
		case r == unicode.ReplacementChar || !unicode.IsPrint(r):
			return '·'
		}
		return r
	}, s)
}

// unknown reports whether an output is just not that of a known tool.
func unknown(err error) bool { return errors.Is(err, loadresult.ErrUnknown) }
