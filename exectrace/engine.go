package exectrace

import "sync/atomic"

// What a replay knows of its generation: goroutines, threads and Ps as they
// are at the moment, and what they added up so far. replay.go moves them.

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
	flHere                // alive under its id, or named by an event
)

// Traits of a goroutine that only its end asks for.
const (
	trBorn      = 1 << iota // created in this generation
	trLeft                  // was carried, and has left that state
	trForced                // its carried state cannot be trusted
	trTaken                 // carried in a system call: its end said that the P was lost
	trUncounted             // born without a stack: counted when its group is known
	trStood                 // a wait of it went on when the window ended, and is counted
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

// carry returns what is known of the state that s was in at first.
func (e *engine) carry(s *gor) *carry {
	if s.carry == 0 {
		e.carries = extend(e.carries)
		s.carry = int32(len(e.carries))
		e.carries[s.carry-1].offAt = -1
	}
	return &e.carries[s.carry-1]
}

// A carry is what is known of the state that a goroutine was in when the
// generation began.
type carry struct {
	end   int64  // when it ended
	offAt int64  // a system call: when its P was seen to be taken, or -1
	stack uint32 // as announced
	why   uint16 // waiting: the reason that the stack tells, plus one
	state uint8  // as announced
}

func (s *gor) weight() int64 { return s.run + s.ready }

// A thread is an M in the replay.
type thread struct {
	data    []byte
	pos     int
	end     int
	time    int64
	g, p    int32  // slots, -1 for none
	wantG   uint64 // at a barrier: the goroutine to be created
	next    int32  // in the list of threads parked on the same thing
	prev    int32
	batch   int
	batches []batch
	id      uint64
	waiter  int32 // itself, when parked for want of a goroutine
	parked  bool
	on      uint8 // what it is parked on, with the index of that
	onIndex int32
	lost    bool  // its context was lost: events that need one are dropped
	barrier bool  // parked until nothing else can run
	offAt   int64 // when the P was taken from its system call; -1 not

	burstG     int32 // who woke the goroutines of the burst
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
	starts  int64
	sweepAt int64  // -1 when not sweeping
	sweepG  int32  // who sweeps, or anyone
	sweepIn uint32 // stack
	id      int32
	carried bool  // held since before the generation
	stolen  int64 // when it was taken from an abandoned system call; -1 not
	status  uint8 // as announced
	touched bool
}

func (e *engine) proc(id uint64) *proc {
	for uint64(len(e.ps)) <= id {
		e.ps = append(e.ps, proc{id: int32(len(e.ps)), m: -1, waiter: -1, sweepAt: -1, sweepG: -1, stolen: -1})
	}
	return &e.ps[id]
}

// maxProcs bounds the ids of Ps; the runtime allows 1024.
const maxProcs = 1 << 12

// A tally is a group of goroutines within one generation. What it counts of
// times are those that were born and died here; the rest is the stitcher's.
type tally struct {
	name                             []byte
	start                            rawFrame
	created                          int // and lived in the window
	early                            int // of these before the window
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
	assist   int64 // begin, -1 none
	stw      int64
	stwKind  int32
	stwAt    uint32 // stack
	assistAt uint32
	regions  []openRegion
}

type openRegion struct {
	name  uint32 // string id
	task  uint64
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

// A herd is where a goroutine of a burst had waited, and who woke it, while it waits for a lock.
type herd struct{ waker, woken uint32 }

// A lateWait is a wait of a goroutine whose group, or whose place of waiting
// before, was not known when it ended: no stack of it had been seen.
type lateWait struct {
	unnamed bool // the place where it had waited is the stitcher's to fill in
	open    bool // it went on when the window ended
	still   bool // and when the window began
	state   State
	reason  uint16
	cause   uint64
	d       int64
	next    int32 // of the same goroutine, plus one
}

// An openWait is a wait that went on when the window ended: the generation goes on, and
// has its end.
type openWait struct {
	class uint64 // as in engine.waits
	stack uint32
	still bool // it went on when the window began
	d     int64
}

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

	threads           []thread
	byM               map[uint64]int32
	ps                []proc
	gs                []gor
	carries           []carry
	ids               idTable // chunk of gs by goroutine id / chunkSize
	reuses            idTable // chunk by goroutine id, where an earlier life of this id is kept for the stitcher
	alive             []uint8 // goroutines in each chunk
	free              []int32 // chunks
	colds             []cold
	sums              sums
	waits             waitTable
	queue             []int32
	tries             int64 // that are left
	noting            bool  // those that are parked are in one of these
	waiting, barriers parkedHeap

	tallies   []*tally
	groupOf   []int32 // by stack id, plus one
	groupByFn []int32 // by string id of the start function, plus one
	reasons   [][]byte
	reasonOf  []int32           // by string id, plus one
	parkings  map[uint32]uint16 // reasons by stack of goroutines that were found waiting, plus one
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
	open       []openWait
	gcs        []gcMark
	heap       [heapMarks]heapMark
	pauses     []pauseMark
	load       []loadMark
	bursts     map[uint32]*burstTally
	herds      map[int32]herd // by slot
	procs      []procsMark

	limit  int64   // of a marked replay: events from here on wait
	paused []int32 // threads that do

	stop  *atomic.Bool // set when nobody wants the generation any more
	full  bool         // its piece counts in what bounds the reading
	notes *notes       // of single states; nil when nobody asks
	spare *notes       // their memory, for another time

	events  int64
	forced  int64
	dropped int64 // events that needed a context that was lost
	lostLen int64 // bytes of batches given up
}

func newEngine() *engine {
	return &engine{
		byM: map[uint64]int32{}, samples: map[uint32]int64{}, bursts: map[uint32]*burstTally{}, herds: map[int32]herd{}, parkings: map[uint32]uint16{},
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
	e.gs, e.carries, e.alive, e.free = e.gs[:0], e.carries[:0], e.alive[:0], e.free[:0]
	e.ids.reset()
	e.reuses.reset()
	e.colds = e.colds[:0]
	e.sums.reset()
	e.waits.reset()
	e.open = e.open[:0]
	e.queue, e.paused = e.queue[:0], e.paused[:0]
	e.tries, e.noting = g.patience(), false
	e.waiting, e.barriers = e.waiting[:0], e.barriers[:0]
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
	clear(e.herds)
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
	if e.notes = nil; o.Piece != nil {
		if e.spare == nil {
			e.spare = newNotes()
		}
		e.notes = e.spare
		e.notes.reset(e, o.wish)
	}
	e.findParkings()
}

func zeroed[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n)
	}
	s = s[:n]
	clear(s)
	return s
}

// chunkSize is how many goroutines with consecutive ids lie side by side, in
// slots in the same order. Those that are born together are met together, and
// memory that is asked for in order comes in time. A goroutine that outlives its
// neighbours keeps their room: at most a KiB for each that is alive.
const chunkSize = 8

// find returns the slot of a goroutine, or -1.
func (e *engine) find(id uint64) int32 {
	c := e.ids.get(id / chunkSize)
	if c < 0 {
		return -1
	}
	slot := c*chunkSize + int32(id%chunkSize)
	switch s := &e.gs[slot]; {
	case s.flags&flHere != 0:
		return slot
	case s.word&stMask != stDead:
		return -1
	}
	if c = e.reuses.get(id); c < 0 {
		return -1
	}
	return c*chunkSize + int32(id%chunkSize)
}

// goroutine returns the slot of a goroutine, making an absent one when it is not known.
func (e *engine) goroutine(id uint64) int32 {
	if s := e.find(id); s >= 0 {
		return s
	}
	return e.newGoroutine(id)
}

func (e *engine) newGoroutine(id uint64) int32 {
	c := e.ids.get(id / chunkSize)
	switch {
	case c < 0:
		c = e.newChunk(-1)
		e.ids.put(id/chunkSize, c)
	case e.gs[c*chunkSize+int32(id%chunkSize)].word&stMask == stDead:
		c = e.newChunk(c) // the stitcher meets lives in the order of their slots
		e.reuses.put(id, c)
	}
	e.alive[c]++
	slot := c*chunkSize + int32(id%chunkSize)
	g := &e.gs[slot]
	*g = gor{} // in place; a literal with values would be made elsewhere and copied
	g.id, g.waiter, g.blocked, g.flags = id, -1, -1, flHere
	if e.notes != nil {
		e.notes.place(slot)
	}
	return slot
}

// newChunk returns an empty chunk whose number is above another's.
func (e *engine) newChunk(above int32) (c int32) {
	if n := len(e.free); n > 0 && e.free[n-1] > above {
		c = e.free[n-1]
		e.free = e.free[:n-1]
		return c
	}
	c = int32(len(e.alive))
	e.alive = extend(e.alive)
	e.gs = grow(e.gs, len(e.gs)+chunkSize-1)
	clear(e.gs[c*chunkSize:])
	return c
}

// forget gives the slot of a goroutine back.
func (e *engine) forget(slot int32, id uint64) {
	s := &e.gs[slot]
	s.word, s.id, s.flags, s.traits = stAbsent, 0, 0, 0
	c := slot / chunkSize
	if e.alive[c]--; e.alive[c] > 0 {
		return
	}
	if e.ids.get(id/chunkSize) == c {
		e.ids.remove(id / chunkSize)
	} else {
		e.reuses.remove(id)
	}
	e.free = append(e.free, c)
}

// namesGroup reports whether the outermost frame of a stack, named so, is a
// goroutine's start function. What a goroutine does when it ends, or leaves its
// stack for the scheduler's, is seen without what is below it; so is what preempts
// it at its very first instructions, which set up the frame that unwinding needs.
func namesGroup(function string) bool {
	switch function {
	case "", "runtime.asyncPreempt", "runtime.goexit0", "runtime.goexit1", "runtime.mcall", "runtime.systemstack", "runtime.systemstack_switch":
		return false
	}
	return true
}

// maxGroups bounds the groups of a generation; goroutines of later ones have
// no name. A large program starts goroutines at a few hundred places.
const maxGroups = 1 << 16

// group returns the tally of the start function of a stack's goroutine: the
// outermost frame, unless the stack is so deep that it was cut, or the runtime
// could not name that frame.
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
		if root.fn < uint32(len(e.groupByFn)) && namesGroup(string(e.str(uint64(root.fn)))) {
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
	r := e.wordIndex(e.str(id))
	if id < uint64(len(e.reasonOf)) && int(r) < len(e.reasons) {
		e.reasonOf[id] = int32(r) + 1
	}
	return r
}

// wordIndex returns the small number of a reason.
func (e *engine) wordIndex(s []byte) uint16 {
	for i, have := range e.reasons {
		if string(have) == string(s) {
			return uint16(i)
		}
	}
	if len(e.reasons) >= maxReasons {
		return 0
	}
	e.reasons = append(e.reasons, s)
	return uint16(len(e.reasons) - 1)
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

// netSlot returns the place of a moment in tally.net.
func (e *engine) netSlot(now int64) int {
	i := uint64(max(now-e.t0, 0)) >> e.cellShift
	return int(min(i, cells-1) / (cells / 32))
}
