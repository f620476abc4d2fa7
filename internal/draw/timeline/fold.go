package timeline

import (
	"slices"

	"github.com/gowhy/gowhy/exectrace"
)

// A folder adds the spans of one piece up by bucket, and puts the sums into a
// store. Its memory is used again for the next piece. pyramid.go tells the idea.
type folder struct {
	origin   int64 // of the timeline, on the trace's clock
	level    uint
	lo, hi   int64 // what of the piece is wanted
	pieceEnd int64
	last     bool // what runs over the piece's end is wanted too
	first    int64
	nb       int

	// A slot is a lane that occurs in the piece. Its sums are columns of nb
	// buckets, one for each state.
	lanes   []int32 // by slot
	slots   []int32 // by lane; -1 for none
	sum     []int64
	diff    []int32
	touched []bool // columns

	life    []lifeInfo
	procs   []int32 // slots by P; -1 for none
	threads []int32 // slots by index in Piece.Threads; -1 for none
	run     []int64 // running time by life
	assists assists
	late    []latePart
	marks   []mark
	lived   []bool // by slot and bucket: somebody began or ended
	end     int64  // the latest end of a span

	look lookup
}

// A lookup tells the lanes of a piece, -1 for none: the builder makes them,
// others find them.
type lookup interface {
	life(l *exectrace.Life) (lane int32, worker bool)
	proc(id int64) int32
	thread(id int64) int32
	region(name string) int32
	roof(lane int32) int32 // the lane that gets the time of another as well
}

// A lifeInfo is what the fold must know of a life: its slot and flags.
type lifeInfo int32

const (
	lifeAssists lifeInfo = 1 << iota
	lifeWorker
	lifeBits = 2
)

// A latePart is what runs over the end of the piece.
type latePart struct {
	lane     int32
	state    State
	n        int64
	from, to int64
}

type mark struct {
	lane int32
	at   int64
	what uint8
}

// maxScratch bounds the sums of one piece.
const maxScratch = 48 << 20

// scratchOf returns the memory that a fold takes, in bytes.
func scratchOf(level uint, lo, hi int64, slots int) int64 {
	return ((hi-1)>>level - lo>>level + 1) * int64(slots) * NumStates * (8 + 4)
}

// begin prepares for the times [lo, hi).
func (f *folder) begin(origin int64, level uint, lo, hi, pieceEnd int64) {
	f.origin, f.level, f.lo, f.hi, f.pieceEnd, f.last = origin, level, lo, hi, pieceEnd, hi >= pieceEnd
	f.first = lo >> level
	f.nb = int((hi-1)>>level-f.first) + 1
	for _, lane := range f.lanes {
		f.slots[lane] = -1
	}
	f.lanes, f.late, f.marks, f.procs = f.lanes[:0], f.late[:0], f.marks[:0], f.procs[:0]
	f.threads = f.threads[:0]
	f.end = hi
}

// slot returns the slot of a lane, made when it has none.
func (f *folder) slot(lane int32) int32 {
	if lane < 0 {
		return -1
	}
	for int(lane) >= len(f.slots) {
		f.slots = append(f.slots, -1)
	}
	if f.slots[lane] < 0 {
		f.slots[lane] = int32(len(f.lanes))
		f.lanes = append(f.lanes, lane)
	}
	return f.slots[lane]
}

// reserve makes room for the columns of all slots.
func (f *folder) reserve() {
	cols := len(f.lanes) * NumStates
	if n := cols * f.nb; len(f.sum) < n {
		f.sum = append(f.sum, make([]int64, n-len(f.sum))...)
		f.diff = append(f.diff, make([]int32, n-len(f.diff))...)
	}
	if n := len(f.lanes) * f.nb; len(f.lived) < n {
		f.lived = append(f.lived, make([]bool, n-len(f.lived))...)
	}
	if len(f.touched) < cols {
		f.touched = append(f.touched, make([]bool, cols-len(f.touched))...)
	}
}

// prepare gives the lanes of a piece their slots.
func (f *folder) prepare(p *exectrace.Piece, openTask int64) {
	f.prepareLives(p)
	for i := range p.Procs {
		if id := p.Procs[i].Proc; id >= 0 && id < maxProcs && (int(id) >= len(f.procs) || f.procs[id] == unseen) {
			f.setProc(int(id), f.slot(f.look.proc(int64(id))))
		}
	}
	for _, id := range p.Threads {
		f.threads = append(f.threads, f.slot(f.look.thread(id)))
	}
	for i := range p.Regions {
		if i == 0 || p.Regions[i].Name != p.Regions[i-1].Name {
			f.slot(f.look.region(p.Regions[i].Name))
		}
	}
	if f.look.region("") == noLanes {
		return
	}
	for lane, there := range [numFixed]bool{
		laneRegions: len(p.Regions) > 0, laneTasks: len(p.Tasks) > 0 || openTask > 0, laneSamples: len(p.Samples) > 0,
	} {
		if there {
			f.slot(int32(lane))
		}
	}
}

// prepareLives gives each life the slot of its lane, and remembers the mark workers.
func (f *folder) prepareLives(p *exectrace.Piece) {
	f.life = slices.Grow(f.life[:0], len(p.Lives))[:len(p.Lives)]
	f.run = slices.Grow(f.run[:0], len(p.Lives))[:len(p.Lives)]
	clear(f.run)
	for i := range p.Lives {
		in, worker := f.look.life(&p.Lives[i])
		f.life[i] = lifeInfo(f.slot(in)) << lifeBits
		if worker {
			f.life[i] |= lifeWorker
		}
	}
	f.assists.load(p, f.origin)
	for _, i := range f.assists.lives {
		f.life[i] |= lifeAssists
	}
}

// add folds the spans of all lives that have a slot, and of all Ps and threads.
//
// Nearly all spans lie in one bucket, which is found once for all the lanes that
// get it. What is not that simple is done by one and odd.
func (f *folder) add(p *exectrace.Piece, c *classifier) {
	f.reserve()
	for _, block := range p.Spans {
		f.block(block, c)
	}
}

func (f *folder) block(spans []exectrace.Span, c *classifier) {
	for i := range spans {
		s := &spans[i]
		if uint(s.Life) >= uint(len(f.life)) {
			continue
		}
		from, to := int64(s.From)-f.origin, int64(s.To)-f.origin
		li := f.life[s.Life]
		st := c.of(s, li&lifeWorker != 0)
		if from < f.lo || to > f.hi || to-from >= longWait || li&lifeAssists != 0 && st == Running && f.assists.hit(s.Life, from, to) {
			f.odd(s, st, from, to)
			continue
		}
		if to <= from {
			continue
		}
		b := int(from>>f.level - f.first)
		if b != int((to-1)>>f.level-f.first) || s.State == exectrace.SyscallBlocked {
			f.addSpan(s, st, from, to)
			continue
		}
		if slot := int(li >> lifeBits); slot >= 0 {
			f.into(slot*NumStates+int(st), b, to-from)
		}
		if s.State != exectrace.Running && s.State != exectrace.Syscall {
			continue
		}
		if s.State == exectrace.Running {
			f.run[s.Life] += to - from
		}
		if slot := int(f.proc(s.Proc)); slot >= 0 {
			f.into(slot*NumStates+int(st), b, to-from)
		}
		if slot := int(f.thread(s.Thread)); slot >= 0 {
			f.into(slot*NumStates+int(st), b, to-from)
		}
	}
}

// into adds time to one bucket of a column.
func (f *folder) into(col, b int, ns int64) {
	f.touched[col] = true
	f.sum[col*f.nb+b] += ns
}

// addSpan adds a span to its goroutine's lane, its P's and its thread's.
func (f *folder) addSpan(s *exectrace.Span, st State, from, to int64) {
	if slot := f.life[s.Life] >> lifeBits; slot >= 0 {
		f.spread(int(slot)*NumStates+int(st), from, to, 1)
	}
	switch s.State {
	case exectrace.Running:
		f.run[s.Life] += to - from
		fallthrough
	case exectrace.Syscall:
		if slot := f.proc(s.Proc); slot >= 0 {
			f.spread(int(slot)*NumStates+int(st), from, to, 1)
		}
		if slot := f.thread(s.Thread); slot >= 0 {
			f.spread(int(slot)*NumStates+int(st), from, to, 1)
		}
	case exectrace.SyscallBlocked:
		if slot := f.thread(s.Thread); slot >= 0 {
			f.spread(int(slot)*NumStates+int(Syscall), from, to, 1)
			// The thread holds no P: it is not to be taken from the time in which it does.
			f.spread(int(slot)*NumStates+int(Wait), from, to, 1)
		}
	}
}

// proc returns the slot of a P.
func (f *folder) proc(id int16) int32 {
	if uint(id) < uint(len(f.procs)) && f.procs[id] != unseen {
		return f.procs[id]
	}
	return f.unseenProc(id)
}

func (f *folder) thread(i int32) int32 {
	if uint(i) < uint(len(f.threads)) {
		return f.threads[i]
	}
	return -1
}

// unseen is the slot of a P that has not been asked for.
const unseen = -2

// unseenProc gives a P its slot when a span names it for the first time.
func (f *folder) unseenProc(id int16) int32 {
	if id < 0 || id >= maxProcs {
		return -1
	}
	f.setProc(int(id), f.slot(f.look.proc(int64(id))))
	f.reserve()
	return f.procs[id]
}

func (f *folder) setProc(id int, slot int32) {
	for len(f.procs) <= id {
		f.procs = append(f.procs, unseen)
	}
	f.procs[id] = slot
}

// spread adds [from, to) to a column n times.
func (f *folder) spread(col int, from, to, n int64) {
	f.touched[col] = true
	b, e := from>>f.level, (to-1)>>f.level
	at := col * f.nb
	if b == e {
		f.sum[at+int(b-f.first)] += n * (to - from)
		return
	}
	f.sum[at+int(b-f.first)] += n * ((b+1)<<f.level - from)
	f.sum[at+int(e-f.first)] += n * (to - e<<f.level)
	if e > b+1 {
		f.diff[at+int(b+1-f.first)] += int32(n)
		f.diff[at+int(e-f.first)] -= int32(n)
	}
}

// clip is spread for what may lie outside of [lo, hi).
func (f *folder) clip(slot int32, st State, from, to, n int64) {
	if slot < 0 {
		return
	}
	if a, z := max(from, f.lo), min(to, f.hi); a < z {
		f.spread(int(slot)*NumStates+int(st), a, z, n)
	}
	if a := max(from, f.hi); f.last && a < to {
		f.late = append(f.late, latePart{f.lanes[slot], st, n, a, to})
	}
}

// odd adds a span that is not inside of what is wanted, or is long, or may
// have been interrupted by mark assists.
func (f *folder) odd(s *exectrace.Span, st State, from, to int64) {
	if to <= from || to > maxTime {
		return
	}
	f.end = max(f.end, to)
	li := f.life[s.Life]
	if slot := li >> lifeBits; slot >= 0 && st.blocked() && to-from >= longWait && to < f.pieceEnd && f.within(to) {
		f.marks = append(f.marks, mark{f.lanes[slot], to, MarkLong})
	}
	if st != Running || li&lifeAssists == 0 {
		f.part(s, st, from, to)
		return
	}
	f.assists.cut(s.Life, from, to, func(st State, from, to int64) { f.part(s, st, from, to) })
}

// within reports whether a moment is of what is wanted: what lies beyond the
// end belongs to the last part.
func (f *folder) within(at int64) bool { return at >= f.lo && (at < f.hi || f.last) }

// part folds a span of which only a part is in the piece.
func (f *folder) part(s *exectrace.Span, st State, from, to int64) {
	f.clip(int32(f.life[s.Life]>>lifeBits), st, from, to, 1)
	switch s.State {
	case exectrace.Running:
		f.run[s.Life] += to - from
		fallthrough
	case exectrace.Syscall:
		f.clip(f.proc(s.Proc), st, from, to, 1)
		f.clip(f.thread(s.Thread), st, from, to, 1)
	case exectrace.SyscallBlocked:
		f.clip(f.thread(s.Thread), Syscall, from, to, 1)
		f.clip(f.thread(s.Thread), Wait, from, to, 1)
	}
}

// addHolds adds the time in which Ps were held. It counts as [Wait] until finish
// takes away the time in which goroutines used it.
func (f *folder) addHolds(p *exectrace.Piece) {
	thread := make(map[int64]int32, len(p.Threads))
	for i, id := range p.Threads {
		thread[id] = f.threads[i]
	}
	for i := range p.Procs {
		s := &p.Procs[i]
		from, to := int64(s.From)-f.origin, int64(s.To)-f.origin
		if to <= from || to > maxTime || s.Proc < 0 || int(s.Proc) >= len(f.procs) {
			continue
		}
		f.end = max(f.end, to)
		f.clip(f.procs[s.Proc], Wait, from, to, 1)
		if slot, ok := thread[s.Thread]; ok {
			f.clip(slot, Wait, from, to, 1)
		}
	}
}

// extras folds what is no goroutine, P or thread, and returns by how much the
// number of open tasks changed.
func (f *folder) extras(p *exectrace.Piece, pieceLo, openTask int64) (opened int64) {
	opened = eachExtra(p, f.look.region, f.origin, pieceLo, f.pieceEnd, openTask, func(e extra) {
		if int(e.lane) < len(f.slots) {
			f.clip(f.slots[e.lane], e.state, e.from, e.to, e.n)
		}
	})
	f.lifeMarks(p)
	return opened
}

// lifeMarks marks births and ends. There may be many of them in a bucket, which
// is marked once.
func (f *folder) lifeMarks(p *exectrace.Piece) {
	for i := range p.Lives {
		l := &p.Lives[i]
		slot := f.life[i] >> lifeBits
		if slot < 0 {
			continue
		}
		for _, at := range [...]exectrace.Time{l.Created, l.Ended} {
			t := int64(at) - f.origin
			switch {
			case at == 0 || t >= maxTime || !f.within(t):
			case t < f.hi:
				f.lived[int(slot)*f.nb+int(t>>f.level-f.first)] = true
			default:
				f.marks = append(f.marks, mark{f.lanes[slot], t, markLife})
			}
		}
	}
}

// finish puts the sums into a store.
func (f *folder) finish(s *store) {
	roof := f.look.roof
	// Roofs get their slots before any column is looked at: slots may move memory.
	for i := 0; i < len(f.lanes); i++ {
		f.slot(roof(f.lanes[i]))
	}
	f.reserve()
	for slot, lane := range f.lanes {
		if up := roof(lane); up >= 0 {
			f.settle(slot)
			f.takeUsed(slot)
			f.addUp(slot, int(f.slots[up]))
		}
	}
	for slot := range f.lanes {
		f.settle(slot)
		f.store(slot, s)
		f.storeLives(slot, s)
	}
	for _, l := range f.late {
		up := roof(l.lane)
		s.stretch(int(l.lane), l.state, l.from, l.to, l.n)
		if up < 0 {
			continue
		}
		s.stretch(int(up), l.state, l.from, l.to, l.n)
		if l.state != Wait {
			s.stretch(int(l.lane), Wait, l.from, l.to, -l.n)
			s.stretch(int(up), Wait, l.from, l.to, -l.n)
		}
	}
	for _, m := range f.marks {
		if b := m.at >> f.level; b < s.limit() {
			s.mark(int(m.lane), b, m.what)
		}
	}
}

func (f *folder) column(slot int, st State) (sum []int64, diff []int32) {
	at := (slot*NumStates + int(st)) * f.nb
	return f.sum[at : at+f.nb], f.diff[at : at+f.nb]
}

// settle turns differences into time.
func (f *folder) settle(slot int) {
	for st := range State(NumStates) {
		if !f.touched[slot*NumStates+int(st)] {
			continue
		}
		sum, diff := f.column(slot, st)
		n := int64(0)
		for b := range diff {
			n += int64(diff[b])
			sum[b] += n << f.level
			diff[b] = 0
		}
	}
}

// takeUsed leaves in [Wait] the time in which a P or thread was held and no
// goroutine used it.
func (f *folder) takeUsed(slot int) {
	wait, _ := f.column(slot, Wait)
	for _, st := range [...]State{Running, Syscall, GC} {
		if !f.touched[slot*NumStates+int(st)] {
			continue
		}
		f.touched[slot*NumStates+int(Wait)] = true
		used, _ := f.column(slot, st)
		for b := range wait {
			wait[b] -= used[b]
		}
	}
}

func (f *folder) addUp(slot, roof int) {
	for st := range State(NumStates) {
		if !f.touched[slot*NumStates+int(st)] {
			continue
		}
		f.touched[roof*NumStates+int(st)] = true
		from, _ := f.column(slot, st)
		to, _ := f.column(roof, st)
		for b := range from {
			to[b] += from[b]
		}
	}
}

// store moves a slot's sums into its lane and leaves zeros.
func (f *folder) store(slot int, s *store) {
	for st := range State(NumStates) {
		if !f.touched[slot*NumStates+int(st)] {
			continue
		}
		f.touched[slot*NumStates+int(st)] = false
		sum, _ := f.column(slot, st)
		var p *page
		in := int64(-1)
		for b, v := range sum {
			if v == 0 {
				continue
			}
			bucket := f.first + int64(b)
			if n := bucket >> tileShift; n != in {
				p, in = s.page(int(f.lanes[slot]), st, int(n)), n
			}
			if p != nil { // else it is before the store's begin: damage
				p[bucket&(tileBuckets-1)] += float32(v)
			}
			sum[b] = 0
		}
	}
}

// storeLives moves a slot's births and ends into its lane.
func (f *folder) storeLives(slot int, s *store) {
	lived := f.lived[slot*f.nb : (slot+1)*f.nb]
	for b, there := range lived {
		if there {
			s.mark(int(f.lanes[slot]), f.first+int64(b), markLife)
			lived[b] = false
		}
	}
}

// limit returns the first bucket that is too far away to be kept: what runs over the
// end of a piece is short, unless it is damage.
func (s *store) limit() int64 { return int64(s.first)<<tileShift + 2*maxBuckets }

// stretch adds [from, to) n times, without help of a folder.
func (s *store) stretch(lane int, st State, from, to, n int64) {
	for b := from >> s.level; b <= (to-1)>>s.level && b < s.limit(); b++ {
		s.add(lane, st, b, float64(n*(min(to, (b+1)<<s.level)-max(from, b<<s.level))))
	}
}

// assists are the mark assists of a piece, by life.
type assists struct {
	lives []int32 // that have any
	at    []int32 // by life: index in lists plus one
	lists [][]stretch
	next  []int // by list: the first that is not before the last span
}

type stretch struct{ from, to int64 }

// load finds the assists of a piece.
func (a *assists) load(p *exectrace.Piece, origin int64) {
	a.lives, a.next = a.lives[:0], a.next[:0]
	a.lists = a.lists[:0]
	a.at = slices.Grow(a.at[:0], len(p.Lives))[:len(p.Lives)]
	clear(a.at)
	byG := map[int64][]stretch{}
	var seen [1 << 12]bool // most goroutines have none, and need not ask the map
	for i := range p.Ranges {
		if r := &p.Ranges[i]; r.Name == exectrace.RangeAssist && r.To > r.From && r.Goroutine >= 0 {
			byG[r.Goroutine] = append(byG[r.Goroutine], stretch{int64(r.From) - origin, int64(r.To) - origin})
			seen[r.Goroutine&(1<<12-1)] = true
		}
	}
	if len(byG) == 0 {
		return
	}
	for _, list := range byG {
		slices.SortFunc(list, func(x, y stretch) int { return compare(x.from, y.from) })
	}
	for i := range p.Lives {
		g := p.Lives[i].G
		if g < 0 || !seen[g&(1<<12-1)] || byG[g] == nil {
			continue
		}
		a.lives = append(a.lives, int32(i))
		a.lists = append(a.lists, byG[g])
		a.next = append(a.next, 0)
		a.at[i] = int32(len(a.lists))
	}
}

// hit reports whether an assist lies in a span of a life. Spans of one life must
// come in order.
func (a *assists) hit(life int32, from, to int64) bool {
	n := a.at[life] - 1
	if n < 0 {
		return false
	}
	list, i := a.lists[n], a.next[n]
	for i < len(list) && list[i].to <= from {
		i++
	}
	a.next[n] = i
	return i < len(list) && list[i].from < to
}

// cut splits a running span of a life into what it did for itself and for the
// collector. Spans of one life must come in order.
func (a *assists) cut(life int32, from, to int64, part func(st State, from, to int64)) {
	if !a.hit(life, from, to) {
		part(Running, from, to)
		return
	}
	n := a.at[life] - 1
	list := a.lists[n]
	for i := a.next[n]; i < len(list) && list[i].from < to; i++ {
		if list[i].from > from {
			part(Running, from, list[i].from)
			from = list[i].from
		}
		if end := min(list[i].to, to); end > from {
			part(GC, from, end)
			from = end
		}
	}
	if from < to {
		part(Running, from, to)
	}
}

func compare[T int | int32 | int64 | uint32 | uint64](a, b T) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}
