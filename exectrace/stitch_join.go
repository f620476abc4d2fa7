package exectrace

import (
	"cmp"
	"slices"
	"time"
)

// What a generation adds to the account of the trace, goroutines apart.

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
	for _, w := range e.open {
		k := waitKey{Waiting, st.reasonAt(int32(uint16(w.class >> 16))), st.stack(e, w.stack), st.groupOf[uint16(w.class)]}
		st.standAt(k, e.ns(w.d), w.still)
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

func (st *stitcher) addWait(k waitKey, n, total int64) {
	w := st.waits.at(k.pack())
	w.n += n
	w.total += total
}

func (st *stitcher) addWake(waker, woken Stack, n int64) {
	if woken != 0 {
		st.wakes.at(waitCause(uint32(waker), uint32(woken)), 1).n += n
	}
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
		if p.sweepAt >= 0 {
			o.sweepAt = e.ns(p.sweepAt)
			if p.sweepG >= 0 {
				o.sweeper = e.gs[p.sweepG].id
			}
		} else {
			o.sweeper = 0
		}
		o.state = uint8(p.word & stMask)
		o.since, o.sysFrom = e.ns(p.since), e.ns(p.sysFrom)
		if o.state == psLost {
			o.since = e.ns(e.last)
		}
	}
}

// joinSweeps gives sweeps that go on the time until a generation begins, from
// where its replay counts.
func (st *stitcher) joinSweeps(from int64) {
	for i := range st.procs {
		p := &st.procs[i]
		if p.sweeper == 0 {
			continue
		}
		if at := st.ids.get(p.sweeper); at >= 0 {
			st.sums.add(&st.lives[at].blocked, rangeSweep, from-p.sweepAt)
		}
		p.sweepAt = from
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
			at := st.ids.get(e.gs[p.g].id)
			if at < 0 || st.lives[at].stw < 0 {
				continue // its begin was lost, and with it what it was for
			}
			l := &st.lives[at]
			o.Begin, o.Kind, o.Stack = Time(l.stw), st.reasons[l.stwKind], l.stwStack
			st.sums.add(&l.blocked, rangeSTW+l.stwKind, int64(o.End-o.Begin))
			if forGC(o.Kind) {
				st.acc.Load = append(st.acc.Load, LoadChange{Time(e.ns(p.end)), -1, LoadSTW, false, -1})
			}
			l.stw = -1
		}
		st.acc.Pauses = append(st.acc.Pauses, o)
	}
	st.acc.Load = reserve(st.acc.Load, len(e.load))
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
		typ.Latency.add(time.Duration(open.End - open.Begin))
		st.keepTask(*open)
	}
}

func (st *stitcher) taskOf(name string) *TaskType {
	t := st.taskType[name]
	if t == nil {
		t = &TaskType{Name: name}
		st.taskType[name] = t
	}
	return t
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

// finished joins what was born and died in the generation, and the counts.
func (st *stitcher) finished(e *engine) {
	for i, t := range e.tallies {
		g := st.groups[st.groupOf[i]]
		g.count += t.created
		g.created += t.created - t.early
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
		ID: int64(k.id), Group: int(st.groupOf[local]), Created: Time(e.born(&k.gor)),
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

// grow follows the number alive through a generation.
func (g *groupSum) grow(t *tally) {
	n := g.alive
	for _, d := range t.net {
		n += int(d)
		g.peak = max(g.peak, n)
	}
	g.alive = n
}

func (g *groupSum) atStart() { g.peak = max(g.peak, g.alive) }

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

// rangeName returns how the standard tools call a range.
func (st *stitcher) rangeName(key int32) string {
	switch key {
	case rangeAssist:
		return "GC mark assist"
	case rangeSweep:
		return "GC incremental sweep"
	}
	return "stop-the-world (" + st.reasons[key-rangeSTW] + ")"
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
