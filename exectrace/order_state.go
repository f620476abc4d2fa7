package exectrace

import "fmt"

// The state of the scheduler as far as events told it. An event may happen
// when its preconditions hold: the goroutine or P is in the right state and
// the sequence number is the next one. That puts the events of different
// threads in order of cause even where their times disagree.

// An advance is what became of an event that was tried.
type advance uint8

const (
	advTaken   advance = iota
	advBlocked         // it must wait for an event of another thread; ordering.wait tells for which
	advFailed          // it cannot be in a whole trace; ordering.err tells why
)

// A awaitKind is what a blocked event waits for.
type awaitKind uint8

const (
	awaitGo awaitKind = iota
	awaitProc
	awaitThread
)

type await struct {
	kind awaitKind
	slot int32
}

type orderGo struct {
	id      int64
	seq     uint64
	gen     uint64
	status  uint8 // as on the wire; 0 is not known
	assist  bool
	pause   string // kind of the stop-the-world under way
	pausing bool
	waiters *eventCursor
}

type orderProc struct {
	id      int64
	seq     uint64
	gen     uint64
	status  uint8
	sweep   bool
	waiters *eventCursor
}

type orderThread struct {
	id      int64
	g       int64 // -1 is none
	p       int64
	gslot   int32 // of g, checked before use: a slot may be used again
	pslot   int32
	waiters *eventCursor
}

type orderTask struct {
	name   string
	parent uint64
}

type orderRegion struct {
	task uint64
	name string
}

// maxProcID bounds the ids of Ps: far above any GOMAXPROCS, low enough for int32.
const maxProcID = 1 << 20

type markPhase uint8

const (
	markUnknown markPhase = iota
	markOff
	markOn
)

// An ordering is the state that decides whether an event may happen.
type ordering struct {
	strict bool // wrong events are failures; else they wait and are forced in the end
	force  bool // the event happens whatever the state
	gen    uint64
	first  bool // nothing is known from an earlier generation

	goIndex   idTable
	gos       []orderGo
	freeGos   []int32
	procIndex idTable
	procs     []orderProc
	mIndex    idTable
	threads   []orderThread
	tasks     map[uint64]orderTask
	regions   map[int64][]orderRegion
	gcSeq     uint64
	gc        markPhase
	tab       *eventTables

	out   [3]Event
	n     int
	wait  await
	err   error
	woken *eventCursor // whose wait is over

	forced  int64
	dropped int64
}

func newOrdering(strict bool) *ordering {
	o := &ordering{strict: strict, tasks: map[uint64]orderTask{}, regions: map[int64][]orderRegion{}}
	o.forget()
	return o
}

// forget drops all states: what comes next does not follow what came before.
func (o *ordering) forget() {
	o.goIndex.reset()
	o.gos, o.freeGos = o.gos[:0], o.freeGos[:0]
	o.procIndex.reset()
	o.procs = o.procs[:0]
	o.mIndex.reset()
	o.threads = o.threads[:0]
	o.gc = markUnknown
	clear(o.regions)
	o.first = true
}

// goroutine returns the slot of a goroutine, -1 when it does not exist.
func (o *ordering) goroutine(id int64) int32 { return o.goIndex.get(uint64(id)) }

func (o *ordering) addGoroutine(id int64) int32 {
	var s int32
	if n := len(o.freeGos); n > 0 {
		s = o.freeGos[n-1]
		o.freeGos = o.freeGos[:n-1]
		o.gos[s] = orderGo{id: id}
	} else {
		s = int32(len(o.gos))
		o.gos = append(o.gos, orderGo{id: id})
	}
	o.goIndex.put(uint64(id), s)
	return s
}

// endGoroutine forgets a goroutine that ended.
func (o *ordering) endGoroutine(s int32) {
	g := &o.gos[s]
	o.wake(&g.waiters)
	o.goIndex.remove(uint64(g.id))
	if o.strict {
		delete(o.regions, g.id)
	}
	g.id = -1
	o.freeGos = append(o.freeGos, s)
}

func (o *ordering) addProc(id int64) int32 {
	s := int32(len(o.procs))
	o.procs = append(o.procs, orderProc{id: id})
	o.procIndex.put(uint64(id), s)
	return s
}

func (o *ordering) addThread(id int64) int32 {
	s := int32(len(o.threads))
	o.threads = append(o.threads, orderThread{id: id, g: -1, p: -1})
	o.mIndex.put(uint64(id), s)
	return s
}

// bind makes g the goroutine of a thread.
func (o *ordering) bind(t int32, g int64, slot int32) {
	ts := &o.threads[t]
	ts.g, ts.gslot = g, slot
	o.wake(&ts.waiters)
}

func (o *ordering) bindProc(t int32, p int64, slot int32) {
	ts := &o.threads[t]
	ts.p, ts.pslot = p, slot
	o.wake(&ts.waiters)
}

// running returns the slot of a thread's goroutine, -1 when it is not there.
func (o *ordering) running(ts *orderThread) int32 {
	if ts.g < 0 {
		return -1
	}
	if int(ts.gslot) < len(o.gos) && o.gos[ts.gslot].id == ts.g {
		return ts.gslot
	}
	s := o.goroutine(ts.g)
	if s >= 0 {
		ts.gslot = s
	}
	return s
}

// wake ends the wait of all threads in a list.
func (o *ordering) wake(list **eventCursor) {
	for c := *list; c != nil; {
		next := c.next
		c.next, o.woken = o.woken, c
		c = next
	}
	*list = nil
}

// waitersOf returns the list that a blocked event has to be put in.
func (o *ordering) waitersOf(k await) **eventCursor {
	switch k.kind {
	case awaitGo:
		return &o.gos[k.slot].waiters
	case awaitProc:
		return &o.procs[k.slot].waiters
	}
	return &o.threads[k.slot].waiters
}

// blockOn says that the event must wait for a goroutine, which need not be known yet.
func (o *ordering) blockOn(id int64, slot int32) advance {
	if o.strict {
		return advBlocked
	}
	if slot < 0 {
		slot = o.addGoroutine(id)
	}
	o.wait = await{awaitGo, slot}
	return advBlocked
}

func (o *ordering) blockOnProc(id int64, slot int32) advance {
	if o.strict {
		return advBlocked
	}
	if slot < 0 {
		slot = o.addProc(id)
	}
	o.wait = await{awaitProc, slot}
	return advBlocked
}

// wrong says that the event cannot be in a whole trace. Where that is no
// failure, the event waits for its own thread to learn more about itself.
func (o *ordering) wrong(c *eventCursor, format string, args ...any) advance {
	if o.strict {
		o.err = fmt.Errorf("%s on thread %d in generation %d: "+format,
			append([]any{specs[c.typ].name, c.m, o.gen}, args...)...)
		return advFailed
	}
	if c.slot < 0 || o.force {
		return o.drop()
	}
	o.wait = await{awaitThread, c.slot}
	return advBlocked
}

// drop passes over an event that means nothing in the state there is.
func (o *ordering) drop() advance {
	o.dropped++
	return advTaken
}
