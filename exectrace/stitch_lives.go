package exectrace

import "time"

// Goroutines from generation to generation.

// A life is a goroutine between generations.
type life struct {
	id      uint64
	state   uint8 // st…
	marker  bool  // a mark worker in the middle of its run
	stood   bool  // a wait of it went on when the window ended, and is counted
	waits   bool  // it did when it was lost, for so long,
	still   bool  // and since the window began
	index   int   // generation that last mentioned it
	since   int64 // ns, as all times here
	waited  int64
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
	key   waitKey
	d     int64
	open  bool // it went on when the window ended
	still bool // and when the window began
}

type liveRegion struct {
	name  int32 // interned
	begin int64
	acc   [5]int64
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
			st.end(at, from, false, e)
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
			st.end(at, e.ns(s.since), true, e)
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
		l.since, l.state, l.waits = from, stLost, false
	}
}

// lose gives up what a goroutine does from a moment on. Up to then it did what
// it was last seen to begin.
func (st *stitcher) lose(l *life, now int64) {
	now = max(now, l.since)
	st.spend(l, now)
	if l.assist >= 0 {
		st.sums.add(&l.blocked, rangeAssist, now-l.assist)
	}
	l.since, l.state, l.marker, l.assist, l.stw = now, stLost, false, -1, -1
}

// spend gives a goroutine's state the time until now, and its open regions
// their part of that.
func (st *stitcher) spend(l *life, now int64) {
	d := now - l.since
	var part [5]int64
	switch l.state {
	case stRunning:
		l.run += d
		part[0] = d
		st.spendProc(l, d)
	case stRunnable:
		l.ready += d
		part[1] = d
	case stWaiting:
		st.sums.add(&l.blocked, l.reason, d)
		part[4] = d
	case stSyscall:
		off := now
		if l.offAt >= 0 {
			off = min(max(l.offAt, l.since), now)
		}
		l.sys += off - l.since
		l.sysOff += now - off
		part[2], part[3] = off-l.since, now-off
	default:
		l.unknown += d
	}
	for i := range l.regions {
		for k := range part {
			l.regions[i].acc[k] += part[k]
		}
	}
}

// spendProc gives the P of a running goroutine its time.
func (st *stitcher) spendProc(l *life, d int64) {
	if l.proc < 0 || int(l.proc) >= len(st.procs) {
		return
	}
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
	reason := int32(0)
	if s.carry != 0 {
		c := e.carry(s)
		if state = c.state; c.why > 0 && s.traits&trForced == 0 {
			reason = st.reasonAt(int32(c.why - 1))
		}
	}
	st.lives[at] = life{
		id: s.id, state: state, since: from, blocked: -1, first: -1, offAt: -1, proc: -1,
		assist: -1, stw: -1, stack: -1, reason: reason,
	}
	l := &st.lives[at]
	l.group = st.groupOf[s.group]
	g := st.groups[l.group]
	g.count++
	g.alive++
	if s.traits&trBorn != 0 {
		l.created = e.born(s)
		switch {
		case s.created >= e.to:
			l.created = bornAfter
			fallthrough
		case s.traits&trUncounted == 0:
			g.alive-- // the tally of the generation counts it, or nobody does
			g.count--
		case l.created > 0:
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

// bornAfter is the birth of a goroutine that was created after the window: it is not counted.
const bornAfter = -1

// born returns when a goroutine was created; 0 before the window.
func (e *engine) born(s *gor) int64 {
	if s.created <= e.from {
		return 0
	}
	return e.ns(s.created)
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

// complete gives the state that a life was in when the generation began the
// time that the generation could not know.
func (st *stitcher) complete(e *engine, slot int32, s *gor, l *life, from int64) {
	if l.state != e.carry(s).state || s.traits&trForced != 0 {
		l.unknown += from - l.since
		st.unmark(l, from)
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
	counts := st.window.IsZero() || end > e.ns(e.from) && all > 0
	var part [5]int64
	switch l.state {
	case stRunning:
		part[0] = before
		l.run += before
		st.slice.add(time.Duration(all))
		st.ranOn(e, l, before, all, end)
	case stRunnable:
		part[1] = before
		l.ready += before
		if counts {
			st.addLate(l, lifeWait{key: waitKey{Runnable, 0, l.stack, l.group}, d: all})
			st.addWake(l.stack, l.woken, 1)
		}
	case stWaiting:
		part[4] = all
		st.sums.add(&l.blocked, l.reason, all)
		if counts {
			l.stood = !st.window.IsZero() && end >= e.ns(e.to)
			st.addLate(l, lifeWait{waitKey{Waiting, l.reason, l.stack, l.group}, all, l.stood, l.since <= st.clip(int64(st.acc.Info.Start))})
		}
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
		if counts {
			st.addLate(l, lifeWait{key: waitKey{Syscall, 0, l.stack, l.group}, d: all})
		}
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

// unmark ends the marking of a life that nobody saw end.
func (st *stitcher) unmark(l *life, now int64) {
	if l.marker && l.reason != markIdle {
		st.acc.Load = append(st.acc.Load, LoadChange{Time(now), l.proc, LoadBackground, l.reason == markDedicated, -1})
	}
	l.marker = false
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
		if s.since >= e.to {
			l.since = int64(st.window.To) // exactly, whatever a tick is
		}
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
	l.stood = l.stood || s.traits&trStood != 0
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
	if c == nil && len(l.regions) == 0 {
		return
	}
	end := e.snapshot(s, s.since)
	for i := range l.regions {
		for k := range end {
			l.regions[i].acc[k] += e.ns(end[k])
		}
	}
	if c == nil {
		return
	}
	if c.stw >= 0 {
		l.stw, l.stwKind, l.stwStack = e.ns(c.stw), st.reasonAt(c.stwKind), st.stack(e, c.stwAt)
	}
	for _, r := range c.regions {
		lr := liveRegion{name: st.in.str(e.str(uint64(r.name))), begin: e.ns(r.begin)}
		for k := range end {
			lr.acc[k] = e.ns(end[k] - r.snap[k])
		}
		l.regions = append(l.regions, lr)
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
		l.stood = l.stood || w.open
		st.addLate(l, lifeWait{k, e.ns(w.d), w.open, w.still})
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

// addLate counts a wait, or keeps it while the group is not known.
func (st *stitcher) addLate(l *life, w lifeWait) {
	if l.group == 0 {
		l.late = append(l.late, w)
		return
	}
	st.addLifeWait(w)
}

// addLifeWait counts a wait whose group is known.
func (st *stitcher) addLifeWait(w lifeWait) {
	if w.open {
		st.standAt(w.key, w.d, w.still)
		return
	}
	st.addWait(w.key, 1, w.d)
	if w.key.state == Runnable {
		st.groups[w.key.group].delay.add(time.Duration(w.d))
	}
}

func (st *stitcher) flushLate(l *life) {
	for _, w := range l.late {
		w.key.group = l.group
		st.addLifeWait(w)
	}
	l.late = nil
}

// regroup gives a life, and what it waited for, the group that it turns out
// to be of.
func (st *stitcher) regroup(l *life, group int32) {
	from, to := st.groups[l.group], st.groups[group]
	if l.created == bornAfter {
		l.group = group
		st.flushLate(l)
		return
	}
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
		st.closeRegion(&lr, e.ns(r.at))
	}
}

// closeRegion counts a region that is over.
func (st *stitcher) closeRegion(r *liveRegion, now int64) {
	t := st.regionType(r.name)
	t.Count++
	t.Latency.add(time.Duration(now - r.begin))
	t.addSums(r.acc)
}

// end closes a life and adds it to its group, unless it lived beside the window. e is of
// the generation that it ended in.
func (st *stitcher) end(at int32, now int64, known bool, e *engine) {
	l := &st.lives[at]
	if !known {
		l.unknown += now - l.since
	}
	if l.assist >= 0 {
		st.sums.add(&l.blocked, rangeAssist, now-l.assist)
	}
	for i := range l.regions { // those of earlier generations that nobody ended
		st.closeRegion(&l.regions[i], now)
	}
	g := st.groups[l.group]
	switch {
	case l.created == bornAfter:
	case !st.window.IsZero() && now <= e.ns(e.from):
		g.count--
		g.alive--
	default:
		g.ended++
		g.alive--
		if l.created > 0 {
			g.life.add(time.Duration(now - l.created))
		}
		st.fold(g, l, now)
	}
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
	g.running.add(time.Duration(l.run))
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
