package exectrace

import "time"

// What the tools of the Go distribution say of goroutines, with the faults
// that users of those tools see and that comparing with them needs:
//
//   - a goroutine id that is used again keeps its last life only, also in the
//     blocking profiles;
//   - the profiles leave out what ended before a goroutine's first run, which
//     hides the first wait for a P; one that never ran has everything;
//   - time in a system call counts as blocked from when the P it was entered
//     with goes idle, whoever holds that P by then; what of it is open at the
//     end counts as waiting for a P;
//   - a goroutine that blocks forever has ended;
//   - one that existed before is created at the begin of its generation, and
//     what it was doing counts from there.
//
// The times are those of the reference reading, which pushes late events
// forward (order.go).

// A referenceLife is the last life of a goroutine id.
type referenceLife struct {
	id                               int64
	group                            int32 // 0 when not named
	created, first, ended            Time
	run, ready, sys, sysOff, unknown int64
	total                            time.Duration
	runs                             int64
	blocked                          int32 // sums

	// Begins of what is under way; 0 is nothing.
	running, runnable, waiting, syscall, syscallOff Time
	reason                                          int32
	ranges                                          map[int32]Time

	// The profiles follow states on their own.
	tracked [len(trackedStates)]trackedState
	waits   map[waitKey]*waitSum // since the first run
	before  map[waitKey]*waitSum // until then
}

var trackedStates = [...]State{Runnable, Waiting, Syscall}

type trackedState struct {
	on    bool
	since Time
	key   waitKey
}

type rangeOfProc struct {
	p   int32
	key int32
}

// A referenceSummary adds up events as the standard tools do.
type referenceSummary struct {
	lives   map[int64]*referenceLife
	sysProc map[int32]int64 // P to the goroutine in a system call
	sysG    map[int64]int32
	onProc  map[rangeOfProc]int64
	sync    Time
	last    Time
}

func newReferenceSummary() *referenceSummary {
	return &referenceSummary{
		lives: map[int64]*referenceLife{}, sysProc: map[int32]int64{}, sysG: map[int64]int32{},
		onProc: map[rangeOfProc]int64{},
	}
}

func (r *referenceSummary) event(a *orderedAccount, e *Event) {
	if r.sync == 0 {
		r.sync = e.Time
	}
	r.last = e.Time
	switch e.Kind {
	case EventSync:
		r.sync = e.Time
	case EventGoroutine:
		r.track(a, e)
		r.goroutine(a, e)
	case EventProc:
		id, from, to := e.ProcTransition()
		if from != to && to == ProcIdle {
			if g, ok := r.sysProc[id]; ok {
				r.lives[g].syscallOff = e.Time
				delete(r.sysProc, id)
			}
		}
	case EventRangeBegin, EventRangeActive, EventRangeEnd:
		r.rangeEvent(a, e)
	}
}

// goroutine follows a change of state.
func (r *referenceSummary) goroutine(a *orderedAccount, e *Event) {
	id, from, to := e.GoTransition()
	if from == to {
		return
	}
	l := r.lives[id]
	if from == Unknown || from == Dead {
		l = r.begin(a, e, l, id, from, to)
	} else {
		r.leave(a, e, l, from)
	}
	if l.group == 0 {
		if s := e.subjectStackID(); s != 0 {
			l.group = a.groupOfStack(s)
		}
	}
	switch to {
	case Running:
		l.running = e.Time
		if from == Runnable {
			l.runs++
		}
		if l.first == 0 {
			l.first = e.Time
		}
	case Runnable:
		l.runnable = e.Time
	case Waiting:
		if e.Reason() == "forever" {
			r.finalize(a, l, e.Time, e.Time)
			return
		}
		l.waiting, l.reason = e.Time, a.st.reason(e.Reason())
	case Dead:
		r.finalize(a, l, e.Time, e.Time)
	case Syscall:
		r.sysProc[e.Proc] = id
		r.sysG[id] = e.Proc
		l.syscall = e.Time
	}
}

// begin starts a life; an earlier one of the same id is forgotten, except
// for the states that the profiles track.
func (r *referenceSummary) begin(a *orderedAccount, e *Event, old *referenceLife, id int64, from, to State) *referenceLife {
	l := &referenceLife{id: id, created: e.Time, blocked: -1, ranges: map[int32]Time{}}
	if old != nil {
		a.st.sums.drop(&old.blocked)
		l.tracked = old.tracked
	} else {
		r.trackFirst(a, e, l)
	}
	r.lives[id] = l
	if from == Dead {
		return l
	}
	l.created = r.sync
	d := int64(e.Time - r.sync)
	switch {
	case to == Running:
		l.run += d
	case to == Waiting:
		a.st.sums.add(&l.blocked, a.st.reason(e.Reason()), d)
	case to == Runnable:
		l.ready += d
	case e.Proc < 0:
		l.sysOff += d
	default:
		l.sys += d
	}
	return l
}

// leave adds up the state that ends.
func (r *referenceSummary) leave(a *orderedAccount, e *Event, l *referenceLife, from State) {
	switch from {
	case Running:
		l.run += int64(e.Time - l.running)
		l.running = 0
	case Waiting:
		if l.waiting != 0 {
			a.st.sums.add(&l.blocked, l.reason, int64(e.Time-l.waiting))
			l.waiting = 0
		}
	case Runnable:
		if l.runnable != 0 {
			l.ready += int64(e.Time - l.runnable)
			l.runnable = 0
		}
	case Syscall:
		if l.syscall == 0 {
			return
		}
		if l.syscallOff != 0 {
			l.sysOff += int64(e.Time - l.syscallOff)
			l.sys += int64(l.syscallOff - l.syscall)
		} else {
			l.sys += int64(e.Time - l.syscall)
		}
		l.syscall, l.syscallOff = 0, 0
		// The P may be another goroutine's by now, which then loses it here.
		delete(r.sysProc, r.sysG[l.id])
		delete(r.sysG, l.id)
	}
}

// finalize ends a life, or what is open of it at the end of the trace.
func (r *referenceSummary) finalize(a *orderedAccount, l *referenceLife, now, ended Time) {
	if ended != 0 {
		l.ended = ended
	}
	if l.total == 0 {
		l.total = time.Duration(now - l.created)
	}
	open := func(sum *int64, since Time) {
		if since != 0 {
			*sum += int64(now - since)
		}
	}
	open(&l.run, l.running)
	open(&l.ready, l.runnable)
	if l.waiting != 0 {
		a.st.sums.add(&l.blocked, l.reason, int64(now-l.waiting))
	}
	open(&l.sys, l.syscall)
	open(&l.ready, l.syscallOff)
	for key, since := range l.ranges {
		a.st.sums.add(&l.blocked, key, int64(now-since))
	}
	l.running, l.runnable, l.waiting, l.syscall, l.syscallOff = 0, 0, 0, 0, 0
	clear(l.ranges)
}

// rangeEvent follows special ranges. A range of a P belongs to whoever runs
// at its begin, if the same is there at its end.
func (r *referenceSummary) rangeEvent(a *orderedAccount, e *Event) {
	name, g, p := e.Range()
	key := a.rangeKey(e)
	var l *referenceLife
	switch {
	case g >= 0:
		l = r.lives[g]
	case p < 0:
		return
	case e.Kind == EventRangeEnd:
		at := rangeOfProc{p, key}
		owner, ok := r.onProc[at]
		if ok && owner == e.Goroutine {
			l = r.lives[owner]
		}
		delete(r.onProc, at)
	default:
		if l = r.lives[e.Goroutine]; l != nil {
			r.onProc[rangeOfProc{p, key}] = e.Goroutine
		}
	}
	if l == nil || name == "" {
		return
	}
	since, open := l.ranges[key]
	switch e.Kind {
	case EventRangeBegin:
		l.ranges[key] = e.Time
	case EventRangeActive:
		if open {
			a.st.sums.add(&l.blocked, key, int64(r.sync-since))
		}
		l.ranges[key] = r.sync
	case EventRangeEnd:
		if open {
			a.st.sums.add(&l.blocked, key, int64(e.Time-since))
			delete(l.ranges, key)
		}
	}
}

// rangeKey is the key of a range in sums.
func (a *orderedAccount) rangeKey(e *Event) int32 {
	switch e.typ {
	case evSTWBegin, evSTWEnd:
		return rangeSTW + a.st.reason(e.pauseKind())
	case evGCSweepBegin, evGCSweepActive, evGCSweepEnd:
		return rangeSweep
	}
	return rangeAssist
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

// track follows states for the profiles: from the first event that tells of a
// state, with its stack and reason, until one that tells of another.
func (r *referenceSummary) track(a *orderedAccount, e *Event) {
	id, _, to := e.GoTransition()
	l := r.lives[id]
	if l == nil {
		return // begin does it
	}
	for i, state := range trackedStates {
		t := &l.tracked[i]
		switch {
		case !t.on:
			if to == state {
				*t = trackedState{true, e.Time, a.trackKey(e, state)}
			}
		case to != state:
			t.on = false
			r.addWait(l, t, e.Time)
		}
	}
}

func (r *referenceSummary) trackFirst(a *orderedAccount, e *Event, l *referenceLife) {
	_, _, to := e.GoTransition()
	for i, state := range trackedStates {
		if to == state {
			l.tracked[i] = trackedState{true, e.Time, a.trackKey(e, state)}
		}
	}
}

func (a *orderedAccount) trackKey(e *Event, state State) waitKey {
	k := waitKey{state: state, stack: a.stack(e.stackID())}
	if state == Waiting {
		k.reason = a.st.reason(e.Reason())
	}
	return k
}

// addWait adds a wait that ended to a life. Whether those before the first
// run count is known in the end.
func (r *referenceSummary) addWait(l *referenceLife, t *trackedState, end Time) {
	if end <= t.since {
		return
	}
	waits := &l.waits
	if l.first == 0 {
		waits = &l.before
	}
	if *waits == nil {
		*waits = map[waitKey]*waitSum{}
	}
	w := (*waits)[t.key]
	if w == nil {
		w = new(waitSum)
		(*waits)[t.key] = w
	}
	w.n++
	w.total += int64(end - t.since)
}

// finish replaces what the accounts say of goroutines.
func (r *referenceSummary) finish(a *orderedAccount) {
	st := a.st
	st.waits.reset()
	for _, g := range st.groups {
		st.sums.drop(&g.blocked)
		g.run, g.ready, g.sys, g.sysOff, g.unknown, g.runs, g.count = 0, 0, 0, 0, 0, 0, 0
		g.kept, g.keepMin, g.running = nil, 0, Histogram{}
	}
	for _, l := range r.lives {
		r.finalize(a, l, r.last, 0)
		l.unknown = max(int64(l.total)-l.run-l.ready-l.sys-l.sysOff-int64(st.sums.total(l.blocked, rangeBase)), 0)
		g := st.groups[l.group]
		g.count++
		st.fold(g, &life{
			id: uint64(l.id), group: l.group, created: int64(l.created), first: int64(l.first), runs: l.runs,
			run: l.run, ready: l.ready, sys: l.sys, sysOff: l.sysOff, unknown: l.unknown, blocked: l.blocked,
		}, int64(l.ended))
		r.addWaits(st, l, l.waits)
		if l.first == 0 {
			r.addWaits(st, l, l.before)
		}
	}
}

func (r *referenceSummary) addWaits(st *stitcher, l *referenceLife, waits map[waitKey]*waitSum) {
	for k, w := range waits {
		k.group = l.group
		st.addWait(k, w.n, w.total)
	}
}
