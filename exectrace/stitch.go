package exectrace

import (
	"fmt"
	"time"
)

// The stitcher joins the replays of single generations, in their order. It
// knows what every living goroutine and P was doing when the last generation
// ended, so it can complete the states that a replay found already under
// way; it gives strings and stacks one identity for the whole trace; and it
// folds what has ended, so that only the living take memory.

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
	sweepAt int64  // begin of the sweep that goes on
	sweeper uint64 // the goroutine at it, or 0
}

type waitKey struct {
	state  State
	reason int32
	stack  Stack
	group  int32
}

// pack returns the two words by which a waitTable knows k. The second is not 0, as
// no state is.
func (k waitKey) pack() (cause, class uint64) {
	return uint64(uint32(k.stack)) | uint64(uint32(k.group))<<32, uint64(k.state)<<32 | uint64(uint32(k.reason))
}

func unpackWait(w *waitEntry) waitKey {
	return waitKey{State(w.class >> 32), int32(uint32(w.class)), Stack(uint32(w.cause)), int32(w.cause >> 32)}
}

// A standing is how many stand alike at the end of the window, and for how long they have.
type standing struct{ n, still, total, longest int64 }

type stitcher struct {
	keep   int
	torn   bool // nothing is known from the end of the last generation but one on
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
	waits   waitTable // by waitKey, packed
	last    map[waitKey]standing
	wakes   waitTable // by waker and woken
	bursts  map[Stack]*burstTally
	slice   Histogram

	gcs      []gcMark
	heap     []HeapSample
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
		byName: map[int32]int32{}, byWord: map[string]int32{},
		bursts: map[Stack]*burstTally{},
		tasks:  map[uint64]*Task{}, taskType: map[string]*TaskType{}, regions: map[int32]*RegionType{},
		logs: map[string]*LogCount{}, samples: map[[2]int32]int64{}, threads: map[uint64]struct{}{},
		last: map[waitKey]standing{},
	}
	st.ids.reset()
	st.waits.reset()
	st.wakes.reset()
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

// remains counts what is left at the end of a trace when not even the head of
// a generation is.
func (st *stitcher) remains(g *generation) {
	d := &st.acc.Info.Damage
	d.LostBytes += g.lost
	d.Notes = append(d.Notes, fmt.Sprintf("%d bytes at the end could not be read", g.lost))
}

// add joins the next generation.
func (st *stitcher) add(e *engine) {
	g := e.g
	if g.batches == 0 {
		st.remains(g)
		return
	}
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
	st.identify(e)
	from := e.ns(e.begin())
	known := from // until when the states of the generations before are good
	if st.prev != nil && (g.gap || !rec.Trusted) {
		// It may have begun long before the first of its events that is left.
		known = min(from, st.clip(int64(st.prev.End)))
	}
	st.boundary(known)
	if g.gap && st.prev != nil {
		st.acc.Info.Damage.Missing++
		st.acc.Info.Damage.LostTime += time.Duration(max(t0-int64(st.prev.End), 0))
		st.loseAll(known)
	}
	if st.torn = !rec.Trusted; rec.Trusted {
		st.joinSweeps(from)
		st.goroutines(e, from)
		st.finished(e)
		st.joinWaits(e)
		st.joinProcs(e, from)
		st.joinGC(e)
	} else {
		st.acc.Info.Damage.LostTime += time.Duration(e.ns(e.last) - t0)
		st.loseAll(known)
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
// twentieth event had to be forced, they are guesses, and where its end is
// missing, what was going on when the last events were written went on or not.
func trusted(e *engine) bool { return (e.forced+e.dropped)*20 <= e.events && !e.g.torn() }

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

// identify prepares the maps from the generation's identities to the trace's.
func (st *stitcher) identify(e *engine) {
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

// loseAll gives up what all goroutines and Ps do from a moment on.
func (st *stitcher) loseAll(now int64) {
	st.closeLoad(now)
	for i := range st.lives {
		if l := &st.lives[i]; l.state != stAbsent {
			l.waits, l.waited, l.still = l.state == stWaiting && now >= l.since, now-l.since, l.since <= st.clip(int64(st.acc.Info.Start))
			st.lose(l, now)
		}
	}
	for i := range st.procs {
		if p := &st.procs[i]; p.seen {
			if p.state != psIdle {
				p.Unknown += time.Duration(max(now-p.since, 0))
			}
			p.since, p.state, p.sweeper = now, psLost, 0
		}
	}
}

// closeLoad ends whatever the collector was doing, where nobody can tell when
// it did.
func (st *stitcher) closeLoad(now int64) {
	open := map[LoadChange]int32{}
	for _, c := range st.acc.Load {
		if c.Kind != LoadProcs {
			open[LoadChange{Proc: c.Proc, Kind: c.Kind, Dedicated: c.Dedicated}] += c.Delta
		}
	}
	for c, n := range open {
		if n != 0 {
			c.At, c.Delta = Time(now), -n
			st.acc.Load = append(st.acc.Load, c)
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
