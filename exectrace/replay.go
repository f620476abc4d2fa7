package exectrace

import (
	"math/bits"
	"slices"
	"time"
)

// The replay of one generation.
//
// The problem. Events come in batches of one thread each, in order within
// the thread. What goroutines did is spread over the threads they ran on. The
// usual way merges all threads by time, checks each event against the state
// of the scheduler, and tries another thread when it does not fit. The merge
// costs a comparison per level of a heap for every event, more than decoding
// it, and grows with the number of threads.
//
// The idea. Accounts of goroutines and Ps need no common order: the events
// of one thread are in order already, and where goroutines and Ps move
// between threads the format carries sequence numbers. So each thread is
// replayed as far as it goes. An event that needs goroutine or P X in some
// state with some sequence number, while X is not there yet, parks its
// thread on X; the transition that brings X there wakes it. Timestamps are
// never compared, they are only subtracted.
//
// Generations are replayed alone, so that several can be at once. A
// goroutine that existed before is announced by a status event; what it has
// been doing began in an earlier generation, is "carried", and is completed
// by the stitcher, which knows that beginning. Within the generation carried
// states count from its begin, so that differences (regions) are right; the
// stitcher adds what was before. Waits with a cause that only the earlier
// generation knows, blocked and in a system call, are left to it whole.
//
// When no thread can go on, something is missing. The earliest parked event
// is then forced: it happens, the time of what it contradicts goes to
// unknown, and it is counted.
//
// Limits. There is no order between goroutines here: who waits for a thread
// in [Trace.Events] pays for it. The only events that need time are those
// that create goroutines out of cgo callbacks, because their ids are used
// again without a sequence number; their threads wait until nothing else
// can run, then the earliest goes first.

// Goroutine states of the replay, in the low bits of gor.word.
const (
	stAbsent = iota // named by an event, not announced yet
	stWaiting
	stRunnable
	stRunning
	stSyscall
	stDead
	stLost // lives, but what it does was lost: any transition is accepted

	stBits = 3
	stMask = 1<<stBits - 1
)

// Flags of a goroutine that take an event off the straight path.
const (
	flCarried = 1 << iota // the present state began before the generation
	flMarker              // a mark worker that labelled itself in this run
	flAssist              // in mark assist
	flBurst               // made ready together with many others
	flUnnamed             // made ready from a wait whose place this generation does not tell
	flRan                 // ran in this generation
)

// Traits of a goroutine that only its end asks for.
const (
	trBorn      = 1 << iota // created in this generation
	trLeft                  // was carried, and has left that state
	trForced                // its carried state cannot be trusted
	trTaken                 // carried in a system call: its end said that the P was lost
	trUncounted             // born without a stack: counted when its group is known
)

// A gor is a goroutine in the replay. What most of its events touch fills
// one cache line, the rest the next: where a hundred thousand are alive,
// waiting for memory is most of what a replay does.
type gor struct {
	word    uint64 // sequence number << stBits | state
	since   int64  // ticks, begin of the present state
	run     int64  // ticks
	ready   int64
	stack   uint32 // what brought the present state about
	woken   uint32 // runnable: where it had waited
	blocked int32  // sums by reason and range
	runs    uint32
	waiter  int32  // first thread parked on it, -1
	waitAt  uint16 // where its last wait, and its last wait for a P, were counted
	readyAt uint16
	group   uint16 // 0 when not known
	reason  uint16
	flags   uint8
	traits  uint8

	id                   uint64
	created              int64
	first                int64  // first run; valid with flRan
	sys, sysOff, unknown int64  // ticks
	cause                uint32 // stack that created it, or 0
	carry                int32  // index into engine.carries plus one
	cold                 int32  // index into engine.colds plus one
	late                 int32  // first of its waits in engine.late, plus one
}

// A carry is what is known of the state that a goroutine was in when the
// generation began.
type carry struct {
	end   int64  // when it ended
	offAt int64  // a system call: when its P was seen to be taken, or -1
	stack uint32 // as announced
	state uint8  // as announced
}

// A thread is an M in the replay.
type thread struct {
	data    []byte
	pos     int
	end     int
	time    int64
	g, p    int32  // slots, -1 for none
	wantG   uint64 // at a barrier: the goroutine to be created
	next    int32  // in the list of threads parked on the same thing
	batch   int
	batches []batch
	id      uint64
	waiter  int32 // itself, when parked for want of a goroutine
	parked  bool
	on      uint8 // what it is parked on, with the index of that
	onIndex int32
	done    bool
	lost    bool  // its context was lost: events that need one are dropped
	barrier bool  // parked until nothing else can run
	offAt   int64 // when the P was taken from its system call; -1 not

	burstStack uint32
	burstN     int32
	burstStart int64
}

// States of a P in the replay, in the low bits of proc.word.
const (
	psAbsent = iota
	psIdle
	psRunning
	psSyscall
	psAbandoned // in a system call whose thread is not known
	psLost
)

// A proc is a P in the replay.
type proc struct {
	word    uint64
	m       int32 // thread that holds it
	waiter  int32
	since   int64 // held since
	sysFrom int64 // in a system call since
	held    int64
	sys     int64
	user    int64
	gc      int64
	gcIdle  int64
	unknown int64
	starts  int64
	sweepAt int64 // -1 when not sweeping
	sweepG  int32
	carried bool  // held since before the generation
	stolen  int64 // when it was taken from an abandoned system call; -1 not
	status  uint8 // as announced
	touched bool
}

// A hist is a Histogram of fixed size, in nanoseconds.
type hist struct {
	counts [62 * 8]int64
	sum    int64
	max    int64
}

func (h *hist) add(ns int64) {
	ns = max(ns, 0)
	e := uint(max(bits.Len64(uint64(ns))-4, 0))
	h.counts[e<<3+uint(ns>>e)]++
	h.sum += ns
	h.max = max(h.max, ns)
}

// histogram converts h.
func (h *hist) histogram() (o Histogram) {
	o.addHist(h)
	return o
}

func (o *Histogram) addHist(h *hist) {
	last := -1
	for i, n := range h.counts {
		if n != 0 {
			last = i
		}
	}
	if last < 0 {
		return
	}
	for len(o.Counts) <= last {
		o.Counts = append(o.Counts, 0)
	}
	for i, n := range h.counts[:last+1] {
		o.Counts[i] += n
		o.N += n
	}
	o.Sum += time.Duration(h.sum)
	o.Max = max(o.Max, time.Duration(h.max))
}

// A tally is a group of goroutines within one generation. What it counts of
// times are those that were born and died here; the rest is the stitcher's.
type tally struct {
	name                             []byte
	start                            rawFrame
	created                          int
	ended                            int
	run, ready, sys, sysOff, unknown int64
	blocked                          int32
	runs                             int64
	delay                            hist
	running                          hist
	life                             hist
	net                              [32]int32 // created less ended, by time within the generation
	cause                            uint32
	kept                             []keptGor
	keepMin                          int64
}

// A keptGor is a goroutine that was born and died in the generation and is
// kept as an individual.
type keptGor struct {
	gor
	ended int64
	sums  []keySum
}

// A cell is a short piece of the generation. Each n counts begins less ends
// of a state within it, each t their moments; integrals follow from both.
type cell struct{ runN, runT, readyN, readyT, heldN, heldT int64 }

const cells = 512

// Keys of sums at and above this are ranges.
const rangeBase = 1 << 12

// maxReasons bounds the reasons for waiting that are told apart. The runtime
// has some forty.
const maxReasons = rangeBase

const (
	rangeAssist = rangeBase + iota
	rangeSweep
	rangeSTW // and the index of its kind
)

// A cold is what few goroutines have.
type cold struct {
	assist  int64 // begin, -1 none
	stw     int64
	stwKind int32
	stwAt   uint32 // stack
	regions []openRegion
}

type openRegion struct {
	name  uint32 // string id
	begin int64
	snap  [5]int64
}

// regionEnd is the end of a region that began in an earlier generation.
type regionEnd struct {
	slot int32
	at   int64
	name uint32
	sums [5]int64
}

type regionTally struct {
	count int64
	life  hist
	sums  [5]int64
}

// A task is a user task within one generation. Its begin, end and logs may be met in
// any order, being on different threads.
type task struct {
	id, parent uint64
	begin, end int64 // -1 not seen
	logs       int64
	name       uint32
}

// A taskTally is all tasks of one name that began and ended here.
type taskTally struct {
	count int64
	life  hist
	slow  []task
	least int64 // length of the shortest in slow, when that is full
}

type gcMark struct {
	at  int64
	seq uint64
	typ eventType
}

// A heapMark is the last that was said of the heap in a piece of time. The
// runtime writes a sample for every span, far more than anybody looks at.
type heapMark struct {
	allocAt, goalAt int64
	alloc, goal     uint64
}

// heapMarks is how many are kept of a generation.
const heapMarks = cells

type procsMark struct {
	at int64
	n  uint64
}

type pauseMark struct {
	begin, end int64 // begin -1: in an earlier generation
	kind       int32
	stack      uint32
	g          int32
}

type loadMark struct {
	at        int64
	proc      int32
	kind      LoadKind
	dedicated bool
	delta     int32
}

// A logTally counts the logs of one category.
type logTally struct {
	n       int64
	example uint32 // string id
}

type burstTally struct{ count, woken, max, futile int64 }

// An engine replays one generation after the other; its memory is used again.
type engine struct {
	tables
	clock
	g        *generation
	keep     int
	sweeps   bool  // note every sweep in load
	from, to int64 // window in ticks
	t0       int64 // begin of the generation in ticks
	last     int64 // time of the last event
	initial  bool  // nothing is known from before
	burst    int64 // burstSpan in ticks

	threads []thread
	byM     map[uint64]int32
	ps      []proc
	gs      []gor
	carries []carry
	free    []int32
	ids     idTable
	colds   []cold
	sums    sums
	waits   waitTable
	queue   []int32

	tallies   []*tally
	groupOf   []int32 // by stack id, plus one
	groupByFn []int32 // by string id of the start function, plus one
	reasons   [][]byte
	reasonOf  []int32 // by string id, plus one
	slice     hist
	cells     [cells]cell
	cellShift uint

	regions    []*regionTally // by string id of the name
	regionEnds []regionEnd
	tasks      []task // begun or ended or logged to, and not complete
	taskFree   []int32
	taskIDs    idTable
	taskTypes  []*taskTally     // by string id of the name
	samples    map[uint32]int64 // CPU samples by stack
	logs       []logTally       // by string id of the category
	coldFree   []int32
	late       []lateWait
	gcs        []gcMark
	heap       [heapMarks]heapMark
	pauses     []pauseMark
	load       []loadMark
	bursts     map[uint32]*burstTally
	procs      []procsMark

	events  int64
	forced  int64
	dropped int64 // events that needed a context that was lost
	lostLen int64 // bytes of batches given up
}

func newEngine() *engine {
	return &engine{
		byM: map[uint64]int32{}, samples: map[uint32]int64{}, bursts: map[uint32]*burstTally{},
	}
}

// reset prepares the engine for a generation.
func (e *engine) reset(g *generation, o Options) {
	e.g, e.keep, e.sweeps = g, o.Keep, o.Sweeps
	e.clock = g.readClock()
	e.tables.load(g)
	e.t0 = int64(g.start())
	e.last = e.t0
	e.from, e.to = -1<<62, 1<<62
	if w := o.Window; !w.IsZero() {
		e.from, e.to = e.ticks(int64(w.From)), e.ticks(int64(w.To))
	}
	e.initial = g.index == 0 || g.gap
	e.burst = e.ticks(burstSpan)
	clear(e.byM)
	e.threads = e.threads[:0]
	e.ps = e.ps[:0]
	e.gs, e.carries, e.free = e.gs[:0], e.carries[:0], e.free[:0]
	e.ids.reset()
	e.colds = e.colds[:0]
	e.sums.reset()
	e.waits.reset()
	e.queue = e.queue[:0]
	e.tallies = append(e.tallies[:0], new(tally))
	e.tallies[0].blocked = -1
	e.groupOf = zeroed(e.groupOf, len(e.tables.stacks))
	e.groupByFn = zeroed(e.groupByFn, len(e.tables.strings))
	e.reasonOf = zeroed(e.reasonOf, len(e.tables.strings))
	e.reasons = e.reasons[:0]
	e.slice = hist{}
	e.cells = [cells]cell{}
	e.regions = zeroed(e.regions, len(e.tables.strings))
	e.taskTypes = zeroed(e.taskTypes, len(e.tables.strings))
	e.logs = zeroed(e.logs, len(e.tables.strings))
	e.taskIDs.reset()
	e.taskFree, e.coldFree, e.late = e.taskFree[:0], e.coldFree[:0], e.late[:0]
	clear(e.bursts)
	clear(e.samples)
	e.regionEnds, e.tasks, e.gcs = e.regionEnds[:0], e.tasks[:0], e.gcs[:0]
	e.heap = [heapMarks]heapMark{}
	e.pauses, e.load, e.procs = e.pauses[:0], e.load[:0], e.procs[:0]
	e.events, e.forced, e.dropped, e.lostLen = 0, 0, 0, e.tables.lost

	var last uint64
	for i := range g.events {
		last = max(last, g.events[i].time)
	}
	// Half of the cells for what is known of the length, the rest for the
	// events of the last batch.
	e.cellShift = 0
	for (int64(last)-e.t0)>>e.cellShift >= cells/2 {
		e.cellShift++
	}
}

func zeroed[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n)
	}
	s = s[:n]
	clear(s)
	return s
}

// replay runs the generation to its end.
func (e *engine) replay() {
	for i := range e.g.events {
		b := &e.g.events[i]
		m, ok := e.byM[b.m]
		if !ok {
			m = int32(len(e.threads))
			e.byM[b.m] = m
			e.threads = append(e.threads, thread{id: b.m, g: -1, p: -1, next: -1, waiter: -1, offAt: -1})
		}
		e.threads[m].batches = append(e.threads[m].batches, *b)
	}
	for m := len(e.threads) - 1; m >= 0; m-- {
		e.queue = append(e.queue, int32(m))
	}
	for {
		for len(e.queue) > 0 {
			m := e.queue[len(e.queue)-1]
			e.queue = e.queue[:len(e.queue)-1]
			e.run(m, false)
		}
		m, barrier := e.earliest()
		if m < 0 {
			break
		}
		e.unpark(m)
		if !barrier {
			e.forced++
		}
		e.run(m, true)
	}
	for i := range e.threads {
		e.flushBurst(&e.threads[i])
	}
	for i := range e.g.samples {
		e.addSamples(e.g.samples[i].body())
	}
}

// earliest returns the parked thread whose next event is first. One that
// waits at a barrier, and for no goroutine to end, goes before any other.
func (e *engine) earliest() (m int32, barrier bool) {
	m = -1
	for i := range e.threads {
		t := &e.threads[i]
		if !t.parked {
			continue
		}
		free := t.barrier && e.absent(t.wantG)
		if m < 0 || free && !barrier || free == barrier && t.time < e.threads[m].time {
			m, barrier = int32(i), free
		}
	}
	return m, barrier
}

func (e *engine) absent(id uint64) bool {
	s := e.ids.get(id)
	return s < 0 || e.gs[s].word&stMask == stAbsent
}

// A thread is parked on the list of a goroutine, of a P, or on its own.
const (
	onNothing = iota
	onG
	onP
	onSelf
)

func (e *engine) parkOnG(m, slot int32) { e.park(m, &e.gs[slot].waiter, onG, slot) }
func (e *engine) parkOnP(m, p int32)    { e.park(m, &e.ps[p].waiter, onP, p) }
func (e *engine) parkSelf(m int32)      { e.park(m, &e.threads[m].waiter, onSelf, m) }

func (e *engine) park(m int32, head *int32, on uint8, index int32) {
	t := &e.threads[m]
	t.parked, t.on, t.onIndex = true, on, index
	t.next = *head
	*head = m
}

// wake lets all threads on the list at head try again.
func (e *engine) wake(head *int32) {
	for m := *head; m >= 0; {
		t := &e.threads[m]
		next := t.next
		t.next, t.parked, t.on = -1, false, onNothing
		e.queue = append(e.queue, m)
		m = next
	}
	*head = -1
}

// unpark takes one thread off the list it is on.
func (e *engine) unpark(m int32) {
	t := &e.threads[m]
	var at *int32
	switch t.on {
	case onG:
		at = &e.gs[t.onIndex].waiter
	case onP:
		at = &e.ps[t.onIndex].waiter
	case onSelf:
		at = &t.waiter
	}
	for at != nil && *at >= 0 && *at != m {
		at = &e.threads[*at].next
	}
	if at != nil && *at == m {
		*at = t.next
	}
	t.next, t.parked, t.barrier, t.on = -1, false, false, onNothing
}

// goroutine returns the slot of a goroutine, making an absent one when it is not known.
func (e *engine) goroutine(id uint64) int32 {
	if s := e.ids.get(id); s >= 0 {
		return s
	}
	return e.newGoroutine(id)
}

func (e *engine) newGoroutine(id uint64) int32 {
	var s int32
	if n := len(e.free); n > 0 {
		s = e.free[n-1]
		e.free = e.free[:n-1]
	} else {
		s = int32(len(e.gs))
		e.gs = extend(e.gs)
	}
	g := &e.gs[s]
	*g = gor{} // in place; a literal with values would be made elsewhere and copied
	g.id, g.waiter, g.blocked = id, -1, -1
	e.ids.put(id, s)
	return s
}

// carry returns what is known of the state that s was in at first.
func (e *engine) carry(s *gor) *carry {
	if s.carry == 0 {
		e.carries = extend(e.carries)
		s.carry = int32(len(e.carries))
		e.carries[s.carry-1].offAt = -1
	}
	return &e.carries[s.carry-1]
}

// maxProcs bounds the ids of Ps; the runtime allows 1024.
const maxProcs = 1 << 12

func (e *engine) proc(id uint64) *proc {
	for uint64(len(e.ps)) <= id {
		e.ps = append(e.ps, proc{m: -1, waiter: -1, sweepAt: -1, sweepG: -1, stolen: -1})
	}
	return &e.ps[id]
}

// maxGroups bounds the groups of a generation; goroutines of later ones have
// no name. A large program starts goroutines at a few hundred places.
const maxGroups = 1 << 16

// group returns the tally of the start function of a stack's goroutine: the
// outermost frame, unless the stack is so deep that it was cut.
func (e *engine) group(stack uint32) uint16 {
	if stack >= uint32(len(e.groupOf)) {
		return 0
	}
	if g := e.groupOf[stack]; g != 0 {
		return uint16(g - 1)
	}
	var g int32
	if fs := e.stack(stack); len(fs) > 0 && len(fs) < maxFrames {
		root := fs[len(fs)-1]
		if root.fn < uint32(len(e.groupByFn)) {
			if g = e.groupByFn[root.fn]; g == 0 && len(e.tallies) < maxGroups {
				e.tallies = append(e.tallies, &tally{name: e.str(uint64(root.fn)), start: root, blocked: -1})
				g = int32(len(e.tallies))
				e.groupByFn[root.fn] = g
			}
			g = max(g-1, 0)
		}
	}
	e.groupOf[stack] = g + 1
	return uint16(g)
}

// reasonIndex returns the small number of a reason's string.
func (e *engine) reasonIndex(id uint64) uint16 {
	if id < uint64(len(e.reasonOf)) {
		if r := e.reasonOf[id]; r != 0 {
			return uint16(r - 1)
		}
	}
	return e.addReason(id)
}

func (e *engine) addReason(id uint64) uint16 {
	s := e.str(id)
	r := int32(-1)
	for i, have := range e.reasons {
		if string(have) == string(s) {
			r = int32(i)
		}
	}
	if r < 0 {
		if len(e.reasons) >= maxReasons {
			return 0
		}
		r = int32(len(e.reasons))
		e.reasons = append(e.reasons, s)
	}
	if id < uint64(len(e.reasonOf)) {
		e.reasonOf[id] = r + 1
	}
	return uint16(r)
}

// cellAt returns the cell of a moment and the moment within the generation.
func (e *engine) cellAt(now int64) (*cell, int64) {
	x := now - e.t0
	i := uint64(max(x, 0)) >> e.cellShift
	if i >= cells {
		i = cells - 1
	}
	return &e.cells[i], x
}

// run replays thread mi until it parks or ends. With force, its next event
// happens whatever it finds.

func (e *engine) run(mi int32, force bool) {

	m := &e.threads[mi]
	from, to := e.from, e.to
	d, pos, end, t := m.data, m.pos, m.end, m.time
	for {
		if pos >= end {
			e.last = max(e.last, t)
			if m.batch == len(m.batches) {
				m.data, m.pos, m.end, m.done = nil, 0, 0, true
				return
			}
			b := &m.batches[m.batch]
			m.batch++
			d, pos, end, t = b.data, 0, b.size, int64(b.time)
			continue
		}
		// The first arguments are decoded here in line, because most are one
		// or two bytes and the call would cost more than the work.
		typ := eventType(d[pos])
		n := argCount[typ]
		i := pos + 1
		var dt, a1, a2, a3 uint64
		if c := d[i]; c < 0x80 {
			dt = uint64(c)
			i++
		} else if c2 := d[i+1]; c2 < 0x80 {
			dt = uint64(c&0x7f) | uint64(c2)<<7
			i += 2
		} else if dt, i = longUvarint(d, i); i < 0 {
			i, n = end, 0
		}
		if n > 1 {
			if c := d[i]; c < 0x80 {
				a1 = uint64(c)
				i++
			} else if c2 := d[i+1]; c2 < 0x80 {
				a1 = uint64(c&0x7f) | uint64(c2)<<7
				i += 2
			} else if c3 := d[i+2]; c3 < 0x80 { // a goroutine, past the first few thousand
				a1 = uint64(c&0x7f) | uint64(c2&0x7f)<<7 | uint64(c3)<<14
				i += 3
			} else if a1, i = longUvarint(d, i); i < 0 {
				i, n = end, 0
			}
			if n > 2 {
				if c := d[i]; c < 0x80 {
					a2 = uint64(c)
					i++
				} else if c2 := d[i+1]; c2 < 0x80 {
					a2 = uint64(c&0x7f) | uint64(c2)<<7
					i += 2
				} else if a2, i = longUvarint(d, i); i < 0 {
					i, n = end, 0
				}
				if n > 3 {
					if c := d[i]; c < 0x80 {
						a3 = uint64(c)
						i++
					} else if c2 := d[i+1]; c2 < 0x80 {
						a3 = uint64(c&0x7f) | uint64(c2)<<7
						i += 2
					} else if a3, i = longUvarint(d, i); i < 0 {
						i, n = end, 0
					}
				}
			}
		}
		if n == 0 || i > end {
			e.lostLen += int64(end - pos)
			e.loseContext(m, min(max(t, from), to))
			pos = end
			continue
		}
		tt := t + int64(dt)
		now := min(max(tt, from), to)

		switch typ {
		case evGoStart:
			slot := e.goroutine(a1)
			s := &e.gs[slot]
			if s.word != (a2-1)<<stBits|stRunnable || m.g >= 0 {
				if !force && (s.word&stMask != stLost || m.g >= 0 && !m.lost) {
					e.parkOnG(mi, slot)
					m.data, m.pos, m.end, m.time = d, pos, end, t
					return
				}
				e.forceTo(m, s, now)
			} else {
				dt := now - s.since
				s.ready += dt
				special := s.flags&(flCarried|flAssist|flUnnamed) != 0 && e.startSpecial(m, s, now)
				if !special {
					if s.group != 0 {
						e.waits.add(&s.readyAt, waitCause(s.stack, s.woken), waitClass(Runnable, 0, s.group), dt)
						e.tallies[s.group].delay.add(e.ns(dt))
					} else {
						e.defer_(s, Runnable, 0, waitCause(s.stack, s.woken), dt, false)
					}
				}
				c, x := e.cellAt(now)
				c.readyN--
				c.readyT -= x
				c.runN++
				c.runT += x
			}
			s.word = a2<<stBits | stRunning
			s.since = now
			s.runs++
			m.g = slot
			m.lost = false
			if s.flags&flRan == 0 {
				s.flags |= flRan
				s.first = tt
			}
			if s.waiter >= 0 {
				e.wake(&s.waiter)
			}

		case evGoBlock, evGoStop:
			if m.g < 0 {
				if !force && !m.lost {
					e.parkSelf(mi)
					m.data, m.pos, m.end, m.time = d, pos, end, t
					return
				}
				e.dropped++
				break
			}
			s := &e.gs[m.g]
			if s.flags&flBurst != 0 {
				e.endBurst(s, uint32(a2), now)
			}
			e.leaveRunning(m, s, now)
			s.stack = uint32(a2)
			if s.group == 0 {
				e.setGroup(s, s.stack)
			}
			if typ == evGoBlock {
				s.reason = e.reasonIndex(a1)
				s.word = s.word&^stMask | stWaiting
			} else {
				s.woken = 0
				s.word = s.word&^stMask | stRunnable
				c, x := e.cellAt(now)
				c.readyN++
				c.readyT += x
			}
			s.since = now
			m.g = -1
			if s.waiter >= 0 {
				e.wake(&s.waiter)
			}

		case evGoUnblock:
			slot := e.goroutine(a1)
			s := &e.gs[slot]
			if s.word != (a2-1)<<stBits|stWaiting {
				if !force && s.word&stMask != stLost {
					e.parkOnG(mi, slot)
					m.data, m.pos, m.end, m.time = d, pos, end, t
					return
				}
				e.forceTo(nil, s, now)
			} else {
				if s.flags&flCarried != 0 && s.stack == 0 {
					s.flags |= flUnnamed
				}
				e.leaveWaiting(s, now)
			}
			s.word = a2<<stBits | stRunnable
			s.woken = s.stack
			s.stack = uint32(a3)
			s.since = now
			c, x := e.cellAt(now)
			c.readyN++
			c.readyT += x
			if m.burstStack == s.stack && now-m.burstStart < e.burst {
				if m.burstN++; m.burstN >= minBurst {
					s.flags |= flBurst
				}
			} else {
				e.flushBurst(m)
				m.burstStack, m.burstStart, m.burstN = s.stack, now, 1
			}
			if s.waiter >= 0 {
				e.wake(&s.waiter)
			}

		case evGoCreate, evGoCreateBlocked:
			slot := e.ids.get(a1)
			if slot >= 0 && e.gs[slot].word&stMask != stAbsent {
				if !force && e.gs[slot].word&stMask != stLost {
					e.parkOnG(mi, slot)
					m.data, m.pos, m.end, m.time = d, pos, end, t
					return
				}
				e.giveUp(&e.gs[slot], now)
				e.endGoroutine(slot, now)
				slot = -1
			}
			if slot < 0 {
				slot = e.newGoroutine(a1)
			}
			s := &e.gs[slot]
			s.created = now
			s.traits |= trBorn
			s.since = now
			s.cause = uint32(a3)
			s.group = e.group(uint32(a2))
			tl := e.tallies[s.group]
			tl.created++
			tl.cause = s.cause
			tl.net[e.netSlot(now)]++
			if typ == evGoCreate {
				s.word = stRunnable
				s.stack = s.cause
				c, x := e.cellAt(now)
				c.readyN++
				c.readyT += x
			} else {
				s.word = stWaiting
				s.reason = e.reasonIndex(0)
			}
			if s.waiter >= 0 {
				e.wake(&s.waiter)
			}

		case evGoDestroy, evGoDestroySyscall:
			if m.g < 0 {
				if !force && !m.lost {
					e.parkSelf(mi)
					m.data, m.pos, m.end, m.time = d, pos, end, t
					return
				}
				e.dropped++
				break
			}
			s := &e.gs[m.g]
			if s.word&stMask == stSyscall {
				if !force && m.p >= 0 && e.ps[m.p].word&stMask == psSyscall {
					// Was the P taken before, by a thread not replayed yet?
					// Nothing tells but the time.
					m.parked, m.barrier, m.wantG = true, true, 0
					m.data, m.pos, m.end, m.time = d, pos, end, t
					return
				}
				e.leaveSyscall(m, s, now, false)
				if m.p >= 0 {
					e.abandonProc(m, now)
				}
			} else {
				e.leaveRunning(m, s, now)
			}
			e.endGoroutine(m.g, now)
			m.g = -1

		case evGoSyscallBegin:
			if m.g < 0 || m.p < 0 {
				if !force && !m.lost && m.g < 0 {
					e.parkSelf(mi)
					m.data, m.pos, m.end, m.time = d, pos, end, t
					return
				}
				if m.g < 0 {
					e.dropped++
					break
				}
			}
			s := &e.gs[m.g]
			e.leaveRunning(m, s, now)
			s.stack = uint32(a2)
			if s.group == 0 {
				e.setGroup(s, s.stack)
			}
			s.word = s.word&^stMask | stSyscall
			s.since = now
			m.offAt = -1
			if m.p >= 0 {
				p := &e.ps[m.p]
				p.word = a1<<stBits | psSyscall
				p.sysFrom = now
				if p.waiter >= 0 {
					e.wake(&p.waiter)
				}
			} else {
				m.offAt = now
			}

		case evGoSyscallEnd:
			if m.g < 0 {
				if !force && !m.lost {
					e.parkSelf(mi)
					m.data, m.pos, m.end, m.time = d, pos, end, t
					return
				}
				e.dropped++
				break
			}
			s := &e.gs[m.g]
			e.leaveSyscall(m, s, now, false)
			s.word = s.word&^stMask | stRunning
			s.since = now
			c, x := e.cellAt(now)
			c.runN++
			c.runT += x
			if m.p >= 0 {
				p := &e.ps[m.p]
				if p.word&stMask == psSyscall {
					p.sys += now - p.sysFrom
				}
				p.word = p.word&^stMask | psRunning
			}

		case evGoSyscallEndBlocked:
			if m.g < 0 {
				if !force && !m.lost {
					e.parkSelf(mi)
					m.data, m.pos, m.end, m.time = d, pos, end, t
					return
				}
				e.dropped++
				break
			}
			if m.p >= 0 && e.ps[m.p].word&stMask == psSyscall {
				if !force {
					// The event says that the P was taken: wait for who took it.
					e.parkOnP(mi, m.p)
					m.data, m.pos, m.end, m.time = d, pos, end, t
					return
				}
				e.dropProc(m, now)
			}
			s := &e.gs[m.g]
			e.leaveSyscall(m, s, now, true)
			s.word = s.word&^stMask | stRunnable
			s.since = now
			s.stack, s.woken = 0, 0
			c, x := e.cellAt(now)
			c.readyN++
			c.readyT += x
			m.g = -1
			if s.waiter >= 0 {
				e.wake(&s.waiter)
			}

		case evGoSwitch, evGoSwitchDestroy:
			if m.g < 0 {
				if !force && !m.lost {
					e.parkSelf(mi)
					m.data, m.pos, m.end, m.time = d, pos, end, t
					return
				}
				e.dropped++
				break
			}
			slot := e.goroutine(a1)
			s := &e.gs[slot]
			if s.word != (a2-1)<<stBits|stWaiting {
				if !force && s.word&stMask != stLost {
					e.parkOnG(mi, slot)
					m.data, m.pos, m.end, m.time = d, pos, end, t
					return
				}
				e.forceTo(nil, s, now)
			} else {
				e.leaveWaiting(s, now)
			}
			o := &e.gs[m.g]
			e.leaveRunning(m, o, now)
			if typ == evGoSwitch {
				o.word = o.word&^stMask | stWaiting
				o.since, o.stack = now, 0
				o.reason = e.reasonIndex(0)
				if o.waiter >= 0 {
					e.wake(&o.waiter)
				}
			} else {
				e.endGoroutine(m.g, now)
				s = &e.gs[slot]
			}
			// The switched-to goroutine is made ready and runs at once.
			if s.group != 0 {
				e.waits.add(&s.readyAt, 0, waitClass(Runnable, 0, s.group), 0)
				e.tallies[s.group].delay.add(0)
			} else {
				e.defer_(s, Runnable, 0, 0, 0, false)
			}
			s.word = a2<<stBits | stRunning
			s.since = now
			s.stack, s.woken = 0, s.stack
			s.runs++
			if s.flags&flRan == 0 {
				s.flags |= flRan
				s.first = tt
			}
			m.g = slot
			c, x := e.cellAt(now)
			c.runN++
			c.runT += x
			if s.waiter >= 0 {
				e.wake(&s.waiter)
			}

		case evProcStart:
			if a1 >= maxProcs {
				e.dropped++
				break
			}
			p := e.proc(a1)
			if p.word != (a2-1)<<stBits|psIdle || m.p >= 0 {
				if !force && p.word&stMask != psLost {
					// Either the P is not idle yet, or this thread's own P
					// was not taken from its system call yet.
					on := int32(a1)
					if m.p >= 0 {
						on = m.p
					}
					e.parkOnP(mi, on)
					m.data, m.pos, m.end, m.time = d, pos, end, t
					return
				}
				e.forceProc(m, p, now)
			}
			p.word = a2<<stBits | psRunning
			p.m = mi
			p.since = now
			p.starts++
			p.touched = true
			m.p = int32(a1)
			c, x := e.cellAt(now)
			c.heldN++
			c.heldT += x
			if p.waiter >= 0 {
				e.wake(&p.waiter)
			}

		case evProcStop:
			if m.p < 0 {
				e.dropped++
				break
			}
			if e.ps[m.p].word&stMask == psSyscall && m.g >= 0 {
				m.offAt = now
			}
			e.dropProc(m, now)

		default:
			a := [6]uint64{dt, a1, a2, a3}
			for k := 4; k < int(n); k++ {
				if a[k], i = longUvarint(d, i); i < 0 {
					i = end + 1
					break
				}
			}
			if i > end {
				e.lostLen += int64(end - pos)
				e.loseContext(m, now)
				pos = end
				continue
			}
			if !e.other(mi, m, typ, &a, tt, now, force) {
				m.data, m.pos, m.end, m.time = d, pos, end, t
				return
			}
		}
		force = false
		e.events++
		pos = i
		t = tt
	}
}

// longUvarint decodes a varint of any length where slack bytes may be read. One that
// is too long to be a number ends at -1.
func longUvarint(d []byte, i int) (v uint64, next int) {
	for s := uint(0); s < 64; s += 7 {
		c := d[i]
		i++
		v |= uint64(c&0x7f) << s
		if c < 0x80 {
			return v, i
		}
	}
	return 0, -1
}

// leaveRunning ends a run on a P.
func (e *engine) leaveRunning(m *thread, s *gor, now int64) {
	if s.word&stMask != stRunning {
		e.mislay(s, now)
		return
	}
	dt := now - s.since
	s.run += dt
	c, x := e.cellAt(now)
	c.runN--
	c.runT -= x
	if s.flags&(flCarried|flMarker|flAssist) != 0 {
		e.leaveSpecial(m, s, now)
		return
	}
	e.slice.add(e.ns(dt))
	if m.p >= 0 {
		e.ps[m.p].user += dt
	}
}

// leaveSpecial ends the run of a goroutine that the collector has to do
// with, or that began before the generation.
func (e *engine) leaveSpecial(m *thread, s *gor, now int64) {
	dt := now - s.since
	if s.flags&flCarried != 0 {
		e.leaveCarried(s, now)
	} else {
		e.slice.add(e.ns(dt))
	}
	if m.p < 0 {
		s.flags &^= flMarker
		return
	}
	p := &e.ps[m.p]
	switch {
	case s.flags&flMarker == 0:
		p.user += dt
	case s.reason == markIdle:
		p.gcIdle += dt
	default:
		p.gc += dt
		e.load = append(e.load, loadMark{now, m.p, LoadBackground, s.reason == markDedicated, -1})
	}
	s.flags &^= flMarker
	if s.flags&flAssist != 0 {
		e.load = append(e.load, loadMark{now, m.p, LoadAssist, false, -1})
	}
}

// How a mark worker labelled itself; kept in gor.reason while it runs.
const (
	markDedicated = iota
	markFractional
	markIdle
)

// leaveCarried notes when a state ended that began in an earlier generation.
func (e *engine) leaveCarried(s *gor, now int64) {
	s.flags &^= flCarried
	s.traits |= trLeft
	e.carry(s).end = now
	e.carry(s).stack = s.stack
}

// leaveWaiting ends a wait.
func (e *engine) leaveWaiting(s *gor, now int64) {
	if s.flags&flCarried != 0 {
		e.leaveCarried(s, now)
		return
	}
	dt := now - s.since
	e.sums.add(&s.blocked, int32(s.reason), dt)
	if s.group == 0 {
		e.defer_(s, Waiting, s.reason, waitCause(s.stack, 0), dt, false)
		return
	}
	e.waits.add(&s.waitAt, waitCause(s.stack, 0), waitClass(Waiting, s.reason, s.group), dt)
}

// leaveSyscall ends a system call. taken tells that its event says that the
// P was lost, also when nothing showed when.
func (e *engine) leaveSyscall(m *thread, s *gor, now int64, taken bool) {
	off := m.offAt
	m.offAt = -1
	if s.word&stMask != stSyscall {
		e.mislay(s, now)
		return
	}
	if s.flags&flCarried != 0 {
		e.leaveCarried(s, now)
		e.carry(s).offAt = off
		if taken {
			s.traits |= trTaken
		}
		return
	}
	dt := now - s.since
	if off < 0 && taken {
		off = s.since
	}
	if off >= 0 {
		off = min(max(off, s.since), now)
		s.sys += off - s.since
		s.sysOff += now - off
	} else {
		s.sys += dt
	}
	if s.group == 0 {
		e.defer_(s, Syscall, 0, waitCause(s.stack, 0), dt, false)
		return
	}
	e.waits.add(&s.waitAt, waitCause(s.stack, 0), waitClass(Syscall, 0, s.group), dt)
}

// dropProc makes the P of a thread idle.
func (e *engine) dropProc(m *thread, now int64) {
	p := &e.ps[m.p]
	e.releaseProc(p, now)
	p.word = p.word&^stMask | psIdle
	m.p = -1
	if p.waiter >= 0 {
		e.wake(&p.waiter)
	}
}

// releaseProc ends the time that a P was held.
func (e *engine) releaseProc(p *proc, now int64) {
	switch p.word & stMask {
	case psSyscall, psAbandoned:
		p.sys += now - p.sysFrom
	case psRunning:
	default:
		return
	}
	p.held += now - p.since
	p.m = -1
	p.touched = true
	c, x := e.cellAt(now)
	c.heldN--
	c.heldT -= x
}

// abandonProc leaves the P of a thread in a system call that nobody waits for.
func (e *engine) abandonProc(m *thread, now int64) {
	p := &e.ps[m.p]
	if p.word&stMask == psSyscall {
		p.word = p.word&^stMask | psAbandoned
		p.m = -1
	}
	m.p = -1
	if p.waiter >= 0 {
		e.wake(&p.waiter)
	}
}

// forceTo gives up what a goroutine seemed to do, and what m seemed to run.
func (e *engine) forceTo(m *thread, s *gor, now int64) {
	if m != nil && m.g >= 0 {
		e.loseGoroutine(m, now)
	}
	e.giveUp(s, now)
}

// giveUp sends the time of a goroutine's present state to unknown and takes
// it off the thread that it seemed to be on.
func (e *engine) giveUp(s *gor, now int64) {
	e.mislay(s, now)
	for i := range e.threads {
		if t := &e.threads[i]; t.g >= 0 && &e.gs[t.g] == s {
			t.g = -1
		}
	}
}

// mislay sends the time of a goroutine's present state to unknown.
func (e *engine) mislay(s *gor, now int64) {
	switch s.word & stMask {
	case stAbsent:
		// It lived before, or was born by an event that was lost.
		s.since = e.begin()
		s.traits |= trForced | trLeft
		e.carry(s).end = now
	case stRunning:
		c, x := e.cellAt(now)
		c.runN--
		c.runT -= x
	case stRunnable:
		c, x := e.cellAt(now)
		c.readyN--
		c.readyT -= x
	}
	s.unknown += now - s.since
	s.since = now
	if s.flags&flCarried != 0 {
		s.traits |= trForced
		e.leaveCarried(s, now)
	}
	s.flags &^= flMarker | flAssist | flUnnamed
}

// loseGoroutine forgets what a thread was running.
func (e *engine) loseGoroutine(m *thread, now int64) {
	if m.g < 0 {
		return
	}
	s := &e.gs[m.g]
	m.g = -1
	e.giveUp(s, now)
	s.word = s.word&^stMask | stLost
	if s.waiter >= 0 {
		e.wake(&s.waiter)
	}
}

// loseContext forgets a thread's goroutine and P, after events of it were lost.
func (e *engine) loseContext(m *thread, now int64) {
	e.loseGoroutine(m, now)
	if m.p >= 0 {
		e.loseProc(&e.ps[m.p], now)
		m.p = -1
	}
	m.lost = true
}

func (e *engine) loseProc(p *proc, now int64) {
	e.releaseProc(p, now)
	p.word = p.word&^stMask | psLost
	p.m = -1
	if p.waiter >= 0 {
		e.wake(&p.waiter)
	}
}

// forceProc makes a P free for m to take.
func (e *engine) forceProc(m *thread, p *proc, now int64) {
	if m.p >= 0 {
		e.loseProc(&e.ps[m.p], now)
		m.p = -1
	}
	if p.m >= 0 {
		e.threads[p.m].p = -1
	}
	e.releaseProc(p, now)
}

// A lateWait is a wait of a goroutine whose group, or whose place of waiting
// before, was not known when it ended: no stack of it had been seen.
type lateWait struct {
	unnamed bool // the place where it had waited is the stitcher's to fill in
	state   State
	reason  uint16
	cause   uint64
	d       int64
	next    int32 // of the same goroutine, plus one
}

// defer_ keeps a wait until the goroutine's group is known.
func (e *engine) defer_(s *gor, state State, reason uint16, cause uint64, d int64, unnamed bool) {
	e.late = append(e.late, lateWait{unnamed, state, reason, cause, d, s.late})
	s.late = int32(len(e.late))
}

// setGroup learns a goroutine's start function from one of its own stacks.
func (e *engine) setGroup(s *gor, stack uint32) {
	if s.group = e.group(stack); s.group != 0 && s.traits&trBorn != 0 {
		e.settleGroup(s)
	}
}

// settleGroup counts what waited for the group of a goroutine that was born
// here to be known. What waits for the group of one that was not is the
// stitcher's, who knows more of it.
func (e *engine) settleGroup(s *gor) {
	tl := e.tallies[s.group]
	for i := s.late; i != 0; {
		w := &e.late[i-1]
		x := e.waits.at(w.cause, waitClass(w.state, w.reason, s.group))
		x.n++
		x.total += w.d
		if w.state == Runnable {
			tl.delay.add(e.ns(w.d))
		}
		i = w.next
	}
	s.late = 0
	if s.traits&trUncounted != 0 {
		s.traits &^= trUncounted
		tl.created++
		tl.net[e.netSlot(s.created)]++
	}
}

// endGoroutine ends a life. Those that were born in this generation are
// added to their group and forgotten; the others wait for the stitcher.
func (e *engine) endGoroutine(slot int32, now int64) {
	s := &e.gs[slot]
	e.ids.remove(s.id)
	if s.waiter >= 0 {
		e.wake(&s.waiter)
	}
	if s.cold > 0 {
		e.closeCold(slot, s, now)
	}
	if s.traits&trBorn == 0 {
		s.word = stDead
		s.since = now
		return
	}
	e.settleGroup(s)
	tl := e.tallies[s.group]
	tl.ended++
	tl.net[e.netSlot(now)]--
	e.fold(tl, s, now)
	e.sums.drop(&s.blocked)
	if s.cold > 0 {
		e.coldFree = append(e.coldFree, s.cold)
	}
	s.word = stAbsent
	s.id = 0
	e.free = append(e.free, slot)
}

// fold adds a finished goroutine to its group.
func (e *engine) fold(tl *tally, s *gor, now int64) {
	tl.run += s.run
	tl.ready += s.ready
	tl.sys += s.sys
	tl.sysOff += s.sysOff
	tl.unknown += s.unknown
	tl.runs += int64(s.runs)
	tl.running.add(e.ns(s.run))
	tl.life.add(e.ns(now - s.created))
	for n := range e.sums.all(s.blocked) {
		e.sums.add(&tl.blocked, n.key, n.sum)
	}
	if weight := s.run + s.ready; e.keep < 0 || weight > tl.keepMin || len(tl.kept) < e.keep {
		e.keepGor(tl, s, now)
	}
}

func (e *engine) keepGor(tl *tally, s *gor, now int64) {
	k := keptGor{gor: *s, ended: now}
	k.sums = slices.Collect(e.sums.all(s.blocked))
	if e.keep < 0 || len(tl.kept) < e.keep {
		tl.kept = append(tl.kept, k)
	} else {
		least := 0
		for i := range tl.kept {
			if tl.kept[i].weight() < tl.kept[least].weight() {
				least = i
			}
		}
		tl.kept[least] = k
	}
	if len(tl.kept) == e.keep {
		tl.keepMin = tl.kept[0].weight()
		for i := range tl.kept {
			tl.keepMin = min(tl.keepMin, tl.kept[i].weight())
		}
	}
}

func (s *gor) weight() int64 { return s.run + s.ready }

// Bursts: goroutines made ready from one place within burstSpan.
const (
	minBurst  = 8
	burstSpan = 100_000 // ns
	futileRun = 20_000  // ns
)

func (e *engine) flushBurst(m *thread) {
	if m.burstN < minBurst {
		return
	}
	b := e.burstAt(m.burstStack)
	b.count++
	b.woken += int64(m.burstN)
	b.max = max(b.max, int64(m.burstN))
	m.burstN = 0
}

func (e *engine) burstAt(stack uint32) *burstTally {
	b := e.bursts[stack]
	if b == nil {
		b = new(burstTally)
		e.bursts[stack] = b
	}
	return b
}

// endBurst is called when a goroutine that was woken with many others stops
// for the first time, at stack: did it do anything?
func (e *engine) endBurst(s *gor, stack uint32, now int64) {
	s.flags &^= flBurst
	if stack == s.woken && e.ns(now-s.since) < futileRun {
		e.burstAt(s.stack).futile++
	}
}

// netSlot is the place of a moment in tally.net.
func (e *engine) netSlot(now int64) int {
	i := uint64(max(now-e.t0, 0)) >> e.cellShift
	return int(min(i, cells-1) / (cells / 32))
}
