package evidence

import (
	"strings"

	"github.com/gowhy/gowhy/exectrace"
	"github.com/gowhy/gowhy/internal/know/model"
)

// clientWaits is how many answers tell a function in which goroutines wait for them.
const clientWaits = 3

// A clientReader learns in which functions goroutines wait for answers that another goroutine
// reads for them, as in clients that share a connection: one that has just read from a
// connection wakes who has sent something before, itself or by waking who writes for it, and both
// are in code of one package.
type clientReader struct {
	goroutines map[int64]*clientState
	functions  map[string]*clientFunction
	packages   map[string]bool // of functions that are known
}

// A clientState is what a goroutine has to do with a client.
type clientState struct {
	waits  *stop             // where it waits, and not for a connection
	reads  string            // the package in which it has read, or was given what another one read
	wokeBy int64             // who woke it in code of the package it waited in, until it writes
	wokeAt []exectrace.Frame // and where that one was
	sent   []exectrace.Frame // where it has sent a question
	sentIn string            // in which package
}

// A clientFunction is one in which goroutines wait.
type clientFunction struct{ woken, answered int }

// next takes one transition of a goroutine, which may be a stop: a wait in a function that is known
// is one of a client.
func (r *clientReader) next(e *exectrace.Event, s *stop) {
	if s != nil && s.own && s.kind == notCall && s.to == exectrace.Waiting && r.answers(s.leaf.Func) {
		s.kind = ofReader
	}
	g, from, to := e.GoTransition()
	switch {
	case to == exectrace.Dead:
		delete(r.goroutines, g)
	case from == exectrace.Waiting && to == exectrace.Runnable:
		r.wake(e, g)
	case s != nil && s.own:
		r.stop(g, s)
	case s != nil:
		if c := r.goroutines[g]; c != nil {
			c.waits, c.reads, c.wokeBy = nil, "", 0
		}
	}
}

func (r *clientReader) of(g int64) *clientState {
	c := r.goroutines[g]
	if c == nil {
		c = &clientState{}
		r.goroutines[g] = c
	}
	return c
}

// stop is about a goroutine that waits or calls the system in code of the program or its libraries.
func (r *clientReader) stop(g int64, s *stop) {
	c := r.of(g)
	pkg := packageOf(s.leaf)
	switch {
	case s.to == exectrace.Syscall:
		if asksKernel(s.frames[0].Func) && !ofFile(s.frames) {
			r.write(c, s.frames, pkg)
		} else if readsKernel(s.frames[0].Func) && !ofFile(s.frames) {
			c.reads = pkg
		}
	case s.reason == "network":
		c.waits = nil
		if !sends(s.frames) && !ofFile(s.frames) {
			c.reads = pkg
		}
	default:
		c.waits, c.reads, c.wokeBy = s, "", 0
	}
}

// write has a goroutine send what it wants to know, or what the one that woke it does.
func (r *clientReader) write(c *clientState, frames []exectrace.Frame, pkg string) {
	c.sent, c.sentIn = frames, pkg
	if by := r.goroutines[c.wokeBy]; by != nil {
		by.sent, by.sentIn = c.wokeAt, pkg
	}
	c.wokeBy = 0
}

// wake is about a goroutine that another one wakes.
func (r *clientReader) wake(e *exectrace.Event, g int64) {
	c := r.goroutines[g]
	if c == nil || c.waits == nil {
		return
	}
	at, pkg := c.waits, packageOf(c.waits.leaf)
	c.waits = nil
	if pkg == "" { // of C, or of assembly
		return
	}
	f := r.functions[at.leaf.Func]
	if f == nil {
		f = &clientFunction{}
		r.functions[at.leaf.Func] = f
	}
	f.woken++
	if by := r.goroutines[e.Goroutine]; by != nil && by.reads == pkg {
		c.reads = pkg // and may give it to another
		if c.sentIn == pkg && isRequest(c.sent, at.frames) {
			if f.answered++; f.known() {
				r.packages[pkg] = true
			}
		}
		c.sentIn = ""
	}
	from := e.Stack()
	if _, waker, ok := outerInner(from); ok && packageOf(waker) == pkg {
		c.wokeBy, c.wokeAt = e.Goroutine, from
	}
}

func (f *clientFunction) known() bool { return f.answered >= clientWaits && 2*f.answered > f.woken }

// answers reports whether goroutines wait in a function for what another one reads for them.
func (r *clientReader) answers(function string) bool {
	f := r.functions[function]
	return f != nil && f.known()
}

// readFor reports whether goroutines read in a package what others have asked for.
func (r *clientReader) readFor(frames []exectrace.Frame) bool {
	_, leaf, ok := outerInner(frames)
	return ok && r.packages[packageOf(leaf)]
}

func packageOf(f exectrace.Frame) string {
	pkg, _ := model.SplitSymbol(f.Func)
	return pkg
}

// readsKernel reports whether a system call can read what another process has sent.
func readsKernel(function string) bool {
	name := callName(function)
	return strings.HasPrefix(name, "read") || strings.HasPrefix(name, "recv")
}
