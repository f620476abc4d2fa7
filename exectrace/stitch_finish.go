package exectrace

import (
	"cmp"
	"slices"
	"time"
)

// What remains to be done when the last generation was added.

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
	st.finishLast()
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
	ps := 0
	for i := range st.procs {
		if st.procs[i].seen {
			ps++
		}
	}
	for i := len(a.Buckets) - 1; i >= 0; i-- {
		b := &a.Buckets[i]
		for k, v := range []*time.Duration{&b.Running, &b.Held, &b.Runnable} {
			*v += debt[k]
			debt[k] = min(*v, 0)
			*v = max(*v, 0)
		}
		// Times that were damaged put begins and ends where they never were.
		b.Held = min(b.Held, time.Duration(ps)*b.Width)
	}
}

func (st *stitcher) finishLives(end int64) {
	for i := range st.lives {
		l := &st.lives[i]
		if l.state == stAbsent {
			continue
		}
		st.spend(l, end)
		if st.torn && l.state == stLost && l.waits { // that is the last that is known of it
			st.standAt(waitKey{Waiting, l.reason, max(l.stack, 0), l.group}, l.waited, l.still)
		} else {
			st.stand(l, public(l.state), end)
		}
		if l.assist >= 0 {
			st.sums.add(&l.blocked, rangeAssist, end-l.assist)
		}
		for _, r := range l.regions {
			t := st.regionType(r.name)
			t.Open++
			t.addSums(r.acc)
		}
		if l.created != bornAfter {
			st.fold(st.groups[l.group], l, 0)
		}
	}
}

// stand notes what a life is at when the window ends. A wait that goes on then counts with
// its time in the window.
func (st *stitcher) stand(l *life, state State, end int64) {
	d := end - l.since
	if d < 0 || l.created == bornAfter || l.stood {
		return
	}
	if state == Waiting && !st.window.IsZero() && l.since >= int64(st.window.To) {
		state = Unknown // it waits since the window ended
	}
	k := waitKey{state, 0, max(l.stack, 0), l.group}
	switch state {
	case Waiting:
		k.reason = l.reason
	case Runnable:
		k.stack = l.woken
	case Running, Unknown:
		k.stack = 0
	}
	st.standAt(k, d, state != Running && state != Unknown && l.since <= st.clip(int64(st.acc.Info.Start)))
}

// standAt notes that one more stands somewhere when the window ends, for how long it has,
// and whether it stood there when the window began.
func (st *stitcher) standAt(k waitKey, d int64, still bool) {
	if k.state == Waiting {
		st.waits.at(k.pack()).total += d
	}
	o := st.last[k]
	o.n++
	o.total += d
	o.longest = max(o.longest, d)
	if still {
		o.still++
	}
	st.last[k] = o
}

// public returns the state that a replay's is for others.
func public(replayed uint8) State {
	switch replayed {
	case stWaiting:
		return Waiting
	case stRunnable:
		return Runnable
	case stRunning:
		return Running
	case stSyscall:
		return Syscall
	}
	return Unknown
}

func (st *stitcher) finishLast() {
	for k, o := range st.last {
		s := Standing{State: k.state, Stack: k.stack, Group: st.groupAt(k.group), Count: o.n, Still: o.still, Longest: time.Duration(o.longest)}
		if k.state == Waiting {
			s.Reason = st.reasons[k.reason]
		}
		st.acc.Last = append(st.acc.Last, s)
	}
	slices.SortFunc(st.acc.Last, func(x, y Standing) int {
		return cmp.Or(cmp.Compare(y.Count, x.Count), cmp.Compare(x.Stack, y.Stack), cmp.Compare(x.State, y.State),
			cmp.Compare(x.Reason, y.Reason), cmp.Compare(x.Group, y.Group))
	})
}

// groupAt returns the place in Accounts.Groups of a group, -1 where it has no name.
func (st *stitcher) groupAt(group int32) int {
	if group >= 0 && st.groups[group].name != 0 {
		return int(st.groupOf[group])
	}
	return -1
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
	for i := range st.waits.entries {
		w := &st.waits.entries[i]
		if w.class == 0 {
			continue
		}
		k := unpackWait(w)
		o := Wait{State: k.state, Stack: k.stack, Group: st.groupAt(k.group), Count: w.n, Total: time.Duration(w.total)}
		if k.state == Waiting {
			open := st.last[k]
			o.Reason, o.Open, o.Parked, o.OpenTotal = st.reasons[k.reason], open.n, open.still, time.Duration(open.total)
		}
		a.Waits = append(a.Waits, o)
	}
	slices.SortFunc(a.Waits, func(x, y Wait) int {
		return cmp.Or(cmp.Compare(y.Total, x.Total), cmp.Compare(x.Stack, y.Stack), cmp.Compare(x.State, y.State),
			cmp.Compare(x.Reason, y.Reason), cmp.Compare(x.Group, y.Group))
	})
	for i := range st.wakes.entries {
		if w := &st.wakes.entries[i]; w.class != 0 {
			a.Wakes = append(a.Wakes, Wake{Stack(w.cause >> 32), Stack(uint32(w.cause)), w.n})
		}
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
	a.Load = inOrder(a.Load)
}

// inOrder sorts changes by time, those of one time by P, and those of one P as they
// came: threads come in no order. There may be a million, and a stable sort of the
// changes themselves would move each often.
func inOrder(load []LoadChange) []LoadChange {
	type place struct {
		at Time
		i  int32
	}
	places := make([]place, len(load))
	for i := range load {
		places[i] = place{load[i].At, int32(i)}
	}
	slices.SortFunc(places, func(x, y place) int {
		if x.at != y.at {
			return cmp.Compare(x.at, y.at)
		}
		if p, q := load[x.i].Proc, load[y.i].Proc; p != q {
			return cmp.Compare(p, q)
		}
		return int(x.i - y.i)
	})
	sorted := make([]LoadChange, len(load))
	for i, p := range places {
		sorted[i] = load[p.i]
	}
	return sorted
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
