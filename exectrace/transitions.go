package exectrace

import "slices"

// What a replay does when a goroutine or a P leaves a state, for good or
// because its state turns out not to be true.

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

// leaveWaiting ends a wait. One that the window's end cuts goes on there.
func (e *engine) leaveWaiting(s *gor, now int64) {
	if s.flags&flCarried != 0 {
		e.leaveCarried(s, now)
		return
	}
	dt := now - s.since
	e.sums.add(&s.blocked, int32(s.reason), dt)
	open, still := now >= e.to, s.since <= e.from
	switch {
	case e.beside(s.since, now):
	case s.group == 0:
		e.postpone(s, lateWait{state: Waiting, reason: s.reason, cause: waitCause(s.stack, 0), d: dt, open: open, still: still})
	case open:
		e.open = append(e.open, openWait{waitClass(Waiting, s.reason, s.group), s.stack, still, dt})
	default:
		e.waits.add(&s.waitAt, waitCause(s.stack, 0), waitClass(Waiting, s.reason, s.group), dt)
		return
	}
	if open && s.since < e.to {
		s.traits |= trStood
	}
}

// beside reports whether a state lies outside the window: it counts as none there.
func (e *engine) beside(since, now int64) bool { return now <= e.from || since >= e.to }

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
	switch {
	case e.beside(s.since, now):
	case s.group == 0:
		e.postpone(s, lateWait{state: Syscall, cause: waitCause(s.stack, 0), d: dt})
	default:
		e.waits.add(&s.waitAt, waitCause(s.stack, 0), waitClass(Syscall, 0, s.group), dt)
	}
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
	if e.notes != nil {
		e.notes.hold(e, p, now)
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
	e.tries -= int64(len(e.threads)) / threadsPerTry
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
	if e.notes != nil {
		e.notes.gap(e, s, now)
	}
	s.unknown += now - s.since
	s.since = now
	if s.flags&flCarried != 0 {
		s.traits |= trForced
		e.leaveCarried(s, now)
	}
	e.dropLoad(s, now)
	s.flags &^= flMarker | flAssist | flUnnamed
}

// dropLoad ends what a goroutine does for the collector, or stops the world
// for, when nobody can tell when it really ended.
func (e *engine) dropLoad(s *gor, now int64) {
	var c *cold
	if s.cold > 0 {
		c = &e.colds[s.cold-1]
	}
	if c != nil && c.stw >= 0 {
		c.stw = -1
		e.loadSTW(c, now, -1)
	}
	if c != nil {
		c.assist = -1
	}
	if s.flags&(flAssist|flMarker) == 0 || s.word&stMask != stRunning {
		return
	}
	for i := range e.threads {
		t := &e.threads[i]
		if t.g < 0 || &e.gs[t.g] != s || t.p < 0 {
			continue
		}
		if s.flags&flAssist != 0 {
			e.load = append(e.load, loadMark{now, t.p, LoadAssist, false, -1})
		}
		if s.flags&flMarker != 0 && s.reason != markIdle {
			e.load = append(e.load, loadMark{now, t.p, LoadBackground, s.reason == markDedicated, -1})
		}
	}
}

// loseGoroutine forgets what a thread was running.
func (e *engine) loseGoroutine(m *thread, now int64) {
	if m.g < 0 {
		return
	}
	s := &e.gs[m.g]
	e.giveUp(s, now)
	m.g = -1
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

// postpone keeps a wait until the goroutine's group is known.
func (e *engine) postpone(s *gor, w lateWait) {
	w.next = s.late
	e.late = append(e.late, w)
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
		class := waitClass(w.state, w.reason, s.group)
		if w.open {
			e.open = append(e.open, openWait{class, uint32(w.cause >> 32), w.still, w.d})
		} else {
			x := e.waits.at(w.cause, class)
			x.n++
			x.total += w.d
		}
		if w.state == Runnable {
			tl.delay.add(e.ns(w.d))
		}
		i = w.next
	}
	s.late = 0
	if s.traits&trUncounted != 0 {
		s.traits &^= trUncounted
		e.count(tl, s, 1)
	}
}

// count adds a goroutine that was born in this generation, or takes it off again: none
// that was born after the window.
func (e *engine) count(tl *tally, s *gor, n int) {
	if s.created >= e.to {
		return
	}
	tl.created += n
	tl.net[e.netSlot(s.created)] += int32(n)
	if s.created <= e.from {
		tl.early += n
	}
}

// endGoroutine ends a life. Those that were born in this generation are
// added to their group and forgotten; the others wait for the stitcher.
func (e *engine) endGoroutine(slot int32, now int64) {
	s := &e.gs[slot]
	if s.waiter >= 0 {
		e.wake(&s.waiter)
	}
	if s.cold > 0 {
		e.closeCold(slot, s, now)
	}
	if len(e.herds) > 0 {
		delete(e.herds, slot)
	}
	if e.notes != nil {
		e.notes.died(e, slot, now)
	}
	if s.traits&trBorn == 0 {
		s.word = stDead
		s.flags &^= flHere
		s.since = now
		return
	}
	e.settleGroup(s)
	switch tl := e.tallies[s.group]; {
	case now <= e.from:
		e.count(tl, s, -1) // it was gone when the window began
	case s.created < e.to:
		tl.ended++
		tl.net[e.netSlot(now)]--
		e.fold(tl, s, now)
	}
	e.sums.drop(&s.blocked)
	if s.cold > 0 {
		e.coldFree = append(e.coldFree, s.cold)
	}
	e.forget(slot, s.id)
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
	if s.created > e.from {
		tl.life.add(e.ns(now - s.created))
	}
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

// Bursts: goroutines made ready by one, from one place, within burstSpan.
const (
	minBurst  = 8
	burstSpan = 100_000 // ns
	futileRun = 20_000  // ns

	lockReason = "sync" // of a wait for a lock
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
// for the first time, at stack: did it do anything? Who stops for a lock is asked once more: a
// Cond.Wait takes its lock again, which who woke all of them may still hold.
func (e *engine) endBurst(slot int32, stack uint32, now int64, lock bool) {
	s := &e.gs[slot]
	short := e.ns(now-s.since) < futileRun
	h, again := e.herds[slot]
	if !again {
		h = herd{s.stack, s.woken}
	}
	if lock && short && !again && stack != h.woken {
		e.herds[slot] = h
		return
	}
	s.flags &^= flBurst
	delete(e.herds, slot)
	if stack == h.woken && short {
		e.burstAt(h.waker).futile++
	}
}
