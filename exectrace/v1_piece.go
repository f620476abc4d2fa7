package exectrace

import (
	"context"
	"maps"
	"math"
	"slices"
)

// Pieces of traces of Go 1.21 and older.
//
// Their events come in one order for all of the trace, from a reader that holds
// all of it in memory, at 25 times its size. So there is nothing to join: a piece is
// what lies between two of some million events, and what goes on is cut there.
// States begin and end here where ordered_account.go has them begin and end, rule
// by rule, so that spans add up to the accounts.
//
// They agree to the nanosecond, but where a piece was handed out before something was
// told. That a system call lost its P is told when it ends, and not when: the accounts
// take it to have been without from its begin, pieces from the begin of the one that
// it ends in. What a goroutine did that is first seen in a later piece than the first,
// which sound traces do not have, they tell from that piece's begin on.
//
// To sort such a trace takes longer than all that follows, and who looks closely
// asks for its pieces again with each look: they are kept, up to a bound.

// oldPieceEvents is after how many events a piece ends: with its spans it takes
// some 50 MB. Most traces of that time are one.
const oldPieceEvents = 1 << 20

// maxKeptSpans bounds the spans that are kept of a trace: 128 MB, which is what
// one of 25 MB has.
const maxKeptSpans = 4 << 20

// oldBlock is the length of a block of spans.
const oldBlock = 1 << 14

// piecesOfOld is Pieces for traces of Go 1.21 and older.
func (t *Trace) piecesOfOld(ctx context.Context, o PieceOptions, yield func(*Piece) bool) error {
	t.mu.Lock()
	kept := t.oldPieces
	t.mu.Unlock()
	if kept != nil {
		for _, p := range kept {
			if err := ctx.Err(); err != nil {
				return err
			}
			if !o.give(p, yield) {
				return nil
			}
		}
		return nil
	}
	r := newOldPieces(t, Range{}, func(p *Piece) bool { return o.give(p, yield) })
	n := 0
	err := t.eachOldEvent(EventOptions{}, func(e *Event) bool {
		if n++; n&0xfff == 0 && ctx.Err() != nil {
			return false
		}
		return r.event(e)
	})
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case r.stopped:
		return nil
	case err != nil:
		return err
	case !r.begun && o.Window.IsZero():
		return ErrNoEvents
	}
	r.finish()
	return nil
}

// piecesBeside returns what makes pieces of the events that an account of an old
// trace is made of; nil, which does nothing, when nobody wants them.
func (t *Trace) piecesBeside(o *Options) *oldPieces {
	if !t.old() || o.Piece == nil {
		return nil
	}
	as := PieceOptions{Bare: o.BarePieces}
	return newOldPieces(t, o.Window, func(p *Piece) bool {
		return as.give(p, func(p *Piece) bool {
			if o.Window.IsZero() || p.From < p.To {
				o.Piece(p)
			}
			return true
		})
	})
}

// give hands out what is wanted of a piece, and reports whether more is. The lives
// are all of them, also of those whose spans are left out.
func (o *PieceOptions) give(p *Piece, yield func(*Piece) bool) bool {
	if w := o.Window; !w.IsZero() {
		if p.From >= w.To {
			return false
		}
		if p.To <= w.From {
			return true
		}
	}
	out := *p // what is kept stays as it is
	out.Spans, out.words = slices.Clone(p.Spans), slices.Clone(p.words)
	if o.Bare {
		out.Wakes, out.Logs, out.Labels = nil, nil, nil
	}
	if wish := o.wish(); wish.only != nil || !wish.clip.IsZero() {
		out.Spans = wish.spans(p)
		if c := wish.clip; !c.IsZero() {
			out.Wakes = slices.DeleteFunc(slices.Clone(out.Wakes), func(w WakeEdge) bool { return w.At < c.From || w.At > c.To })
		}
	}
	return yield(&out)
}

// spans returns those of a piece that are wanted.
func (w *pieceWish) spans(p *Piece) (out Spans) {
	for x := range p.Spans.All() {
		if c := w.clip; !c.IsZero() && (x.To < c.From || x.From > c.To) {
			continue
		}
		if w.only == nil || w.only[uint64(p.Lives[x.Life].G)] {
			out = out.with(*x)
		}
	}
	return out
}

// with appends a span.
func (s Spans) with(x Span) Spans {
	n := len(s)
	if n == 0 || len(s[n-1]) == cap(s[n-1]) {
		s = append(s, make([]Span, 0, oldBlock))
		n++
	}
	s[n-1] = append(s[n-1], x)
	return s
}

// oldPieces make pieces of the events of an old trace.
type oldPieces struct {
	trace  *Trace
	yield  func(*Piece) bool
	window Range // times are cut to it; the zero Range is all

	begun   bool
	stopped bool
	p       *Piece
	tab     *eventTables
	events  int // of the piece
	most    int // of them; oldPieceEvents but in tests
	now     Time

	lives   []oldLife
	free    []int32
	slots   map[int64]int32
	procs   map[int32]*oldProc
	open    map[openRange]RangeSpan
	threads map[int64]int32 // places in Piece.Threads
	reasons map[string]uint8
	words   []string

	kept  []*Piece // until there are too many
	spans int      // so far
	room  int      // for them; maxKeptSpans but in tests
	many  bool     // nothing is kept
}

// An oldLife is a goroutine.
type oldLife struct {
	id      int64
	state   State
	since   Time
	offAt   Time // in a system call: when the P was taken, -1 not
	created Time
	creator int64
	cause   Stack
	stack   Stack
	thread  int32
	life    int32 // in the piece, -1 not yet
	proc    int16
	reason  uint8
	used    bool
	group   string
	regions []oldRegion
}

type oldRegion struct {
	name  string
	task  uint64
	begin Time
}

// An oldProc is a P and what holds it.
type oldProc struct {
	running bool
	since   Time
	thread  int64
	call    Time // it is in a system call since, -1 not
	caller  int64
}

func newOldPieces(t *Trace, window Range, yield func(*Piece) bool) *oldPieces {
	return &oldPieces{
		trace: t, yield: yield, window: window, many: !window.IsZero(), most: oldPieceEvents, room: maxKeptSpans,
		slots: map[int64]int32{}, procs: map[int32]*oldProc{}, open: map[openRange]RangeSpan{},
		threads: map[int64]int32{}, reasons: map[string]uint8{"": 0}, words: []string{""},
		p: &Piece{Trusted: true},
	}
}

// event adds an event, and reports whether more are wanted.
func (r *oldPieces) event(e *Event) bool {
	if r == nil || r.stopped {
		return r == nil
	}
	at := e.Time
	if w := r.window; !w.IsZero() {
		at = min(max(at, w.From), w.To)
	}
	if r.tab = e.tab; !r.begun {
		r.begun, r.now, r.p.From = true, at, at
	}
	r.now = max(r.now, at)
	if r.events >= r.most && r.now > r.p.From && !r.cut() {
		return false
	}
	r.events++
	switch e.Kind {
	case EventGoroutine:
		r.goroutine(e)
	case EventProc:
		r.proc(e)
	case EventRangeBegin, EventRangeActive, EventRangeEnd:
		r.special(e)
	default:
		r.user(e)
	}
	return true
}

// goroutine adds a goroutine's change of state.
func (r *oldPieces) goroutine(e *Event) {
	id, from, to := e.GoTransition()
	slot, there := r.slots[id]
	if from == Dead && there { // its end was lost
		r.span(slot, r.lives[slot].since, r.now, Unknown)
		r.end(slot)
		there = false
	}
	if !there {
		if to == Dead {
			return
		}
		slot = r.found(id)
		l := &r.lives[slot]
		r.name(l, e.subjectStackID())
		if from == Dead {
			l.since, l.created, l.creator, l.cause = r.now, r.now, e.Goroutine, Stack(e.stackID())
			r.life(slot)
		} // else it has been so since before
		r.enter(slot, e, to)
		return
	}
	l := &r.lives[slot]
	r.name(l, e.subjectStackID())
	if from == to && l.state == to {
		return
	}
	if l.state == from {
		r.leave(slot, e)
	} else {
		r.span(slot, l.since, r.now, Unknown)
	}
	if l.since = r.now; to == Dead {
		r.end(slot)
		if e.typ == evGoDestroySyscall && e.Proc >= 0 {
			r.abandon(e.Proc)
		}
		return
	}
	r.enter(slot, e, to)
}

// found gives a goroutine its slot.
func (r *oldPieces) found(id int64) int32 {
	slot := int32(len(r.lives))
	if n := len(r.free); n > 0 {
		slot, r.free = r.free[n-1], r.free[:n-1]
	} else {
		r.lives = append(r.lives, oldLife{})
	}
	r.lives[slot] = oldLife{id: id, since: r.p.From, offAt: -1, creator: -1, thread: -1, life: -1, proc: -1, used: true}
	r.slots[id] = slot
	return slot
}

// name learns the group of a goroutine from one of its own stacks.
func (r *oldPieces) name(l *oldLife, stack uint64) {
	if l.group != "" || stack == 0 {
		return
	}
	fs := r.tab.stack(uint32(stack))
	if len(fs) == 0 || len(fs) >= maxFrames {
		return // the start function of a stack that was cut is not known
	}
	if fn := r.tab.word(uint64(fs[len(fs)-1].fn)); namesGroup(fn) {
		l.group = fn
	}
}

// enter begins a state. When it begins is set already.
func (r *oldPieces) enter(slot int32, e *Event, to State) {
	l := &r.lives[slot]
	l.state, l.stack, l.reason, l.thread, l.proc, l.offAt = to, 0, 0, -1, -1, -1
	switch to {
	case Running:
		l.thread, l.proc = r.thread(e.Thread), procOf(e.Proc)
	case Runnable:
		l.stack, l.reason = Stack(e.stackID()), r.reason(e.Reason())
		if e.typ == evGoUnblock {
			r.p.Wakes = append(r.p.Wakes, WakeEdge{At: r.now, Waker: e.Goroutine, Woken: l.id, Proc: e.Proc, Stack: l.stack})
		}
	case Waiting:
		l.stack, l.reason = Stack(e.subjectStackID()), r.reason(e.Reason())
		if e.typ == evGoCreateBlocked {
			l.stack = 0 // it is blocked nowhere yet
		}
	case Syscall:
		l.stack, l.thread = Stack(e.subjectStackID()), r.thread(e.Thread)
		if e.Proc < 0 || e.typ == evGoCreateSyscall || e.Thread < 0 {
			l.offAt = l.since
			return
		}
		l.proc = procOf(e.Proc)
		if p := r.procs[e.Proc]; p != nil && p.running {
			p.call, p.caller = r.now, l.id
		}
	}
}

// leave ends a state that was entered for sure.
func (r *oldPieces) leave(slot int32, e *Event) {
	l := &r.lives[slot]
	switch l.state {
	case Running:
		switch e.typ {
		case evGoStop, evGoBlock, evGoSyscallBegin:
			l.stack = Stack(e.stackID())
		}
		r.span(slot, l.since, r.now, Running)
	case Syscall:
		off := r.now
		if l.offAt >= 0 {
			off = l.offAt
		} else if e.typ == evGoSyscallEndBlocked {
			off = l.since // taken, and nobody saw when
		}
		r.call(slot, off)
		if p := r.procs[e.Proc]; p != nil && p.call >= 0 && p.caller == l.id {
			p.call = -1
		}
	default:
		r.span(slot, l.since, r.now, l.state)
	}
}

// call adds the spans of a system call whose P was taken at off.
func (r *oldPieces) call(slot int32, off Time) {
	l := &r.lives[slot]
	off = min(max(off, l.since), r.now)
	r.span(slot, l.since, off, Syscall)
	proc := l.proc
	l.proc = -1
	r.span(slot, off, r.now, SyscallBlocked)
	l.proc = proc
}

// span adds a stretch of a goroutine, unless it has no length.
func (r *oldPieces) span(slot int32, from, to Time, state State) {
	if from >= to {
		return
	}
	l := &r.lives[slot]
	x := Span{From: from, To: to, Life: r.life(slot), Thread: -1, Proc: -1, State: state}
	switch state {
	case Running, Syscall, SyscallBlocked:
		x.Stack, x.Thread, x.Proc = l.stack, l.thread, l.proc
	case Runnable, Waiting:
		x.Stack, x.Reason = l.stack, l.reason
	}
	r.p.Spans = r.p.Spans.with(x)
}

// life returns the goroutine's place in the piece.
func (r *oldPieces) life(slot int32) int32 {
	l := &r.lives[slot]
	if l.life < 0 {
		l.life = int32(len(r.p.Lives))
		x := Life{G: l.id, Creator: -1}
		if l.created > 0 && l.created >= r.p.From {
			x.Created, x.Creator, x.Cause = l.created, l.creator, l.cause
		}
		r.p.Lives = append(r.p.Lives, x)
	}
	return l.life
}

// end closes a life.
func (r *oldPieces) end(slot int32) {
	l := &r.lives[slot]
	for range l.regions {
		r.regionEnd(l)
	}
	r.close(openRange{assistRange, l.id}, r.now)
	r.close(openRange{pauseRange, l.id}, r.now)
	x := &r.p.Lives[r.life(slot)]
	x.Ended, x.Group = r.now, l.group
	delete(r.slots, l.id)
	*l = oldLife{}
	r.free = append(r.free, slot)
}

// proc adds a P's change of state.
func (r *oldPieces) proc(e *Event) {
	id, _, to := e.ProcTransition()
	p := r.procs[id]
	if p == nil {
		p = &oldProc{call: -1}
		r.procs[id] = p
	}
	switch {
	case to == ProcRunning && !p.running:
		p.running, p.since, p.thread = true, r.now, e.Thread
	case to == ProcIdle && p.running:
		r.hold(id, p)
		p.running = false
		if p.call >= 0 {
			p.call = -1
			if slot, ok := r.slots[p.caller]; ok {
				if l := &r.lives[slot]; l.state == Syscall && l.offAt < 0 {
					l.offAt = r.now
				}
			}
		}
	}
}

// hold adds the time that a P was held until now.
func (r *oldPieces) hold(id int32, p *oldProc) {
	if r.now > p.since {
		r.p.Procs = append(r.p.Procs, ProcSpan{p.since, r.now, id, p.thread, p.call >= 0})
	}
	p.since = r.now
}

// abandon holds a P on in the system call of a goroutine that is gone, as the
// accounts do.
func (r *oldPieces) abandon(id int32) {
	if p := r.procs[id]; p != nil && !p.running {
		*p = oldProc{running: true, since: r.now, thread: -1, call: r.now, caller: math.MinInt64}
	}
}

// thread returns the place of a thread in the pieces.
func (r *oldPieces) thread(id int64) int32 {
	if id < 0 {
		return -1
	}
	at, ok := r.threads[id]
	if !ok {
		at = int32(len(r.p.Threads))
		r.threads[id] = at
		r.p.Threads = append(r.p.Threads, id)
	}
	return at
}

// reason returns the number of a reason. Those beyond what a span can tell have none.
func (r *oldPieces) reason(s string) uint8 {
	n, ok := r.reasons[s]
	if !ok && len(r.words) <= math.MaxUint8 {
		n = uint8(len(r.words))
		r.reasons[s] = n
		r.words = append(r.words, s)
	}
	return n
}

func procOf(id int32) int16 {
	if id < 0 || id > math.MaxInt16 {
		return -1
	}
	return int16(id)
}

// cut ends the piece now and begins the next one, and reports whether it is wanted.
func (r *oldPieces) cut() bool {
	r.closeAll()
	if !r.hand() {
		return false
	}
	for i := range r.lives {
		r.lives[i].life = -1
	}
	r.p = &Piece{Index: r.p.Index + 1, From: r.now, Trusted: true, Threads: r.p.Threads}
	r.events = 0
	return true
}

// closeAll cuts what goes on.
func (r *oldPieces) closeAll() {
	for i := range r.lives {
		l := &r.lives[i]
		if !l.used {
			continue
		}
		switch l.state {
		case Running:
			l.stack = 0 // it goes on
			r.span(int32(i), l.since, r.now, Running)
		case Syscall:
			off := r.now
			if l.offAt >= 0 {
				off = l.offAt
			}
			r.call(int32(i), off)
		default:
			r.span(int32(i), l.since, r.now, l.state)
		}
		l.since = r.now
		if l.life >= 0 {
			r.p.Lives[l.life].Group = l.group
		}
		r.cutRegions(l)
	}
	for _, id := range slices.Sorted(maps.Keys(r.procs)) {
		if p := r.procs[id]; p.running {
			r.hold(id, p)
		}
	}
	r.cutRanges()
}

// hand gives the piece out, and keeps it while there is room.
func (r *oldPieces) hand() bool {
	p := r.p
	p.To, p.tables, p.words, p.Reasons = r.now, &r.tab.tables, r.tab.names, r.words
	p.Threads = slices.Clip(p.Threads)
	if r.spans += p.Spans.Len(); r.spans > r.room {
		r.kept, r.many = nil, true
	}
	if !r.many {
		r.kept = append(r.kept, p)
	}
	r.stopped = !r.yield(p)
	return !r.stopped
}

// finish hands out the last piece. What was kept is from now on what there is.
func (r *oldPieces) finish() {
	if r == nil || !r.begun || r.stopped {
		return
	}
	r.closeAll()
	if r.hand(); r.stopped || r.many {
		return
	}
	for _, p := range r.kept {
		p.tables, p.words = &r.tab.tables, r.tab.names // they have grown since
	}
	r.trace.mu.Lock()
	defer r.trace.mu.Unlock()
	r.trace.oldPieces = r.kept
}
