package timeline

import (
	"math"
	"slices"
	"sort"

	"github.com/gowhy/gowhy/exectrace"
)

// A detail is what a chunk of the trace holds, span by span, sorted so that a
// window of any lane is found by halving.
type detail struct {
	chunk   *chunk
	unit    uint   // times are in 1<<unit ns since the piece's begin, so that they fit
	spans   []span // of one goroutine after the other, in order of time
	lives   []life
	byG     map[int64]int32    // first life of an id
	onLane  map[int32][]uint32 // spans of a P or thread, in order of time
	holds   map[int32][]hold   // by P or thread, in order of time
	groups  map[int32]*changes // by lane
	wakes   []wake             // in order of time
	samples []sample           // in order of time
	extras  map[int32][]extra  // by lane
	marks   map[int32][]markAt // by lane
	bytes   int64
}

// A span is a [exectrace.Span] in short.
type span struct {
	from, to uint32
	life     int32
	stack    uint32
	thread   int32 // lane of the thread, -1 for none
	proc     int16
	reason   uint8
	state    State
	blocked  bool // in a system call that lost its P
	long     bool // a long wait that ended here
}

type life struct {
	g              int64
	group          int32 // -1 when not known
	first, n       uint32
	nextOfID       int32 // next life of the id, -1 for none
	created, ended bool
	label          string
}

type hold struct {
	from, to uint32
	proc     int32
	thread   int64
}

type markAt struct {
	at   int64
	what uint8
}

type wake struct {
	at           uint32
	waker, woken int32 // lives; -1 for none
	stack        uint32
	proc         int16
}

type sample struct {
	at    uint32
	life  int32
	stack uint32
	lane  int32 // of the P, -1 for none
}

// changes are the moments at which one more or less of a group's goroutines is
// in a state. With the numbers at each checkpoint, the numbers at any moment
// follow from a few hundred changes.
type changes struct {
	at    []uint32
	step  []uint8 // state left << 4 | state entered; noState where there is none
	check [][NumStates]int32
}

const (
	noState    = NumStates
	checkEvery = 256
)

// detailInputs are what all details are made with.
type detailInputs struct {
	origin  int64
	reg     *registry
	gors    *gorTable
	stacks  *stacks
	reasons *words
}

// A maker makes details. Its memory is used again.
type maker struct {
	*detailInputs
	raw     []span
	keys    []uint64
	swap    []uint64
	ends    []uint64
	facts   []facts
	workers int32 // the group of mark workers, -1 for none
	stackOf []uint32
	class   classifier
	assists assists
	d       *detail
	p       *exectrace.Piece
	reason  [256]uint8
	thread  []int32
}

// detail makes the detail of a chunk from its piece.
func (m *maker) detail(p *exectrace.Piece, c *chunk) *detail {
	d := &detail{chunk: c, byG: make(map[int64]int32, len(p.Lives)), marks: map[int32][]markAt{}}
	for (c.limit()-c.pieceLo)>>d.unit >= math.MaxUint32 {
		d.unit++
	}
	m.d, m.p = d, p
	m.class = newClassifier(p.Reasons)
	for i, r := range p.Reasons {
		if i < len(m.reason) {
			m.reason[i] = m.reasons.add(r)
		}
	}
	m.thread = m.thread[:0]
	for _, id := range p.Threads {
		m.thread = append(m.thread, m.reg.find(laneThread, id))
	}
	m.stackOf = slices.Grow(m.stackOf[:0], p.NumStacks())[:p.NumStacks()]
	clear(m.stackOf)
	m.lives()
	m.collect()
	m.order()
	m.sort()
	m.holds()
	m.events()
	d.bytes = int64(len(d.spans))*32 + int64(len(d.lives))*96 + int64(len(d.wakes))*20 + int64(len(d.samples))*16
	for _, l := range d.onLane {
		d.bytes += int64(len(l)) * 4
	}
	for _, l := range d.groups {
		d.bytes += int64(len(l.at))*5 + int64(len(l.check))*32
	}
	for _, l := range d.holds {
		d.bytes += int64(len(l)) * 24
	}
	for _, l := range d.extras {
		d.bytes += int64(len(l)) * 40
	}
	return d
}

// stack returns the identity of a piece's stack.
func (m *maker) stack(s exectrace.Stack) uint32 {
	if s <= 0 || int(s) >= len(m.stackOf) {
		return 0
	}
	if m.stackOf[s] == 0 {
		m.stackOf[s] = m.stacks.add(m.p.Frames(s)) + 1
	}
	return m.stackOf[s] - 1
}

// groupOf returns the number of a life's group. The table knows goroutines
// whose name only an earlier piece told.
func (c *detailInputs) groupOf(l *exectrace.Life, lo, hi int64) int32 {
	if l.Group == "" && c.gors != nil {
		if i, ok := c.gors.during(l.G, lo, hi); ok {
			return int32(c.gors.list[i].group)
		}
	}
	return c.reg.findGroup(groupName(l.Group))
}

func (m *maker) lives() {
	d := m.d
	d.lives = make([]life, len(m.p.Lives))
	m.workers = m.reg.markWorkers()
	for i := range m.p.Lives {
		l := &m.p.Lives[i]
		next, ok := d.byG[l.G]
		if !ok {
			next = -1
		}
		d.byG[l.G] = int32(i)
		d.lives[i] = life{g: l.G, group: m.groupOf(l, d.chunk.pieceLo, d.chunk.pieceEnd), nextOfID: next, created: l.Created != 0, ended: l.Ended != 0}
		for _, at := range [...]exectrace.Time{l.Created, l.Ended} {
			if at != 0 {
				m.mark(int32(i), int64(at)-m.origin, markLife)
			}
		}
	}
	for i := range m.p.Labels {
		if at, ok := d.byG[m.p.Labels[i].Goroutine]; ok {
			d.lives[at].label = m.p.Labels[i].Label
		}
	}
}

// clip brings a stretch to the piece's own time; false when nothing of it is in
// the chunk.
func (d *detail) clip(from, to int64) (a, z uint32, ok bool) {
	c := d.chunk
	if from < c.pieceLo {
		from = c.pieceLo
	}
	if to > maxTime || from >= to || from >= d.end() || to <= c.lo {
		return 0, 0, false
	}
	return uint32((from - c.pieceLo) >> d.unit), uint32((min(to, c.limit()) - c.pieceLo) >> d.unit), true
}

// reach returns where the last of what a chunk needs to know lies.
func (c *chunk) reach() int64 {
	if c.last() {
		return c.limit()
	}
	return c.hi
}

// limit returns where the piece ends with all that runs over its end.
func (c *chunk) limit() int64 { return max(c.pieceEnd, c.late) }

// moment brings a moment to the piece's own time; false when it is not in the chunk.
func (d *detail) moment(at int64) (uint32, bool) {
	c := d.chunk
	if at < c.lo || at >= c.hi && !(c.last() && at <= c.end) {
		return 0, false
	}
	return uint32((at - c.pieceLo) >> d.unit), true
}

// time returns the inverse of moment.
func (d *detail) time(at uint32) int64 { return d.chunk.pieceLo + int64(at)<<d.unit }

// within cuts a stretch at the edges of the chunk: it counts here no further.
func (d *detail) within(from, to uint32) (a, z int64) {
	return max(d.time(from), d.chunk.lo), min(d.time(to), d.end())
}

// offset returns a moment of the timeline in the piece's time, for searching.
func (d *detail) offset(at int64) uint32 {
	return uint32(min(max(at-d.chunk.pieceLo, 0)>>d.unit, math.MaxUint32))
}

// collect copies the spans, sorted by life.
func (m *maker) collect() {
	m.raw = m.raw[:0]
	m.assists.load(m.p, m.origin)
	d := m.d
	for s := range m.p.Spans.All() {
		if uint(s.Life) >= uint(len(d.lives)) {
			continue
		}
		st := m.class.of(s, m.worker(s.Life))
		from, to := int64(s.From)-m.origin, int64(s.To)-m.origin
		if st == Running && m.assists.hit(s.Life, from, to) {
			m.assists.cut(s.Life, from, to, func(st State, from, to int64) { m.copy(s, st, from, to) })
			continue
		}
		m.copy(s, st, from, to)
	}
	for i := range m.raw {
		d.lives[m.raw[i].life].n++
	}
	at := uint32(0)
	for i := range d.lives {
		d.lives[i].first = at
		at += d.lives[i].n
		d.lives[i].n = 0
	}
	d.spans = make([]span, len(m.raw))
	for i := range m.raw {
		l := &d.lives[m.raw[i].life]
		d.spans[l.first+l.n] = m.raw[i]
		l.n++
	}
	d.sortLives()
}

// mark notes something rare of a goroutine for its group.
func (m *maker) mark(life int32, at int64, what uint8) {
	g, c := m.d.lives[life].group, m.d.chunk
	if g < 0 || at >= maxTime || at < c.lo || at >= c.hi && !c.last() || what == markLife && !m.small(g) {
		return
	}
	lane := m.reg.groups[g].lane
	m.d.marks[lane] = append(m.d.marks[lane], markAt{at, what})
}

func (m *maker) worker(life int32) bool {
	return m.workers >= 0 && m.d.lives[life].group == m.workers
}

// sortLives repairs the order of spans in time where a damaged piece breaks it.
func (d *detail) sortLives() {
	for i := range d.lives {
		own := d.of(int32(i))
		sorted := slices.IsSortedFunc(own, func(a, b span) int { return compare(a.from, b.from) })
		if !sorted {
			slices.SortStableFunc(own, func(a, b span) int { return compare(a.from, b.from) })
		}
	}
}

// of returns the spans of a life.
func (d *detail) of(life int32) []span {
	l := &d.lives[life]
	return d.spans[l.first : l.first+l.n]
}

func (m *maker) copy(s *exectrace.Span, st State, from, to int64) {
	long := st.blocked() && to-from >= longWait && to < m.d.chunk.pieceEnd
	if long {
		m.mark(s.Life, to, MarkLong)
	}
	a, z, ok := m.d.clip(from, to)
	if !ok || a == z {
		return
	}
	c := span{from: a, to: z, life: s.Life, stack: m.stack(s.Stack), thread: -1, proc: -1,
		reason: m.reason[s.Reason], state: st, blocked: s.State == exectrace.SyscallBlocked,
		long: long && (to < m.d.chunk.hi || m.d.chunk.last())}
	switch s.State {
	case exectrace.Running, exectrace.Syscall, exectrace.SyscallBlocked:
		if uint(s.Thread) < uint(len(m.thread)) {
			c.thread = m.thread[s.Thread]
		}
		if !c.blocked {
			c.proc = s.Proc
		}
	}
	m.raw = append(m.raw, c)
}

// order sorts the spans by their begins: m.keys has begin << 32 | index.
func (m *maker) order() {
	spans := m.d.spans
	m.keys = slices.Grow(m.keys[:0], len(spans))[:len(spans)]
	for i := range spans {
		m.keys[i] = uint64(spans[i].from)<<32 | uint64(i)
	}
	m.sortKeys()
}

// sortKeys sorts m.keys by their upper halves, stably where the lower ones are in order.
func (m *maker) sortKeys() {
	if len(m.keys) < 1<<12 {
		slices.Sort(m.keys)
		return
	}
	m.swap = slices.Grow(m.swap[:0], len(m.keys))[:len(m.keys)]
	for shift := uint(32); shift < 64; shift += 11 {
		radix(m.keys, m.swap, shift)
		m.keys, m.swap = m.swap, m.keys
	}
}

// radix sorts by 11 bits, stably.
func radix(from, to []uint64, shift uint) {
	var at [1 << 11]int
	for _, k := range from {
		at[k>>shift&(1<<11-1)]++
	}
	sum := 0
	for i, n := range at {
		at[i] = sum
		sum += n
	}
	for _, k := range from {
		b := k >> shift & (1<<11 - 1)
		to[at[b]] = k
		at[b]++
	}
}

// facts are what sorting by lane asks of a span. They are beside the spans
// because it asks in the order of time, which jumps between goroutines: a
// quarter of the bytes is a quarter of what the cache must hold.
type facts struct {
	proc, thread, group int16 // lanes, and the group's number; -1 for none
	step                uint8 // how the group's numbers change; sameState for not at all
}

const sameState = 0xff

// look gathers the facts of all spans, and counts them by lane and group.
func (m *maker) look() (lanes, groups []int) {
	d := m.d
	lanes, groups = make([]int, len(m.reg.lanes)), make([]int, len(m.reg.groups))
	m.facts = slices.Grow(m.facts[:0], len(d.spans))[:len(d.spans)]
	procs := m.procLanes()
	m.ends = m.ends[:0]
	last := d.offset(d.chunk.end)
	for i := range d.spans {
		s := &d.spans[i]
		f := facts{-1, int16(s.thread), int16(d.lives[s.life].group), noState<<4 | uint8(s.state)}
		if s.proc >= 0 && int(s.proc) < len(procs) {
			f.proc = int16(procs[s.proc])
		}
		if d.joined(i) {
			if f.step = uint8(d.spans[i-1].state)<<4 | uint8(s.state); d.spans[i-1].state == s.state {
				f.step = sameState
			}
		}
		if f.group < 0 {
			f.step = sameState
		}
		if s.to < last && f.group >= 0 && !d.joined(i+1) {
			m.ends = append(m.ends, uint64(s.to)<<32|uint64(i))
			groups[f.group]++
		}
		if f.step != sameState {
			groups[f.group]++
		}
		if f.proc >= 0 {
			lanes[f.proc]++
		}
		if f.thread >= 0 {
			lanes[f.thread]++
		}
		m.facts[i] = f
	}
	slices.Sort(m.ends)
	return lanes, groups
}

// sort lists the spans of each P and thread, and the changes of each group, in
// order of time.
func (m *maker) sort() {
	d := m.d
	laneSizes, groupSizes := m.look()
	lists := make([][]uint32, len(laneSizes))
	for lane, n := range laneSizes {
		lists[lane] = make([]uint32, 0, n)
	}
	groups := make([]filling, len(groupSizes))
	for g, n := range groupSizes {
		if n > 0 {
			groups[g].c = &changes{make([]uint32, 0, n), make([]uint8, 0, n), make([][NumStates]int32, 0, n/checkEvery+1)}
		}
	}
	e := 0
	end := func(until uint64) {
		for ; e < len(m.ends) && m.ends[e]>>32 <= until; e++ {
			s := &d.spans[uint32(m.ends[e])]
			groups[d.lives[s.life].group].add(s.to, uint8(s.state)<<4|noState)
		}
	}
	for _, k := range m.keys {
		f := m.facts[uint32(k)]
		if f.proc >= 0 {
			lists[f.proc] = append(lists[f.proc], uint32(k))
		}
		if f.thread >= 0 {
			lists[f.thread] = append(lists[f.thread], uint32(k))
		}
		if f.step != sameState {
			end(k >> 32)
			groups[f.group].add(uint32(k>>32), f.step)
		}
	}
	end(math.MaxUint32)
	d.onLane, d.groups = map[int32][]uint32{}, map[int32]*changes{}
	for lane, l := range lists {
		if len(l) > 0 {
			d.onLane[int32(lane)] = l
		}
	}
	for g := range groups {
		if groups[g].c != nil {
			d.groups[m.reg.groups[g].lane] = groups[g].c
		}
	}
}

// A filling is the changes of a group while they are gathered.
type filling struct {
	c   *changes
	now [NumStates]int32
}

func (f *filling) add(at uint32, step uint8) {
	if len(f.c.at)%checkEvery == 0 {
		f.c.check = append(f.c.check, f.now)
	}
	f.c.at, f.c.step = append(f.c.at, at), append(f.c.step, step)
	take(&f.now, step)
}

// procLanes returns the lanes of Ps by id.
func (m *maker) procLanes() []int32 {
	out := make([]int32, maxProcs)
	for i := range out {
		out[i] = -1
	}
	for l, id := range m.reg.lanes {
		if id.kind == laneProc && id.id >= 0 && id.id < maxProcs {
			out[id.id] = int32(l)
		}
	}
	return out
}

// take applies one change to the numbers of a group.
func take(now *[NumStates]int32, step uint8) {
	if old := step >> 4; old < NumStates {
		now[old]--
	}
	if st := step & 15; st < NumStates {
		now[st]++
	}
}

// joined reports whether a span goes on where the one before it ended.
func (d *detail) joined(i int) bool {
	return i > 0 && i < len(d.spans) && d.spans[i].life == d.spans[i-1].life && d.spans[i].from == d.spans[i-1].to
}

// holds lists when each P and thread was held.
func (m *maker) holds() {
	d := m.d
	d.holds = map[int32][]hold{}
	for i := range m.p.Procs {
		s := &m.p.Procs[i]
		a, z, ok := d.clip(int64(s.From)-m.origin, int64(s.To)-m.origin)
		if !ok {
			continue
		}
		h := hold{a, z, s.Proc, s.Thread}
		for _, lane := range [...]int32{m.reg.find(laneProc, int64(s.Proc)), m.reg.find(laneThread, s.Thread)} {
			if lane >= 0 {
				d.holds[lane] = append(d.holds[lane], h)
			}
		}
	}
	for _, l := range d.holds {
		slices.SortStableFunc(l, func(a, b hold) int { return compare(a.from, b.from) })
	}
}

// events copies wakes, samples, regions and tasks.
func (m *maker) events() {
	d, p := m.d, m.p
	m.keys = m.keys[:0]
	for i := range p.Wakes {
		if at, ok := d.moment(int64(p.Wakes[i].At) - m.origin); ok {
			m.keys = append(m.keys, uint64(at)<<32|uint64(i))
		}
	}
	m.sortKeys()
	d.wakes = make([]wake, 0, len(m.keys))
	for _, k := range m.keys {
		w, at := &p.Wakes[uint32(k)], uint32(k>>32)
		d.wakes = append(d.wakes, wake{at, d.at(w.Waker, at), d.at(w.Woken, at), m.stack(w.Stack), int16(w.Proc)})
	}
	for i := range p.Samples {
		s := &p.Samples[i]
		if at, ok := d.moment(int64(s.At) - m.origin); ok {
			d.samples = append(d.samples, sample{at, d.at(s.Goroutine, at), m.stack(s.Stack), m.reg.find(laneProc, int64(s.Proc))})
		}
	}
	slices.SortStableFunc(d.samples, func(a, b sample) int { return compare(a.at, b.at) })
	d.extras = map[int32][]extra{}
	c := d.chunk
	eachExtra(p, m.reg.findRegion, m.origin, c.pieceLo, c.pieceEnd, c.openTask, func(e extra) {
		end := c.hi
		if c.last() {
			end = maxTime
		}
		if e.from, e.to = max(e.from, c.lo), min(e.to, end); e.from < e.to {
			d.extras[e.lane] = append(d.extras[e.lane], e)
		}
	})
}

// at returns the life that an id had at a moment, -1 for none.
func (d *detail) at(g int64, at uint32) int32 {
	i, ok := d.byG[g]
	if !ok || g < 0 {
		return -1
	}
	for n := i; n >= 0; n = d.lives[n].nextOfID {
		own := d.of(n)
		if len(own) > 0 && own[0].from <= at && at <= own[len(own)-1].to {
			return n
		}
	}
	return i
}

// window returns the spans of one goroutine that have a part in [from, to).
func window(own []span, from, to uint32) []span {
	a := sort.Search(len(own), func(i int) bool { return own[i].to > from })
	z := sort.Search(len(own), func(i int) bool { return own[i].from >= to })
	return own[min(a, z):z]
}
