package exectrace

import "strings"

// The events of the replay that are not on its hot path: statuses, stolen
// Ps, the garbage collector, annotations.

// other replays one event. It returns false when the thread was parked.
func (e *engine) other(mi int32, m *thread, typ eventType, a *[6]uint64, tt, now int64, force bool) bool {
	switch typ {
	case evProcSteal:
		return e.procSteal(mi, m, a, now, force)
	case evProcStatus:
		e.procStatus(mi, m, a, now)
		return true
	case evGoStatus, evGoStatusStack:
		e.goStatus(mi, m, typ, a, now)
		return true
	case evGoCreateSyscall:
		return e.goCreateSyscall(mi, m, a, now, force)
	case evGCActive, evGCBegin, evGCEnd:
		e.gcs = append(e.gcs, gcMark{tt, a[1], typ})
		return true
	case evGCSweepActive:
		e.sweepActive(m, a)
		return true
	case evGCSweepBegin:
		e.sweepBegin(m, uint32(a[1]), now)
		return true
	case evGCSweepEnd:
		e.sweepEnd(m, now)
		return true
	case evGCMarkAssistActive:
		return e.assistActive(mi, m, a, force)
	case evHeapAlloc:
		// Of two at one moment the larger is the later: it grows but for its collection.
		if h := e.heapAt(tt); tt > h.allocAt || tt == h.allocAt && a[1] > h.alloc {
			h.allocAt, h.alloc = tt, a[1]
		}
		return true
	case evHeapGoal:
		if h := e.heapAt(tt); tt > h.goalAt || tt == h.goalAt && a[1] > h.goal {
			h.goalAt, h.goal = tt, a[1]
		}
		return true
	case evProcsChange:
		e.procs = append(e.procs, procsMark{tt, a[1]})
		return true
	case evUserTaskBegin:
		if e.notes != nil {
			e.notes.taskBegin(e, m, a, tt, now)
		}
		t := e.task(a[1])
		t.begin, t.parent, t.name = tt, a[2], uint32(a[3])
		e.matchTask(t)
		return true
	case evUserTaskEnd:
		if e.notes != nil {
			e.notes.taskEnd(e, m, a[1], tt, now)
		}
		t := e.task(a[1])
		t.end = tt
		e.matchTask(t)
		return true
	case evUserLog:
		if e.notes != nil {
			e.notes.log(e, m, a, tt, now)
		}
		if a[2] < uint64(len(e.logs)) {
			l := &e.logs[a[2]]
			l.n++
			l.example = uint32(a[3])
		}
		if a[1] != 0 {
			e.task(a[1]).logs++
		}
		return true
	}
	if typ >= evSpan || typ == evClockSnapshot {
		return true // experiments: counted, not read
	}

	// What is left happens to the goroutine that the thread runs.
	if m.g < 0 {
		if !force && !m.lost {
			e.parkSelf(mi)
			return false
		}
		e.dropped++
		return true
	}
	s := &e.gs[m.g]
	switch typ {
	case evSTWBegin:
		c := e.cold(s)
		c.stw, c.stwKind, c.stwAt = now, int32(e.reasonIndex(a[1])), uint32(a[2])
		e.loadSTW(c, now, 1)
	case evSTWEnd:
		e.stwEnd(m.g, s, now)
	case evGCMarkAssistBegin:
		c := e.cold(s)
		c.assist, c.assistAt = now, uint32(a[1])
		s.flags |= flAssist
		e.load = append(e.load, loadMark{now, m.p, LoadAssist, false, 1})
	case evGCMarkAssistEnd:
		if s.flags&flAssist != 0 {
			s.flags &^= flAssist
			e.load = append(e.load, loadMark{now, m.p, LoadAssist, false, -1})
			c := e.cold(s)
			if e.notes != nil {
				e.notes.assisted(e, s, c, now)
			}
			e.sums.add(&s.blocked, rangeAssist, now-c.assist)
			c.assist = -1
		}
	case evGoLabel:
		if e.notes != nil {
			e.notes.label(e, s, a[1], tt, now)
		}
		e.label(m, s, a[1], now)
	case evUserRegionBegin:
		c := e.cold(s)
		if len(c.regions) < maxRegions {
			c.regions = append(c.regions, openRegion{uint32(a[2]), a[1], now, e.snapshot(s, now)})
		}
	case evUserRegionEnd:
		e.regionEnd(m.g, s, uint32(a[2]), a[1], now)
	}
	return true
}

// maxRegions bounds the regions that one goroutine has open: more are a
// program's mistake, and must not take memory without end.
const maxRegions = 1 << 10

func (e *engine) procSteal(mi int32, m *thread, a *[6]uint64, now int64, force bool) bool {
	if a[1] >= maxProcs {
		e.dropped++
		return true
	}
	p := e.proc(a[1])
	before := (a[2] - 1) << stBits
	if p.word != before|psSyscall && p.word != before|psAbandoned {
		if !force && p.word&stMask != psLost {
			e.parkOnP(mi, int32(a[1]))
			return false
		}
	}
	if p.word&stMask == psAbandoned {
		p.stolen = now
	}
	if h := p.m; h >= 0 {
		holder := &e.threads[h]
		holder.p = -1
		if holder.g >= 0 && holder.offAt < 0 {
			holder.offAt = now
		}
	}
	e.releaseProc(p, now)
	p.word = a[2]<<stBits | psIdle
	p.touched = true
	if p.waiter >= 0 {
		e.wake(&p.waiter)
	}
	return true
}

func (e *engine) procStatus(mi int32, m *thread, a *[6]uint64, now int64) {
	if a[1] >= maxProcs || a[2] < procRunning || a[2] > procSyscallAbandoned {
		e.dropped++
		return
	}
	p := e.proc(a[1])
	if p.word&stMask != psAbsent {
		e.releaseProc(p, now)
	}
	p.status = uint8(a[2])
	p.since = e.begin()
	p.sysFrom = p.since
	p.carried = true
	switch a[2] {
	case procRunning:
		p.word = psRunning
	case procIdle:
		p.word = psIdle
	case procSyscall:
		p.word = psSyscall
	case procSyscallAbandoned:
		p.word = psAbandoned
	}
	if a[2] == procRunning || a[2] == procSyscall {
		p.m = mi
		m.p = int32(a[1])
	}
	if a[2] != procIdle {
		c, x := e.cellAt(p.since)
		c.heldN++
		c.heldT += x
	}
	if p.waiter >= 0 {
		e.wake(&p.waiter)
	}
}

// begin returns the moment at which carried states count from: the generation's
// begin, or the window's where that is later.
func (e *engine) begin() int64 { return min(max(e.t0, e.from), e.to) }

func (e *engine) goStatus(mi int32, m *thread, typ eventType, a *[6]uint64, now int64) {
	slot := e.goroutine(a[1])
	s := &e.gs[slot]
	state := uint64(stAbsent)
	switch a[3] {
	case goRunnable:
		state = stRunnable
	case goRunning:
		state = stRunning
	case goSyscall:
		state = stSyscall
	case goWaiting:
		state = stWaiting
	default:
		e.dropped++
		return
	}
	if s.word&stMask != stAbsent {
		// Announced twice; the first word holds, what follows is checked against it.
		return
	}
	s.word = state
	e.carry(s).state = uint8(state)
	s.since = e.begin()
	s.flags |= flCarried
	if e.notes != nil {
		e.notes.enter(s, slot)
	}
	if typ == evGoStatusStack {
		s.stack = uint32(a[4])
		s.group = e.group(s.stack)
		if state == stWaiting {
			e.carry(s).why = e.parkings[s.stack]
		}
	}
	switch state {
	case stRunning:
		if m.g >= 0 {
			e.loseGoroutine(m, now)
		}
		m.g = slot
		m.lost = false
		c, x := e.cellAt(s.since)
		c.runN++
		c.runT += x
	case stRunnable:
		c, x := e.cellAt(s.since)
		c.readyN++
		c.readyT += x
	case stSyscall:
		on := mi
		if a[2] != m.id {
			var ok bool
			if on, ok = e.byM[a[2]]; !ok {
				if e.notes != nil {
					e.notes.silent(slot, a[2])
				}
				break // its thread says nothing in this generation
			}
		}
		t := &e.threads[on]
		t.g = slot
		t.lost = false
		if t.waiter >= 0 {
			e.wake(&t.waiter)
		}
	}
	if s.waiter >= 0 {
		e.wake(&s.waiter)
	}
}

func (e *engine) goCreateSyscall(mi int32, m *thread, a *[6]uint64, now int64, force bool) bool {
	if !force {
		m.parked, m.barrier, m.wantG = true, true, a[1]
		return false
	}
	if s := e.find(a[1]); s >= 0 && e.gs[s].word&stMask != stAbsent {
		e.giveUp(&e.gs[s], now)
		e.endGoroutine(s, now)
	}
	e.loseGoroutine(m, now)
	slot := e.goroutine(a[1])
	s := &e.gs[slot]
	s.word = stSyscall
	s.traits |= trBorn | trUncounted
	s.created, s.since = now, now
	if e.notes != nil {
		e.notes.born(e, nil, slot, now)
	}
	m.g = slot
	m.lost = false
	// It has no P until it leaves the system call that it is born in.
	m.offAt = now
	if s.waiter >= 0 {
		e.wake(&s.waiter)
	}
	return true
}

// startSpecial is called when a goroutine starts to run that is in mark
// assist, or whose wait for a P only the stitcher can count, which it
// reports: it began before the generation, or what it followed did.
func (e *engine) startSpecial(m *thread, s *gor, now int64) (done bool) {
	if s.flags&flAssist != 0 {
		e.load = append(e.load, loadMark{now, m.p, LoadAssist, false, 1})
	}
	switch {
	case s.flags&flCarried != 0:
		e.leaveCarried(s, now)
	case s.flags&flUnnamed != 0:
		s.flags &^= flUnnamed
		if !e.beside(s.since, now) {
			e.postpone(s, lateWait{state: Runnable, cause: waitCause(s.stack, 0), d: now - s.since, unnamed: true})
		}
	default:
		return false
	}
	return true
}

// cold returns the rarely needed part of a goroutine.
func (e *engine) cold(s *gor) *cold {
	if s.cold == 0 {
		if n := len(e.coldFree); n > 0 {
			s.cold = e.coldFree[n-1]
			e.coldFree = e.coldFree[:n-1]
			c := &e.colds[s.cold-1]
			*c = cold{assist: -1, stw: -1, regions: c.regions[:0]}
			return c
		}
		if n := len(e.colds); n < cap(e.colds) {
			e.colds = e.colds[:n+1]
			e.colds[n].regions = e.colds[n].regions[:0]
		} else {
			e.colds = append(e.colds, cold{})
		}
		s.cold = int32(len(e.colds))
		c := &e.colds[s.cold-1]
		c.assist, c.stw = -1, -1
	}
	return &e.colds[s.cold-1]
}

// closeCold ends what is open on a goroutine that ends.
func (e *engine) closeCold(slot int32, s *gor, now int64) {
	c := &e.colds[s.cold-1]
	if s.flags&flAssist != 0 && c.assist >= 0 {
		if e.notes != nil {
			e.notes.assisted(e, s, c, now)
		}
		e.sums.add(&s.blocked, rangeAssist, now-c.assist)
	}
	since := s.since
	s.since = now // its last run is counted already
	for len(c.regions) > 0 {
		e.regionEnd(slot, s, 0, 0, now)
	}
	s.since = since
}

// anyone is the goroutine of a sweep that began in an earlier generation: the
// one that ends it, for nobody is taken off a P while sweeping.
const anyone = -2

func (e *engine) sweepActive(m *thread, a *[6]uint64) {
	if a[1] >= maxProcs {
		e.dropped++
		return
	}
	p := e.proc(a[1])
	p.sweepAt, p.sweepG, p.sweepIn = e.begin(), anyone, 0
	if e.initial && e.sweeps {
		e.load = append(e.load, loadMark{p.sweepAt, int32(a[1]), LoadSweep, false, 1})
	}
}

func (e *engine) sweepBegin(m *thread, stack uint32, now int64) {
	if m.p < 0 {
		e.dropped++
		return
	}
	p := &e.ps[m.p]
	p.sweepAt, p.sweepG, p.sweepIn = now, m.g, stack
	if e.sweeps {
		e.load = append(e.load, loadMark{now, m.p, LoadSweep, false, 1})
	}
}

func (e *engine) sweepEnd(m *thread, now int64) {
	if m.p < 0 {
		e.dropped++
		return
	}
	p := &e.ps[m.p]
	if p.sweepAt < 0 {
		return
	}
	if e.sweeps {
		e.load = append(e.load, loadMark{now, m.p, LoadSweep, false, -1})
	}
	if e.notes != nil {
		e.notes.swept(e, p, now)
	}
	if m.g >= 0 && (m.g == p.sweepG || p.sweepG == anyone) {
		e.sums.add(&e.gs[m.g].blocked, rangeSweep, now-p.sweepAt)
	}
	p.sweepAt = -1
}

func (e *engine) assistActive(mi int32, m *thread, a *[6]uint64, force bool) bool {
	slot := e.goroutine(a[1])
	s := &e.gs[slot]
	if s.word&stMask == stAbsent {
		if !force {
			e.parkOnG(mi, slot)
			return false
		}
		e.dropped++
		return true
	}
	if s.flags&flAssist != 0 {
		return true
	}
	s.flags |= flAssist
	c := e.cold(s)
	c.assist, c.assistAt = e.begin(), 0
	if e.initial && m.g == slot && s.word&stMask == stRunning {
		e.load = append(e.load, loadMark{e.begin(), m.p, LoadAssist, false, 1})
	}
	return true
}

func (e *engine) stwEnd(slot int32, s *gor, now int64) {
	c := e.cold(s)
	if e.notes != nil {
		e.notes.stopped(e, s, c, now)
	}
	if c.stw < 0 { // it began in an earlier generation, or with what was lost
		e.pauses = append(e.pauses, pauseMark{begin: -1, end: now, g: slot})
		return
	}
	e.loadSTW(c, now, -1)
	e.pauses = append(e.pauses, pauseMark{c.stw, now, c.stwKind, c.stwAt, slot})
	e.sums.add(&s.blocked, rangeSTW+c.stwKind, now-c.stw)
	c.stw = -1
}

// loadSTW notes begin or end of a stop of the world that the collector made.
func (e *engine) loadSTW(c *cold, now int64, delta int32) {
	if forGC(string(e.reasons[c.stwKind])) {
		e.load = append(e.load, loadMark{now, -1, LoadSTW, false, delta})
	}
}

// forGC reports whether a stop of the world of this kind is the collector's.
func forGC(kind string) bool { return strings.Contains(kind, "GC") }

// label handles the name a mark worker gives itself when it starts to run.
func (e *engine) label(m *thread, s *gor, id uint64, now int64) {
	switch string(e.str(id)) {
	case "GC (dedicated)":
		s.reason = markDedicated
	case "GC (fractional)":
		s.reason = markFractional
	case "GC (idle)":
		s.reason = markIdle
		s.flags |= flMarker
		return
	default:
		return
	}
	if s.flags&flMarker == 0 {
		e.load = append(e.load, loadMark{now, m.p, LoadBackground, s.reason == markDedicated, 1})
	}
	s.flags |= flMarker
}

// snapshot returns what a goroutine added up so far, its present state included.
func (e *engine) snapshot(s *gor, now int64) [5]int64 {
	v := [5]int64{s.run, s.ready, s.sys, s.sysOff, e.sums.total(s.blocked, rangeBase)}
	if s.word&stMask == stRunning {
		v[0] += now - s.since
	}
	return v
}

// regionEnd ends the innermost region of a goroutine.
func (e *engine) regionEnd(slot int32, s *gor, name uint32, task uint64, now int64) {
	v := e.snapshot(s, now)
	if s.cold == 0 || len(e.colds[s.cold-1].regions) == 0 {
		if e.notes != nil {
			e.notes.region(e, s, openRegion{name: name, task: task, begin: -1}, now, true)
		}
		if s.traits&trBorn == 0 {
			e.regionEnds = append(e.regionEnds, regionEnd{slot, now, name, v})
		}
		return
	}
	c := &e.colds[s.cold-1]
	r := c.regions[len(c.regions)-1]
	c.regions = c.regions[:len(c.regions)-1]
	if e.notes != nil {
		e.notes.region(e, s, r, now, true)
	}
	if r.name >= uint32(len(e.regions)) {
		return
	}
	t := e.regions[r.name]
	if t == nil {
		t = new(regionTally)
		e.regions[r.name] = t
	}
	t.count++
	t.life.add(e.ns(now - r.begin))
	for i := range v {
		t.sums[i] += v[i] - r.snap[i]
	}
}

// addSamples counts the CPU samples of one batch.
func (e *engine) addSamples(b []byte) {
	for i := 1; i < len(b); {
		if eventType(b[i]) != evCPUSample {
			e.lostLen += int64(len(b) - i)
			return
		}
		start := i
		i++
		var a [5]uint64 // time, m, p, g, stack
		for k := range a {
			if a[k], i = uvarint(b, i); i < 0 {
				e.lostLen += int64(len(b) - start)
				return
			}
		}
		e.events++
		if t := int64(a[0]); t >= e.from && t < e.to {
			if e.notes != nil {
				e.notes.sample(e, &a)
			}
			e.samples[uint32(a[4])]++
		}
	}
}

// task returns the account of a user task of this generation. It is valid
// until the next call.
func (e *engine) task(id uint64) *task {
	if i := e.taskIDs.get(id); i >= 0 {
		return &e.tasks[i]
	}
	var i int32
	if n := len(e.taskFree); n > 0 {
		i = e.taskFree[n-1]
		e.taskFree = e.taskFree[:n-1]
	} else {
		i = int32(len(e.tasks))
		e.tasks = append(e.tasks, task{})
	}
	e.tasks[i] = task{id: id, begin: -1, end: -1}
	e.taskIDs.put(id, i)
	return &e.tasks[i]
}

// matchTask counts a task whose begin and end were both met.
func (e *engine) matchTask(t *task) {
	if t.begin < 0 || t.end < 0 || t.name >= uint32(len(e.taskTypes)) {
		return
	}
	typ := e.taskTypes[t.name]
	if typ == nil {
		typ = new(taskTally)
		e.taskTypes[t.name] = typ
	}
	typ.add(*t, e.ns(t.end-t.begin))
	i := e.taskIDs.get(t.id)
	e.taskIDs.remove(t.id)
	t.id = 0
	e.taskFree = append(e.taskFree, i)
}

// slowest is how many tasks of each type are kept.
const slowest = 16

func (y *taskTally) add(t task, ns int64) {
	y.count++
	y.life.add(ns)
	if len(y.slow) < slowest {
		y.slow = append(y.slow, t)
		return
	}
	if t.end-t.begin <= y.least {
		return
	}
	shortest := 0
	for i := range y.slow {
		if y.slow[i].end-y.slow[i].begin < y.slow[shortest].end-y.slow[shortest].begin {
			shortest = i
		}
	}
	y.slow[shortest] = t
	y.least = t.end - t.begin
	for i := range y.slow {
		y.least = min(y.least, y.slow[i].end-y.slow[i].begin)
	}
}

// heapAt returns the mark for a moment.
func (e *engine) heapAt(at int64) *heapMark {
	i := uint64(max(at-e.t0, 0)) >> e.cellShift
	return &e.heap[min(i, heapMarks-1)]
}
