package record

import (
	"bytes"
	"io"
	"sync"
	"time"
)

// A godebugFilter takes the lines that GODEBUG=gctrace=1 and schedtrace=… make
// the runtime print out of a program's standard error. All else goes on to
// where it was going, byte by byte as it comes: a prompt without a newline
// must not wait for one. Only the beginning of a line that may still turn out
// to be the runtime's is held back.
type godebugFilter struct {
	rest, gctrace, schedtrace io.Writer
	now                       func() time.Time // of the recording's clock

	mu   sync.Mutex
	line []byte // held back
	to   destination
}

// A destination is where a line goes.
type destination int

const (
	toBeSeen destination = iota // it may still become one of the runtime's
	toRest
	toGCTrace
	toSchedTrace
)

// maxGodebugLine is how much of a line is held back: a schedtrace line of a
// thousand Ps has 20 kB.
const maxGodebugLine = 256 << 10

// newGodebugFilter splits what is written to it. Each line of the runtime gets
// the time at which it was whole in front, by which it is brought to the clock
// of the other evidence. A nil writer for those lines drops them. Close writes
// what was held back; it closes none of the writers.
func newGodebugFilter(rest, gctrace, schedtrace io.Writer) *godebugFilter {
	f := &godebugFilter{rest: rest, gctrace: gctrace, schedtrace: schedtrace, now: time.Now}
	for _, w := range []*io.Writer{&f.rest, &f.gctrace, &f.schedtrace} {
		if *w == nil {
			*w = io.Discard
		}
	}
	return f
}

// Write returns an error only of the rest's writer: a full disk under the
// recording must not end the program's output.
func (f *godebugFilter) Write(p []byte) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for n := 0; n < len(p); {
		used, err := f.step(p[n:])
		n += used
		if err != nil {
			return n, err
		}
	}
	return len(p), nil
}

// step takes some bytes, at most to the end of a line.
func (f *godebugFilter) step(p []byte) (n int, err error) {
	end := len(p)
	i := bytes.IndexByte(p, '\n')
	if i >= 0 {
		end = i + 1
	}
	if f.to == toRest {
		n, err = f.rest.Write(p[:end])
	} else {
		n, err = end, f.hold(p[:end], i >= 0)
	}
	if i >= 0 && n == end {
		f.to = toBeSeen
	}
	return n, err
}

// hold takes bytes of a line that may be one of the runtime's.
func (f *godebugFilter) hold(p []byte, whole bool) error {
	f.line = append(f.line, p...)
	if f.to == toBeSeen {
		f.to = destinationOf(f.line)
	}
	if len(f.line) > maxGodebugLine || whole && f.to == toBeSeen {
		f.to = toRest
	}
	switch {
	case f.to == toRest:
		return f.flush()
	case whole:
		f.keep()
	}
	return nil
}

// destinationOf returns where a line goes that begins like this.
func destinationOf(line []byte) destination {
	perhaps := false
	for _, b := range beginnings {
		switch begins(line, b.before, b.after) {
		case beginsYes:
			return b.to
		case beginsPerhaps:
			perhaps = true
		}
	}
	if perhaps {
		return toBeSeen
	}
	return toRest
}

// beginnings are those of the runtime's lines, each with a number in it.
var beginnings = []struct {
	before, after string
	to            destination
}{
	{"gc ", " @", toGCTrace},
	{"SCHED ", "ms: gomaxprocs=", toSchedTrace},
	// A runtime that prints schedtrace lists everything when the program
	// panics, or when it was asked for with scheddetail.
	{"  P", ": status=", toSchedTrace},
	{"  M", ": p=", toSchedTrace},
	{"  G", ": status=", toSchedTrace},
}

type beginning int

const (
	beginsNo beginning = iota
	beginsPerhaps
	beginsYes
)

// begins reports whether a line begins with before, digits and after.
func begins(line []byte, before, after string) beginning {
	if len(line) < len(before) {
		if string(line) == before[:len(line)] {
			return beginsPerhaps
		}
		return beginsNo
	}
	rest, ok := bytes.CutPrefix(line, []byte(before))
	digits := len(rest) - len(bytes.TrimLeft(rest, "0123456789"))
	if !ok || len(rest) > 0 && digits == 0 || digits > 18 {
		return beginsNo
	}
	rest = rest[digits:]
	switch n := min(len(rest), len(after)); {
	case string(rest[:n]) != after[:n]:
		return beginsNo
	case n < len(after):
		return beginsPerhaps
	}
	return beginsYes
}

// flush gives what was held back to the rest.
func (f *godebugFilter) flush() error {
	if len(f.line) == 0 {
		return nil
	}
	_, err := f.rest.Write(f.line)
	f.line = f.line[:0]
	return err
}

// keep writes a whole line of the runtime with its time.
func (f *godebugFilter) keep() {
	to := f.gctrace
	if f.to == toSchedTrace {
		to = f.schedtrace
	}
	b := f.now().UTC().AppendFormat(make([]byte, 0, len(f.line)+40), time.RFC3339Nano)
	b = append(append(b, ' '), f.line...)
	_, _ = to.Write(b) // see Write
	f.line = f.line[:0]
}

// Close writes what was held back: the program ended within a line.
func (f *godebugFilter) Close() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.to = toBeSeen
	return f.flush()
}
