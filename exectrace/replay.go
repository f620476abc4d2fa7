package exectrace

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

// replay runs the generation to its end, or until it is told to stop.
func (e *engine) replay() {
	e.enlist()
	for m := len(e.threads) - 1; m >= 0; m-- {
		e.queue = append(e.queue, int32(m))
	}
	switch {
	case e.notes == nil:
		e.settle(run[plain], true)
	case e.notes.wish.marks == nil:
		e.settle(run[noted], true)
	default:
		e.replayMarked()
	}
	for i := range e.threads {
		e.flushBurst(&e.threads[i])
	}
	for i := range e.g.samples {
		e.addSamples(e.g.samples[i].body())
	}
}

// enlist makes the threads of the generation.
func (e *engine) enlist() {
	for i := range e.g.events {
		b := &e.g.events[i]
		m, ok := e.byM[b.m]
		if !ok {
			m = int32(len(e.threads))
			e.byM[b.m] = m
			e.threads = append(e.threads, thread{id: b.m, g: -1, p: -1, next: -1, prev: -1, waiter: -1, offAt: -1})
		}
		e.threads[m].batches = append(e.threads[m].batches, *b)
	}
	if e.notes != nil {
		e.notes.begin(e)
	}
}

// settle replays until no thread can go on. Unless it may decide for those that wait
// until nothing else can run, some may be parked then, and it returns false.
func (e *engine) settle(replay func(e *engine, m int32, force bool), decide bool) bool {
	for {
		for len(e.queue) > 0 && e.tries > 0 && !e.stop.Load() {
			m := e.queue[len(e.queue)-1]
			e.queue = e.queue[:len(e.queue)-1]
			e.try(replay, m, false)
		}
		if e.tries <= 0 {
			e.abandon()
		}
		m, barrier := e.earliest()
		if m < 0 || e.stop.Load() {
			return true
		}
		if !decide {
			return false
		}
		e.unpark(m)
		if !barrier {
			e.forced++
		}
		e.try(replay, m, true)
	}
}

func (e *engine) try(replay func(e *engine, m int32, force bool), m int32, force bool) {
	e.tries--
	replay(e, m, force)
	if e.noting && e.threads[m].parked {
		e.notePark(m)
	}
}

func (e *engine) absent(id uint64) bool {
	s := e.find(id)
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
	if t.next = *head; t.next >= 0 {
		e.threads[t.next].prev = m
	}
	t.prev = -1
	*head = m
}

// wake lets all threads on the list at head try again.
func (e *engine) wake(head *int32) {
	for m := *head; m >= 0; {
		t := &e.threads[m]
		next := t.next
		t.next, t.prev, t.parked, t.on = -1, -1, false, onNothing
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
	if t.next >= 0 {
		e.threads[t.next].prev = t.prev
	}
	if t.prev >= 0 {
		e.threads[t.prev].next = t.next
	} else if at != nil && *at == m {
		*at = t.next
	}
	t.next, t.prev, t.parked, t.barrier, t.on = -1, -1, false, false, onNothing
}

// A variant of run is compiled for each of these: accounts alone, accounts with
// notes of single states for pieces (notes.go), and these with a stop at moments
// for marks (marks.go). One test more for every event, even one that never holds,
// would cost accounts a tenth.
type (
	plain  [0]byte
	noted  [1]byte
	marked [2]byte
)

// run replays thread mi until it parks or ends. With force, its next event
// happens whatever it finds.
func run[variant plain | noted | marked](e *engine, mi int32, force bool) {
	var v variant
	notes, stops := len(v) > 0, len(v) > 1 // known when this is compiled
	m := &e.threads[mi]
	from, to := e.from, e.to
	d, pos, end, t := m.data, m.pos, m.end, m.time
	for {
		if pos >= end {
			e.last = max(e.last, t)
			if m.batch == len(m.batches) || e.stop.Load() {
				m.data, m.pos, m.end = nil, 0, 0
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
		} else if dt, i = longUvarint(d, i); i < 0 || dt > maxPause {
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
		if stops && tt >= e.limit {
			m.data, m.pos, m.end, m.time = d, pos, end, t
			e.paused = append(e.paused, mi)
			return
		}
		now := min(max(tt, from), to)

		switch typ {
		case evGoStart:
			chunk := e.ids.peek(a1 / chunkSize)
			slot := chunk*chunkSize + int32(a1%chunkSize)
			if chunk < 0 || e.gs[slot].flags&flHere == 0 {
				slot = e.goroutine(a1)
			}
			s := &e.gs[slot]
			if s.word != (a2-1)<<stBits|stRunnable || m.g >= 0 {
				if !force && (s.word&stMask != stLost || m.g >= 0 && !m.lost) {
					e.parkOnG(mi, slot)
					m.data, m.pos, m.end, m.time = d, pos, end, t
					return
				}
				e.forceTo(m, s, now)
			} else {
				if notes {
					e.notes.ready(e, slot, now)
				}
				dt := now - s.since
				s.ready += dt
				special := s.flags&(flCarried|flAssist|flUnnamed) != 0 && e.startSpecial(m, s, now)
				if !special && now > from && s.since < to {
					if s.group != 0 {
						e.waits.add(&s.readyAt, waitCause(s.stack, s.woken), waitClass(Runnable, 0, s.group), dt)
						e.tallies[s.group].delay.add(e.ns(dt))
					} else {
						e.postpone(s, lateWait{state: Runnable, cause: waitCause(s.stack, s.woken), d: dt})
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
				e.endBurst(m.g, uint32(a2), now, typ == evGoBlock && string(e.reasons[e.reasonIndex(a1)]) == lockReason)
			}
			if notes {
				e.notes.ran(e, mi, uint32(a2), now)
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
				if notes {
					s.reason = e.reasonIndex(a1)
				}
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
			chunk := e.ids.peek(a1 / chunkSize)
			slot := chunk*chunkSize + int32(a1%chunkSize)
			if chunk < 0 || e.gs[slot].flags&flHere == 0 {
				slot = e.goroutine(a1)
			}
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
				if notes {
					e.notes.waited(e, slot, now)
				}
				e.leaveWaiting(s, now)
			}
			if notes {
				e.notes.wake(e, m, s, uint32(a3), tt, now)
			}
			s.word = a2<<stBits | stRunnable
			s.woken = s.stack
			s.stack = uint32(a3)
			s.since = now
			c, x := e.cellAt(now)
			c.readyN++
			c.readyT += x
			if m.burstG == m.g && m.burstStack == s.stack && now-m.burstStart < e.burst {
				if m.burstN++; m.burstN >= minBurst {
					s.flags |= flBurst
				}
			} else {
				e.flushBurst(m)
				m.burstG, m.burstStack, m.burstStart, m.burstN = m.g, s.stack, now, 1
			}
			if s.waiter >= 0 {
				e.wake(&s.waiter)
			}

		case evGoCreate, evGoCreateBlocked:
			slot := e.find(a1)
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
			if notes {
				e.notes.born(e, m, slot, now)
			}
			tl := e.tallies[s.group]
			tl.cause = s.cause
			e.count(tl, s, 1)
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
				if notes {
					e.notes.called(e, mi, now, false)
				}
				e.leaveSyscall(m, s, now, false)
				if m.p >= 0 {
					e.abandonProc(m, now)
				}
			} else {
				if notes {
					e.notes.ran(e, mi, 0, now)
				}
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
			if notes {
				e.notes.ran(e, mi, uint32(a2), now)
				e.notes.calls(mi, m.p)
			}
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
			if notes {
				e.notes.called(e, mi, now, false)
			}
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
			if notes {
				e.notes.called(e, mi, now, true)
			}
			e.leaveSyscall(m, s, now, true)
			if notes {
				s.reason = 0
			}
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
			known := m.g >= 0
			if !known {
				if !force && !m.lost {
					e.parkSelf(mi)
					m.data, m.pos, m.end, m.time = d, pos, end, t
					return
				}
				e.dropped++
				// Go 1.24 does not tell the state of a coroutine that ends as the first thing of a thread in a
				// generation. With whom the thread goes on is known.
				if m.lost || m.p < 0 {
					break
				}
			}
			chunk := e.ids.peek(a1 / chunkSize)
			slot := chunk*chunkSize + int32(a1%chunkSize)
			if chunk < 0 || e.gs[slot].flags&flHere == 0 {
				slot = e.goroutine(a1)
			}
			s := &e.gs[slot]
			if s.word != (a2-1)<<stBits|stWaiting {
				if !force && s.word&stMask != stLost {
					e.parkOnG(mi, slot)
					m.data, m.pos, m.end, m.time = d, pos, end, t
					return
				}
				e.forceTo(nil, s, now)
				if known && m.g < 0 { // it seemed to run on this very thread
					e.dropped++
					break
				}
			} else {
				if notes {
					e.notes.waited(e, slot, now)
				}
				e.leaveWaiting(s, now)
			}
			if notes {
				e.notes.wake(e, m, s, 0, tt, now)
			}
			if notes && known {
				e.notes.ran(e, mi, 0, now)
			}
			if known {
				e.leaveRunning(m, &e.gs[m.g], now)
			}
			switch {
			case !known:
			case typ == evGoSwitch:
				o := &e.gs[m.g]
				o.word = o.word&^stMask | stWaiting
				o.since, o.stack = now, 0
				o.reason = e.reasonIndex(0)
				if o.waiter >= 0 {
					e.wake(&o.waiter)
				}
			default:
				e.endGoroutine(m.g, now)
				s = &e.gs[slot]
			}
			// The switched-to goroutine is made ready and runs at once.
			switch {
			case e.beside(now, now):
			case s.group != 0:
				e.waits.add(&s.readyAt, 0, waitClass(Runnable, 0, s.group), 0)
				e.tallies[s.group].delay.add(0)
			default:
				e.postpone(s, lateWait{state: Runnable})
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
