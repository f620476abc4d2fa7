package exectrace

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"iter"
	"runtime/debug"
	"slices"
)

// Events of different threads are merged by a heap over the threads, each
// with its next event. The earliest happens if the state of the scheduler
// admits it (order_state.go); otherwise it waits. Two ways of waiting:
//
//   - A thread whose event cannot happen yet leaves the heap and is put back
//     by the transition it waits for. When nobody is left in the heap, events
//     were lost: the earliest of those that wait is forced.
//   - The standard reader tries the other threads in order of time, again for
//     each event. Where times are equal, its order follows from the exact way
//     its heap and its sort work. The reference reading works that way too, so
//     that tests can compare it with golang.org/x/exp/trace event by event:
//     both readings share the rules of what may happen (order_rules.go).
//
// Generations follow each other. Events that the runtime wrote late into a
// generation keep their time and so can lie after the begin of the next one.

// EventOptions say what [Trace.Events] hands out. The zero value is all
// events, with the times they were recorded at.
type EventOptions struct {
	// Window restricts the events to a piece of the trace. Generations that
	// end before it are skipped without decoding them.
	Window Range
	// Lead hands out also the events before the window in the generation where
	// it begins. They tell the state of every goroutine and P at its begin.
	Lead bool
	// Damage, if set, is filled while iterating: what could not be read.
	Damage *Damage

	generation func(*Generation) // is called after each
	// reference gives the order and the times of golang.org/x/exp/trace: no
	// two events have the same time, a late one pushes all that follow behind
	// itself, and reading ends with an error at the first fault of the trace.
	reference bool
}

// Events iterates over single events in an order in which each follows its
// causes, mostly that of time. Damage does not end the iteration; an error of
// reading does.
//
// It takes about 40 ns for an event on one core and memory for one generation.
// Traces of Go 1.21 and older are read into memory as a whole, at about 25
// times their size.
func (t *Trace) Events(o EventOptions) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		err := t.eachEvent(o, func(e *Event) bool { return yield(*e, nil) })
		if err != nil {
			yield(Event{}, err)
		}
	}
}

// eachEvent calls yield for each event until it returns false. The event is
// valid during the call only.
func (t *Trace) eachEvent(o EventOptions, yield func(*Event) bool) error {
	if o.Damage == nil {
		o.Damage = new(Damage)
	}
	*o.Damage = Damage{}
	var err error
	if t.old() {
		err = t.eachOldEvent(o, yield)
	} else {
		err = t.eachNewEvent(o, yield)
	}
	if errors.Is(err, errStopped) {
		return nil
	}
	return err
}

// errStopped ends an iteration that the caller does not want to go on.
var errStopped = errors.New("stopped")

func (t *Trace) eachNewEvent(o EventOptions, yield func(*Event) bool) (err error) {
	// Reading a mapped file that somebody cuts short faults.
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if r := recover(); r != nil {
			f, ok := r.(interface{ Addr() uintptr })
			if !ok {
				panic(r)
			}
			err = fmt.Errorf("the trace was changed while it was read (fault at %#x)", f.Addr())
		}
	}()
	w, err := t.walk()
	if err != nil {
		return err
	}
	m := &merger{
		opts: o, yield: yield, strict: o.reference, version: t.minor,
		order: newOrdering(o.reference), from: Time(-1 << 63), to: Time(1<<63 - 1), next: 1,
	}
	if !o.Window.IsZero() {
		m.from, m.to = o.Window.From, o.Window.To
	}
	for {
		g, err := w.next()
		if errors.Is(err, io.EOF) {
			return m.finish()
		}
		if err != nil {
			return err
		}
		err = m.generation(g)
		if in, ok := w.in.(*mapping); ok && in.drop != nil {
			in.drop(int(g.off), int(g.end))
		}
		g.lease.release()
		if err != nil {
			return err
		}
	}
}

// An eventCursor is a thread's place in a generation with its next event.
type eventCursor struct {
	m    int64 // -1 is none
	slot int32 // in ordering.threads; -1 is none
	typ  eventType
	time Time
	args [4]uint64

	batch   int32 // in generation.events
	pos     int
	started bool   // in the batch
	ticks   uint64 // of the last event
	ns      int64  // the same as the reference counts
	events  int64  // so far
	parked  bool   // waits out of the heap
	on      await
	next    *eventCursor // that waits for the same
	prev    *eventCursor
	place   int32 // among the merger's cursors
}

// heads is a binary min-heap of cursors by the time of their events. How
// equal times come out is part of the reference order: up moves past
// strictly later ones only, down takes a strictly earlier child only and
// prefers the first.
type heads []head

type head struct {
	time Time
	c    *eventCursor
}

func (h heads) up(i int) int {
	for i > 0 {
		parent := (i - 1) / 2
		if h[parent].time <= h[i].time {
			break
		}
		h[parent], h[i] = h[i], h[parent]
		i = parent
	}
	return i
}

func (h heads) down(i int) {
	for {
		least := i
		for child := 2*i + 1; child <= 2*i+2 && child < len(h); child++ {
			if h[child].time < h[least].time {
				least = child
			}
		}
		if least == i {
			return
		}
		h[i], h[least] = h[least], h[i]
		i = least
	}
}

func (h *heads) push(c *eventCursor) {
	*h = append(*h, head{c.time, c})
	h.up(len(*h) - 1)
}

// fix puts the head at i right after its event changed.
func (h heads) fix(i int) {
	h[i].time = h[i].c.time
	if h.up(i) == i {
		h.down(i)
	}
}

// remove takes the head at i out. It goes by way of the root, whatever the
// times on the way.
func (h *heads) remove(i int) {
	s := *h
	for i > 0 {
		s[(i-1)/2], s[i] = s[i], s[(i-1)/2]
		i = (i - 1) / 2
	}
	last := len(s) - 1
	s[0] = s[last]
	*h = s[:last]
	h.down(0)
}

// A sample is a CPU sample on its way to its place among the events.
type sample struct {
	time Time
	m    int64
	p    int32
	g    int64
	id   uint64 // of the stack
}

// A merger puts the events of a trace in order.
type merger struct {
	opts     EventOptions
	yield    func(*Event) bool
	strict   bool
	version  int
	order    *ordering
	from, to Time
	next     Time // the earliest of the next event in the reference reading

	g         *generation
	clock     clock
	nsTick    float64 // nanoseconds per tick as the reference computes it
	cursors   []eventCursor
	batchNext []int32 // the next batch of the same thread; -1 is none
	heads     heads
	waiting   int   // cursors out of the heap
	tries     int64 // that are left
	noting    bool  // those that wait are in parked
	parked    parkedHeap
	samples   []sample
	nsamples  int // of the generation
	tab       *eventTables
	known     bool // the state at the end of the generation before
	syncs     int
	last      Time // of the last event handed out
	event     Event
}

// generation hands out the events of one generation.
func (m *merger) generation(g *generation) error {
	if m.strict {
		if err := m.refuse(g); err != nil {
			return m.fault(err)
		}
	}
	m.g, m.clock = g, g.readClock()
	m.nsTick = 1 / (float64(m.clock.freq) / 1e9)
	m.account(g)
	if g.batches == 0 {
		return nil
	}
	if !m.strict && !m.opts.Window.IsZero() {
		if m.clock.moment(g.start()) >= m.to {
			return errStopped
		}
		if m.endsBefore(m.from) {
			m.known = false
			return nil
		}
	}
	m.tab = newEventTables(g)
	m.tab.snap = m.clock.snap
	m.opts.Damage.LostBytes += m.tab.lost
	if m.strict {
		if err := m.tab.complete(); err != nil {
			return m.fault(err)
		}
	}
	o := m.order
	o.gen, o.tab = g.number, m.tab
	if o.first = !m.known || g.gap; o.first && !m.strict {
		o.forget()
	}
	m.known = true
	m.loadSamples()
	if err := m.start(); err != nil {
		return err
	}
	var err error
	if m.strict {
		err = m.runReference()
	} else {
		err = m.run()
	}
	m.close(g)
	return err
}

// close reports a generation that was handed out.
func (m *merger) close(g *generation) {
	o, d := m.order, m.opts.Damage
	forced := o.forced + o.dropped
	o.forced, o.dropped = 0, 0
	d.Forced += forced
	if forced > 0 {
		d.Notes = append(d.Notes, fmt.Sprintf("generation %d: %d events did not fit what was known", g.number, forced))
	}
	if m.opts.generation == nil {
		return
	}
	rec := Generation{
		Number: g.number, Offset: g.off, Bytes: g.end - g.off, Batches: g.batches, Threads: len(m.cursors),
		Start: m.clock.moment(g.start()), End: m.clock.moment(g.start()), LostBytes: g.lost + m.tab.lost, Forced: forced, Trusted: true,
		Events: int64(m.nsamples),
	}
	for i := range m.cursors {
		c := &m.cursors[i]
		rec.Events += c.events
		rec.End = max(rec.End, m.clock.moment(c.ticks))
	}
	m.opts.generation(&rec)
}

// refuse returns what the standard reader would object to in a generation as a whole.
func (m *merger) refuse(g *generation) error {
	c := g.readClock()
	switch {
	case g.lost > 0:
		return fmt.Errorf("generation %d: %d bytes between batches make no sense", g.number, g.lost)
	case g.cut:
		return fmt.Errorf("generation %d: it is cut short", g.number)
	case g.gap:
		return fmt.Errorf("generation %d does not follow the one before", g.number)
	case !c.ok:
		return fmt.Errorf("generation %d: no frequency", g.number)
	case m.version >= 25 && c.snap == (Clock{}):
		return fmt.Errorf("generation %d: no clock snapshot", g.number)
	case m.version >= 26 && !g.closed:
		return fmt.Errorf("generation %d: its end is missing; the trace was cut short", g.number)
	}
	return nil
}

// complete checks that a generation's stacks have their strings.
func (t *eventTables) complete() error {
	if t.lost > 0 {
		return fmt.Errorf("%d bytes of the tables of strings and stacks make no sense", t.lost)
	}
	for _, f := range t.frames {
		if !t.hasString(uint64(f.fn)) || !t.hasString(uint64(f.file)) {
			return fmt.Errorf("a stack refers to the missing string %d or %d", f.fn, f.file)
		}
	}
	return nil
}

func (t *eventTables) hasString(id uint64) bool { return id == 0 || t.has(id) }

// account notes the damage of a generation.
func (m *merger) account(g *generation) {
	d := m.opts.Damage
	d.LostBytes += g.lost
	if g.gap {
		d.Missing++
	}
}

// moment converts ticks since the epoch of the trace's clock.
func (c *clock) moment(ticks uint64) Time { return Time(c.ns(int64(ticks))) }

// endsBefore reports whether all events of the generation lie before t. It
// decodes the last batch of each thread only.
func (m *merger) endsBefore(t Time) bool {
	last := map[uint64]int{}
	for i := range m.g.events {
		b := &m.g.events[i]
		if m.clock.moment(b.time) >= t {
			return false
		}
		last[b.m] = i
	}
	for _, i := range last {
		b := &m.g.events[i]
		ticks, pos := b.time, 0
		var c eventCursor
		for pos < b.size {
			if pos = c.decode(b, pos); pos < 0 {
				break
			}
			ticks += c.ticks
		}
		if m.clock.moment(ticks) >= t {
			return false
		}
	}
	return true
}

// decode decodes the event at pos of a batch into typ, args and, as what
// passed since the one before, ticks. It returns the place after it or -1.
func (c *eventCursor) decode(b *batch, pos int) int {
	data := b.data
	n := argCount[data[pos]]
	if n == 0 {
		return -1
	}
	c.typ = eventType(data[pos])
	pos++
	var args [5]uint64
	for k := range n {
		// The batch is followed by slack, so an event can be decoded before
		// it is known to end in time.
		v := uint64(data[pos])
		pos++
		if v >= 0x80 {
			w := uint64(data[pos])
			pos++
			v = v&0x7f | w<<7
			if w >= 0x80 {
				if v, pos = uvarint(data, pos-2); pos < 0 {
					return -1
				}
			}
		}
		args[k%5] = v
	}
	if pos > b.size {
		return -1
	}
	c.ticks = args[0]
	c.args = [4]uint64(args[1:])
	return pos
}

// advance decodes a cursor's next event and reports whether there is one.
func (m *merger) advance(c *eventCursor, batchNext []int32) (bool, error) {
	for c.batch >= 0 {
		b := &m.g.events[c.batch]
		if c.pos >= b.size {
			c.batch, c.pos, c.started = batchNext[c.batch], 0, false
			continue
		}
		if !c.started {
			c.started = true
			c.ticks, c.ns = b.time, m.refTime(b.time)
		}
		last := c.ticks
		pos := c.decode(b, c.pos)
		if pos < 0 || c.ticks > maxPause && !m.strict {
			if m.strict {
				return false, fmt.Errorf("generation %d: an event of thread %d cannot be decoded", m.g.number, c.m)
			}
			m.skipRest(c, b)
			continue
		}
		c.pos = pos
		if m.strict {
			c.ns += m.refTime(c.ticks)
			c.time = Time(c.ns)
		} else {
			c.time = m.clock.moment(last + c.ticks)
		}
		c.ticks += last
		c.events++
		return true, nil
	}
	return false, nil
}

// refTime converts ticks as the reference does, by a product of floats.
func (m *merger) refTime(ticks uint64) int64 {
	if m.clock.mul != 0 && ticks < 1<<52 {
		return int64(ticks) * m.clock.mul
	}
	return int64(float64(ticks) * m.nsTick)
}

// skipRest gives the rest of a batch up. What the thread was doing is not known any more.
func (m *merger) skipRest(c *eventCursor, b *batch) {
	d := m.opts.Damage
	d.LostBytes += int64(b.size - c.pos)
	d.LostEvents += int64(b.size-c.pos) / 5
	c.pos = b.size
	if slot := m.order.mIndex.get(uint64(c.m)); slot >= 0 {
		t := &m.order.threads[slot]
		t.g, t.p = -1, -1
	}
}

// start makes the cursors of a generation.
func (m *merger) start() error {
	g := m.g
	next := make([]int32, len(g.events))
	m.cursors = m.cursors[:0]
	m.heads = m.heads[:0]
	m.waiting = 0
	m.tries, m.noting, m.parked = g.patience(), false, m.parked[:0]
	place := map[uint64]int{}
	tail := []int32{}
	for i := range g.events {
		next[i] = -1
		id := g.events[i].m
		if k, ok := place[id]; ok {
			next[tail[k]] = int32(i)
			tail[k] = int32(i)
			continue
		}
		place[id] = len(tail)
		tail = append(tail, int32(i))
		m.cursors = append(m.cursors, eventCursor{m: int64(id), slot: -1, batch: int32(i)})
	}
	m.batchNext = next
	for i := range m.cursors {
		c := &m.cursors[i]
		c.place = int32(i)
		ok, err := m.advance(c, next)
		if err != nil {
			return m.fault(err)
		}
		if ok {
			m.heads.push(c)
		}
	}
	m.syncs++
	e := &m.event
	*e = Event{Kind: EventSync, typ: evSync, Thread: -1, Proc: -1, Goroutine: -1, tab: m.tab}
	e.args[0] = uint64(m.syncs)
	e.Time = m.clock.moment(g.start())
	if m.strict {
		e.Time = Time(m.refTime(g.first()))
	}
	return m.hand(e)
}

// first returns the smallest base time of all batches, those of tables
// included, which the reference takes for the begin of a generation.
func (g *generation) first() uint64 {
	t := g.start()
	for _, bs := range [][]batch{g.strings, g.stacks, g.samples} {
		for i := range bs {
			t = min(t, bs[i].time)
		}
	}
	return t
}

// thread makes sure that a cursor's thread has a state. Threads come into
// being with their first event, as a system call's thread may be told before.
func (m *merger) thread(c *eventCursor) {
	if c.slot >= 0 || c.m == -1 {
		return
	}
	if c.slot = m.order.mIndex.get(uint64(c.m)); c.slot < 0 {
		c.slot = m.order.addThread(c.m)
	}
}

// run merges a generation, forcing what cannot happen when all is stuck.
func (m *merger) run() error {
	o := m.order
	for {
		if len(m.heads) == 0 {
			if m.waiting == 0 {
				return m.restOfSamples()
			}
			m.releaseEarliest()
		}
		h := m.heads[0]
		if len(m.samples) > 0 && m.samples[0].time < h.time {
			if err := m.sample(); err != nil {
				return err
			}
			continue
		}
		c := h.c
		if c.slot < 0 {
			m.thread(c)
		}
		if m.tries--; m.tries < 0 {
			m.abandon()
			continue
		}
		if o.try(c) != advTaken {
			m.heads.remove(0)
			m.park(c)
			continue
		}
		if o.force {
			o.force = false
			o.forced++
		}
		for i := range o.n {
			if err := m.hand(&o.out[i]); err != nil {
				return err
			}
		}
		if ok, _ := m.advance(c, m.batchNext); ok {
			m.heads.fix(0)
		} else {
			m.heads.remove(0)
		}
		if o.woken != nil {
			m.putBack()
		}
	}
}

// putBack returns those to the heap whose wait is over.
func (m *merger) putBack() {
	for c := m.order.woken; c != nil; {
		next := c.next
		c.next, c.prev, c.parked = nil, nil, false
		m.heads.push(c)
		m.waiting--
		c = next
	}
	m.order.woken = nil
}

// releaseEarliest puts the earliest of those that wait back into the heap,
// to be forced. All others go on waiting.
func (m *merger) releaseEarliest() {
	o := m.order
	first := m.earliest()
	if first.next != nil {
		first.next.prev = first.prev
	}
	if first.prev != nil {
		first.prev.next = first.next
	} else {
		*o.waitersOf(first.on) = first.next
	}
	first.next, first.prev, first.parked = nil, nil, false
	m.waiting--
	m.heads.push(first)
	o.force = true
}

// park puts a cursor to those that wait for the same.
func (m *merger) park(c *eventCursor) {
	c.on, c.parked = m.order.wait, true
	list := m.order.waitersOf(c.on)
	if c.next = *list; c.next != nil {
		c.next.prev = c
	}
	c.prev, *list = nil, c
	m.waiting++
	if m.noting {
		m.parked.push(parkedThread{int64(c.time), c.place})
	}
}

// earliest returns the earliest of those that wait.
func (m *merger) earliest() *eventCursor {
	if !m.noting {
		m.noting = true
		for i := range m.cursors {
			if c := &m.cursors[i]; c.parked {
				m.parked.push(parkedThread{int64(c.time), c.place})
			}
		}
	}
	for {
		p := m.parked.pop()
		if c := &m.cursors[p.m]; c.parked && int64(c.time) == p.time {
			return c
		}
	}
}

// abandon leaves the rest of the generation.
func (m *merger) abandon() {
	for i := range m.cursors {
		c := &m.cursors[i]
		if c.parked {
			*m.order.waitersOf(c.on) = nil
		}
		if c.batch >= 0 {
			m.opts.Damage.LostEvents++ // the one that waits
		}
		for ; c.batch >= 0; c.batch, c.pos = m.batchNext[c.batch], 0 {
			m.skipRest(c, &m.g.events[c.batch])
		}
		c.next, c.prev, c.parked = nil, nil, false
	}
	m.heads, m.waiting, m.order.woken, m.order.force = m.heads[:0], 0, nil, false
}

// runReference merges a generation as the standard reader does.
func (m *merger) runReference() error {
	o := m.order
	for len(m.heads) > 0 || len(m.samples) > 0 {
		if len(m.samples) > 0 && (len(m.heads) == 0 || m.samples[0].time < m.heads[0].time) {
			if err := m.sample(); err != nil {
				return err
			}
			continue
		}
		ok, err := m.tryReference(0)
		if err == nil && !ok {
			slices.SortFunc(m.heads, func(a, b head) int { return cmp.Compare(a.time, b.time) })
			for i := 1; i < len(m.heads) && !ok && err == nil; i++ {
				ok, err = m.tryReference(i)
			}
			if err == nil && !ok {
				c := m.heads[0].c
				err = fmt.Errorf("generation %d: no thread can go on; the earliest event is %s of thread %d at %d",
					m.g.number, specs[c.typ].name, c.m, c.time)
			}
		}
		if err != nil {
			return m.fault(err)
		}
		for i := range o.n {
			e := &o.out[i]
			if err := m.check(e); err != nil {
				return m.fault(err)
			}
			if err := m.hand(e); err != nil {
				return err
			}
		}
	}
	return nil
}

// tryReference tries the event of one head.
func (m *merger) tryReference(i int) (bool, error) {
	c := m.heads[i].c
	m.thread(c)
	switch m.order.try(c) {
	case advBlocked:
		return false, nil
	case advFailed:
		return false, m.order.err
	}
	ok, err := m.advance(c, m.batchNext)
	if err != nil {
		return false, err
	}
	if ok {
		m.heads.fix(i)
	} else {
		m.heads.remove(i)
	}
	return true, nil
}

// check reports strings and stacks of an event that are not in the tables.
func (m *merger) check(e *Event) error {
	s := &shapes[e.typ]
	for _, i := range [2]uint8{s.stack, s.newStack} {
		if i > 0 && e.args[i-1] != 0 && e.args[i-1] >= uint64(len(m.tab.stacks)) {
			return fmt.Errorf("%s refers to the missing stack %d", specs[e.typ].name, e.args[i-1])
		}
	}
	for i := range 4 {
		if s.strings&(2<<i) != 0 && !m.tab.hasString(e.args[i]) {
			return fmt.Errorf("%s refers to the missing string %d", specs[e.typ].name, e.args[i])
		}
	}
	return nil
}

// fault returns the error that ends the reference reading.
func (m *merger) fault(err error) error {
	return fmt.Errorf("the trace is damaged: %w", err)
}

// hand passes an event on, unless it lies outside the window.
func (m *merger) hand(e *Event) error {
	if m.strict {
		e.Time = max(e.Time, m.next)
		m.next = e.Time + 1
	}
	m.last = e.Time
	if e.Time < m.from && !m.opts.Lead || e.Time >= m.to {
		return nil
	}
	if !m.yield(e) {
		return errStopped
	}
	return nil
}

// finish hands out the sync event that ends a trace.
func (m *merger) finish() error {
	if m.syncs == 0 && !m.strict {
		return nil
	}
	m.syncs++
	e := &m.event
	*e = Event{Kind: EventSync, typ: evSync, Time: m.last, Thread: -1, Proc: -1, Goroutine: -1}
	e.args[0] = uint64(m.syncs)
	return m.hand(e)
}

// loadSamples decodes the CPU samples of the generation, by time.
func (m *merger) loadSamples() {
	m.samples = m.samples[:0]
	for i := range m.g.samples {
		b := m.g.samples[i].body()
		pos := 1
		for pos < len(b) && eventType(b[pos]) == evCPUSample {
			var a [5]uint64
			pos++
			for k := 0; k < len(a) && pos >= 0; k++ {
				a[k], pos = uvarint(b, pos)
			}
			if pos < 0 {
				m.opts.Damage.LostBytes++
				break
			}
			s := sample{time: m.clock.moment(a[0]), m: int64(a[1]), p: int32(a[2]), g: int64(a[3]), id: a[4]}
			if m.strict {
				s.time = Time(m.refTime(a[0]))
			}
			if s.g == 0 {
				s.g = -1
			}
			m.samples = append(m.samples, s)
		}
	}
	m.nsamples = len(m.samples)
	slices.SortFunc(m.samples, func(a, b sample) int { return cmp.Compare(a.time, b.time) })
}

// sample hands out the first CPU sample.
func (m *merger) sample() error {
	s := m.samples[0]
	m.samples = m.samples[1:]
	e := &m.event
	*e = Event{Kind: EventSample, typ: evCPUSample, Time: s.time, Thread: s.m, Proc: s.p, Goroutine: s.g, tab: m.tab}
	e.args[0] = s.id
	if m.strict {
		if err := m.check(e); err != nil {
			return m.fault(err)
		}
	}
	return m.hand(e)
}

func (m *merger) restOfSamples() error {
	for len(m.samples) > 0 {
		if err := m.sample(); err != nil {
			return err
		}
	}
	return nil
}
