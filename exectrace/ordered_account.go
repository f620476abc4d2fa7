package exectrace

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"
)

// Accounts from ordered events. It answers the same questions as the replay
// of single generations, from one stream of events, one at a time: slower,
// and so simple that tests check the replay by it. In the product it reads the
// traces that the replay cannot: those of Go 1.21 and older.
//
// Sums, groups and the form of the answer are the stitcher's; when states
// begin and end, and what belongs to whom, is decided here.

// accountOrdered is Account by way of ordered events.
func (t *Trace) accountOrdered(ctx context.Context, o Options) (*Accounts, error) {
	a := newOrderedAccount(o)
	a.old = t.old()
	opts := EventOptions{Window: o.Window, Lead: true, Damage: &a.st.acc.Info.Damage, generation: func(g *Generation) {
		a.generation(g)
		if o.Progress != nil {
			o.Progress(g.Offset+g.Bytes, t.size)
		}
	}}
	n := 0
	pieces := t.piecesBeside(&o)
	err := t.eachEvent(opts, func(e *Event) bool {
		if n++; n&0xfff == 0 && ctx.Err() != nil {
			return false
		}
		a.event(e)
		pieces.event(e)
		return true
	})
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err != nil {
		return nil, err
	}
	if !a.begun {
		return nil, fmt.Errorf("%w: it has a header and nothing after it", ErrNoEvents)
	}
	pieces.finish()
	return a.finish(), nil
}

// generation notes a generation that is over.
func (a *orderedAccount) generation(g *Generation) {
	info := &a.st.acc.Info
	if n := len(info.Generations); n > 0 {
		prev := &info.Generations[n-1]
		prev.Overlap = max(prev.End.Sub(g.Start), 0)
	}
	info.Generations = append(info.Generations, *g)
}

// An orderedAccount adds up ordered events.
type orderedAccount struct {
	st *stitcher

	tab     *eventTables
	stackOf []Stack // by id in tab; -1 not asked for yet

	begun   bool
	entered bool  // the window has begun
	start   int64 // ns, as all times here; of the trace
	sync    int64 // begin of the generation
	last    int64
	lives   []life
	free    []int32
	ids     idTable
	procs   map[int32]*orderedProc
	alive   []int // by group
	cause   []map[Stack]int
	early   map[uint64][]lifeWait // of goroutines without a name yet, by id: traces of Go 1.22 tell it when they first stop
	line    timeline
	heap    HeapSample
	// heapSeen is how many samples of the heap there were, of which each heapStep-th is kept.
	heapSeen, heapStep int

	sweeps bool // note every sweep in the load
	// old is set for traces of Go 1.21 and older. Their Ps stop before the trace begins
	// and are started in it: one that is first seen running has just begun to.
	old bool
}

// maxEarly bounds the waits put off for one goroutine.
const maxEarly = 1 << 10

// An orderedProc is a P and what holds it.
type orderedProc struct {
	Proc
	running  bool
	since    int64 // it runs
	from     int64 // it is known
	held     int64
	sysSince int64 // -1 not in a system call
	sysLife  int32 // the goroutine in it
	sysID    uint64
	sweep    int64 // -1 not sweeping
	sweepG   int64
}

func newOrderedAccount(o Options) *orderedAccount {
	a := &orderedAccount{st: newStitcher(o.Keep, o.Window), procs: map[int32]*orderedProc{}, early: map[uint64][]lifeWait{}, sweeps: o.Sweeps, heapStep: 1}
	a.ids.reset()
	return a
}

// stack returns the identity of a stack of the event's generation.
func (a *orderedAccount) stack(id uint64) Stack {
	if id == 0 || id >= uint64(len(a.stackOf)) {
		return 0
	}
	if s := a.stackOf[id]; s >= 0 {
		return s
	}
	fs, _ := a.parking(id)
	s := a.st.in.frameStack(&a.tab.tables, fs)
	a.stackOf[id] = s
	return s
}

// turn prepares for the events of another generation.
func (a *orderedAccount) turn(tab *eventTables) {
	a.tab = tab
	if tab == nil {
		a.stackOf = a.stackOf[:0]
		return
	}
	a.stackOf = a.stackOf[:0]
	for range tab.stacks {
		a.stackOf = append(a.stackOf, -1)
	}
}

// event adds an event.
func (a *orderedAccount) event(e *Event) {
	if e.tab != a.tab {
		a.turn(e.tab)
	}
	if a.tab != nil && len(a.tab.stacks) > len(a.stackOf) {
		for range a.tab.stacks[len(a.stackOf):] {
			a.stackOf = append(a.stackOf, -1) // tables of old traces grow
		}
	}
	if !a.begun {
		a.begun = true
		a.st.acc.Info.Start = e.Time
		a.start = a.st.clip(int64(e.Time))
		a.sync = a.start
		a.line.start(a.start)
	}
	now := a.st.clip(int64(e.Time))
	a.last = max(a.last, int64(e.Time))
	if !a.entered && e.Time >= a.st.window.From {
		a.enterWindow()
	}
	if e.Thread >= 0 {
		a.st.threads[uint64(e.Thread)] = struct{}{}
	}
	switch e.Kind {
	case EventSync:
		a.sync = now
		if _, c := e.Sync(); c.Mono != 0 {
			a.st.acc.Info.Clock = c
		}
	case EventGoroutine:
		a.goroutine(e, now)
	case EventProc:
		a.proc(e, now)
	case EventMetric:
		a.metric(e)
	case EventLabel:
		a.label(e, now)
	case EventRangeBegin, EventRangeActive, EventRangeEnd:
		a.rangeEvent(e, now)
	case EventSample:
		a.sample(e)
	default:
		a.user(e, now)
	}
}

// enterWindow begins to count goroutines: what was there before the window, and is
// gone, is nobody's. Their states are known from before it.
func (a *orderedAccount) enterWindow() {
	a.entered = true
	for i, n := range a.alive {
		a.st.groups[i].peak = n
	}
}

// current returns the life of the goroutine in an event's context.
func (a *orderedAccount) current(e *Event) *life {
	if e.Goroutine < 0 {
		return nil
	}
	if s := a.ids.get(uint64(e.Goroutine)); s >= 0 {
		return &a.lives[s]
	}
	return nil
}

// goroutine adds a goroutine's change of state.
func (a *orderedAccount) goroutine(e *Event, now int64) {
	id, from, to := e.GoTransition()
	slot := a.ids.get(uint64(id))
	if from == Dead && slot >= 0 {
		// Its end was lost.
		a.lives[slot].unknown += now - a.lives[slot].since
		a.end(slot, e, now)
		slot = -1
	}
	if slot < 0 {
		if to == Dead {
			return
		}
		slot = a.newLife(id)
		l := &a.lives[slot]
		a.name(l, e.subjectStackID())
		if from == Dead {
			a.born(l, e, now)
		} else {
			now = a.sync // it has been so since before
			a.st.groups[l.group].count++
		}
		a.grow(l.group, 1)
		a.enter(slot, e, to, now)
		return
	}
	l := &a.lives[slot]
	a.name(l, e.subjectStackID())
	if from == to && State(l.state) == to {
		return
	}
	if State(l.state) == from {
		a.leave(l, e, now)
	} else {
		l.unknown += now - l.since
		a.leaveLine(l, now)
	}
	if to == Dead {
		a.end(slot, e, now)
		if e.typ == evGoDestroySyscall && e.Proc >= 0 {
			a.abandon(e.Proc, now)
		}
		return
	}
	a.enter(slot, e, to, now)
}

func (a *orderedAccount) newLife(id int64) int32 {
	var slot int32
	if n := len(a.free); n > 0 {
		slot = a.free[n-1]
		a.free = a.free[:n-1]
	} else {
		slot = int32(len(a.lives))
		a.lives = append(a.lives, life{})
	}
	a.lives[slot] = life{id: uint64(id), blocked: -1, first: -1, offAt: -1, proc: -1, assist: -1, stw: -1}
	a.ids.put(uint64(id), slot)
	return slot
}

// born counts a creation.
func (a *orderedAccount) born(l *life, e *Event, now int64) {
	g := a.st.groups[l.group]
	g.count++
	if a.entered {
		l.created = int64(e.Time)
		g.created++
	}
	for len(a.cause) <= int(l.group) {
		a.cause = append(a.cause, map[Stack]int{})
	}
	if s := a.stack(e.stackID()); s != 0 && len(a.cause[l.group]) < 1<<10 {
		a.cause[l.group][s]++
	}
}

// name learns the group of a goroutine from one of its own stacks.
func (a *orderedAccount) name(l *life, stack uint64) {
	if l.group != 0 || stack == 0 || len(a.tab.stack(uint32(stack))) >= maxFrames {
		return // the start function of a stack that was cut is not known
	}
	group := a.groupOfStack(stack)
	if !namesGroup(a.st.in.names[a.st.groups[group].name]) {
		return
	}
	if l.state != uint8(Unknown) {
		a.grow(l.group, -1)
		a.grow(group, 1)
		old, g := a.st.groups[l.group], a.st.groups[group]
		old.count--
		g.count++
		if l.created > 0 {
			old.created--
			g.created++
		}
	}
	l.group = group
	a.release(l)
}

// groupOfStack returns the group of the outermost function of a stack.
func (a *orderedAccount) groupOfStack(stack uint64) int32 {
	fs := a.tab.stack(uint32(stack))
	if len(fs) == 0 {
		return 0
	}
	f := fs[len(fs)-1]
	return a.st.group(a.st.in.str(a.tab.str(uint64(f.fn))),
		Frame{PC: f.pc, Func: a.tab.word(uint64(f.fn)), File: a.tab.word(uint64(f.file)), Line: int(f.line)})
}

func (a *orderedAccount) grow(group int32, n int) {
	for len(a.alive) <= int(group) {
		a.alive = append(a.alive, 0)
	}
	a.alive[group] += n
	g := a.st.groups[group]
	if a.entered {
		g.peak = max(g.peak, a.alive[group])
	}
}

// enter begins a state.
func (a *orderedAccount) enter(slot int32, e *Event, to State, now int64) {
	l := &a.lives[slot]
	l.state, l.since = uint8(to), now
	switch to {
	case Running:
		l.proc = e.Proc
		if e.typ == evGoStart {
			l.runs++
		}
		if l.first < 0 && a.inside(e.Time) {
			l.first = int64(e.Time)
		}
		if l.assist >= 0 && e.typ == evGoStart {
			a.load(now, l.proc, LoadAssist, false, 1)
		}
		a.line.change(lineRunning, now, 1)
	case Runnable:
		stack, woken := a.stack(e.stackID()), Stack(0)
		if e.typ == evGoUnblock {
			woken = l.stack
		}
		l.stack, l.woken = stack, woken
		a.line.change(lineRunnable, now, 1)
	case Waiting:
		l.stack, l.reason = a.stack(e.subjectStackID()), a.st.reason(a.reason(e))
		if e.typ == evGoCreateBlocked {
			l.stack = 0 // it is blocked nowhere yet
		}
	case Syscall:
		l.stack, l.offAt = a.stack(e.subjectStackID()), -1
		if e.Proc < 0 || e.typ == evGoCreateSyscall || e.Thread < 0 {
			l.offAt = now
			return
		}
		if p := a.procs[e.Proc]; p != nil && p.running {
			p.sysSince, p.sysLife, p.sysID = now, slot, l.id
		}
	}
}

func (a *orderedAccount) inside(t Time) bool {
	w := a.st.window
	return w.IsZero() || t >= w.From && t < w.To
}

// leave ends a state that was entered for sure.
func (a *orderedAccount) leave(l *life, e *Event, now int64) {
	d := now - l.since
	st := a.st
	switch State(l.state) {
	case Running:
		l.run += d
		a.ran(l, e, now, d)
	case Runnable:
		l.ready += d
		if a.counts(l, e) {
			a.wait(l, lifeWait{key: waitKey{Runnable, 0, l.stack, 0}, d: d})
			if l.woken != 0 {
				st.addWake(l.stack, l.woken, 1)
			}
		}
	case Waiting:
		st.sums.add(&l.blocked, l.reason, d)
		if a.counts(l, e) {
			a.wait(l, lifeWait{key: waitKey{Waiting, l.reason, l.stack, 0}, d: d}) // no event behind the window is seen here
		}
	case Syscall:
		off := now
		if l.offAt >= 0 {
			off = min(max(l.offAt, l.since), now)
		} else if e.typ == evGoSyscallEndBlocked {
			off = l.since // taken, and nobody saw when
		}
		l.sys += off - l.since
		l.sysOff += now - off
		if a.counts(l, e) {
			a.wait(l, lifeWait{key: waitKey{Syscall, 0, l.stack, 0}, d: d})
		}
		a.leaveSyscall(l, e, now)
	default:
		l.unknown += d
	}
	a.leaveLine(l, now)
}

// wait adds a wait of a goroutine to the profiles, as soon as its group is known.
func (a *orderedAccount) wait(l *life, w lifeWait) {
	if early := a.early[l.id]; l.group == 0 && len(early) < maxEarly {
		a.early[l.id] = append(early, w)
		return
	}
	w.key.group = l.group
	a.st.addLifeWait(w)
}

// release adds the waits that were put off.
func (a *orderedAccount) release(l *life) {
	for _, w := range a.early[l.id] {
		w.key.group = l.group
		a.st.addLifeWait(w)
	}
	delete(a.early, l.id)
}

// counts reports whether a state that ends with e lies in the window.
func (a *orderedAccount) counts(l *life, e *Event) bool {
	w := a.st.window
	return w.IsZero() || int64(e.Time) > int64(w.From) && l.since < int64(w.To)
}

// leaveLine takes a goroutine's state out of the time line.
func (a *orderedAccount) leaveLine(l *life, now int64) {
	switch State(l.state) {
	case Running:
		a.line.change(lineRunning, now, -1)
	case Runnable:
		a.line.change(lineRunnable, now, -1)
	}
}

// ran accounts for a run that ends to its P.
func (a *orderedAccount) ran(l *life, e *Event, now, d int64) {
	if a.counts(l, e) {
		a.st.slice.add(time.Duration(d))
	}
	a.ranOnProc(l, d)
	if l.marker {
		l.marker = false
		if l.reason != markIdle {
			a.load(now, l.proc, LoadBackground, l.reason == markDedicated, -1)
		}
	}
	if l.assist >= 0 && e.typ != evGoSyscallBegin {
		a.load(now, l.proc, LoadAssist, false, -1)
	}
}

func (a *orderedAccount) ranOnProc(l *life, d int64) {
	p := a.procs[l.proc]
	switch {
	case p == nil:
	case !l.marker:
		p.User += time.Duration(d)
	case l.reason == markIdle:
		p.GCIdle += time.Duration(d)
	default:
		p.GC += time.Duration(d)
	}
}

// leaveSyscall ends a goroutine's hold on its P in a system call. The P may
// be somebody else's by now.
func (a *orderedAccount) leaveSyscall(l *life, e *Event, now int64) {
	p := a.procs[e.Proc]
	if p == nil || p.sysSince < 0 || p.sysID != l.id {
		return
	}
	p.Syscall += time.Duration(now - p.sysSince)
	p.sysSince = -1
}

// end closes a life and adds it to its group.
func (a *orderedAccount) end(slot int32, e *Event, now int64) {
	l := &a.lives[slot]
	if l.assist >= 0 {
		a.st.sums.add(&l.blocked, rangeAssist, now-l.assist)
	}
	l.since = now // its last state is counted already
	for range l.regions {
		a.regionEnd(l, now)
	}
	a.release(l)
	g := a.st.groups[l.group]
	if l.created > 0 && a.inside(e.Time) {
		g.life.add(time.Duration(int64(e.Time) - l.created))
	}
	a.grow(l.group, -1)
	if a.entered {
		g.ended++
		a.fold(l, int64(e.Time))
	} else {
		g.count--
	}
	a.ids.remove(l.id)
	a.st.sums.drop(&l.blocked)
	*l = life{}
	a.free = append(a.free, slot)
}

func (a *orderedAccount) fold(l *life, ended int64) { a.st.fold(a.st.groups[l.group], l, ended) }

// abandon holds a P on in the system call of a goroutine that is gone, until
// somebody takes it: nothing can run on it before. For that time it has no
// goroutine, so none can lose it.
func (a *orderedAccount) abandon(id int32, now int64) {
	p := a.procs[id]
	if p == nil || p.running {
		return
	}
	p.running, p.since = true, now
	p.sysSince, p.sysLife, p.sysID = now, 0, ^uint64(0)
	a.line.change(lineHeld, now, 1)
}

// proc adds a P's change of state.
func (a *orderedAccount) proc(e *Event, now int64) {
	id, from, to := e.ProcTransition()
	p := a.procs[id]
	if p == nil {
		p = &orderedProc{Proc: Proc{ID: int(id)}, from: a.sync, sysSince: -1, sweep: -1, sysLife: -1}
		a.procs[id] = p
		if from == ProcUnknown && !a.old {
			now = a.sync
		}
	}
	switch {
	case to == ProcRunning && !p.running:
		p.running, p.since = true, now
		if e.typ == evProcStart {
			p.Starts++
		}
		a.line.change(lineHeld, now, 1)
	case to == ProcIdle && p.running:
		p.running = false
		p.held += now - p.since
		a.line.change(lineHeld, now, -1)
		if p.sysSince >= 0 {
			p.Syscall += time.Duration(now - p.sysSince)
			p.sysSince = -1
			if l := &a.lives[p.sysLife]; l.id == p.sysID && State(l.state) == Syscall && l.offAt < 0 {
				l.offAt = now
			}
		}
	}
}

func (a *orderedAccount) metric(e *Event) {
	switch e.typ {
	case evHeapAlloc:
		a.heap.Alloc = e.args[0]
	case evHeapGoal:
		a.heap.Goal = e.args[0]
	case evProcsChange:
		a.st.gomax = append(a.st.gomax, LoadChange{e.Time, -1, LoadProcs, false, int32(min(e.args[0], maxProcs))})
		return
	}
	a.heap.At = e.Time
	if a.inside(e.Time) {
		a.keepHeap()
	}
}

// maxHeap bounds the samples of the heap that are kept. Old traces have one for each
// span that is filled, hundreds of thousands in a second.
const maxHeap = 1 << 13

// keepHeap keeps the newest sample if it is the next of every so many, and the last of
// all always. When there are too many, every second goes and the step doubles, so that
// what is left lies evenly over all that came.
func (a *orderedAccount) keepHeap() {
	heap := a.st.heap
	if a.heapSeen > 0 && (a.heapSeen-1)%a.heapStep != 0 { // the one before was only the newest
		heap = heap[:len(heap)-1]
	}
	if len(heap) == maxHeap {
		for i := range maxHeap / 2 {
			heap[i] = heap[2*i]
		}
		heap = heap[:maxHeap/2]
		a.heapStep *= 2
	}
	a.st.heap = append(heap, a.heap)
	a.heapSeen++
}

func (a *orderedAccount) load(now int64, p int32, kind LoadKind, dedicated bool, delta int32) {
	if kind == LoadSweep && !a.sweeps {
		return
	}
	a.st.acc.Load = append(a.st.acc.Load, LoadChange{Time(now), p, kind, dedicated, delta})
}

// label handles the name a mark worker gives itself when it starts to run.
func (a *orderedAccount) label(e *Event, now int64) {
	l := a.current(e)
	if l == nil {
		return
	}
	kind := int32(0)
	switch e.Label() {
	case "GC (dedicated)":
		kind = markDedicated
	case "GC (fractional)":
		kind = markFractional
	case "GC (idle)":
		kind = markIdle
	default:
		return
	}
	if !l.marker && kind != markIdle {
		a.load(now, e.Proc, LoadBackground, kind == markDedicated, 1)
	}
	l.marker, l.reason = true, kind
}

// rangeEvent adds what the collector makes of time.
func (a *orderedAccount) rangeEvent(e *Event, now int64) {
	switch e.typ {
	case evGCBegin, evGCActive, evGCEnd:
		a.mark(e)
	case evSTWBegin, evSTWEnd:
		a.pause(e, now)
	case evGCSweepBegin, evGCSweepActive, evGCSweepEnd:
		a.sweep(e, now)
	default:
		a.assist(e, now)
	}
}

// mark notes the begin or the end of a collection. Traces of Go 1.21 and
// older do not number them; their order does.
func (a *orderedAccount) mark(e *Event) {
	seq := e.args[0]
	if seq == 0 {
		seq = uint64(len(a.st.gcs)) + 1
	}
	a.st.gcs = append(a.st.gcs, gcMark{int64(e.Time), seq, e.typ})
}

func (a *orderedAccount) pause(e *Event, now int64) {
	l := a.current(e)
	if e.typ == evSTWBegin {
		if forGC(e.pauseKind()) {
			a.load(now, -1, LoadSTW, false, 1)
		}
		if l != nil {
			l.stw, l.stwKind, l.stwStack = int64(e.Time), a.st.reason(e.pauseKind()), a.stack(e.stackID())
		}
		return
	}
	p := Pause{Begin: Time(a.sync), End: e.Time, Kind: e.pauseKind()}
	if l != nil && l.stw >= 0 {
		p.Begin, p.Kind, p.Stack = Time(l.stw), a.st.reasons[l.stwKind], l.stwStack
		a.st.sums.add(&l.blocked, rangeSTW+l.stwKind, now-a.st.clip(l.stw))
		l.stw = -1
	}
	if forGC(p.Kind) {
		a.load(now, -1, LoadSTW, false, -1)
	}
	a.st.acc.Pauses = append(a.st.acc.Pauses, p)
}

func (a *orderedAccount) sweep(e *Event, now int64) {
	id := e.Proc
	if e.typ == evGCSweepActive {
		id = int32(e.args[0])
	}
	p := a.procs[id]
	if p == nil {
		return
	}
	switch e.typ {
	case evGCSweepBegin:
		p.sweep, p.sweepG = now, e.Goroutine
		a.load(now, id, LoadSweep, false, 1)
	case evGCSweepActive:
		if p.sweep < 0 {
			p.sweep, p.sweepG = a.sync, e.Goroutine
			a.load(a.sync, id, LoadSweep, false, 1)
		}
	case evGCSweepEnd:
		if p.sweep < 0 {
			return
		}
		a.load(now, id, LoadSweep, false, -1)
		if l := a.current(e); l != nil && p.sweepG == e.Goroutine {
			a.st.sums.add(&l.blocked, rangeSweep, now-p.sweep)
		}
		p.sweep = -1
	}
}

func (a *orderedAccount) assist(e *Event, now int64) {
	if e.typ == evGCMarkAssistActive {
		slot := a.ids.get(e.args[0])
		if slot < 0 || a.lives[slot].assist >= 0 {
			return
		}
		l := &a.lives[slot]
		l.assist = a.sync
		if State(l.state) == Running {
			a.load(a.sync, l.proc, LoadAssist, false, 1)
		}
		return
	}
	l := a.current(e)
	switch {
	case l == nil:
	case e.typ == evGCMarkAssistBegin:
		l.assist = now
		a.load(now, e.Proc, LoadAssist, false, 1)
	case l.assist >= 0:
		a.st.sums.add(&l.blocked, rangeAssist, now-l.assist)
		l.assist = -1
		a.load(now, e.Proc, LoadAssist, false, -1)
	}
}

// sample counts a CPU sample by its stack and the start function in it.
func (a *orderedAccount) sample(e *Event) {
	if !a.inside(e.Time) {
		return
	}
	group := int32(-1)
	if g := a.groupOfStack(e.args[0]); g > 0 {
		group = g
	}
	a.st.samples[[2]int32{int32(a.stack(e.args[0])), group}]++
}

// user adds tasks, regions and logs.
func (a *orderedAccount) user(e *Event, now int64) {
	st := a.st
	switch e.Kind {
	case EventTaskBegin:
		id, parent, name := e.Task()
		if parent == NoTask {
			parent = 0
		}
		st.tasks[id] = &Task{ID: id, Parent: parent, Name: name, Begin: e.Time}
		st.taskOf(name).Count++
	case EventTaskEnd:
		id, _, _ := e.Task()
		t := st.tasks[id]
		if t == nil {
			st.taskOf("").Count++
			return
		}
		delete(st.tasks, id)
		t.End = e.Time
		typ := st.taskOf(t.Name)
		typ.Complete++
		typ.Latency.add(time.Duration(t.End - t.Begin))
		st.keepTask(*t)
	case EventRegionBegin:
		if l := a.current(e); l != nil && len(l.regions) < maxRegions {
			_, name := e.Region()
			acc := a.snapshot(l, now)
			for k := range acc {
				acc[k] = -acc[k]
			}
			l.regions = append(l.regions, liveRegion{name: st.in.str([]byte(name)), begin: int64(e.Time), acc: acc})
		}
	case EventRegionEnd:
		l := a.current(e)
		if l == nil {
			return
		}
		if len(l.regions) == 0 {
			_, name := e.Region()
			st.regionType(st.in.str([]byte(name))).Count++
			return
		}
		a.regionEnd(l, now)
	case EventLog:
		task, category, message := e.Log()
		c := st.logs[category]
		if c == nil {
			c = &LogCount{Category: category, Example: message}
			st.logs[category] = c
		}
		c.Count++
		if t := st.tasks[task]; t != nil {
			t.Logs++
		}
	}
}

// snapshot returns what a life added up by now, its present state included.
func (a *orderedAccount) snapshot(l *life, now int64) [5]int64 {
	v := [5]int64{l.run, l.ready, l.sys, l.sysOff, a.st.sums.total(l.blocked, rangeBase)}
	if State(l.state) == Running {
		v[0] += now - l.since
	}
	return v
}

// regionEnd ends the innermost region of a life.
func (a *orderedAccount) regionEnd(l *life, now int64) {
	n := len(l.regions) - 1
	r := l.regions[n]
	l.regions = l.regions[:n]
	t := a.st.regionType(r.name)
	t.Count++
	t.Latency.add(time.Duration(now - a.st.clip(r.begin)))
	for k, v := range a.snapshot(l, now) {
		r.acc[k] += v
	}
	t.addSums(r.acc)
}

// finish closes what is open at the end of the trace.
func (a *orderedAccount) finish() *Accounts {
	st := a.st
	acc := st.acc
	acc.Info.End = Time(a.last)
	end := st.clip(a.last)
	acc.Window = st.window
	if st.window.IsZero() {
		acc.Window = Range{acc.Info.Start, acc.Info.End}
	}
	acc.Window.From, acc.Window.To = max(acc.Window.From, acc.Info.Start), min(acc.Window.To, acc.Info.End)
	for i := range a.lives {
		if l := &a.lives[i]; State(l.state) != Unknown {
			a.finishLife(l, end)
		}
	}
	for i, m := range a.cause {
		g := st.groups[i]
		for s, n := range m {
			if n > g.causeN || n == g.causeN && s < g.cause {
				g.causeN, g.cause = n, s
			}
		}
	}
	a.finishProcs(end)
	acc.Buckets = a.line.buckets(end)
	st.finishGroups()
	st.finishWaits()
	st.finishLast()
	st.finishGC()
	st.finishUser()
	acc.Stacks = st.in.resolve()
	acc.Threads = len(st.threads)
	acc.AllKept = st.keep < 0
	if n := len(st.gomax); n > 0 {
		acc.Info.Procs = int(st.gomax[n-1].Delta)
	}
	return acc
}

func (a *orderedAccount) finishLife(l *life, end int64) {
	d := end - l.since
	switch State(l.state) {
	case Running:
		l.run += d
		a.ranOnProc(l, d)
	case Runnable:
		l.ready += d
	case Waiting:
		a.st.sums.add(&l.blocked, l.reason, d)
	case Syscall:
		off := end
		if l.offAt >= 0 {
			off = min(max(l.offAt, l.since), end)
		}
		l.sys += off - l.since
		l.sysOff += end - off
	default:
		l.unknown += d
	}
	if l.assist >= 0 {
		a.st.sums.add(&l.blocked, rangeAssist, end-l.assist)
	}
	a.st.stand(l, State(l.state), end)
	a.release(l)
	l.state = uint8(Dead) // what is to come reads finished sums
	for _, r := range l.regions {
		t := a.st.regionType(r.name)
		t.Open++
		for k, v := range a.snapshot(l, end) {
			r.acc[k] += v
		}
		t.addSums(r.acc)
	}
	a.fold(l, 0)
}

func (a *orderedAccount) finishProcs(end int64) {
	for _, id := range slices.Sorted(maps.Keys(a.procs)) {
		p := a.procs[id]
		if p.running {
			p.held += end - p.since
		}
		if p.sysSince >= 0 {
			p.Syscall += time.Duration(end - p.sysSince)
		}
		p.Scheduler = max(time.Duration(p.held)-p.Syscall-p.User-p.GC-p.GCIdle, 0)
		p.Idle = max(time.Duration(end-p.from-p.held), 0)
		a.st.acc.Procs = append(a.st.acc.Procs, p.Proc)
	}
}

// What a timeline counts.
const (
	lineRunning = iota
	lineHeld
	lineRunnable
)

// A timeline sums up how many are in a state, by equal pieces of time, in
// constant memory: when it gets too long, pieces become twice as wide.
type timeline struct {
	from  int64
	width int64
	cells []lineCell
}

// A lineCell holds the changes within a piece of time and their moments, from
// which the integrals follow.
type lineCell struct{ n, t [3]int64 }

// maxLine is how many pieces there are at most.
const maxLine = 2048

func (l *timeline) start(from int64) { l.from, l.width = from, 1<<10 }

// change notes that n more are in a state from now on.
func (l *timeline) change(kind int, now, n int64) {
	x := max(now-l.from, 0)
	for x/l.width >= maxLine {
		l.halve()
	}
	i := int(x / l.width)
	for len(l.cells) <= i {
		l.cells = append(l.cells, lineCell{})
	}
	l.cells[i].n[kind] += n
	l.cells[i].t[kind] += n * x
}

func (l *timeline) halve() {
	l.width *= 2
	for i := range l.cells {
		c := l.cells[i]
		l.cells[i] = lineCell{}
		d := &l.cells[i/2]
		for k := range c.n {
			d.n[k] += c.n[k]
			d.t[k] += c.t[k]
		}
	}
	l.cells = l.cells[:(len(l.cells)+1)/2]
}

// buckets returns the integrals up to end.
func (l *timeline) buckets(end int64) []Bucket {
	if l.width == 0 || end <= l.from {
		return nil
	}
	for (end-l.from-1)/l.width >= maxLine {
		l.halve()
	}
	var out []Bucket
	var n [3]int64
	for i := int64(0); l.from+i*l.width < end; i++ {
		begin := i * l.width
		until := min(begin+l.width, end-l.from)
		var c lineCell
		if i < int64(len(l.cells)) {
			c = l.cells[i]
		}
		var sum [3]time.Duration
		for k := range n {
			sum[k] = time.Duration(max(n[k]*(until-begin)+c.n[k]*until-c.t[k], 0))
			n[k] += c.n[k]
		}
		out = append(out, Bucket{
			From: Time(l.from + begin), Width: time.Duration(until - begin),
			Running: sum[lineRunning], Held: sum[lineHeld], Runnable: sum[lineRunnable],
		})
	}
	return out
}
