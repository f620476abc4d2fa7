package evidence

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/gowhy/gowhy/exectrace"
	"github.com/gowhy/gowhy/internal/know/model"
)

// callerLeast is from how many calls a goroutine is kept: fewer show no habit.
const callerLeast = 20

// A Linux kernel puts the acknowledgement of what came off by 40 ms, for what is written back may carry
// it, and its timers are as fine as 4 ms. A socket without TCP_NODELAY sends its second small piece
// when the first is acknowledged: what waits for it ends between these.
const (
	delayedLeast = 39 * time.Millisecond
	delayedMost  = 46 * time.Millisecond
)

// A callerReader follows goroutines as long as they are seen, for those that make one call
// after the other all the time. Nothing from outside divides what these do, so that none of
// it is an operation of [serialReader].
type callerReader struct {
	goroutines map[int64]*caller
	clients    *clientReader
	ended      []*caller
	asked      int64 // waits of all goroutines for what others ask
	begin      exectrace.Time
	last       exectrace.Time
}

// A caller is one goroutine, and what it has waited for.
type caller struct {
	id    int64
	root  exectrace.Frame // of the program, outermost
	since exectrace.Time
	wrote []exectrace.Frame // where it last wrote to a connection, until it waits for the answer
	// wroteLast is the same, whatever it waits for.
	wroteLast []exectrace.Frame
	calls     []callSum
	asked     int64 // waits for what others ask
	// writes are those to a connection since it last waited for one, and held what it waited for at one for
	// as long as acknowledgements are put off, behind a question in several pieces.
	writes int
	held   delayedSum
	// pauses are waits for anything else than an answer.
	pauses int64
	paused time.Duration
	in     waiting
	at     exectrace.Time
}

// delayedSum are waits of which [delayedLeast] and [delayedMost] tell what they are for.
type delayedSum struct {
	waits  int64
	waited time.Duration
	wrote  []exectrace.Frame // the last piece
}

// callSum are the calls of one function.
type callSum struct {
	function string
	kind     callKind
	waits    int64
	waited   time.Duration
	lines    []callLine
	// from and to are the begin of the first wait, and the end of the last.
	from, to exectrace.Time
}

// A callLine is one line of a function from which it waits.
type callLine struct {
	frames []exectrace.Frame
	waited time.Duration
}

// waiting is what a goroutine is in.
type waiting struct {
	what       waitFor
	call, line int // of an answer
	pieces     int // that were written before, of a wait for the network
}

// A waitFor is what a wait is for.
type waitFor int

const (
	forNothing waitFor = iota // it does not wait
	forAnswer
	forRest  // of an answer or a question that is on its way, or for the collector
	forOther // work, others of the program, time
)

// next takes one transition of a goroutine, which may be a stop.
func (r *callerReader) next(e *exectrace.Event, s *stop) {
	g, _, to := e.GoTransition()
	r.last = e.Time
	if r.begin == 0 {
		r.begin = e.Time
	}
	c := r.goroutines[g]
	if c == nil {
		c = &caller{id: g, since: e.Time}
		r.goroutines[g] = c
	}
	c.stopWaiting(e.Time)
	switch {
	case to == exectrace.Dead:
		r.end(c, e.Time)
		delete(r.goroutines, g)
	case s != nil:
		r.stop(c, e.Time, s)
	}
}

// stopWaiting adds the wait that ends now, if there is one.
func (c *caller) stopWaiting(at exectrace.Time) {
	d := at.Sub(c.at)
	if c.in.pieces > 1 && d >= delayedLeast && d <= delayedMost {
		c.held.waits, c.held.waited, c.held.wrote = c.held.waits+1, c.held.waited+d, c.wroteLast
	}
	switch c.in.what {
	case forAnswer:
		of := &c.calls[c.in.call]
		of.waited, of.to = of.waited+d, at
		of.lines[c.in.line].waited += d
	case forOther:
		c.paused += d
	}
	c.in = waiting{}
}

// stop is about a goroutine that waits or calls the system.
func (r *callerReader) stop(c *caller, at exectrace.Time, s *stop) {
	if s.own && c.root.Func == "" {
		c.root = s.root
	}
	if s.to == exectrace.Syscall {
		if s.kind == onSocket && !ofFile(s.frames) {
			c.wrote, c.wroteLast = s.frames, s.frames
			c.writes++
		}
		return
	}
	c.at = at
	defer c.countPieces(s)
	switch what := c.waitsFor(s); what {
	case forAnswer:
		c.in = c.call(s)
	case forRest:
		c.in.what = forRest
		return
	default:
		c.in.what = forOther
		c.pauses++
		if s.reason == "network" && !ofFile(s.frames) && !readsForClient(s.frames) && !r.clients.readFor(s.frames) {
			c.asked++
			r.asked++
		}
	}
	if s.reason == "network" {
		c.wrote = nil
	}
}

// countPieces notes of a wait for the network in how many pieces the question before it was written.
func (c *caller) countPieces(s *stop) {
	if s.reason == "network" && !sends(s.frames) {
		c.in.pieces, c.writes = c.writes, 0
	}
}

// waitsFor says what a goroutine begins to wait for.
func (c *caller) waitsFor(s *stop) waitFor {
	switch {
	case strings.HasPrefix(s.reason, "GC "):
		return forRest
	case !s.own:
		return forOther
	case s.kind == ofClient, s.kind == ofReader:
		return forAnswer
	case s.kind == notCall && withinCall(s.frames), s.reason == "network" && sends(s.frames):
		return forRest
	case s.kind == onSocket && isRequest(c.wrote, s.frames):
		return forAnswer
	case s.kind == onSocket && c.wrote == nil && c.readLast(s.leaf.Func):
		return forRest
	}
	return forOther
}

// isRequest reports whether code writes first and then reads: in the innermost function that does
// both, the write's line comes before the read's. Who serves reads first. A client's
// functions to write and to read may be two, as in most drivers of databases.
func isRequest(write, read []exectrace.Frame) bool {
	for i := 1; i <= min(len(write), len(read)); i++ {
		w, r := &write[len(write)-i], &read[len(read)-i]
		if w.Func != r.Func {
			return false
		}
		if w.Line != r.Line {
			return w.Line < r.Line
		}
	}
	return false
}

// readLast reports whether a function is one that read an answer before: it reads on.
func (c *caller) readLast(function string) bool {
	return slices.ContainsFunc(c.calls, func(of callSum) bool { return of.kind == onSocket && of.function == function })
}

// call returns a wait for an answer.
func (c *caller) call(s *stop) waiting {
	i := slices.IndexFunc(c.calls, func(of callSum) bool { return of.function == s.leaf.Func && of.kind == s.kind })
	if i < 0 {
		if len(c.calls) == serialFunctions {
			return waiting{what: forRest}
		}
		i = len(c.calls)
		c.calls = append(c.calls, callSum{function: s.leaf.Func, kind: s.kind, from: c.at})
	}
	c.calls[i].waits++
	return waiting{what: forAnswer, call: i, line: c.calls[i].line(s.frames)}
}

// line returns the index of the line that a stack waits at, of the first where there are too many.
func (of *callSum) line(frames []exectrace.Frame) int {
	i := slices.IndexFunc(of.lines, func(l callLine) bool { return sameLines(l.frames, frames) })
	if i < 0 && len(of.lines) < serialFunctions {
		i = len(of.lines)
		of.lines = append(of.lines, callLine{frames: frames})
	}
	return max(i, 0)
}

func sameLines(a, b []exectrace.Frame) bool {
	return slices.EqualFunc(a, b, func(x, y exectrace.Frame) bool { return x.Line == y.Line && x.Func == y.Func })
}

// end keeps a goroutine that made calls.
func (r *callerReader) end(c *caller, at exectrace.Time) {
	c.stopWaiting(at)
	if n, _ := c.sum(); n >= callerLeast {
		c.at = at
		r.ended = append(r.ended, c)
	}
}

// sum adds up the calls of all functions, and how long the goroutine waited for them.
func (c *caller) sum() (calls int64, waited time.Duration) {
	for i := range c.calls {
		calls += c.calls[i].count()
		waited += c.calls[i].waited
	}
	return calls, waited
}

// count returns the calls that the waits are of. A round trip of net/http waits for its request
// to be written, and for the answer.
func (of *callSum) count() int64 {
	if of.kind == ofClient {
		return (of.waits + 1) / 2
	}
	return of.waits
}

// found returns those that made calls, who waited longest first.
func (r *callerReader) found(m *model.Model) (out []model.Caller) {
	for _, c := range r.goroutines {
		r.end(c, r.last)
	}
	stacks := waitStacks(m)
	for _, c := range r.ended {
		most := slices.MaxFunc(c.calls, func(a, b callSum) int { return cmp.Compare(a.waited, b.waited) })
		line := slices.MaxFunc(most.lines, func(a, b callLine) int { return cmp.Compare(a.waited, b.waited) })
		stack := stacks[framesText(modelFrames(line.frames))]
		if stack == 0 {
			continue
		}
		calls, waited := c.sum()
		out = append(out, model.Caller{
			ID: c.id, Root: model.Frame(c.root), Stack: stack, Calls: calls, Most: most.count(), Waited: waited,
			From: most.from.Sub(r.begin), To: most.to.Sub(r.begin), MostWaited: most.waited,
			Pauses: c.pauses, Paused: c.paused, Took: c.at.Sub(c.since), Asked: r.asked - c.asked,
			Held: c.held.waits, HeldTime: c.held.waited, Wrote: stacks[framesText(modelFrames(c.held.wrote))],
		})
	}
	slices.SortFunc(out, func(a, b model.Caller) int {
		return cmp.Or(cmp.Compare(b.Waited, a.Waited), cmp.Compare(a.ID, b.ID))
	})
	return out
}

// withinCall reports whether a goroutine waits in a library for another goroutine of it, as to
// be given a connection, or to read the body of an answer.
func withinCall(frames []exectrace.Frame) bool {
	for _, f := range frames {
		if !model.IsStd(f.Func) {
			return false
		}
		if strings.HasPrefix(f.Func, "net/http.") {
			return true
		}
	}
	return false
}

// sends reports whether a goroutine waits until a connection is made or takes what is written.
func sends(frames []exectrace.Frame) bool {
	return slices.ContainsFunc(frames, func(f exectrace.Frame) bool { return strings.HasPrefix(f.Func, "internal/poll.(*FD).W") })
}

// ofFile reports whether a read or write is of a file or a pipe, which is no connection.
func ofFile(frames []exectrace.Frame) bool {
	return slices.ContainsFunc(frames, func(f exectrace.Frame) bool { return strings.HasPrefix(f.Func, "os.(*File).") })
}

// readsForClient reports whether a goroutine of net/http reads what a client of the program's
// asked for, or looks whether a client of the server's is still there.
func readsForClient(frames []exectrace.Frame) bool {
	return slices.ContainsFunc(frames, func(f exectrace.Frame) bool {
		return strings.HasPrefix(f.Func, "net/http.(*persistConn).") || strings.HasPrefix(f.Func, "net/http.(*connReader).backgroundRead") ||
			strings.HasPrefix(f.Func, "net/http.(*http2ClientConn).")
	})
}
