package exectrace

import (
	"cmp"
	"math"
	"slices"
)

// What a replay writes down of single states.
//
// The problem. A picture of a window wants each run and each wait, a few
// million for a generation, and must not make accounts slower for those who
// want sums alone.
//
// The idea. The replay knows what a goroutine did until now at every event
// that ends a state. It is compiled twice: in one variant each such place calls
// one of the functions here first, which appends a span. Nothing else differs,
// hence what a piece says adds up to the accounts. Spans are written in their
// final form, with times in nanoseconds and a goroutine's number in the piece, so
// no second pass converts them.
//
// Two things a generation alone does not know. How states that it finds
// under way began: their spans begin with the generation, and the places of these
// spans are kept for piece_join.go. And when the next generation begins, where all
// that goes on is cut: the reader looks ahead by the headers of batches.
//
// Memory is what bounds how many generations are read at once (engines.go), and
// to get it from the system takes as long as to write the notes. So spans are
// written into blocks that go from one generation to the next: there are never
// more of them than the generations at hand fill. What is large has no pointers.
// Lives get their names, which are pointers, in the join, in memory that all pieces
// share.
//
// Who looks closely wants a few milliseconds of a generation, or few of its
// goroutines. The replay has to go through all of it, and the notes leave out what
// is not asked for.
//
// Time does not run backward in a goroutine: a state that ends before it began,
// because two processors' clocks differ, has no length, and the next one begins
// when it began. Accounts subtract it; pieces cannot.

// A pieceWish is what is wanted of pieces.
type pieceWish struct {
	bare bool
	clip Range
	only map[uint64]bool // nil is all

	marks *marking // of a replay that makes marks or goes on from one; else nil
}

func (w *pieceWish) makesMarks() bool { return w.marks != nil && w.marks.making }

// The memory of spans and lives that no piece has.
var spanPool, lifePool = newPool[Span](), newPool[lifeNote]()

func newNotes() *notes {
	n := &notes{spans: slabs[Span]{pool: spanPool}, lives: slabs[lifeNote]{pool: lifePool}}
	n.p.give = n.spans.give
	return n
}

// notes are what an engine wrote down of its generation.
type notes struct {
	p      Piece
	wish   pieceWish
	closed bool  // the end of the piece was known, and what goes on is cut
	a, z   int64 // ticks of the wish's clip
	inside int64 // ticks: with marks, what began before goes on over one
	spans  slabs[Span]

	lifeOf  []int32 // index in p.Lives by slot of the engine, -1 none
	lives   slabs[lifeNote]
	found   []foundCall
	sysProc []int16 // by thread: the P with which it entered its system call
	heldTo  []Time  // by P
	overs   []over
	on      map[int32]int32 // thread by slot of the goroutine that is on it
	quiet   map[int32]int32 // the same for threads that write nothing: places in p.Threads
	gcs     []gcMark
	goingOn int // ranges from here on last to the end of the piece and longer

	most     int64 // bytes that spans and lives took, when they were all there
	backward bool  // some state ended before it began
	last     []Time
	number   []int32 // of a life, once those outside of the clip are left out
}

// A lifeNote becomes a Life in the join. Goroutines may be half as many as spans,
// and this has no pointers: the collector need not look at them.
type lifeNote struct {
	g              uint64
	created, ended Time
	creator        int64
	cause          Stack
	first          int32  // span of the state that it was found in, -1 none
	found          int32  // index in notes.found plus one
	group          uint16 // local
	out            bool   // nobody wants its spans
}

// A foundCall is the system call that a life was found in and left.
type foundCall struct {
	offAt int64 // when the P was taken, in ticks, -1 not seen
	taken bool  // its end said that it was
}

// An over is a goroutine that lives over an edge of the piece.
type over struct {
	id     uint64
	life   int32
	first  int32 // span of the state that it was found in, -1 when there is none
	before int64 // foundCall.offAt in ns
	offAt  int64 // in a system call at the end: when its P was taken, in ns, -1 not seen
	until  Time  // end of its last span
	group  uint16
	proc   int16 // that it holds at the end, -1 none
	state  uint8 // that it was found in
	end    uint8 // state at the end of the piece
	reason uint8 // for that: of a wait
	why    uint8 // of the wait that it was found in, as its stack tells
	taken  bool
	moved  bool // the state at the end began in the piece
	forced bool // the state that it was found in is not certain
	born   bool
	dead   bool
}

// reset prepares for a generation. What it needs of the engine is there.
func (n *notes) reset(e *engine, wish pieceWish) {
	n.wish, n.closed, n.backward, n.most = wish, false, false, 0
	n.a, n.z = math.MinInt64, math.MaxInt64
	n.release()
	if c := wish.clip; wish.makesMarks() {
		n.a, n.z = math.MaxInt64, math.MinInt64
	} else if !c.IsZero() { // a tick more, for what is rounded
		n.a, n.z = e.ticks(int64(c.From))-1, e.ticks(int64(c.To))+1
	}
	p := &n.p
	p.Index, p.Trusted = e.g.index, true
	p.From = Time(e.ns(e.begin()))
	p.To = p.From
	p.Lives, p.Procs, p.Ranges = nil, p.Procs[:0], p.Ranges[:0]
	p.Wakes, p.Samples, p.Regions, p.Tasks = p.Wakes[:0], p.Samples[:0], p.Regions[:0], p.Tasks[:0]
	clear(p.Logs)
	clear(p.Labels)
	p.Logs, p.Labels = p.Logs[:0], p.Labels[:0]
	p.Threads = p.Threads[:0]
	p.tables = &e.tables
	p.words = zeroed(p.words, len(e.tables.strings))
	n.lifeOf, n.found, n.overs = n.lifeOf[:0], n.found[:0], n.overs[:0]
	n.heldTo, n.quiet = n.heldTo[:0], clearedMap(n.quiet)
	e.reasons = append(e.reasons, nil) // the first is ""
}

// release gives what is large to others. The piece must not be used any more.
func (n *notes) release() {
	clear(n.p.Spans)
	n.p.Spans = n.p.Spans[:0]
	n.spans.release()
	n.lives.release()
}

// memory is about what spans and lives take, in bytes, in the notes and in the piece.
func (n *notes) memory() int64 {
	const span, life = 32, 48 + 56
	return int64(n.spans.n)*span + int64(n.lives.n)*life
}

// begin is called when the threads are known.
func (n *notes) begin(e *engine) {
	n.sysProc = n.sysProc[:0]
	for i := range e.threads {
		n.p.Threads = append(n.p.Threads, int64(e.threads[i].id))
		n.sysProc = append(n.sysProc, -1)
	}
}

// place makes room for the goroutine in a slot.
func (n *notes) place(slot int32) {
	for int(slot) >= len(n.lifeOf) {
		n.lifeOf = append(n.lifeOf, -1)
	}
	n.lifeOf[slot] = -1
}

// enter begins a life that was there before the generation.
func (n *notes) enter(s *gor, slot int32) int32 {
	return n.add(slot, lifeNote{g: s.id, creator: -1, first: -1})
}

// life returns the life in a slot.
func (n *notes) life(s *gor, slot int32) int32 {
	if l := n.lifeOf[slot]; l >= 0 {
		return l
	}
	return n.enter(s, slot)
}

// born begins a life; m is the thread of its creator.
func (n *notes) born(e *engine, m *thread, slot int32, now int64) {
	s := &e.gs[slot]
	if before := n.lifeOf[slot]; before >= 0 { // it was named too early, and given up
		n.lives.at(before).ended = Time(e.ns(now))
	}
	l := lifeNote{g: s.id, created: Time(e.ns(now)), creator: -1, cause: n.stack(s.cause), first: -1}
	if m != nil && m.g >= 0 {
		l.creator = int64(e.gs[m.g].id)
	}
	n.add(slot, l)
}

func (n *notes) add(slot int32, l lifeNote) int32 {
	life := int32(n.lives.n)
	l.out = n.wish.only != nil && !n.wish.only[l.g]
	*n.lives.next() = l
	n.lifeOf[slot] = life
	return life
}

// died ends the life in a slot.
func (n *notes) died(e *engine, slot int32, now int64) {
	life := n.lifeOf[slot]
	if life < 0 {
		return
	}
	s := &e.gs[slot]
	note := n.lives.at(life)
	note.ended, note.group = Time(e.ns(now)), s.group
	if s.traits&trBorn != 0 {
		n.lifeOf[slot] = -1
	}
}

// stack returns a stack for the piece.
func (n *notes) stack(id uint32) Stack {
	if id >= uint32(len(n.p.tables.stacks)) {
		return 0
	}
	return Stack(id)
}

// reasonNote returns a reason for the piece, which tells 255 apart.
func reasonNote(r uint16) uint8 {
	if r > math.MaxUint8 {
		return 0
	}
	return uint8(r)
}

// span notes a stretch of the goroutine in a slot, from the begin of its present
// state until now, if it is wanted. It is called for every other event: its
// arguments are as many as there are registers for.
func (n *notes) span(e *engine, slot int32, now int64, stack Stack, thread int32, proc int16, reason uint8, state State) {
	s := &e.gs[slot]
	carried := s.flags&flCarried != 0
	switch {
	case n.wish.makesMarks():
		n.backward = n.backward || now < s.since
		if !carried && s.since >= n.inside {
			return
		}
	case (now < n.a || s.since > n.z) && !carried && n.lifeOf[slot] >= 0, n.wish.marks != nil && (carried || s.since < n.inside):
		return
	}
	life := n.life(s, slot)
	note := n.lives.at(life)
	if note.out {
		return
	}
	if carried {
		note.first = int32(n.spans.n)
	}
	if now < s.since {
		n.backward = true
	}
	x := n.spans.next()
	x.From, x.To, x.Life, x.Stack = Time(e.ns(s.since)), Time(e.ns(now)), life, stack
	x.Thread, x.Proc, x.Reason, x.State = thread, proc, reason, state
}

// ran notes the run of the goroutine on a thread that ends at a stack.
func (n *notes) ran(e *engine, mi int32, stack uint32, now int64) {
	m := &e.threads[mi]
	if e.gs[m.g].word&stMask == stRunning { // else it is lost
		n.span(e, m.g, now, n.stack(stack), mi, int16(m.p), 0, Running)
	}
}

// ready notes a wait for a P.
func (n *notes) ready(e *engine, slot int32, now int64) {
	s := &e.gs[slot]
	if s.flags&flCarried != 0 {
		n.span(e, slot, now, 0, -1, -1, 0, Runnable)
		return
	}
	n.span(e, slot, now, n.stack(s.stack), -1, -1, reasonNote(s.reason), Runnable)
}

// waited notes a wait.
func (n *notes) waited(e *engine, slot int32, now int64) {
	s := &e.gs[slot]
	reason := reasonNote(s.reason)
	if s.flags&flCarried != 0 {
		reason = 0 // the join's to tell
	}
	n.span(e, slot, now, n.stack(s.stack), -1, -1, reason, Waiting)
}

// silent notes that a goroutine is in a system call on a thread that writes nothing
// in this generation, and so is none of the engine's.
func (n *notes) silent(slot int32, id uint64) {
	n.quiet[slot] = int32(len(n.p.Threads))
	n.p.Threads = append(n.p.Threads, int64(id))
}

// calls notes the P with which a thread enters a system call.
func (n *notes) calls(mi, p int32) { n.sysProc[mi] = int16(p) }

// called notes the system call of the goroutine on a thread; see leaveSyscall.
func (n *notes) called(e *engine, mi int32, now int64, taken bool) {
	m := &e.threads[mi]
	s := &e.gs[m.g]
	if s.word&stMask != stSyscall {
		return
	}
	off := m.offAt
	if s.flags&flCarried != 0 {
		n.call(e, mi, m.g, now, now)
		n.found = append(n.found, foundCall{off, taken})
		n.lives.at(n.lifeOf[m.g]).found = int32(len(n.found))
		return
	}
	switch {
	case off >= 0:
		off = min(max(off, s.since), now)
	case taken:
		off = s.since
	default:
		off = now
	}
	n.call(e, mi, m.g, now, off)
}

// call appends the spans of a system call whose P was taken at off, or at
// its end. One that was under way has always both, for the join to share out.
func (n *notes) call(e *engine, mi, slot int32, now, off int64) {
	s := &e.gs[slot]
	stack := n.stack(s.stack)
	note := n.lives.at(n.life(s, slot))
	carried := s.flags&flCarried != 0
	if off > s.since || now <= s.since || carried {
		n.span(e, slot, off, stack, mi, n.sysProc[mi], 0, Syscall)
		if off >= now && !carried {
			return
		}
	}
	since := s.since
	s.since = max(since, off)
	first := note.first
	n.span(e, slot, now, stack, mi, -1, 0, SyscallBlocked)
	s.since, note.first = since, first
}

// gap notes that nobody can tell what a goroutine did until now.
func (n *notes) gap(e *engine, s *gor, now int64) {
	slot := e.find(s.id)
	if slot < 0 || &e.gs[slot] != s {
		return
	}
	count := n.spans.n
	n.span(e, slot, now, 0, -1, -1, 0, Unknown)
	if s.word&stMask == stAbsent && n.spans.n > count { // it may have lived before, and goes on from there
		n.lives.at(n.lifeOf[slot]).first = int32(count)
	}
}

// wake notes that the goroutine on a thread, or the runtime, made s ready.
func (n *notes) wake(e *engine, m *thread, s *gor, stack uint32, at, now int64) {
	s.reason = 0 // of what comes now
	if n.wish.bare || at != now || now < n.a || now > n.z {
		return
	}
	w := WakeEdge{At: Time(e.ns(now)), Waker: -1, Woken: int64(s.id), Proc: m.p, Stack: n.stack(stack)}
	if m.g >= 0 {
		w.Waker = int64(e.gs[m.g].id)
	}
	n.p.Wakes = append(reserve(n.p.Wakes, 1), w)
}

// hold notes the time that a P was held by a thread.
func (n *notes) hold(e *engine, p *proc, now int64) {
	thread := int64(-1)
	if p.m >= 0 {
		thread = int64(e.threads[p.m].id)
	}
	for int(p.id) >= len(n.heldTo) {
		n.heldTo = append(n.heldTo, n.p.From)
	}
	from := max(Time(e.ns(p.since)), n.heldTo[p.id])
	to := max(Time(e.ns(now)), from)
	n.heldTo[p.id] = to
	if n.wish.marks != nil && n.wish.marks.making != (p.since < n.inside || p.since <= e.begin()) {
		return
	}
	state := p.word & stMask
	n.p.Procs = append(reserve(n.p.Procs, 1), ProcSpan{from, to, p.id, thread, state == psSyscall || state == psAbandoned})
}

// special appends a special range from a moment, which is that of the piece's
// begin when it was going on, until now.
func (n *notes) special(e *engine, from, to int64, r RangeSpan) {
	r.From, r.To = Time(e.ns(from)), Time(e.ns(to))
	r.To = max(r.To, r.From)
	n.p.Ranges = append(reserve(n.p.Ranges, 1), r)
}

// assisted notes the end of a mark assist.
func (n *notes) assisted(e *engine, s *gor, c *cold, now int64) {
	n.special(e, c.assist, now, RangeSpan{Name: RangeAssist, Goroutine: int64(s.id), Proc: -1, Stack: n.stack(c.assistAt)})
}

// stopped notes the end of a stop of the world. What one was for that began
// earlier, the join knows.
func (n *notes) stopped(e *engine, s *gor, c *cold, now int64) {
	r := RangeSpan{Goroutine: int64(s.id), Proc: -1}
	from := e.begin()
	if c.stw >= 0 {
		from = c.stw
		r.Name, r.Stack = pauseName(string(e.reasons[c.stwKind])), n.stack(c.stwAt)
	}
	n.special(e, from, now, r)
}

func pauseName(kind string) string { return "stop-the-world (" + kind + ")" }

// swept notes the end of a sweep.
func (n *notes) swept(e *engine, p *proc, now int64) {
	r := RangeSpan{Name: RangeSweep, Goroutine: -1, Proc: p.id, Stack: n.stack(p.sweepIn)}
	if p.sweepG >= 0 {
		r.Goroutine = int64(e.gs[p.sweepG].id)
	}
	n.special(e, p.sweepAt, now, r)
}

// region notes a user region that ends, or goes on at the end of the piece.
// One whose begin is -1 began before.
func (n *notes) region(e *engine, s *gor, r openRegion, now int64, ended bool) {
	began := r.begin >= 0
	if !began && s.traits&trBorn != 0 {
		return
	}
	x := RegionSpan{
		From: n.p.From, To: Time(e.ns(now)), Goroutine: int64(s.id), Task: r.task,
		Name: n.p.word(uint64(r.name)), Began: began, Ended: ended,
	}
	if began {
		x.From = Time(e.ns(r.begin))
	}
	x.To = max(x.To, x.From)
	n.p.Regions = append(n.p.Regions, x)
}

// running returns the goroutine on a thread, -1 for none.
func running(e *engine, m *thread) int64 {
	if m.g < 0 {
		return -1
	}
	return int64(e.gs[m.g].id)
}

func (n *notes) taskBegin(e *engine, m *thread, a *[6]uint64, at, now int64) {
	if at != now {
		return
	}
	parent := a[2]
	if parent == NoTask {
		parent = 0
	}
	n.p.Tasks = append(n.p.Tasks, TaskEvent{At: Time(e.ns(at)), ID: a[1], Parent: parent, Goroutine: running(e, m), Name: n.p.word(a[3])})
}

func (n *notes) taskEnd(e *engine, m *thread, id uint64, at, now int64) {
	if at != now {
		return
	}
	n.p.Tasks = append(n.p.Tasks, TaskEvent{At: Time(e.ns(at)), ID: id, Goroutine: running(e, m), End: true})
}

func (n *notes) log(e *engine, m *thread, a *[6]uint64, at, now int64) {
	if n.wish.bare || at != now {
		return
	}
	task := a[1]
	if task == NoTask {
		task = 0
	}
	n.p.Logs = append(n.p.Logs, LogEvent{Time(e.ns(at)), running(e, m), task, n.p.word(a[2]), n.p.word(a[3])})
}

func (n *notes) label(e *engine, s *gor, id uint64, at, now int64) {
	if n.wish.bare || at != now {
		return
	}
	n.p.Labels = append(n.p.Labels, LabelAt{Time(e.ns(at)), int64(s.id), n.p.word(id)})
}

// sample notes a CPU sample: time, thread, P, goroutine, stack.
func (n *notes) sample(e *engine, a *[5]uint64) {
	x := SampleAt{At: Time(e.ns(int64(a[0]))), Goroutine: int64(a[3]), Proc: int32(a[2]), Thread: int64(a[1]), Stack: n.stack(uint32(a[4]))}
	if x.Goroutine == 0 {
		x.Goroutine = -1
	}
	n.p.Samples = append(n.p.Samples, x)
}

// close cuts what goes on at the end of the piece. Where generations are
// missing behind it, what was going on is known until its last event only.
func (n *notes) close(e *engine, to Time, gap bool) {
	p := &n.p
	n.closed = true
	n.inside = math.MaxInt64
	n.goingOn = len(p.Ranges)
	p.To = max(to, p.From)
	known := p.To
	if gap {
		known = min(known, max(p.From, Time(e.ns(min(max(e.last, e.from), e.to)))))
	}
	n.on = clearedMap(n.on)
	for i := range e.threads {
		if t := &e.threads[i]; t.g >= 0 {
			n.on[t.g] = int32(i)
		}
	}
	for slot := range n.lifeOf {
		if n.lifeOf[slot] >= 0 {
			n.closeLife(e, int32(slot), known)
		}
	}
	n.closeProcs(e, known)
	n.closeMarks(e, known)
}

func clearedMap[K comparable, V any](m map[K]V) map[K]V {
	if m == nil {
		return map[K]V{}
	}
	clear(m)
	return m
}

// closeLife cuts the state of one goroutine, and notes it for the join.
func (n *notes) closeLife(e *engine, slot int32, known Time) {
	s := &e.gs[slot]
	life := n.lifeOf[slot]
	note := n.lives.at(life)
	note.group = s.group
	o := over{id: s.id, life: life, before: -1, offAt: -1, group: s.group, proc: -1, state: stLost}
	if o.born = s.traits&trBorn != 0; !o.born && s.carry != 0 {
		c := e.carry(s)
		o.state = c.state
		if o.forced = s.traits&trForced != 0; c.why > 0 && !o.forced {
			o.why = reasonNote(c.why - 1)
		}
		if note.found > 0 {
			call := n.found[note.found-1]
			if o.taken = call.taken; call.offAt >= 0 {
				o.before = e.ns(call.offAt)
			}
		}
	}
	o.moved = s.traits&(trLeft|trBorn) != 0 || s.word&stMask == stLost
	if o.dead = s.word&stMask == stDead; !o.dead {
		n.cut(e, slot, known, &o)
	}
	o.first = note.first
	n.overs = append(reserve(n.overs, 1), o)
	if s.cold > 0 && !o.dead {
		n.closeCold(e, s, known)
	}
}

// cut ends the state of a goroutine that goes on.
func (n *notes) cut(e *engine, slot int32, known Time, o *over) {
	s := &e.gs[slot]
	note := n.lives.at(o.life)
	carried := s.flags&flCarried != 0 && !note.out
	if carried {
		note.first = int32(n.spans.n)
	}
	from := Time(e.ns(s.since))
	x := Span{From: from, To: max(known, from), Life: o.life, Thread: -1, Proc: -1}
	o.end = uint8(s.word & stMask)
	th, on := int32(-1), false
	if o.end == stRunning || o.end == stSyscall {
		if th, on = n.on[slot]; !on {
			th = -1
		} else if p := e.threads[th].p; p >= 0 {
			o.proc = int16(p)
		}
		if x.Thread = th; carried && !on {
			if at, ok := n.quiet[slot]; ok {
				x.Thread = at
			}
		}
	}
	switch o.end {
	case stRunning:
		x.State, x.Proc = Running, o.proc
	case stRunnable:
		x.State = Runnable
		if !carried {
			x.Stack, x.Reason = n.stack(s.stack), reasonNote(s.reason)
		}
	case stWaiting:
		x.State, x.Stack = Waiting, n.stack(s.stack)
		if !carried {
			x.Reason = reasonNote(s.reason)
			o.reason = x.Reason
		}
	case stSyscall:
		x.State, x.Stack = Syscall, n.stack(s.stack)
		x = n.cutCall(e, th, carried, x, o)
	}
	o.until = max(x.To, n.p.To)
	if carried || n.wants(note, &x) {
		*n.spans.next() = x
	}
	if rest := (Span{From: x.To, To: n.p.To, Life: o.life, Thread: -1, Proc: -1}); rest.From < rest.To && n.wants(note, &rest) {
		*n.spans.next() = rest
	}
}

// wants reports whether somebody wants a span that is cut.
func (n *notes) wants(note *lifeNote, x *Span) bool {
	clip := n.wish.clip
	return !note.out && (clip.IsZero() || n.wish.makesMarks() || x.To >= clip.From && x.From <= clip.To)
}

// cutCall adds the first part of a system call that goes on and returns the last.
func (n *notes) cutCall(e *engine, th int32, carried bool, x Span, o *over) Span {
	off := int64(-1)
	if th >= 0 {
		off = e.threads[th].offAt
		x.Proc = n.sysProc[th]
	}
	if off >= 0 {
		o.offAt = e.ns(off)
	}
	if off < 0 && !carried {
		return x
	}
	y := x
	if y.To = x.To; off >= 0 {
		y.To = min(max(Time(o.offAt), x.From), x.To)
	}
	if carried || y.To > y.From && n.wants(n.lives.at(x.Life), &y) {
		*n.spans.next() = y
	}
	x.From, x.State, x.Proc = y.To, SyscallBlocked, -1
	return x
}

// closeCold cuts the ranges and regions of a goroutine.
func (n *notes) closeCold(e *engine, s *gor, known Time) {
	c := &e.colds[s.cold-1]
	first := len(n.p.Ranges)
	if c.stw >= 0 {
		n.stopped(e, s, c, c.stw)
	}
	if s.flags&flAssist != 0 && c.assist >= 0 {
		n.assisted(e, s, c, c.assist)
	}
	for i := first; i < len(n.p.Ranges); i++ {
		n.p.Ranges[i].To = max(n.p.Ranges[i].From, known)
	}
	for _, r := range c.regions {
		at := len(n.p.Regions)
		n.region(e, s, r, r.begin, false)
		for i := at; i < len(n.p.Regions); i++ {
			n.p.Regions[i].To = max(n.p.Regions[i].From, known)
		}
	}
}

// closeProcs cuts what Ps do.
func (n *notes) closeProcs(e *engine, known Time) {
	for i := range e.ps {
		p := &e.ps[i]
		switch p.word & stMask {
		case psRunning, psSyscall, psAbandoned:
			n.hold(e, p, p.since)
			x := &n.p.Procs[len(n.p.Procs)-1]
			x.To = max(x.From, known)
			n.heldTo[i] = x.To
		}
		if p.sweepAt >= 0 {
			n.swept(e, p, p.sweepAt)
			x := &n.p.Ranges[len(n.p.Ranges)-1]
			x.To = max(x.From, known)
		}
	}
}

// closeMarks adds the mark phases of the collector, whose begins and ends are
// numbered in one row.
func (n *notes) closeMarks(e *engine, known Time) {
	n.gcs = append(n.gcs[:0], e.gcs...)
	slices.SortFunc(n.gcs, func(a, b gcMark) int { return cmp.Compare(a.seq, b.seq) })
	open := Time(math.MinInt64)
	add := func(to Time) {
		if open != math.MinInt64 {
			n.p.Ranges = append(n.p.Ranges, RangeSpan{From: open, To: max(to, open), Name: RangeMark, Goroutine: -1, Proc: -1})
		}
		open = math.MinInt64
	}
	for _, m := range n.gcs {
		at := Time(e.ns(min(max(m.at, e.from), e.to)))
		switch m.typ {
		case evGCBegin:
			add(at) // the end of one before was lost
			open = at
		case evGCActive:
			if open == math.MinInt64 {
				open = n.p.From
			}
		case evGCEnd:
			if open == math.MinInt64 {
				open = n.p.From
			}
			add(at)
		}
	}
	add(known)
}

// forward makes time run forward in every life.
func (n *notes) forward() {
	p := &n.p
	n.last = n.last[:0]
	for i := range p.Lives {
		if from := p.Lives[i].Created; from != 0 {
			n.last = append(n.last, from)
		} else {
			n.last = append(n.last, math.MinInt64)
		}
	}
	for i := range n.spans.n {
		x := n.spans.at(int32(i))
		last := &n.last[x.Life]
		x.From = max(x.From, *last)
		x.To = max(x.To, x.From)
		*last = x.To
	}
	for i := range p.Lives {
		if l := &p.Lives[i]; l.Ended != 0 {
			l.Ended = max(l.Ended, n.last[i])
		}
	}
	for i := range n.overs {
		n.overs[i].until = max(n.overs[i].until, n.last[n.overs[i].life])
	}
}
