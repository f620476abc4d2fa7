package exectrace

// try lets the event of a cursor happen, if it may. What it amounts to is
// then in o.out[:o.n]: one event, for switches between goroutines three.
func (o *ordering) try(c *eventCursor) advance {
	o.n = 0
	switch c.typ {
	case evProcStatus:
		return o.procStatus(c)
	case evProcStart:
		return o.procStart(c)
	case evProcStop:
		return o.procStop(c)
	case evProcSteal:
		return o.procSteal(c)
	case evGoStatus, evGoStatusStack:
		return o.goStatus(c)
	case evGoCreate, evGoCreateBlocked:
		return o.goCreate(c)
	case evGoCreateSyscall:
		return o.goCreateSyscall(c)
	case evGoStart:
		return o.goStart(c)
	case evGoUnblock:
		return o.goUnblock(c)
	case evGoDestroy, evGoStop, evGoBlock:
		return o.goLeave(c)
	case evGoDestroySyscall:
		return o.goDestroySyscall(c)
	case evGoSyscallBegin:
		return o.goSyscallBegin(c)
	case evGoSyscallEnd:
		return o.goSyscallEnd(c)
	case evGoSyscallEndBlocked:
		return o.goSyscallEndBlocked(c)
	case evGoSwitch, evGoSwitchDestroy:
		return o.goSwitch(c)
	case evSTWBegin, evSTWEnd, evGCMarkAssistBegin, evGCMarkAssistEnd:
		return o.goRange(c)
	case evGCMarkAssistActive:
		return o.assistActive(c)
	case evGCSweepBegin, evGCSweepEnd:
		return o.sweepRange(c)
	case evGCSweepActive:
		return o.sweepActive(c)
	case evGCActive, evGCBegin, evGCEnd:
		return o.mark(c)
	case evUserTaskBegin, evUserTaskEnd:
		return o.task(c)
	case evUserRegionBegin, evUserRegionEnd:
		return o.region(c)
	case evHeapAlloc, evHeapGoal:
		return o.simple(c, needProc)
	case evProcsChange, evGoLabel, evUserLog:
		return o.simple(c, needProc|needGo)
	}
	if shapes[c.typ].kind == EventExperimental {
		return o.simple(c, 0)
	}
	return o.invalid(c, "it does not belong between events of a thread")
}

// What the context of an event must have. All but status events need a thread.
type need uint8

const (
	needProc need = 1 << iota
	needGo
	needNoGo
)

// missing returns what is wrong with the context, "" when nothing is. Where
// events may be lost only a thread is asked for: nothing that other threads
// do would give this one its P back.
func (o *ordering) missing(c *eventCursor, n need) string {
	if c.slot < 0 {
		return "no thread"
	}
	if !o.strict {
		return ""
	}
	t := &o.threads[c.slot]
	switch {
	case n&needProc != 0 && t.p < 0:
		return "no P"
	case n&needGo != 0 && t.g < 0:
		return "no goroutine"
	case n&needNoGo != 0 && t.g >= 0:
		return "a goroutine is running already"
	}
	return ""
}

// emit puts an event in the context of its thread into the output.
func (o *ordering) emit(c *eventCursor, typ eventType, from, to uint8) *Event {
	e := &o.out[o.n]
	o.n++
	e.Kind, e.typ, e.from, e.to = shapes[typ].kind, typ, from, to
	e.Time, e.args, e.tab = c.time, c.args, o.tab
	if c.slot < 0 {
		e.Thread, e.Proc, e.Goroutine = c.m, -1, -1
		return e
	}
	t := &o.threads[c.slot]
	e.Thread, e.Proc, e.Goroutine = t.id, int32(t.p), t.g
	return e
}

// stateOf converts a goroutine's status on the wire.
var stateOf = [...]State{0: Unknown, goRunnable: Runnable, goRunning: Running, goSyscall: Syscall, goWaiting: Waiting}

func goFrom(s uint8) uint8 { return uint8(stateOf[s]) }

// procStateOf converts a P's status on the wire.
var procStateOf = [...]ProcState{
	0: ProcUnknown, procRunning: ProcRunning, procIdle: ProcIdle,
	procSyscall: ProcRunning, procSyscallAbandoned: ProcIdle,
}

func (o *ordering) procStatus(c *eventCursor) advance {
	id, status := int64(c.args[0]), uint8(min(c.args[1], 255))
	// Zero is no status, yet the standard reader lets it pass.
	if int(status) >= len(procStateOf) || c.args[0] > maxProcID {
		return o.invalid(c, "P %d has the invalid status %d", id, c.args[1])
	}
	slot := o.procIndex.get(uint64(id))
	from, holder := procStateOf[status], int32(-1)
	switch {
	case slot < 0:
		slot = o.addProc(id)
		o.procs[slot].status = status
		from = ProcAbsent
		if o.first {
			from = ProcUnknown
		}
	case status == procSyscallAbandoned && o.procs[slot].status == procSyscall:
		// Nothing was lost: the thread that holds the P is known, and the
		// event belongs there.
		from = ProcRunning
		c.args[1] = procSyscall
		if holder = o.holder(id); holder < 0 && o.strict {
			return o.wrong(c, "P %d is held by no thread", id)
		}
	case status == procSyscallAbandoned && o.procs[slot].status == procSyscallAbandoned:
	case o.procs[slot].status != status:
		if o.strict {
			return o.wrong(c, "P %d has status %d instead of %d", id, status, o.procs[slot].status)
		}
		from = procStateOf[o.procs[slot].status]
		o.procs[slot].status = status
	}
	p := &o.procs[slot]
	p.gen, p.seq = o.gen, 0
	o.wake(&p.waiters)
	e := o.emit(c, evProcStatus, uint8(from), uint8(procStateOf[c.args[1]]))
	if holder >= 0 {
		t := &o.threads[holder]
		e.Thread, e.Proc, e.Goroutine = t.id, int32(t.p), t.g
	}
	if (status == procRunning || status == procSyscall) && c.slot >= 0 {
		o.bindProc(c.slot, id, slot)
	}
	return advTaken
}

// holder returns the thread that has a P.
func (o *ordering) holder(p int64) int32 {
	for i := range o.threads {
		if o.threads[i].p == p {
			return int32(i)
		}
	}
	return -1
}

// invalid is wrong for what no further event can make right.
func (o *ordering) invalid(c *eventCursor, format string, args ...any) advance {
	if o.strict {
		return o.wrong(c, format, args...)
	}
	return o.drop()
}

func (o *ordering) procStart(c *eventCursor) advance {
	id := int64(c.args[0])
	if c.slot < 0 || c.args[0] > maxProcID {
		return o.invalid(c, "no thread, or the invalid P %d", id)
	}
	slot := o.procIndex.get(uint64(id))
	t := &o.threads[c.slot]
	ok := slot >= 0 && o.procs[slot].status == procIdle && o.procs[slot].gen == o.gen && o.procs[slot].seq+1 == c.args[1]
	if !ok && !o.force {
		return o.blockOnProc(id, slot)
	}
	if t.p >= 0 && !o.force {
		// The thread is in a system call and does not know yet that it lost its P.
		return o.blockOnProc(t.p, t.pslot)
	}
	if slot < 0 {
		slot = o.addProc(id)
	}
	p := &o.procs[slot]
	o.emit(c, evProcStart, uint8(procStateOf[p.status]), uint8(ProcRunning))
	p.status, p.gen, p.seq = procRunning, o.gen, c.args[1]
	o.wake(&p.waiters)
	o.bindProc(c.slot, id, slot)
	return advTaken
}

func (o *ordering) procStop(c *eventCursor) advance {
	if m := o.missing(c, needProc); m != "" {
		return o.wrong(c, "%s", m)
	}
	t := &o.threads[c.slot]
	if t.p < 0 {
		return o.drop()
	}
	p := &o.procs[t.pslot]
	if p.status != procRunning && p.status != procSyscall && o.strict {
		return o.wrong(c, "P %d is not running", p.id)
	}
	o.emit(c, evProcStop, uint8(ProcRunning), uint8(ProcIdle))
	p.status = procIdle
	o.wake(&p.waiters)
	t.p = -1
	o.wake(&t.waiters)
	return advTaken
}

func (o *ordering) procSteal(c *eventCursor) advance {
	id := int64(c.args[0])
	if c.slot < 0 || c.args[0] > maxProcID {
		return o.invalid(c, "no thread, or the invalid P %d", id)
	}
	slot := o.procIndex.get(uint64(id))
	ok := slot >= 0 && (o.procs[slot].status == procSyscall || o.procs[slot].status == procSyscallAbandoned) &&
		o.procs[slot].gen == o.gen && o.procs[slot].seq+1 == c.args[1]
	if !ok && !o.force {
		return o.blockOnProc(id, slot)
	}
	if slot < 0 {
		slot = o.addProc(id)
	}
	victim := o.mIndex.get(c.args[2])
	abandoned := o.procs[slot].status == procSyscallAbandoned
	if o.strict && !abandoned && (victim < 0 || o.threads[victim].p != id) {
		return o.wrong(c, "P %d is not held by thread %d", id, c.args[2])
	}
	p := &o.procs[slot]
	o.emit(c, evProcSteal, uint8(procStateOf[p.status]), uint8(ProcIdle))
	p.status, p.gen, p.seq = procIdle, o.gen, c.args[1]
	o.wake(&p.waiters)
	if !abandoned && victim >= 0 && o.threads[victim].p == id {
		o.threads[victim].p = -1
		o.wake(&o.threads[victim].waiters)
	}
	return advTaken
}

func (o *ordering) goStatus(c *eventCursor) advance {
	id, status := int64(c.args[0]), c.args[2]
	if status >= uint64(len(stateOf)) || id < 0 {
		return o.invalid(c, "goroutine %d has the invalid status %d", id, status)
	}
	slot := o.goroutine(id)
	from := goFrom(uint8(status))
	switch {
	case slot < 0:
		if !o.first && o.strict {
			return o.wrong(c, "goroutine %d was not there before", id)
		}
		slot = o.addGoroutine(id)
		from = uint8(Unknown)
	case o.gos[slot].status != uint8(status):
		if o.strict {
			return o.wrong(c, "goroutine %d has status %d instead of %d", id, status, o.gos[slot].status)
		}
		from = goFrom(o.gos[slot].status)
	}
	thread, err := o.syscallThread(c, id, uint8(status))
	if err != advTaken {
		return err
	}
	g := &o.gos[slot]
	g.status, g.gen, g.seq = uint8(status), o.gen, 0
	o.wake(&g.waiters)
	e := o.emit(c, c.typ, from, uint8(stateOf[status]))
	switch {
	case status == goRunning && c.slot >= 0, status == goSyscall && thread == c.slot && thread >= 0:
		o.bind(c.slot, id, slot)
	case status == goSyscall && thread >= 0:
		t := &o.threads[thread]
		e.Thread = t.id
		if t.g >= 0 {
			e.Goroutine = t.g
		}
		o.bind(thread, id, slot)
	}
	return advTaken
}

// syscallThread returns the thread of a goroutine that is told to be in a
// system call, -1 for any other state.
func (o *ordering) syscallThread(c *eventCursor, id int64, status uint8) (int32, advance) {
	if status != goSyscall {
		return -1, advTaken
	}
	if c.args[1] == noThread {
		if o.strict {
			return -1, o.wrong(c, "goroutine %d is in a system call without a thread", id)
		}
		return -1, advTaken
	}
	thread := o.mIndex.get(c.args[1])
	if thread == c.slot && thread >= 0 {
		if o.strict && !o.first && o.threads[thread].g != id {
			return -1, o.wrong(c, "the thread has goroutine %d, not %d", o.threads[thread].g, id)
		}
		return thread, advTaken
	}
	if thread < 0 {
		return o.addThread(int64(c.args[1])), advTaken
	}
	if o.strict && o.threads[thread].g != id {
		return -1, o.wrong(c, "thread %d has goroutine %d, not %d", c.args[1], o.threads[thread].g, id)
	}
	return thread, advTaken
}

func (o *ordering) goCreate(c *eventCursor) advance {
	if m := o.missing(c, needProc); m != "" {
		return o.wrong(c, "%s", m)
	}
	id := int64(c.args[0])
	if id < 0 || c.slot < 0 {
		return o.invalid(c, "the invalid goroutine %d", id)
	}
	if s := o.running(&o.threads[c.slot]); o.strict && s >= 0 && o.gos[s].status != goRunning {
		return o.wrong(c, "goroutine %d is not running", o.gos[s].id)
	}
	slot := o.goroutine(id)
	if slot >= 0 && o.gos[slot].status != 0 && !o.force {
		if o.strict {
			return o.wrong(c, "goroutine %d exists already", id)
		}
		return o.blockOn(id, slot)
	}
	status := uint8(goRunnable)
	if c.typ == evGoCreateBlocked {
		status = goWaiting
	}
	o.create(c, slot, id, status)
	return advTaken
}

// create makes a goroutine. One that exists already, which is only so when
// events were lost, is taken for another life of the same id.
func (o *ordering) create(c *eventCursor, slot int32, id int64, status uint8) int32 {
	if slot < 0 {
		slot = o.addGoroutine(id)
	}
	g := &o.gos[slot]
	g.status, g.gen, g.seq, g.assist, g.pausing = status, o.gen, 0, false, false
	o.wake(&g.waiters)
	o.emit(c, c.typ, uint8(Dead), uint8(stateOf[status]))
	return slot
}

func (o *ordering) goCreateSyscall(c *eventCursor) advance {
	if m := o.missing(c, needNoGo); m != "" {
		return o.wrong(c, "%s", m)
	}
	id := int64(c.args[0])
	if id < 0 || c.slot < 0 {
		return o.invalid(c, "the invalid goroutine %d", id)
	}
	slot := o.goroutine(id)
	if slot >= 0 && o.gos[slot].status != 0 && !o.force {
		if o.strict {
			return o.wrong(c, "goroutine %d exists already", id)
		}
		return o.blockOn(id, slot)
	}
	slot = o.create(c, slot, id, goSyscall)
	o.bind(c.slot, id, slot)
	return advTaken
}

func (o *ordering) goStart(c *eventCursor) advance {
	id := int64(c.args[0])
	if id < 0 || c.slot < 0 {
		return o.invalid(c, "no thread, or the invalid goroutine %d", id)
	}
	slot := o.goroutine(id)
	ok := slot >= 0 && o.gos[slot].status == goRunnable && o.gos[slot].gen == o.gen && o.gos[slot].seq+1 == c.args[1]
	if !ok && !o.force {
		return o.blockOn(id, slot)
	}
	if m := o.missing(c, needProc|needNoGo); m != "" {
		return o.wrong(c, "%s", m)
	}
	if slot < 0 {
		slot = o.addGoroutine(id)
	}
	g := &o.gos[slot]
	o.emit(c, evGoStart, goFrom(g.status), uint8(Running))
	g.status, g.gen, g.seq = goRunning, o.gen, c.args[1]
	o.wake(&g.waiters)
	o.bind(c.slot, id, slot)
	return advTaken
}

func (o *ordering) goUnblock(c *eventCursor) advance {
	id := int64(c.args[0])
	if id < 0 {
		return o.invalid(c, "the invalid goroutine %d", id)
	}
	slot := o.goroutine(id)
	ok := slot >= 0 && o.gos[slot].status == goWaiting && o.gos[slot].gen == o.gen && o.gos[slot].seq+1 == c.args[1]
	if !ok && !o.force {
		return o.blockOn(id, slot)
	}
	if slot < 0 {
		slot = o.addGoroutine(id)
	}
	g := &o.gos[slot]
	o.emit(c, evGoUnblock, goFrom(g.status), uint8(Runnable))
	g.status, g.gen, g.seq = goRunnable, o.gen, c.args[1]
	o.wake(&g.waiters)
	return advTaken
}

// current returns the slot of the goroutine that the event is about, which
// must have a status.
func (o *ordering) current(c *eventCursor, n need, status uint8) (int32, advance) {
	if m := o.missing(c, n|needGo); m != "" {
		return -1, o.wrong(c, "%s", m)
	}
	t := &o.threads[c.slot]
	slot := o.running(t)
	if slot < 0 {
		if o.force {
			return -1, o.drop()
		}
		// Another thread may still tell which goroutine is here.
		return -1, o.wrong(c, "goroutine %d does not exist", t.g)
	}
	if o.gos[slot].status != status && !o.force {
		if o.strict {
			return -1, o.wrong(c, "goroutine %d has status %d", t.g, o.gos[slot].status)
		}
		return -1, o.blockOn(t.g, slot)
	}
	return slot, advTaken
}

func (o *ordering) goLeave(c *eventCursor) advance {
	slot, err := o.current(c, needProc, goRunning)
	if slot < 0 {
		return err
	}
	g := &o.gos[slot]
	from := goFrom(g.status)
	t := &o.threads[c.slot]
	switch c.typ {
	case evGoDestroy:
		o.emit(c, c.typ, from, uint8(Dead))
		o.endGoroutine(slot)
	case evGoStop:
		o.emit(c, c.typ, from, uint8(Runnable))
		g.status = goRunnable
		o.wake(&g.waiters)
	default:
		o.emit(c, c.typ, from, uint8(Waiting))
		g.status = goWaiting
		o.wake(&g.waiters)
	}
	t.g = -1
	return advTaken
}

func (o *ordering) goSyscallBegin(c *eventCursor) advance {
	slot, err := o.current(c, needProc, goRunning)
	if slot < 0 {
		return err
	}
	t := &o.threads[c.slot]
	if t.p >= 0 {
		p := &o.procs[t.pslot]
		if o.strict && (p.gen != o.gen || p.seq+1 != c.args[0]) {
			return o.wrong(c, "P %d has sequence %d, not %d", p.id, p.seq, c.args[0])
		}
		p.status, p.gen, p.seq = procSyscall, o.gen, c.args[0]
		o.wake(&p.waiters)
	}
	g := &o.gos[slot]
	o.emit(c, c.typ, goFrom(g.status), uint8(Syscall))
	g.status = goSyscall
	return advTaken
}

func (o *ordering) goSyscallEnd(c *eventCursor) advance {
	slot, err := o.current(c, needProc, goSyscall)
	if slot < 0 {
		return err
	}
	t := &o.threads[c.slot]
	if t.p >= 0 {
		p := &o.procs[t.pslot]
		if o.strict && p.status != procSyscall {
			return o.wrong(c, "P %d has status %d", p.id, p.status)
		}
		p.status = procRunning
		o.wake(&p.waiters)
	}
	g := &o.gos[slot]
	o.emit(c, c.typ, goFrom(g.status), uint8(Running))
	g.status = goRunning
	o.wake(&g.waiters)
	return advTaken
}

func (o *ordering) goSyscallEndBlocked(c *eventCursor) advance {
	// The thread lost its P on the way, or the event would be another one:
	// wait until that has happened.
	if c.slot >= 0 && !o.force {
		if t := &o.threads[c.slot]; t.p >= 0 && o.procs[t.pslot].status == procSyscall {
			return o.blockOnProc(t.p, t.pslot)
		}
	}
	slot, err := o.current(c, 0, goSyscall)
	if slot < 0 {
		return err
	}
	g := &o.gos[slot]
	o.emit(c, c.typ, goFrom(g.status), uint8(Runnable))
	g.status = goRunnable
	o.wake(&g.waiters)
	o.threads[c.slot].g = -1
	return advTaken
}

func (o *ordering) goDestroySyscall(c *eventCursor) advance {
	slot, err := o.current(c, 0, goSyscall)
	if slot < 0 {
		return err
	}
	t := &o.threads[c.slot]
	ctx := *t
	if t.p >= 0 {
		p := &o.procs[t.pslot]
		if o.strict && p.status != procSyscall {
			return o.wrong(c, "P %d has status %d", p.id, p.status)
		}
		// The thread's id may be used again; whoever takes the P later need
		// not find it here.
		p.status = procSyscallAbandoned
		o.wake(&p.waiters)
		e := o.emit(c, evProcSteal, uint8(ProcRunning), uint8(ProcIdle))
		e.args = [4]uint64{uint64(ctx.p)}
	}
	o.emit(c, c.typ, goFrom(o.gos[slot].status), uint8(Dead))
	o.endGoroutine(slot)
	t = &o.threads[c.slot]
	t.p, t.g = -1, -1
	o.wake(&t.waiters)
	return advTaken
}

// goSwitch is three events: the next goroutine is made ready, the current
// one blocks or ends, and the next one runs.
func (o *ordering) goSwitch(c *eventCursor) advance {
	slot, err := o.current(c, needProc, goRunning)
	if slot < 0 {
		return err
	}
	id := int64(c.args[0])
	if id < 0 {
		return o.invalid(c, "the invalid goroutine %d", id)
	}
	next := o.goroutine(id)
	ok := next >= 0 && o.gos[next].status == goWaiting && o.gos[next].gen == o.gen && o.gos[next].seq+1 == c.args[1]
	if !ok && !o.force {
		return o.blockOn(id, next)
	}
	if next < 0 {
		next = o.addGoroutine(id)
	}
	o.emit(c, c.typ, goFrom(o.gos[next].status), uint8(Runnable))
	from := goFrom(o.gos[slot].status)
	if c.typ == evGoSwitch {
		e := o.emit(c, evGoBlock, from, uint8(Waiting))
		e.args = [4]uint64{}
		o.gos[slot].status = goWaiting
		o.wake(&o.gos[slot].waiters)
	} else {
		e := o.emit(c, evGoDestroy, from, uint8(Dead))
		e.args = [4]uint64{}
		o.endGoroutine(slot)
	}
	o.threads[c.slot].g = -1
	o.emit(c, evGoStart, uint8(Runnable), uint8(Running))
	g := &o.gos[next]
	g.status, g.gen, g.seq = goRunning, o.gen, c.args[1]
	o.wake(&g.waiters)
	o.bind(c.slot, id, next)
	return advTaken
}

// simple returns an event that changes no state.
func (o *ordering) simple(c *eventCursor, n need) advance {
	if m := o.missing(c, n); m != "" {
		return o.wrong(c, "%s", m)
	}
	o.emit(c, c.typ, 0, 0)
	return advTaken
}

func (o *ordering) goRange(c *eventCursor) advance {
	if m := o.missing(c, needProc|needGo); m != "" {
		return o.wrong(c, "%s", m)
	}
	slot := o.running(&o.threads[c.slot])
	if slot < 0 {
		return o.invalid(c, "goroutine %d does not exist", o.threads[c.slot].g)
	}
	g := &o.gos[slot]
	switch c.typ {
	case evGCMarkAssistBegin, evGCMarkAssistEnd:
		begin := c.typ == evGCMarkAssistBegin
		if o.strict && g.assist == begin {
			return o.wrong(c, "goroutine %d: the begin and the end of the range do not match", g.id)
		}
		g.assist = begin
	case evSTWBegin:
		kind := o.tab.word(c.args[0])
		if o.strict && g.pausing && g.pause == kind {
			return o.wrong(c, "goroutine %d: the pause began already", g.id)
		}
		g.pausing, g.pause = true, kind
	case evSTWEnd:
		if o.strict && !g.pausing {
			return o.wrong(c, "goroutine %d: the pause did not begin", g.id)
		}
		c.args[0] = o.tab.addExtra(g.pause)
		g.pausing = false
	}
	return o.simple(c, 0)
}

func (o *ordering) assistActive(c *eventCursor) advance {
	var assist *bool
	if slot := o.goroutine(int64(c.args[0])); slot >= 0 {
		assist = &o.gos[slot].assist
	}
	return o.active(c, "goroutine", assist)
}

// active notes a range that was going on already of what has the event's number; going is nil where
// there is no such thing.
func (o *ordering) active(c *eventCursor, what string, going *bool) advance {
	switch {
	case o.strict && going == nil:
		return o.wrong(c, "%s %d does not exist", what, c.args[0])
	case o.strict && *going == o.first:
		return o.wrong(c, "%s %d: the range was not going on", what, c.args[0])
	case going != nil:
		*going = true
	}
	o.emit(c, c.typ, 0, 0)
	return advTaken
}

func (o *ordering) sweepRange(c *eventCursor) advance {
	if m := o.missing(c, needProc); m != "" {
		return o.wrong(c, "%s", m)
	}
	if o.threads[c.slot].p < 0 {
		return o.drop()
	}
	p := &o.procs[o.threads[c.slot].pslot]
	begin := c.typ == evGCSweepBegin
	if o.strict && p.sweep == begin {
		return o.wrong(c, "P %d: the begin and the end of the range do not match", p.id)
	}
	p.sweep = begin
	return o.simple(c, 0)
}

func (o *ordering) sweepActive(c *eventCursor) advance {
	if c.args[0] > maxProcID {
		return o.invalid(c, "the invalid P %d", c.args[0])
	}
	var sweep *bool
	if slot := o.procIndex.get(c.args[0]); slot >= 0 {
		sweep = &o.procs[slot].sweep
	}
	return o.active(c, "P", sweep)
}

// mark returns the mark phase. Its sequence numbers bind begin and end across
// threads, but ordering by them is left to the strict reading: a trace may
// begin in the middle of a collection, and the times suffice.
func (o *ordering) mark(c *eventCursor) advance {
	if !o.strict {
		if c.slot < 0 {
			return o.drop()
		}
		return o.simple(c, 0)
	}
	seq := c.args[0]
	free := o.gc == markUnknown && c.typ == evGCBegin
	if c.typ == evGCActive && o.first {
		if o.gc != markUnknown {
			return o.wrong(c, "the collection is known already")
		}
		free = true
	}
	if !free {
		if seq != o.gcSeq+1 {
			return advBlocked
		}
		if on := o.gc == markOn; on == (c.typ == evGCBegin) {
			return o.wrong(c, "the begin and the end of the mark phase do not match")
		}
		if m := o.missing(c, needProc|needGo); m != "" {
			return o.wrong(c, "%s", m)
		}
	}
	o.gcSeq, o.gc = seq, markOn
	if c.typ == evGCEnd {
		o.gc = markOff
	}
	o.emit(c, c.typ, 0, 0)
	return advTaken
}

func (o *ordering) task(c *eventCursor) advance {
	if m := o.missing(c, needProc|needGo); m != "" {
		return o.wrong(c, "%s", m)
	}
	id := c.args[0]
	if c.typ == evUserTaskEnd {
		t, ok := o.tasks[id]
		if !ok {
			t.parent = NoTask
		}
		delete(o.tasks, id)
		c.args[2], c.args[3] = t.parent, o.tab.addExtra(t.name)
		return o.simple(c, 0)
	}
	if _, ok := o.tasks[id]; ok && o.strict {
		return o.wrong(c, "task %d began already", id)
	}
	if c.args[1] == 0 {
		c.args[1] = NoTask
	}
	o.tasks[id] = orderTask{o.tab.word(c.args[2]), c.args[1]}
	return o.simple(c, 0)
}

// region checks that regions of a goroutine are nested, in strict reading.
func (o *ordering) region(c *eventCursor) advance {
	if m := o.missing(c, needProc|needGo); m != "" {
		return o.wrong(c, "%s", m)
	}
	if o.strict {
		r := orderRegion{c.args[0], o.tab.word(c.args[1])}
		g := o.threads[c.slot].g
		open := o.regions[g]
		if c.typ == evUserRegionBegin {
			o.regions[g] = append(open, r)
		} else if n := len(open); n > 0 {
			if open[n-1] != r {
				return o.wrong(c, "the region %q of goroutine %d ends inside of %q", r.name, g, open[n-1].name)
			}
			o.regions[g] = open[:n-1]
		}
	}
	return o.simple(c, 0)
}
