package exectrace

import (
	"cmp"
	"context"
	"math"
	"slices"
	"sort"
)

// Marks: reading a few milliseconds of a generation again without the rest of it.
//
// The problem. A piece with a clip (PieceOptions.Clip) costs the replay of all of
// its generation, for what a goroutine does in the middle follows from what it did
// before. Who moves about in a picture waits for that at each place: a tenth of a
// second where a generation has 40 MB.
//
// The idea. The first reading of a generation with a clip stops at a row of moments,
// a quarter of a megabyte apart, and writes down what it knows there: a mark. From a mark
// the replay can go on another time. Threads are replayed one after the other and
// not by time, so each stops when its next event lies behind the moment; when all
// have stopped there is a mark, and when one still waits for another that has
// stopped (their clocks differ) there is none.
//
// What begins behind one mark and ends before the next is found again by that
// replay, which drops all else. All else, what goes on over a mark or an edge of
// the piece, is kept from the first reading, completed by the join: it is little, as
// goroutines, Ps and threads are few beside what they do. So is what lasts as long as
// the piece: ranges, regions, tasks, labels. A test compares such pieces with whole
// ones.
//
// Limits. A generation has no marks when it was damaged or clocks ran backward in
// it, and is then replayed as a whole, each time. Marks are farther apart the more
// goroutines live, and there is none behind the first goroutine that C code made, since
// its thread waits until nothing else can run.
//
// What they bring: of the tiles that somebody zooms to in 460 MB one in ten takes 21 ms or
// longer, and without marks 179; bench/README.md, "How fast the page is".

const (
	// markEvery is how much of a generation lies between marks: a millisecond of
	// replay.
	markEvery = 256 << 10
	// maxMarks bounds those of one generation; of one that is larger than 256 MB they
	// are farther apart.
	maxMarks = 1024
	// marksMemory bounds the marks of all generations of a trace, and all that is kept
	// with them.
	marksMemory = 48 << 20
	// markShare is the part of a generation's size that its marks may take. More than
	// a third of marksMemory is given up.
	markShare = 8
)

// marks are what is kept of one generation.
type marks struct {
	t0, step int64   // ticks; there may be a mark at each t0 + i*step, from i = 1 on
	list     []*mark // by that number
	spans    []Span  // in order within each life, and by since
	since    []int32 // by span: the number that it began behind; -1 before the piece
	procs    []ProcSpan
	lives    []Life // by goroutine and birth
	piece    Piece  // edges, and what is kept whole
	groups   []markedGroup
	reasons  [][]byte
	bytes    int64

	ready      chan struct{} // closed when they are made
	impossible bool
	used       int64 // when it was last
}

// A marking is a replay that makes marks, or goes on from one.
type marking struct {
	*marks
	making bool
	every  int64 // bytes of the generation from mark to mark
	most   int64 // bytes of marks
	end    Time  // of the generation, about
	clip   Range
	runs   []markRun
}

// A mark is the state of a replay at a moment.
type mark struct {
	gs      []markedGor
	ps      []proc
	heldTo  []Time
	threads []markedThread
}

type markedGor struct {
	word, id       uint64
	since, created int64
	stack, woken   uint32
	group, reason  uint16
	flags, traits  uint8
}

type markedThread struct {
	time, offAt int64
	batch       int32 // how many were begun
	pos, end    int32 // in the last of them
	g           int32 // in mark.gs, -1 for none
	p           int32
	sysProc     int16
}

type markedGroup struct {
	name  []byte
	start rawFrame
	text  string
}

// A markRun is what a replay found between two marks.
type markRun struct {
	from, to int // numbers
	spans    int // that it had found by its end
}

const markedGorBytes, markedThreadBytes, markedProcBytes = 48, 48, 144

// plan lays the row of moments over a generation.
func (x *marking) plan(e *engine) {
	size := e.g.end - e.g.off
	n := min(size/x.every+1, maxMarks)
	x.t0, x.step = e.t0, max((e.ticks(int64(x.end))-e.t0)/n, 1)
	x.list = make([]*mark, n)
	x.most = min(size/markShare, marksMemory/6) * markEvery / x.every
}

// limit returns the moment with a number. The last is never.
func (x *marks) limit(i int) int64 {
	if i >= len(x.list) {
		return math.MaxInt64
	}
	return x.t0 + int64(i)*x.step
}

// before returns the number of the last mark that is not behind a moment, 0 for
// the generation's begin.
func (x *marks) before(at int64) int {
	i := int(min(max((at-x.t0)/x.step, 0), int64(len(x.list)-1)))
	for i > 0 && x.list[i] == nil {
		i--
	}
	return i
}

// replayMarked replays a generation from moment to moment: all of it to make
// marks, or as much as the clip needs.
func (e *engine) replayMarked() {
	x := e.notes.wish.marks
	first, end := 0, int64(math.MaxInt64)
	if x.making {
		x.plan(e)
	} else {
		first, end = x.before(e.notes.a), e.notes.z
		e.resume(x.marks, first)
	}
	e.notes.inside = x.limit(first)
	if first == 0 {
		e.notes.inside = math.MinInt64
	}
	for i := first; ; i++ {
		e.limit = x.limit(i + 1)
		e.queue = append(e.queue, e.paused...)
		e.paused = e.paused[:0]
		last := e.limit == math.MaxInt64
		clean := e.settle(run[marked], last)
		if last || e.stop.Load() {
			x.runs = append(x.runs, markRun{first, math.MaxInt32, e.notes.spans.n})
			return
		}
		if x.making && clean {
			e.mark(x, i+1)
		}
		if x.list[i+1] == nil {
			continue
		}
		e.notes.inside = e.limit
		x.runs = append(x.runs, markRun{first, i + 1, e.notes.spans.n})
		if first = i + 1; e.limit > end {
			return
		}
	}
}

// mark writes down the state of the replay, if there is room.
func (e *engine) mark(x *marking, i int) {
	alive := 0
	for _, n := range e.alive {
		alive += int(n)
	}
	size := int64(len(e.ps)*markedProcBytes + len(e.threads)*markedThreadBytes + alive*markedGorBytes)
	if x.bytes+size > x.most*int64(i)/int64(len(x.list)) {
		return
	}
	k := &mark{ps: slices.Clone(e.ps), heldTo: slices.Clone(e.notes.heldTo), gs: make([]markedGor, 0, alive)}
	place := make(map[int32]int32, len(e.threads))
	for j := range e.threads {
		t := &e.threads[j]
		c := markedThread{time: t.time, offAt: t.offAt, batch: int32(t.batch), pos: int32(t.pos), end: int32(t.end), g: -1, p: t.p, sysProc: e.notes.sysProc[j]}
		if t.g >= 0 {
			place[t.g] = int32(j)
		}
		k.threads = append(k.threads, c)
	}
	for slot := range e.gs {
		s := &e.gs[slot]
		if st := s.word & stMask; s.flags&flHere == 0 || st == stAbsent || st == stDead {
			continue
		}
		if t, ok := place[int32(slot)]; ok {
			k.threads[t].g = int32(len(k.gs))
		}
		k.gs = append(k.gs, markedGor{s.word, s.id, s.since, s.created, s.stack, s.woken, s.group, s.reason, s.flags &^ flBurst, s.traits})
	}
	x.bytes += size
	x.list[i] = k
}

// resume brings the replay to a mark.
func (e *engine) resume(x *marks, i int) {
	e.reasons = append(e.reasons[:0], x.reasons...)
	for _, g := range x.groups[1:] {
		e.tallies = append(e.tallies, &tally{name: g.name, start: g.start, blocked: -1})
		if g.start.fn < uint32(len(e.groupByFn)) {
			e.groupByFn[g.start.fn] = int32(len(e.tallies))
		}
	}
	if i == 0 {
		return
	}
	k, n := x.list[i], e.notes
	e.queue = e.queue[:0]
	slots := make([]int32, len(k.gs))
	for j := range k.gs {
		c := &k.gs[j]
		slots[j] = e.newGoroutine(c.id)
		s := &e.gs[slots[j]]
		s.word, s.since, s.created, s.stack, s.woken = c.word, c.since, c.created, c.stack, c.woken
		s.group, s.reason, s.flags, s.traits = c.group, c.reason, c.flags, c.traits
		l := lifeNote{g: c.id, creator: -1, first: -1, group: c.group}
		if c.traits&trBorn != 0 {
			l.created = Time(e.ns(c.created))
		}
		n.add(slots[j], l)
	}
	e.ps = append(e.ps[:0], k.ps...)
	for j := range e.ps {
		e.ps[j].waiter, e.ps[j].sweepAt, e.ps[j].sweepG = -1, -1, -1
	}
	n.heldTo = append(n.heldTo[:0], k.heldTo...)
	for j := range k.threads {
		c, t := &k.threads[j], &e.threads[j]
		t.time, t.offAt, t.batch, t.p = c.time, c.offAt, int(c.batch), c.p
		if c.g >= 0 {
			t.g = slots[c.g]
		}
		if c.batch > 0 {
			t.data, t.pos, t.end = t.batches[c.batch-1].data, int(c.pos), int(c.end)
		}
		n.sysProc[j] = c.sysProc
		e.queue = append(e.queue, int32(j))
	}
}

// keep takes from a completed piece what goes on over marks and edges, or lasts as
// long as the piece.
func (x *marking) keep(e *engine, j *pieceJoin) {
	n, p := e.notes, &e.notes.p
	if !p.Trusted || n.backward || e.forced+e.dropped+e.lostLen > 0 || e.g.gap || heldBack(p) {
		x.giveUp()
		return
	}
	x.sortLives(n)
	carried := map[int32]bool{}
	for i := range n.overs {
		if first := n.overs[i].first; first >= 0 {
			carried[first] = true
			if n.spans.at(first).State == Syscall { // it has two
				carried[first+1] = true
			}
		}
	}
	moments := make([]Time, len(x.list))
	for i := range moments {
		moments[i] = Time(e.ns(x.limit(i)))
	}
	x.spans, x.since = make([]Span, n.spans.n), make([]int32, n.spans.n)
	for i := range x.spans {
		x.spans[i] = *n.spans.at(int32(i))
		x.since[i] = -1
		if !carried[int32(i)] {
			x.since[i] = int32(max(sort.Search(len(moments), func(k int) bool { return moments[k] > x.spans[i].From })-1, 0))
		}
	}
	x.sortSpans()
	x.procs = slices.Clone(p.Procs)
	x.piece = Piece{Index: p.Index, From: p.From, To: p.To, Trusted: true, Part: true,
		Ranges: slices.Clone(p.Ranges), Regions: slices.Clone(p.Regions), Tasks: slices.Clone(p.Tasks), Logs: slices.Clone(p.Logs),
		Labels: slices.Clone(p.Labels), Reasons: slices.Clone(p.Reasons), Threads: slices.Clone(p.Threads)}
	for i, t := range e.tallies {
		x.groups = append(x.groups, markedGroup{slices.Clone(t.name), t.start, j.groups.text[j.groupOf[i]]})
	}
	for _, r := range e.reasons {
		x.reasons = append(x.reasons, slices.Clone(r))
	}
	x.bytes += int64(len(x.spans)*36+len(x.lives)*64+len(x.procs)*32) +
		int64(len(p.Ranges)*72+len(p.Regions)*64+len(p.Tasks)*64+len(p.Logs)*64+len(p.Labels)*32)
	if x.bytes > marksMemory/3 {
		x.giveUp()
	}
}

func (x *marks) giveUp() { *x = marks{impossible: true, ready: x.ready} }

// heldBack reports whether the join has moved more than the first span of a P, which
// is in no run between marks.
func heldBack(p *Piece) bool {
	seen := map[int32]bool{}
	for i := range p.Procs {
		if s := &p.Procs[i]; !seen[s.Proc] {
			seen[s.Proc] = true
			if s.From > p.From && s.From == s.To {
				return true
			}
		}
	}
	return false
}

// sortLives takes over the lives, and numbers the spans anew.
func (x *marks) sortLives(n *notes) {
	order := make([]int32, len(n.p.Lives))
	for i := range order {
		order[i] = int32(i)
	}
	slices.SortFunc(order, func(a, b int32) int { return compareLives(&n.p.Lives[a], &n.p.Lives[b]) })
	place := make([]int32, len(order))
	for i, at := range order {
		place[at] = int32(i)
		x.lives = append(x.lives, n.p.Lives[at])
	}
	for i := range n.spans.n {
		s := n.spans.at(int32(i))
		s.Life = place[s.Life]
	}
}

func compareLives(a, b *Life) int {
	return cmp.Or(cmp.Compare(a.G, b.G), cmp.Compare(a.Created, b.Created))
}

// sortSpans orders the spans by the number behind which they began; those of one
// life stay in order.
func (x *marks) sortSpans() {
	order := make([]int32, len(x.spans))
	for i := range order {
		order[i] = int32(i)
	}
	slices.SortStableFunc(order, func(a, b int32) int { return cmp.Compare(x.since[a], x.since[b]) })
	spans, since := make([]Span, len(order)), make([]int32, len(order))
	for i, at := range order {
		spans[i], since[i] = x.spans[at], x.since[at]
	}
	x.spans, x.since = spans, since
}

// part makes the piece of a replay that went on from a mark.
func (x *marking) part(e *engine) *Piece {
	n := e.notes
	p := x.piece
	p.tables, p.words = n.p.tables, n.p.words
	p.Samples, p.Wakes = n.p.Samples, n.p.Wakes
	if n.wish.bare {
		p.Logs, p.Labels = nil, nil
	}
	place := x.partLives(&p, n)
	at, done := 0, 0
	over := func(until int) { // what began behind a number before this one
		var list []Span
		for ; at < len(x.spans) && int(x.since[at]) < until; at++ {
			if s := x.spans[at]; x.touches(s.From, s.To) {
				s.Life = place(s.Life)
				list = append(list, s)
			}
		}
		if list != nil {
			p.Spans = append(p.Spans, list)
		}
	}
	for _, r := range x.runs {
		over(r.from)
		p.Spans = n.spans.rangeTo(p.Spans, done, r.spans)
		done = r.spans
	}
	over(math.MaxInt32)
	for i := range x.procs {
		if s := x.procs[i]; x.touches(s.From, s.To) {
			p.Procs = append(p.Procs, s)
		}
	}
	p.Procs = append(p.Procs, n.p.Procs...)
	slices.SortStableFunc(p.Procs, func(a, b ProcSpan) int { return cmp.Compare(a.From, b.From) })
	return &p
}

func (x *marking) touches(from, to Time) bool { return to >= x.clip.From && from <= x.clip.To }

func (x *marking) touchesLife(l *Life) bool {
	return l.Created <= x.clip.To && (l.Ended == 0 || l.Ended >= x.clip.From)
}

// partLives gives the piece its lives: of those that are kept, and of those that
// began and ended between marks, the ones that touch the clip. The spans of the replay
// are numbered anew; for those that are kept place tells the number.
func (x *marking) partLives(p *Piece, n *notes) (place func(life int32) int32) {
	places := make([]int32, len(x.lives)) // plus one
	place = func(life int32) int32 {
		if places[life] == 0 {
			p.Lives = append(p.Lives, x.lives[life])
			places[life] = int32(len(p.Lives))
		}
		return places[life] - 1
	}
	for i := range x.lives {
		if x.touchesLife(&x.lives[i]) {
			place(int32(i))
		}
	}
	n.number = zeroed(n.number, n.lives.n)
	for i := range n.spans.n {
		s := n.spans.at(int32(i))
		if n.number[s.Life] == 0 {
			n.number[s.Life] = x.placeOf(p, n.lives.at(s.Life), place) + 1
		}
		s.Life = n.number[s.Life] - 1
	}
	return place
}

// placeOf returns the number of a life of the replay, which is one of those that are
// kept, or is added.
func (x *marking) placeOf(p *Piece, l *lifeNote, place func(int32) int32) int32 {
	life := Life{G: int64(l.g), Created: l.created, Ended: l.ended, Creator: l.creator, Cause: l.cause}
	if at, ok := slices.BinarySearchFunc(x.lives, &life, func(a Life, b *Life) int { return compareLives(&a, b) }); ok {
		return place(int32(at))
	}
	if int(l.group) < len(x.groups) {
		life.Group = x.groups[l.group].text
	}
	p.Lives = append(p.Lives, life)
	return int32(len(p.Lives)) - 1
}

// marksOf returns the marks of a generation, made when they are not there; nil when
// they cannot be.
func (t *Trace) marksOf(ctx context.Context, cuts []cut, index int) (*marks, error) {
	for {
		x, found := t.marksAt(index)
		if found {
			select {
			case <-x.ready:
			case <-ctx.Done():
				return nil, ctx.Err()
			}
		} else if err := t.makeMarks(ctx, cuts, index, x); err != nil {
			return nil, err
		}
		switch {
		case x.impossible:
			return nil, nil
		case x.list != nil: // else who made them was stopped
			return x, nil
		}
	}
}

// marksAt returns the marks of a generation, or a place for them, and whether
// somebody else has made them or is about to.
func (t *Trace) marksAt(index int) (x *marks, found bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if x = t.marks[index]; x == nil {
		x = &marks{ready: make(chan struct{})}
		if t.marks == nil {
			t.marks = map[int]*marks{}
		}
		t.marks[index] = x
	} else {
		found = true
	}
	t.looks++
	x.used = t.looks
	return x, found
}

// makeMarks makes the marks of a generation.
func (t *Trace) makeMarks(ctx context.Context, cuts []cut, index int, x *marks) error {
	m := &marking{marks: x, making: true, every: cmp.Or(t.markEvery, markEvery), end: cuts[index].last}
	if index+1 < len(cuts) {
		m.end = max(m.end, cuts[index+1].start)
	}
	o := PieceOptions{Window: Range{From: cuts[index].start, To: math.MaxInt64}, Workers: 1}
	err := t.pieces(ctx, o, pieceWish{clip: nowhere, marks: m}, index, index+1, func(*Piece) bool { return false })
	t.mu.Lock()
	defer t.mu.Unlock()
	defer close(x.ready)
	if err != nil {
		x.list = nil
		delete(t.marks, index)
		return err
	}
	x.impossible = x.impossible || x.list == nil // it has no batches
	makeRoom(t.marks, index)
	return nil
}

// makeRoom lets go of the marks that were used longest ago, but for one generation's.
func makeRoom(all map[int]*marks, but int) {
	for {
		sum, oldest := int64(0), -1
		for i, x := range all {
			sum += x.bytes
			if i != but && x.bytes > 0 && (oldest < 0 || x.used < all[oldest].used) {
				oldest = i
			}
		}
		if sum <= marksMemory || oldest < 0 {
			return
		}
		delete(all, oldest)
	}
}

// nowhere is a clip that no piece has a part in.
var nowhere = Range{From: math.MinInt64, To: math.MinInt64 + 1}

// fromMark reads a part of a generation from its marks.
func (t *Trace) fromMark(ctx context.Context, cuts []cut, index int, x *marks, wish pieceWish, yield func(*Piece) bool) error {
	w, err := t.walkFrom(cuts, index)
	if err != nil {
		return err
	}
	m := &marking{marks: x, clip: wish.clip}
	wish.marks = m
	o := Options{Keep: 1, Workers: 1, Piece: func(*Piece) {}, wish: wish}
	return replayAll(ctx, &cutter{w: w, limit: index + 1}, o, func(j *job) bool {
		yield(m.part(j.e))
		return false
	})
}
