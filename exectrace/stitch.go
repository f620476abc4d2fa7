package exectrace

import (
	"cmp"
	"fmt"
	"slices"
	"time"
)

// The stitcher joins the replays of single generations, in their order. It
// knows what every living goroutine and P was doing when the last generation
// ended, so it can complete the states that a replay found already under
// way; it gives strings and stacks one identity for the whole trace; and it
// folds what has ended, so that only the living take memory.

// A life is a goroutine between generations.
type life struct {
	id      uint64
	state   uint8 // st…
	marker  bool  // a mark worker in the middle of its run
	index   int   // generation that last mentioned it
	since   int64 // ns, as all times here
	stack   Stack
	woken   Stack
	reason  int32
	group   int32
	proc    int32
	offAt   int64 // in a system call: when the P was taken, -1 not
	created int64
	first   int64 // -1 never
	runs    int64

	run, ready, sys, sysOff, unknown int64
	blocked                          int32 // sums

	assist, stw int64 // begins, -1 none
	stwKind     int32
	stwStack    Stack
	regions     []liveRegion
	late        []lifeWait // whose group is not known yet
}

type lifeWait struct {
	key waitKey
	d   int64
}

type liveRegion struct {
	name  int32 // interned
	begin int64
	acc   [5]int64
}

// A groupSum is a group over the whole trace.
type groupSum struct {
	name                             int32
	start                            Frame
	count, created, ended            int
	alive, peak                      int
	run, ready, sys, sysOff, unknown int64
	blocked                          int32
	runs                             int64
	delay                            Histogram
	running                          Histogram
	life                             Histogram
	cause                            Stack
	causeN                           int
	kept                             []Goroutine
	keepMin                          time.Duration
}

// A liveProc is a P between generations.
type liveProc struct {
	Proc
	state   uint8 // ps…
	since   int64
	sysFrom int64
	held    int64
	from    int64 // first seen
	seen    bool
}

type waitKey struct {
	state  State
	reason int32
	stack  Stack
	group  int32
}

type waitSum struct{ n, total int64 }

type stitcher struct {
	keep   int
	window Range
	in     *interner
	acc    *Accounts

	lives  []life
	free   []int32
	ids    idTable
	sums   sums
	groups []*groupSum
	byName map[int32]int32
	procs  []liveProc

	reasons []string
	byWord  map[string]int32
	waits   map[waitKey]*waitSum
	wakes   map[[2]Stack]int64
	bursts  map[Stack]*burstTally
	slice   Histogram

	gcs      []gcMark
	heap     []HeapSample
	gomaxAt  int64
	gomax    []LoadChange
	tasks    map[uint64]*Task
	taskType map[string]*TaskType
	regions  map[int32]*RegionType
	logs     map[string]*LogCount
	samples  map[[2]int32]int64
	threads  map[uint64]struct{}

	// Of the generation before.
	prev      *Generation
	cells     [cells]cell
	cellShift uint
	cellClock clock
	cellFrom  int64

	// Maps of the generation at hand, from its identities to those of the trace.
	stackOf  []Stack
	groupOf  []int32
	reasonOf []int32
}

func newStitcher(keep int, window Range) *stitcher {
	st := &stitcher{
		keep: keep, window: window, in: newInterner(), acc: &Accounts{},
		byName: map[int32]int32{}, byWord: map[string]int32{}, waits: map[waitKey]*waitSum{},
		wakes: map[[2]Stack]int64{}, bursts: map[Stack]*burstTally{},
		tasks: map[uint64]*Task{}, taskType: map[string]*TaskType{}, regions: map[int32]*RegionType{},
		logs: map[string]*LogCount{}, samples: map[[2]int32]int64{}, threads: map[uint64]struct{}{},
	}
	st.ids.reset()
	st.reason("") // of waits that began before the trace
	st.group(0, Frame{})
	return st
}

func (st *stitcher) reason(word string) int32 {
	r, ok := st.byWord[word]
	if !ok {
		if len(st.reasons) >= maxReasons {
			return 0
		}
		r = int32(len(st.reasons))
		st.reasons = append(st.reasons, word)
		st.byWord[word] = r
	}
	return r
}

func (st *stitcher) group(name int32, start Frame) int32 {
	g, ok := st.byName[name]
	if !ok {
		g = int32(len(st.groups))
		st.groups = append(st.groups, &groupSum{name: name, start: start, blocked: -1})
		st.byName[name] = g
	}
	return g
}

// clip moves a moment into the window.
func (st *stitcher) clip(ns int64) int64 {
	if st.window.IsZero() {
		return ns
	}
	return min(max(ns, int64(st.window.From)), int64(st.window.To))
}

// add joins the next generation.
func (st *stitcher) add(e *engine) {
	g := e.g
	t0 := e.ns(e.t0)
	rec := Generation{
		Number: g.number, Offset: g.off, Bytes: g.end - g.off, Batches: g.batches, Threads: len(e.threads),
		Start: Time(t0), End: Time(e.ns(e.last)), Events: e.events, Forced: e.forced,
		LostBytes: g.lost + e.lostLen, Trusted: trusted(e),
	}
	st.note(e, &rec)
	if st.prev != nil {
		if over := st.prev.End - Time(t0); over > 0 && !g.gap {
			st.prev.Overlap = time.Duration(over)
		}
		st.flushCells(t0)
		st.acc.Info.Start = min(st.acc.Info.Start, Time(t0)) // it is less only in a damaged trace
	} else {
		st.acc.Info.Start = Time(t0)
	}
	st.map_(e)
	from := e.ns(e.begin())
	if g.gap && st.prev != nil {
		st.acc.Info.Damage.Missing++
		st.acc.Info.Damage.LostTime += time.Duration(max(t0-int64(st.prev.End), 0))
		st.loseAll(from)
	}
	st.boundary(from)
	if rec.Trusted {
		st.goroutines(e, from)
		st.finished(e)
		st.joinWaits(e)
		st.joinProcs(e, from)
		st.joinGC(e)
	} else {
		st.acc.Info.Damage.LostTime += time.Duration(e.ns(e.last) - t0)
		st.loseAll(from)
	}
	st.joinUser(e)
	for i := range e.threads {
		if e.threads[i].id != noThread {
			st.threads[e.threads[i].id] = struct{}{}
		}
	}
	st.cells, st.cellShift, st.cellClock, st.cellFrom = e.cells, e.cellShift, e.clock, t0
	if !rec.Trusted {
		st.cells = [cells]cell{}
	}
	if e.clock.snap.Mono != 0 {
		st.acc.Info.Clock = e.clock.snap
	}
	st.acc.Info.Generations = append(st.acc.Info.Generations, rec)
	st.prev = &st.acc.Info.Generations[len(st.acc.Info.Generations)-1]
	st.acc.Info.End = max(st.acc.Info.End, rec.End)
}

// trusted reports whether a generation's states mean anything: when every
// twentieth event had to be forced, they are guesses.
func trusted(e *engine) bool { return (e.forced+e.dropped)*20 <= e.events }

// note records what a generation lost.
func (st *stitcher) note(e *engine, rec *Generation) {
	d := &st.acc.Info.Damage
	d.LostBytes += rec.LostBytes
	d.Forced += e.forced + e.dropped
	if rec.LostBytes > 0 && e.events > 0 && rec.Bytes > rec.LostBytes {
		d.LostEvents += rec.LostBytes * e.events / (rec.Bytes - rec.LostBytes)
	}
	say := func(format string, a ...any) {
		if len(d.Notes) < 100 {
			d.Notes = append(d.Notes, fmt.Sprintf("generation %d: ", rec.Number)+fmt.Sprintf(format, a...))
		}
	}
	if e.g.gap && st.prev != nil {
		say("generations before it are missing")
	}
	if rec.LostBytes > 0 {
		say("%d bytes could not be read", rec.LostBytes)
	}
	if e.g.cut {
		say("the trace ends inside it")
	}
	if e.forced+e.dropped > 0 {
		say("%d events did not fit what was known", e.forced+e.dropped)
	}
	if !rec.Trusted {
		say("too much of it is missing; its time is counted as unknown")
	}
	if !e.clock.ok && e.g.batches > 0 {
		say("its clock rate is missing; %d ticks a second are assumed", e.clock.freq)
	}
	if e.g.experimental > 0 && len(st.acc.Info.Generations) == 0 {
		say("experimental events (%d bytes) are not read", e.g.experimental)
	}
}

// map_ prepares the maps from the generation's identities.
func (st *stitcher) map_(e *engine) {
	if n := len(e.tables.stacks) + 1; cap(st.stackOf) < n {
		st.stackOf = make([]Stack, n)
	} else {
		st.stackOf = st.stackOf[:n]
	}
	for i := range st.stackOf {
		st.stackOf[i] = -1
	}
	st.reasonOf = st.reasonOf[:0]
	for _, r := range e.reasons {
		st.reasonOf = append(st.reasonOf, st.reason(string(r)))
	}
	st.groupOf = append(st.groupOf[:0], 0)
	for _, t := range e.tallies[1:] {
		f := t.start
		name := st.in.str(t.name)
		st.groupOf = append(st.groupOf, st.group(name, Frame{
			PC: f.pc, Func: st.in.names[name], File: string(e.str(uint64(f.file))), Line: int(f.line)}))
	}
}

func (st *stitcher) stack(e *engine, local uint32) Stack {
	if local == 0 || int(local) >= len(st.stackOf) {
		return 0
	}
	if s := st.stackOf[local]; s >= 0 {
		return s
	}
	s := st.in.stack(&e.tables, local)
	st.stackOf[local] = s
	return s
}

// key maps a key of a generation's sums.
func (st *stitcher) key(k int32) int32 {
	switch {
	case k >= rangeSTW:
		return rangeSTW + st.reasonAt(k-rangeSTW)
	case k >= rangeBase:
		return k
	}
	return st.reasonAt(k)
}

func (st *stitcher) reasonAt(local int32) int32 {
	if int(local) < len(st.reasonOf) {
		return st.reasonOf[local]
	}
	return 0
}

// loseAll gives up what all goroutines and Ps do at a moment.
func (st *stitcher) loseAll(now int64) {
	for i := range st.lives {
		if l := &st.lives[i]; l.state != stAbsent {
			l.unknown += now - l.since
			l.since, l.state, l.marker, l.assist, l.stw = now, stLost, false, -1, -1
		}
	}
	for i := range st.procs {
		if p := &st.procs[i]; p.seen {
			if p.state != psIdle {
				p.Unknown += time.Duration(now - p.since)
			}
			p.since, p.state = now, psLost
		}
	}
}

// boundary ends the time that Ps were held at the begin of a generation,
// from where its replay counts.
func (st *stitcher) boundary(now int64) {
	for i := range st.procs {
		p := &st.procs[i]
		if !p.seen || p.state == psIdle || p.state == psAbsent || p.state == psLost {
			continue
		}
		p.held += now - p.since
		if p.state != psRunning {
			p.Syscall += time.Duration(now - p.sysFrom)
		}
		p.since, p.sysFrom = now, now
	}
}

// goroutines joins those that lived before or live on.
func (st *stitcher) goroutines(e *engine, from int64) {
	index := e.g.index
	seen := 0
	onProc := map[int32]int32{}
	for i := range e.threads {
		if t := &e.threads[i]; t.g >= 0 {
			onProc[t.g] = int32(i)
		}
	}
	for i := range st.groups {
		st.groups[i].atStart()
	}
	for slot := range e.gs {
		s := &e.gs[slot]
		if s.word&stMask == stAbsent && s.traits&trForced == 0 {
			continue
		}
		at := st.ids.get(s.id)
		if s.traits&trBorn != 0 && at >= 0 {
			// The life before ended without our seeing it.
			st.end(at, from, false)
			at = -1
		}
		if at < 0 {
			at = st.newLife(s, from, e)
		}
		l := &st.lives[at]
		l.index = index
		seen++
		place := l.stack // where it waited when the generation began
		if l.state != stWaiting {
			place = 0
		}
		st.join(e, int32(slot), s, l, from)
		st.joinLate(e, s, l, place)
		th := int32(-1)
		if t, ok := onProc[int32(slot)]; ok {
			th = t
		}
		if s.word&stMask == stDead {
			st.settleCold(e, s, l)
			st.end(at, e.ns(s.since), true)
			continue
		}
		st.settle(e, s, l, th)
		if s.flags&flUnnamed != 0 {
			l.woken = place
		}
	}
	if seen < len(st.lives)-len(st.free) {
		st.unseen(index, from)
	}
	for i, t := range e.tallies {
		st.groups[st.groupOf[i]].grow(t)
	}
}

// unseen gives up goroutines that a generation did not mention.
func (st *stitcher) unseen(index int, from int64) {
	for i := range st.lives {
		l := &st.lives[i]
		if l.state == stAbsent || l.index == index || l.state == stLost {
			continue
		}
		l.unknown += from - l.since
		l.since, l.state = from, stLost
	}
}

// newLife starts the account of a goroutine met for the first time.
func (st *stitcher) newLife(s *gor, from int64, e *engine) int32 {
	var at int32
	if n := len(st.free); n > 0 {
		at = st.free[n-1]
		st.free = st.free[:n-1]
	} else {
		at = int32(len(st.lives))
		st.lives = extend(st.lives)
	}
	var state uint8
	if s.carry != 0 {
		state = e.carry(s).state
	}
	st.lives[at] = life{
		id: s.id, state: state, since: from, blocked: -1, first: -1, offAt: -1, proc: -1,
		assist: -1, stw: -1, stack: -1,
	}
	l := &st.lives[at]
	l.group = st.groupOf[s.group]
	g := st.groups[l.group]
	g.count++
	g.alive++
	if s.traits&trBorn != 0 {
		l.created = e.ns(s.created)
		if s.traits&trUncounted == 0 {
			g.alive-- // the tally of the generation counts it
			g.count--
		} else {
			g.created++
		}
	} else if s.traits&trLeft != 0 {
		l.stack = st.stack(e, e.carry(s).stack)
	} else {
		l.stack = st.stack(e, s.stack)
	}
	st.ids.put(s.id, at)
	return at
}

// join adds a generation to a life: what was under way first, then what began in it.
func (st *stitcher) join(e *engine, slot int32, s *gor, l *life, from int64) {
	if l.group == 0 && s.group != 0 {
		st.regroup(l, st.groupOf[s.group])
	}
	if s.traits&trBorn == 0 {
		st.complete(e, slot, s, l, from)
	}
	l.run += e.ns(s.run)
	l.ready += e.ns(s.ready)
	l.sys += e.ns(s.sys)
	l.sysOff += e.ns(s.sysOff)
	l.unknown += e.ns(s.unknown)
	l.runs += int64(s.runs)
	if l.first < 0 && s.flags&flRan != 0 {
		l.first = e.ns(s.first)
	}
	for n := range e.sums.all(s.blocked) {
		st.sums.add(&l.blocked, st.key(n.key), e.ns(n.sum))
	}
}

// addLate counts a wait, or keeps it while the group is not known.
func (st *stitcher) addLate(l *life, k waitKey, d int64) {
	if l.group == 0 {
		l.late = append(l.late, lifeWait{k, d})
		return
	}
	st.addWait(k, 1, d)
	if k.state == Runnable {
		st.groups[l.group].delay.Add(time.Duration(d))
	}
}

// regroup gives a life, and what it waited for, the group that it turns out
// to be of.
func (st *stitcher) regroup(l *life, group int32) {
	from, to := st.groups[l.group], st.groups[group]
	from.count--
	from.alive--
	to.count++
	to.alive++
	if l.created > 0 {
		from.created--
		to.created++
	}
	l.group = group
	st.flushLate(l)
}

func (st *stitcher) flushLate(l *life) {
	for _, w := range l.late {
		w.key.group = l.group
		st.addWait(w.key, 1, w.d)
		if w.key.state == Runnable {
			st.groups[l.group].delay.Add(time.Duration(w.d))
		}
	}
	l.late = nil
}

// complete gives the state that a life was in when the generation began the
// time that the generation could not know.
func (st *stitcher) complete(e *engine, slot int32, s *gor, l *life, from int64) {
	if l.state != e.carry(s).state || s.traits&trForced != 0 {
		l.unknown += from - l.since
		if s.traits&trForced != 0 && s.traits&trLeft == 0 {
			l.since = from
			return
		}
		l.since, l.state, l.stack, l.woken, l.reason, l.offAt = from, e.carry(s).state, 0, 0, 0, -1
		if s.traits&trForced != 0 {
			return
		}
	}
	if s.traits&trLeft == 0 {
		if l.state == stRunning {
			st.regionEnds(e, slot, l, func(acc *[5]int64) { acc[0] += from - l.since })
		} else {
			st.regionEnds(e, slot, l, func(*[5]int64) {})
		}
		return
	}
	end := e.ns(e.carry(s).end)
	all, before := end-l.since, from-l.since
	var part [5]int64
	switch l.state {
	case stRunning:
		part[0] = before
		l.run += before
		st.slice.Add(time.Duration(all))
		st.ranOn(e, l, before, all, end)
	case stRunnable:
		part[1] = before
		l.ready += before
		st.addLate(l, waitKey{Runnable, 0, l.stack, l.group}, all)
		st.addWake(l.stack, l.woken, 1)
	case stWaiting:
		part[4] = all
		st.sums.add(&l.blocked, l.reason, all)
		st.addLate(l, waitKey{Waiting, l.reason, l.stack, l.group}, all)
	case stSyscall:
		off := l.offAt
		if off < 0 && e.carry(s).offAt >= 0 {
			off = e.ns(e.carry(s).offAt)
		}
		if off < 0 && l.proc >= 0 && int(l.proc) < len(e.ps) && e.ps[l.proc].stolen >= 0 {
			off = e.ns(e.ps[l.proc].stolen)
		}
		if off < 0 && s.traits&trTaken != 0 {
			// Every P is taken back from system calls where a generation begins.
			off = from
		}
		if off < 0 {
			off = end
		}
		off = min(max(off, l.since), end)
		part[2], part[3] = off-l.since, end-off
		l.sys += off - l.since
		l.sysOff += end - off
		st.addLate(l, waitKey{Syscall, 0, l.stack, l.group}, all)
	default:
		l.unknown += before
	}
	for i := range l.regions {
		for k := range part {
			l.regions[i].acc[k] += part[k]
		}
	}
	st.regionEnds(e, slot, l, func(*[5]int64) {})
}

// ranOn accounts a run that began in an earlier generation to its P. The
// replay counted its part as the program's.
func (st *stitcher) ranOn(e *engine, l *life, before, all, end int64) {
	if l.proc < 0 || int(l.proc) >= len(st.procs) {
		return
	}
	p := &st.procs[l.proc]
	if !l.marker {
		p.User += time.Duration(before)
		return
	}
	l.marker = false
	p.User -= time.Duration(all - before)
	switch l.reason {
	case markIdle:
		p.GCIdle += time.Duration(all)
		return
	}
	p.GC += time.Duration(all)
	st.acc.Load = append(st.acc.Load, LoadChange{Time(end), l.proc, LoadBackground, l.reason == markDedicated, -1})
}

// settle notes how a life goes into the next generation. th is the thread
// that it is on, or -1.
func (st *stitcher) settle(e *engine, s *gor, l *life, th int32) {
	if s.traits&(trLeft|trBorn) != 0 || s.word&stMask == stLost {
		state := uint8(s.word & stMask)
		l.state = state
		l.since = e.ns(s.since)
		l.stack = st.stack(e, s.stack)
		l.woken = st.stack(e, s.woken)
		l.reason, l.offAt = 0, -1
		switch {
		case state == stWaiting:
			l.reason = st.reasonAt(int32(s.reason))
		case state == stRunning && s.flags&flMarker != 0:
			l.marker, l.reason = true, int32(s.reason)
		}
	}
	st.settleProc(e, s, l, th)
	st.settleCold(e, s, l)
}

// settleProc notes the P that a life is on, and for a system call when it
// was taken away.
func (st *stitcher) settleProc(e *engine, s *gor, l *life, th int32) {
	held := false
	if th >= 0 {
		t := &e.threads[th]
		if t.p >= 0 {
			l.proc, held = t.p, true
		}
		if l.state == stSyscall && t.offAt >= 0 {
			l.offAt = e.ns(t.offAt)
		}
	}
	switch {
	case l.state != stSyscall:
		l.offAt = -1
	case l.offAt >= 0 || held || s.traits&(trLeft|trBorn) != 0:
	case l.proc >= 0 && int(l.proc) < len(e.ps) && e.ps[l.proc].stolen >= 0:
		l.offAt = e.ns(e.ps[l.proc].stolen)
	default:
		// In a system call for the whole generation, on a thread without a P.
		l.offAt = e.ns(e.begin())
	}
}

// joinLate counts the waits of a goroutine that the generation could not
// place. place is where it waited when the generation began.
func (st *stitcher) joinLate(e *engine, s *gor, l *life, place Stack) {
	for i := s.late; i != 0; {
		w := &e.late[i-1]
		k := waitKey{w.state, 0, st.stack(e, uint32(w.cause>>32)), l.group}
		if w.state == Waiting {
			k.reason = st.reasonAt(int32(w.reason))
		}
		st.addLate(l, k, e.ns(w.d))
		if w.state == Runnable {
			woken := st.stack(e, uint32(w.cause))
			if w.unnamed {
				woken = place
			}
			st.addWake(k.stack, woken, 1)
		}
		i = w.next
	}
}

// settleCold carries ranges and regions that are open.
func (st *stitcher) settleCold(e *engine, s *gor, l *life) {
	var c *cold
	if s.cold > 0 {
		c = &e.colds[s.cold-1]
	}
	begin := e.begin()
	if l.assist >= 0 && (s.flags&flAssist == 0 || c == nil || c.assist != begin) {
		// It ended in this generation, which counted it from its begin.
		st.sums.add(&l.blocked, rangeAssist, e.ns(begin)-l.assist)
		l.assist = -1
	}
	if s.flags&flAssist != 0 && c != nil && l.assist < 0 {
		l.assist = e.ns(c.assist)
	}
	if c == nil {
		return
	}
	if c.stw >= 0 {
		l.stw, l.stwKind, l.stwStack = e.ns(c.stw), st.reasonAt(c.stwKind), st.stack(e, c.stwAt)
	}
	end := e.snapshot(s, s.since)
	for i := range l.regions {
		for k := range end {
			l.regions[i].acc[k] += e.ns(end[k])
		}
	}
	for _, r := range c.regions {
		lr := liveRegion{name: st.in.str(e.str(uint64(r.name))), begin: e.ns(r.begin)}
		for k := range end {
			lr.acc[k] = e.ns(end[k] - r.snap[k])
		}
		l.regions = append(l.regions, lr)
	}
}

// regionEnds ends regions of a life that began in an earlier generation.
func (st *stitcher) regionEnds(e *engine, slot int32, l *life, correct func(*[5]int64)) {
	for i := range e.regionEnds {
		r := &e.regionEnds[i]
		if r.slot != slot {
			continue
		}
		if len(l.regions) == 0 {
			// Begun before the trace.
			st.regionType(st.in.str(e.str(uint64(r.name)))).Count++
			continue
		}
		lr := l.regions[len(l.regions)-1]
		l.regions = l.regions[:len(l.regions)-1]
		for k := range lr.acc {
			lr.acc[k] += e.ns(r.sums[k])
		}
		correct(&lr.acc)
		t := st.regionType(lr.name)
		t.Count++
		t.Latency.Add(time.Duration(e.ns(r.at) - lr.begin))
		t.addSums(lr.acc)
	}
}

func (st *stitcher) regionType(name int32) *RegionType {
	t := st.regions[name]
	if t == nil {
		t = &RegionType{Name: st.in.names[name]}
		st.regions[name] = t
	}
	return t
}

func (t *RegionType) addSums(v [5]int64) {
	t.Running += time.Duration(v[0])
	t.Runnable += time.Duration(v[1])
	t.Syscall += time.Duration(v[2])
	t.SyscallBlocked += time.Duration(v[3])
	if v[4] != 0 {
		if len(t.Blocked) == 0 {
			t.Blocked = []ReasonTime{{Reason: "blocked"}}
		}
		t.Blocked[0].Total += time.Duration(v[4])
	}
}

// end closes a life and adds it to its group.
func (st *stitcher) end(at int32, now int64, known bool) {
	l := &st.lives[at]
	if !known {
		l.unknown += now - l.since
	}
	if l.assist >= 0 {
		st.sums.add(&l.blocked, rangeAssist, now-l.assist)
	}
	g := st.groups[l.group]
	g.ended++
	g.alive--
	if l.created > 0 {
		g.life.Add(time.Duration(now - l.created))
	}
	st.fold(g, l, now)
	st.ids.remove(l.id)
	st.sums.drop(&l.blocked)
	st.lives[at] = life{state: stAbsent}
	st.free = append(st.free, at)
}

// fold adds a life to its group. ended is 0 for one that goes on.
func (st *stitcher) fold(g *groupSum, l *life, ended int64) {
	st.flushLate(l)
	g.run += l.run
	g.ready += l.ready
	g.sys += l.sys
	g.sysOff += l.sysOff
	g.unknown += l.unknown
	g.runs += l.runs
	g.running.Add(time.Duration(l.run))
	for n := range st.sums.all(l.blocked) {
		st.sums.add(&g.blocked, n.key, n.sum)
	}
	if !st.wants(g, time.Duration(l.run+l.ready)) {
		return
	}
	o := Goroutine{
		ID: int64(l.id), Group: int(l.group), Created: Time(l.created), First: Time(max(l.first, 0)), Ended: Time(ended), Runs: l.runs,
		Times: Times{
			Running: time.Duration(l.run), Runnable: time.Duration(l.ready), Syscall: time.Duration(l.sys),
			SyscallBlocked: time.Duration(l.sysOff), Unknown: time.Duration(l.unknown),
		},
	}
	o.Blocked, o.Ranges = st.split(l.blocked)
	st.keepOne(g, o)
}

// split separates a list of sums into wait reasons and ranges.
func (st *stitcher) split(head int32) (blocked, ranges []ReasonTime) {
	for n := range st.sums.all(head) {
		if n.key < rangeBase {
			blocked = append(blocked, ReasonTime{st.reasons[n.key], time.Duration(n.sum)})
		} else {
			ranges = append(ranges, ReasonTime{st.rangeName(n.key), time.Duration(n.sum)})
		}
	}
	byReason := func(a, b ReasonTime) int { return cmp.Compare(a.Reason, b.Reason) }
	slices.SortFunc(blocked, byReason)
	slices.SortFunc(ranges, byReason)
	return blocked, ranges
}

// rangeName is how the standard tools call a range.
func (st *stitcher) rangeName(key int32) string {
	switch key {
	case rangeAssist:
		return "GC mark assist"
	case rangeSweep:
		return "GC incremental sweep"
	}
	return "stop-the-world (" + st.reasons[key-rangeSTW] + ")"
}

// wants reports whether a goroutine of some weight would be kept.
func (st *stitcher) wants(g *groupSum, weight time.Duration) bool {
	return st.keep < 0 || len(g.kept) < st.keep || weight > g.keepMin
}

// keepOne keeps a goroutine, in the place of the lightest one when full.
func (st *stitcher) keepOne(g *groupSum, o Goroutine) {
	if st.keep < 0 || len(g.kept) < st.keep {
		g.kept = append(g.kept, o)
	} else {
		least := 0
		for i := range g.kept {
			if weight(&g.kept[i]) < weight(&g.kept[least]) {
				least = i
			}
		}
		g.kept[least] = o
	}
	if len(g.kept) == st.keep {
		g.keepMin = weight(&g.kept[0])
		for i := range g.kept {
			g.keepMin = min(g.keepMin, weight(&g.kept[i]))
		}
	}
}

func weight(g *Goroutine) time.Duration { return g.Running + g.Runnable }

func (g *groupSum) atStart() { g.peak = max(g.peak, g.alive) }

// grow follows the number alive through a generation.
func (g *groupSum) grow(t *tally) {
	n := g.alive
	for _, d := range t.net {
		n += int(d)
		g.peak = max(g.peak, n)
	}
	g.alive = n
}

// finished joins what was born and died in the generation, and the counts.
func (st *stitcher) finished(e *engine) {
	for i, t := range e.tallies {
		g := st.groups[st.groupOf[i]]
		g.count += t.created
		g.created += t.created
		g.ended += t.ended
		g.run += e.ns(t.run)
		g.ready += e.ns(t.ready)
		g.sys += e.ns(t.sys)
		g.sysOff += e.ns(t.sysOff)
		g.unknown += e.ns(t.unknown)
		g.runs += t.runs
		g.delay.addHist(&t.delay)
		g.running.addHist(&t.running)
		g.life.addHist(&t.life)
		if t.created > g.causeN {
			g.causeN, g.cause = t.created, st.stack(e, t.cause)
		}
		for x := range e.sums.all(t.blocked) {
			st.sums.add(&g.blocked, st.key(x.key), e.ns(x.sum))
		}
		for k := range t.kept {
			st.keepFinished(e, g, i, &t.kept[k])
		}
	}
}

func (st *stitcher) keepFinished(e *engine, g *groupSum, local int, k *keptGor) {
	if !st.wants(g, time.Duration(e.ns(k.weight()))) {
		return
	}
	o := Goroutine{
		ID: int64(k.id), Group: int(st.groupOf[local]), Created: Time(e.ns(k.created)),
		Ended: Time(e.ns(k.ended)), Runs: int64(k.runs),
		Times: Times{
			Running: time.Duration(e.ns(k.run)), Runnable: time.Duration(e.ns(k.ready)), Syscall: time.Duration(e.ns(k.sys)),
			SyscallBlocked: time.Duration(e.ns(k.sysOff)), Unknown: time.Duration(e.ns(k.unknown)),
		},
	}
	if k.flags&flRan != 0 {
		o.First = Time(e.ns(k.first))
	}
	head := int32(-1)
	for _, n := range k.sums {
		st.sums.add(&head, st.key(n.key), e.ns(n.sum))
	}
	o.Blocked, o.Ranges = st.split(head)
	st.sums.drop(&head)
	st.keepOne(g, o)
}

func (st *stitcher) addWait(k waitKey, n, total int64) {
	w := st.waits[k]
	if w == nil {
		w = new(waitSum)
		st.waits[k] = w
	}
	w.n += n
	w.total += total
}

func (st *stitcher) addWake(waker, woken Stack, n int64) {
	if woken != 0 {
		st.wakes[[2]Stack{waker, woken}] += n
	}
}

// joinWaits joins the blocking profiles and the wake-up graph.
func (st *stitcher) joinWaits(e *engine) {
	for i := range e.waits.entries {
		w := &e.waits.entries[i]
		if w.class == 0 {
			continue
		}
		state := State(w.class >> 32)
		stack := st.stack(e, uint32(w.cause>>32))
		k := waitKey{state, 0, stack, st.groupOf[uint16(w.class)]}
		if state == Waiting {
			k.reason = st.reasonAt(int32(uint16(w.class >> 16)))
		}
		if w.n > 0 || w.total > 0 {
			st.addWait(k, w.n, e.ns(w.total))
		}
		if woken := uint32(w.cause); state == Runnable && woken != 0 {
			st.addWake(stack, st.stack(e, woken), w.n)
		}
	}
	for stack, b := range e.bursts {
		s := st.stack(e, stack)
		t := st.bursts[s]
		if t == nil {
			t = new(burstTally)
			st.bursts[s] = t
		}
		t.count += b.count
		t.woken += b.woken
		t.futile += b.futile
		t.max = max(t.max, b.max)
	}
	st.slice.addHist(&e.slice)
}

// joinProcs joins the accounts of Ps.
func (st *stitcher) joinProcs(e *engine, from int64) {
	for id := range e.ps {
		p := &e.ps[id]
		if p.word&stMask == psAbsent {
			continue
		}
		for len(st.procs) <= id {
			st.procs = append(st.procs, liveProc{Proc: Proc{ID: len(st.procs)}})
		}
		o := &st.procs[id]
		if !o.seen {
			o.seen, o.from = true, from
		}
		if o.state == psLost {
			o.Unknown += time.Duration(from - o.since)
		}
		o.held += e.ns(p.held)
		o.Syscall += time.Duration(e.ns(p.sys))
		o.User += time.Duration(e.ns(p.user))
		o.GC += time.Duration(e.ns(p.gc))
		o.GCIdle += time.Duration(e.ns(p.gcIdle))
		o.Starts += p.starts
		o.state = uint8(p.word & stMask)
		o.since, o.sysFrom = e.ns(p.since), e.ns(p.sysFrom)
		if o.state == psLost {
			o.since = e.ns(e.last)
		}
	}
}

// joinGC joins what the collector did.
func (st *stitcher) joinGC(e *engine) {
	for _, m := range e.gcs {
		st.gcs = append(st.gcs, gcMark{e.ns(m.at), m.seq, m.typ})
	}
	st.joinHeap(e)
	for _, p := range e.pauses {
		o := Pause{Begin: Time(e.ns(p.begin)), End: Time(e.ns(p.end))}
		if p.begin >= 0 {
			o.Kind, o.Stack = st.reasons[st.reasonAt(p.kind)], st.stack(e, p.stack)
		} else {
			o.Begin = Time(e.ns(e.t0))
			if at := st.ids.get(e.gs[p.g].id); at >= 0 && st.lives[at].stw >= 0 {
				l := &st.lives[at]
				o.Begin, o.Kind, o.Stack = Time(l.stw), st.reasons[l.stwKind], l.stwStack
				st.sums.add(&l.blocked, rangeSTW+l.stwKind, int64(o.End-o.Begin))
				l.stw = -1
			}
		}
		st.acc.Pauses = append(st.acc.Pauses, o)
	}
	for _, c := range e.load {
		st.acc.Load = append(st.acc.Load, LoadChange{Time(e.ns(c.at)), c.proc, c.kind, c.dedicated, c.delta})
	}
	for _, p := range e.procs {
		at := e.ns(p.at)
		st.gomax = append(st.gomax, LoadChange{Time(at), -1, LoadProcs, false, int32(min(p.n, maxProcs))})
	}
}

// joinHeap joins the samples of the heap.
func (st *stitcher) joinHeap(e *engine) {
	for i := range e.heap {
		h := &e.heap[i]
		if at := max(h.allocAt, h.goalAt); at > 0 {
			st.heap = append(st.heap, HeapSample{Time(e.ns(at)), h.alloc, h.goal})
		}
	}
}

// joinUser joins tasks, regions, logs and CPU samples.
func (st *stitcher) joinUser(e *engine) {
	st.joinTasks(e)
	for name, r := range e.regions {
		if r == nil {
			continue
		}
		t := st.regionType(st.in.str(e.str(uint64(name))))
		t.Count += r.count
		t.Latency.addHist(&r.life)
		var v [5]int64
		for k := range v {
			v[k] = e.ns(r.sums[k])
		}
		t.addSums(v)
	}
	for key, l := range e.logs {
		if l.n == 0 {
			continue
		}
		k := string(e.str(uint64(key)))
		c := st.logs[k]
		if c == nil {
			c = &LogCount{Category: k, Example: string(e.str(uint64(l.example)))}
			st.logs[k] = c
		}
		c.Count += l.n
	}
	for stack, n := range e.samples {
		g := int32(-1)
		if local := e.group(stack); local != 0 {
			for len(st.groupOf) < len(e.tallies) {
				st.mapTally(e, e.tallies[len(st.groupOf)])
			}
			g = st.groupOf[local]
		}
		st.samples[[2]int32{int32(st.stack(e, stack)), g}] += n
	}
}

// mapTally maps a group that only CPU samples mention.
func (st *stitcher) mapTally(e *engine, t *tally) {
	name := st.in.str(t.name)
	st.groupOf = append(st.groupOf, st.group(name, Frame{
		PC: t.start.pc, Func: st.in.names[name], File: string(e.str(uint64(t.start.file))), Line: int(t.start.line)}))
}

func (st *stitcher) taskOf(name string) *TaskType {
	t := st.taskType[name]
	if t == nil {
		t = &TaskType{Name: name}
		st.taskType[name] = t
	}
	return t
}

// joinTasks joins the tasks of a generation: those complete in it, and the
// ends of those that began before.
func (st *stitcher) joinTasks(e *engine) {
	for name, y := range e.taskTypes {
		if y == nil {
			continue
		}
		word := string(e.str(uint64(name)))
		typ := st.taskOf(word)
		typ.Count += y.count
		typ.Complete += y.count
		typ.Latency.addHist(&y.life)
		for i := range y.slow {
			st.keepTask(e.taskFound(&y.slow[i], word))
		}
	}
	for i := range e.tasks {
		t := &e.tasks[i]
		if t.id == 0 {
			continue
		}
		open := st.tasks[t.id]
		if t.begin >= 0 {
			word := string(e.str(uint64(t.name)))
			st.taskOf(word).Count++
			o := e.taskFound(t, word)
			st.tasks[t.id] = &o
			continue
		}
		if open != nil {
			open.Logs += t.logs
		}
		if t.end < 0 {
			continue
		}
		if open == nil {
			st.taskOf("").Count++ // begun before the trace: its name is not known
			continue
		}
		delete(st.tasks, t.id)
		open.End = Time(e.ns(t.end))
		typ := st.taskOf(open.Name)
		typ.Complete++
		typ.Latency.Add(time.Duration(open.End - open.Begin))
		st.keepTask(*open)
	}
}

func (e *engine) taskFound(t *task, name string) Task {
	o := Task{ID: t.id, Parent: t.parent, Name: name, Begin: Time(e.ns(t.begin)), Logs: t.logs}
	if t.end >= 0 {
		o.End = Time(e.ns(t.end))
	}
	return o
}

func (st *stitcher) keepTask(t Task) {
	st.acc.Slow = append(st.acc.Slow, t)
	if len(st.acc.Slow) >= 4096 {
		st.acc.Slow = slow(st.acc.Slow)
	}
}

// slow keeps the slowest tasks of each type.
func slow(tasks []Task) []Task {
	slices.SortFunc(tasks, func(a, b Task) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(b.End-b.Begin, a.End-a.Begin), cmp.Compare(a.ID, b.ID))
	})
	out := tasks[:0]
	n := 0
	for i := range tasks {
		if i > 0 && tasks[i].Name != tasks[i-1].Name {
			n = 0
		}
		if n++; n <= slowest {
			out = append(out, tasks[i])
		}
	}
	return out
}

// bucketCells is how many cells of a replay make one bucket.
const bucketCells = 4

// flushCells turns the cells of the last generation into buckets, up to where
// the next one begins to count.
func (st *stitcher) flushCells(until int64) {
	c := st.cellClock
	width := int64(1) << st.cellShift
	var n [3]int64 // begins less ends so far: running, held, ready
	last := -1     // of the buckets, the one before
	for i := 0; i < cells; i += bucketCells {
		begin := int64(i) * width
		from, to := st.cellFrom+c.ns(begin), st.cellFrom+c.ns(begin+bucketCells*width)
		if to > until || i+bucketCells == cells {
			to = until
		}
		over := from >= to
		if over && last < 0 {
			break
		}
		end := c.ticks(to - st.cellFrom)
		var sum [3]int64
		if !over {
			for k := range n {
				sum[k] = n[k] * (end - begin)
			}
		}
		for j := i; j < i+bucketCells; j++ {
			x := &st.cells[j]
			for k, v := range [3][2]int64{{x.runN, x.runT}, {x.heldN, x.heldT}, {x.readyN, x.readyT}} {
				// What changed after the next generation began counts there
				// already, and is taken off here: v[1] is beyond end then.
				sum[k] += v[0]*end - v[1]
				n[k] += v[0]
			}
		}
		ns := func(k int) time.Duration { return time.Duration(c.ns(sum[k])) }
		if !over {
			st.acc.Buckets = append(st.acc.Buckets, Bucket{From: Time(from), Width: time.Duration(to - from)})
			last = len(st.acc.Buckets) - 1
		}
		b := &st.acc.Buckets[last]
		b.Running += ns(0)
		b.Held += ns(1)
		b.Runnable += ns(2)
	}
	if len(st.acc.Buckets) > maxBuckets {
		st.acc.Buckets = halve(st.acc.Buckets)
	}
}

// maxBuckets bounds the time line of a trace of any length.
const maxBuckets = 1 << 13

func halve(b []Bucket) []Bucket {
	out := b[:0]
	for i := 0; i < len(b); i += 2 {
		x := b[i]
		if i+1 < len(b) {
			y := b[i+1]
			x.Width = y.Width + time.Duration(y.From-x.From)
			x.Running += y.Running
			x.Held += y.Held
			x.Runnable += y.Runnable
		}
		out = append(out, x)
	}
	return out
}

// finish closes what is open at the end of the trace and returns the accounts.
func (st *stitcher) finish() *Accounts {
	a := st.acc
	info := &a.Info
	end := st.clip(int64(info.End))
	if st.prev != nil {
		st.flushCells(int64(info.End))
	}
	a.Window = st.window
	if st.window.IsZero() {
		a.Window = Range{info.Start, info.End}
	}
	a.Window.From, a.Window.To = max(a.Window.From, info.Start), min(a.Window.To, info.End)
	st.finishBuckets()
	st.finishLives(end)
	st.finishGroups()
	st.finishProcs(end)
	st.finishWaits()
	st.finishGC()
	st.finishUser()
	a.Stacks = st.in.resolve()
	a.Threads = len(st.threads)
	a.AllKept = st.keep < 0
	if n := len(st.gomax); n > 0 {
		info.Procs = int(st.gomax[n-1].Delta)
	}
	return a
}

// finishBuckets keeps the buckets of the window.
func (st *stitcher) finishBuckets() {
	a := st.acc
	a.Buckets = slices.DeleteFunc(a.Buckets, func(b Bucket) bool {
		return b.From.Sub(a.Window.From) <= -b.Width || b.From >= a.Window.To
	})
	// What overlapping generations counted twice was taken off their last
	// bucket; where that is more than it held, the rest belongs to those before.
	var debt [3]time.Duration
	for i := len(a.Buckets) - 1; i >= 0; i-- {
		b := &a.Buckets[i]
		for k, v := range []*time.Duration{&b.Running, &b.Held, &b.Runnable} {
			*v += debt[k]
			debt[k] = min(*v, 0)
			*v = max(*v, 0)
		}
	}
}

func (st *stitcher) finishLives(end int64) {
	for i := range st.lives {
		l := &st.lives[i]
		if l.state == stAbsent {
			continue
		}
		d := end - l.since
		var part [5]int64
		switch l.state {
		case stRunning:
			l.run += d
			part[0] = d
			if l.proc >= 0 && int(l.proc) < len(st.procs) {
				p := &st.procs[l.proc]
				switch {
				case !l.marker:
					p.User += time.Duration(d)
				case l.reason == markIdle:
					p.GCIdle += time.Duration(d)
				default:
					p.GC += time.Duration(d)
				}
			}
		case stRunnable:
			l.ready += d
			part[1] = d
		case stWaiting:
			st.sums.add(&l.blocked, l.reason, d)
			part[4] = d
		case stSyscall:
			off := end
			if l.offAt >= 0 {
				off = min(max(l.offAt, l.since), end)
			}
			l.sys += off - l.since
			l.sysOff += end - off
			part[2], part[3] = off-l.since, end-off
		default:
			l.unknown += d
		}
		if l.assist >= 0 {
			st.sums.add(&l.blocked, rangeAssist, end-l.assist)
		}
		for _, r := range l.regions {
			for k := range part {
				r.acc[k] += part[k]
			}
			t := st.regionType(r.name)
			t.Open++
			t.addSums(r.acc)
		}
		st.fold(st.groups[l.group], l, 0)
	}
}

func (st *stitcher) finishGroups() {
	a := st.acc
	order := make([]int, 0, len(st.groups))
	for i, g := range st.groups {
		if g.count > 0 {
			order = append(order, i)
		}
	}
	slices.SortFunc(order, func(x, y int) int {
		return cmp.Or(cmp.Compare(st.groups[y].run, st.groups[x].run), cmp.Compare(st.in.names[st.groups[x].name], st.in.names[st.groups[y].name]))
	})
	st.groupOf = make([]int32, len(st.groups))
	for i := range st.groupOf {
		st.groupOf[i] = -1
	}
	for n, i := range order {
		g := st.groups[i]
		st.groupOf[i] = int32(n)
		o := Group{
			Name: st.in.names[g.name], Start: g.start, Creator: g.cause, Count: g.count, Created: g.created, Ended: g.ended, Peak: max(g.peak, g.alive),
			Times: Times{
				Running: time.Duration(g.run), Runnable: time.Duration(g.ready), Syscall: time.Duration(g.sys),
				SyscallBlocked: time.Duration(g.sysOff), Unknown: time.Duration(g.unknown),
			},
			Runs: g.runs, Delay: g.delay, RunningEach: g.running, Life: g.life,
		}
		o.Blocked, o.Ranges = st.split(g.blocked)
		a.Groups = append(a.Groups, o)
		a.Delay.merge(&g.delay)
		for _, k := range g.kept {
			k.Group = n
			a.Goroutines = append(a.Goroutines, k)
		}
	}
	a.Slice = st.slice
}

func (st *stitcher) finishProcs(end int64) {
	for i := range st.procs {
		p := &st.procs[i]
		if !p.seen {
			continue
		}
		switch p.state {
		case psRunning:
			p.held += end - p.since
		case psSyscall, psAbandoned:
			p.held += end - p.since
			p.Syscall += time.Duration(end - p.sysFrom)
		case psLost:
			p.Unknown += time.Duration(end - p.since)
		}
		p.Scheduler = max(time.Duration(p.held)-p.Syscall-p.User-p.GC-p.GCIdle, 0)
		p.Idle = max(time.Duration(end-p.from-p.held)-p.Unknown, 0)
		st.acc.Procs = append(st.acc.Procs, p.Proc)
	}
}

func (st *stitcher) finishWaits() {
	a := st.acc
	for k, w := range st.waits {
		g := -1
		if k.group >= 0 && st.groups[k.group].name != 0 {
			g = int(st.groupOf[k.group])
		}
		o := Wait{State: k.state, Stack: k.stack, Group: g, Count: w.n, Total: time.Duration(w.total)}
		if k.state == Waiting {
			o.Reason = st.reasons[k.reason]
		}
		a.Waits = append(a.Waits, o)
	}
	slices.SortFunc(a.Waits, func(x, y Wait) int {
		return cmp.Or(cmp.Compare(y.Total, x.Total), cmp.Compare(x.Stack, y.Stack), cmp.Compare(x.State, y.State),
			cmp.Compare(x.Reason, y.Reason), cmp.Compare(x.Group, y.Group))
	})
	for k, n := range st.wakes {
		a.Wakes = append(a.Wakes, Wake{k[0], k[1], n})
	}
	slices.SortFunc(a.Wakes, func(x, y Wake) int {
		return cmp.Or(cmp.Compare(y.Count, x.Count), cmp.Compare(x.Waker, y.Waker), cmp.Compare(x.Woken, y.Woken))
	})
	for s, b := range st.bursts {
		if b.count > 0 {
			a.Bursts = append(a.Bursts, Burst{s, b.count, b.woken, int(b.max), b.futile})
		}
	}
	slices.SortFunc(a.Bursts, func(x, y Burst) int {
		return cmp.Or(cmp.Compare(y.Woken, x.Woken), cmp.Compare(x.Waker, y.Waker))
	})
}

// cycles pairs begins and ends of collections. All marks of the collector are
// numbered in one row: a begin, one more in each generation that it goes on
// in, an end.
func (st *stitcher) cycles() (cycles []Cycle) {
	slices.SortFunc(st.gcs, func(x, y gcMark) int { return cmp.Compare(x.seq, y.seq) })
	var c *Cycle
	for _, m := range st.gcs {
		if m.typ == evGCBegin || c == nil {
			cycles = append(cycles, Cycle{Seq: m.seq})
			c = &cycles[len(cycles)-1]
		}
		switch m.typ {
		case evGCBegin:
			c.Begin = Time(m.at)
		case evGCEnd:
			c.End = Time(m.at)
			c = nil
		}
	}
	return cycles
}

func (st *stitcher) finishGC() {
	a := st.acc
	in := func(t Time) bool { return t >= a.Window.From && t <= a.Window.To }
	a.Cycles = slices.DeleteFunc(st.cycles(), func(c Cycle) bool {
		return c.Begin != 0 && !in(c.Begin) && c.End != 0 && !in(c.End)
	})
	var last HeapSample
	for _, h := range st.heap {
		last.At = h.At
		if h.Alloc > 0 {
			last.Alloc = h.Alloc
		}
		if h.Goal > 0 {
			last.Goal = h.Goal
		}
		if in(last.At) {
			a.Heap = append(a.Heap, last)
		}
	}
	a.Pauses = slices.DeleteFunc(a.Pauses, func(p Pause) bool { return !in(p.Begin) })
	slices.SortFunc(a.Pauses, func(x, y Pause) int { return cmp.Compare(x.Begin, y.Begin) })
	slices.SortStableFunc(st.gomax, func(x, y LoadChange) int { return cmp.Compare(x.At, y.At) })
	for i, c := range st.gomax {
		if i == 0 || c.Delta != st.gomax[i-1].Delta {
			a.Load = append(a.Load, c)
		}
	}
	slices.SortStableFunc(a.Load, func(x, y LoadChange) int { return cmp.Compare(x.At, y.At) })
}

func (st *stitcher) finishUser() {
	a := st.acc
	for _, t := range st.tasks {
		a.Slow = append(a.Slow, *t)
	}
	a.Slow = slow(a.Slow)
	for _, t := range st.taskType {
		a.Tasks = append(a.Tasks, *t)
	}
	slices.SortFunc(a.Tasks, func(x, y TaskType) int { return cmp.Compare(x.Name, y.Name) })
	for _, t := range st.regions {
		a.Regions = append(a.Regions, *t)
	}
	slices.SortFunc(a.Regions, func(x, y RegionType) int { return cmp.Compare(x.Name, y.Name) })
	for _, l := range st.logs {
		a.Logs = append(a.Logs, *l)
	}
	slices.SortFunc(a.Logs, func(x, y LogCount) int { return cmp.Compare(x.Category, y.Category) })
	for k, n := range st.samples {
		g := -1
		if k[1] >= 0 {
			g = int(st.groupOf[k[1]])
		}
		a.Samples = append(a.Samples, SampleCount{Stack(k[0]), g, n})
	}
	slices.SortFunc(a.Samples, func(x, y SampleCount) int {
		return cmp.Or(cmp.Compare(y.Count, x.Count), cmp.Compare(x.Stack, y.Stack))
	})
	if len(a.Samples) > 0 {
		a.SamplePeriod = 10 * time.Millisecond // the runtime's rate, 100 Hz, unless it was changed
	}
}
