package evidence

import (
	"slices"
	"strings"
	"time"

	"github.com/gowhy/gowhy/exectrace"
	"github.com/gowhy/gowhy/internal/know/model"
)

const (
	// serialEvents is how many events are read for the calls of operations: a second of a
	// busy server, all of one at rest. It takes 0.2 to 0.5 s.
	serialEvents = 1 << 20
	// serialFunctions is how many functions of one operation are told apart.
	serialFunctions = 32
	// serialPaced is for how many sleeps at most a piece of the answer goes out where these
	// pace it: a stream of events sends one after each.
	serialPaced = 2
)

// serial follows goroutines event by event, for the calls that they and their operations wait for
// one after the other. The accounts have sums, which do not tell what is of one operation.
func (l *loader) serial(t *exectrace.Trace, window exectrace.Range) error {
	chains := newChainReader()
	r := serialReader{goroutines: map[int64]*operation{}, sums: map[serialKey]*serialSum{}, chains: chains}
	callers := callerReader{goroutines: map[int64]*caller{}}
	clients := clientReader{goroutines: map[int64]*clientState{}, functions: map[string]*clientFunction{}, packages: map[string]bool{}}
	callers.clients = &clients
	handovers := newHandoverReader()
	writes, reads := newRowReader(writesToConnection), newRowReader(readsAtPlace)
	again, lives := newRetryReader(), newLivesReader(l.m.Run.Duration)
	rounds := roundReader{lives: map[int64]*roundLife{}, sums: map[serialKey]*serialSum{}}
	early := earlyReader{waiting: map[int64]earlyWait{}, waited: map[earlyKey]*earlyStack{}}
	n := 0
	for e, err := range t.Events(exectrace.EventOptions{Window: window}) {
		if err != nil {
			return err
		}
		if n++; n%4096 == 0 && l.ctx.Err() != nil {
			return l.ctx.Err()
		}
		if n > serialEvents {
			break
		}
		if n == 1 {
			early.until = e.Time + exectrace.Time(l.m.Run.Duration/earlyPart)
		}
		if _, from, to := e.GoTransition(); from != to { // each generation tells once more where a goroutine is
			s := stopOf(&e)
			clients.next(&e, s)
			chains.next(&e, s)
			r.next(&e, s)
			rounds.next(&e, s)
			callers.next(&e, s)
			handovers.next(&e, s)
			writes.next(&e, s)
			reads.next(&e, s)
			again.next(&e, s)
			lives.next(&e, s)
			early.next(&e, s)
		}
	}
	l.m.Sched.Serial = append(foundSums(l.m, r.sums), rounds.found(l.m)...)
	l.m.Sched.Callers, l.m.Sched.Chains = callers.found(l.m), chains.found(l.m)
	l.m.Sched.Handovers, l.m.Sched.WriteRows, l.m.Sched.ReadRows = handovers.found(l.m), writes.found(l.m), reads.found(l.m)
	l.m.Sched.Retries, l.m.Sched.Lives = again.found(l.m), lives.found()
	early.add(l.m)
	return nil
}

// A serialReader has the operations that are under way, and the sums of those done.
type serialReader struct {
	goroutines map[int64]*operation
	sums       map[serialKey]*serialSum
	chains     *chainReader
}

type serialKey struct {
	operation, function string
	kind                callKind
}

// A callKind is how a call waits.
type callKind int

const (
	notCall  callKind = iota
	onSocket          // for what comes on a connection
	ofClient          // in a client of the library, for the goroutine that reads for it
	onStream          // the same in one that has many streams on a connection, and waits once for each
	ofReader          // the same in any client of which a [clientReader] knows it
	inSleep
	inRest // a select that the clock ends, which may be a sleep that can be cut short: the source says so
)

type serialSum struct {
	model.Serial
	serves  int64 // operations in which it waited before it wrote
	frames  []exectrace.Frame
	longest time.Duration // of the operation that these are of
}

// An operation is what a goroutine has done since its last wait for a client.
type operation struct {
	whole  bool            // begun and not only found
	serves bool            // of a server, which has one after the other
	root   exectrace.Frame // of the program, outermost; none before the first event of it
	since  exectrace.Time
	parts  []serialPart
	wrote  []exectrace.Frame // where it last wrote to a connection, until it waits for the answer
	sent   int               // pieces of a server's answer
	open   int               // the part that is waited for, plus one
	at     exectrace.Time    // since when
	wait   *stop             // where it waits for another goroutine
	asked  exectrace.Time    // since when
	waits  []chainWait
	due    int           // the part whose wait for the network ended, plus one, until it is seen how
	dueFor time.Duration // that it lasted
}

// A serialPart is the calls of one kind that one function makes in one operation.
type serialPart struct {
	function string
	kind     callKind
	waits    int
	serves   bool // it waited before it wrote: the questions are the other side's
	waited   time.Duration
	expired  int               // calls that the clock ended, and not their answer
	lost     time.Duration     // in these
	frames   []exectrace.Frame // of most of its waits
	votes    int               // for these
}

// countStack counts a wait at a stack: the stack of more than half of them is what is left.
func (p *serialPart) countStack(frames []exectrace.Frame) {
	switch {
	case p.votes > 0 && (&p.frames[0] == &frames[0] || slices.Equal(p.frames, frames)):
		p.votes++
	case p.votes > 0:
		p.votes--
	default:
		p.frames, p.votes = frames, 1
	}
}

// A stop is where a goroutine begins to wait or calls the system. Both readers need it, and
// to look it up is most of their work.
type stop struct {
	to         exectrace.State
	frames     []exectrace.Frame
	root, leaf exectrace.Frame // of the program, outermost and innermost
	own        bool            // there are such
	reason     string
	kind       callKind
}

// stopOf returns the stop that an event is, nil for none.
func stopOf(e *exectrace.Event) *stop {
	_, from, to := e.GoTransition()
	if from != exectrace.Running || to != exectrace.Waiting && to != exectrace.Syscall {
		return nil
	}
	s := &stop{to: to, frames: e.GoStack(), reason: e.Reason()}
	if s.root, s.leaf, s.own = outerInner(s.frames); s.own {
		s.kind = kindOf(s.frames, s.reason, to)
	}
	return s
}

// next takes one transition of a goroutine, which may be a stop.
func (r *serialReader) next(e *exectrace.Event, s *stop) {
	g, from, to := e.GoTransition()
	o := r.goroutines[g]
	if from == exectrace.Waiting && o != nil && o.wait != nil {
		r.chains.answered(o, e)
	}
	switch {
	case from == exectrace.Dead:
		r.goroutines[g] = &operation{whole: true, since: e.Time}
	case to == exectrace.Dead:
		if o != nil {
			r.end(o, e.Time)
		}
		delete(r.goroutines, g)
	case from == exectrace.Waiting && o != nil && o.open > 0:
		o.endCall(e)
	case from == exectrace.Waiting && o != nil && o.root.Func == "":
		o.since = e.Time // the wait before was for the client
	case s != nil:
		if o == nil {
			o = &operation{}
			r.goroutines[g] = o
		}
		r.stop(o, e.Time, s)
	}
}

// stop is about a goroutine that waits or calls the system. A stack of Go's library alone is
// that of a server between two operations: it writes an answer, or waits for its client.
func (r *serialReader) stop(o *operation, at exectrace.Time, s *stop) {
	if len(s.frames) == 0 {
		return
	}
	o.settle(s)
	if !s.own {
		r.end(o, at)
		*o = operation{whole: true, serves: true, since: at, parts: o.parts[:0], waits: o.waits[:0]}
		return
	}
	if o.root.Func == "" {
		o.root = s.root
	}
	if s.kind == notCall && s.to == exectrace.Syscall && asksKernel(s.frames[0].Func) {
		o.sent++
	}
	if s.forAnother() {
		o.wait, o.asked = s, at
	}
	kind := s.kind
	if kind == notCall && s.reason == "select" && s.atChannel() {
		kind = inRest
	}
	if kind == notCall {
		return
	}
	if s.to == exectrace.Syscall {
		if !ofFile(s.frames) {
			o.wrote = s.frames
		}
		return
	}
	i := o.part(s.leaf.Func, kind)
	if i < 0 || s.reason == "network" && sends(s.frames) {
		return
	}
	p := &o.parts[i]
	if kind != inRest {
		p.add(s.frames, o.wrote)
	}
	if kind == onSocket {
		o.wrote = nil
	}
	p.countStack(s.frames)
	o.at, o.open = at, i+1
}

// endCall ends the call that is waited for. A select that another goroutine ends is no rest.
func (o *operation) endCall(e *exectrace.Event) {
	i := o.open - 1
	p := &o.parts[i]
	o.open = 0
	if p.kind == onSocket && e.Goroutine < 0 { // else somebody closed it
		o.due, o.dueFor = i+1, e.Time.Sub(o.at)
	} else if endsByDeadline(e) {
		p.expired, p.lost = p.expired+1, p.lost+e.Time.Sub(o.at)
	}
	if p.kind == inRest && e.Goroutine >= 0 {
		return
	}
	if p.kind == inRest {
		p.waits++
	}
	p.waited += e.Time.Sub(o.at)
}

// settle says how the wait for the network ended that was the last thing before: what came is read
// at once, and where nothing is, its deadline was over.
func (o *operation) settle(next *stop) {
	if o.due == 0 {
		return
	}
	p := &o.parts[o.due-1]
	o.due = 0
	if next == nil || next.to != exectrace.Syscall || !reads(next.frames) {
		p.expired, p.lost = p.expired+1, p.lost+o.dueFor
	}
}

// reads reports whether a system call asks the kernel for what came on a connection.
func reads(frames []exectrace.Frame) bool {
	name := callName(frames[0].Func) // who closes the file last does so below its read, too
	return (strings.HasPrefix(name, "read") || strings.HasPrefix(name, "recv")) && slices.ContainsFunc(frames, func(f exectrace.Frame) bool { return strings.HasPrefix(f.Func, "internal/poll.(*FD).R") })
}

// endsByDeadline reports whether a goroutine goes on because the deadline of a context is over.
func endsByDeadline(e *exectrace.Event) bool {
	return slices.ContainsFunc(e.Stack(), func(f exectrace.Frame) bool { return strings.HasPrefix(f.Func, "context.WithDeadline") })
}

// add adds a wait, which is a call unless the program reads what it did not ask for, or reads on.
func (p *serialPart) add(frames, wrote []exectrace.Frame) {
	switch {
	case p.kind != onSocket, isRequest(wrote, frames):
		p.waits++
	case wrote != nil || p.waits == 0:
		p.serves = true
	}
}

// kindOf says what a goroutine begins. Bodies that net/http reads and writes are no calls: it
// waits for the answer they are of.
func kindOf(frames []exectrace.Frame, reason string, to exectrace.State) callKind {
	library := frames
	if i := slices.IndexFunc(frames, func(f exectrace.Frame) bool { return !model.IsStd(f.Func) }); i >= 0 {
		library = frames[:i]
	}
	http := slices.ContainsFunc(library, func(f exectrace.Frame) bool { return strings.HasPrefix(f.Func, "net/http.") })
	switch {
	case to == exectrace.Syscall:
		if asksKernel(frames[0].Func) && !http {
			return onSocket
		}
	case reason == "sleep":
		return inSleep
	case reason == "network" && !http:
		return onSocket
	case waitsForClient(library):
		return ofClient
	case slices.ContainsFunc(frames, func(f exectrace.Frame) bool { return model.AwaitsStream(f.Func) }):
		return onStream
	}
	return notCall
}

// part returns the index of a function's calls of a kind, -1 where there are too many.
func (o *operation) part(function string, kind callKind) int {
	i := slices.IndexFunc(o.parts, func(p serialPart) bool { return p.function == function && p.kind == kind })
	if i < 0 && len(o.parts) < serialFunctions {
		i = len(o.parts)
		o.parts = append(o.parts, serialPart{function: function, kind: kind})
	}
	return i
}

// end adds up an operation.
func (r *serialReader) end(o *operation, at exectrace.Time) {
	if !o.whole || o.root.Func == "" {
		return
	}
	o.settle(nil)
	r.chains.finish(o, at)
	o.addTo(r.sums, at)
}

// addTo adds an operation that is over to sums.
func (o *operation) addTo(sums map[serialKey]*serialSum, at exectrace.Time) {
	for i := range o.parts {
		p := &o.parts[i]
		calls := p.calls()
		if calls == 0 && !p.serves || p.sleeps() && serialPaced*o.sent >= calls {
			continue
		}
		key := serialKey{o.root.Func, p.function, p.kind}
		sum := sums[key]
		if sum == nil {
			sum = &serialSum{Serial: model.Serial{Operation: model.Frame(o.root), Sleeps: p.sleeps(), Rests: p.kind == inRest}}
			sums[key] = sum
		}
		if calls == 0 {
			sum.serves++
			continue
		}
		sum.Done++
		sum.Calls += int64(calls)
		sum.Waited += p.waited
		sum.Expired += int64(p.expired)
		sum.Lost += p.lost
		sum.Took += at.Sub(o.since)
		if p.waited >= sum.longest {
			sum.longest, sum.frames = p.waited, p.frames
		}
	}
}

// sleeps reports whether the calls are waits for the clock.
func (p *serialPart) sleeps() bool { return p.kind == inSleep || p.kind == inRest }

// calls counts the waits for an answer to a question: one for what the program reads piece
// by piece. A round trip of net/http waits for its request to be written, and for the answer.
func (p *serialPart) calls() int {
	switch {
	case p.sleeps():
		return p.waits
	case p.kind == ofClient:
		return (p.waits + 1) / 2
	case p.serves:
		return 0
	}
	return p.waits
}

// waitStacks returns the stacks that goroutines wait at, by their frames.
func waitStacks(m *model.Model) map[string]model.Stack {
	stacks := map[string]model.Stack{}
	for i := range m.Sched.Waits {
		s := m.Sched.Waits[i].Stack
		stacks[framesText(m.Stacks.Frames(s))] = s
	}
	return stacks
}

func modelFrames(in []exectrace.Frame) []model.Frame {
	frames := make([]model.Frame, len(in))
	for i, f := range in {
		frames[i] = model.Frame(f)
	}
	return frames
}

func framesText(frames []model.Frame) string {
	var b strings.Builder
	for _, f := range frames {
		b.WriteString(f.Func)
		b.WriteByte(':')
		b.WriteString(f.File)
		b.WriteByte(byte(f.Line))
		b.WriteByte(byte(f.Line >> 8))
		b.WriteByte(byte(f.Line >> 16))
	}
	return b.String()
}

// outerInner returns the outermost and the innermost frame that is of the program or of a library
// that is not Go's; not ok without one.
func outerInner(frames []exectrace.Frame) (root, leaf exectrace.Frame, ok bool) {
	for i := range frames {
		if strings.HasPrefix(frames[i].Func, "github.com/gowhy/gowhy/agent.") {
			return root, leaf, false
		}
		if model.IsStd(frames[i].Func) {
			continue
		}
		if !ok {
			leaf = frames[i]
		}
		root, ok = frames[i], true
	}
	return root, leaf, ok
}

// asksKernel reports whether a system call can be a question to another process.
func asksKernel(function string) bool {
	name := callName(function)
	return strings.HasPrefix(name, "write") || strings.HasPrefix(name, "send")
}

// callName returns the name of a system call's function, in small letters.
func callName(function string) string {
	return strings.ToLower(function[strings.LastIndexByte(function, '.')+1:])
}

// waitsForClient reports whether a goroutine waits in a client that another goroutine
// writes and reads for.
func waitsForClient(frames []exectrace.Frame) bool {
	return slices.ContainsFunc(frames, func(f exectrace.Frame) bool { return f.Func == "net/http.(*persistConn).roundTrip" })
}
