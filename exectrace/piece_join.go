package exectrace

import (
	"cmp"
	"math"
	"slices"
	"sort"
)

// Pieces from generation to generation: what a state that a generation finds
// under way was before, as far as a picture asks. It is what the stitcher does for
// sums (stitch_lives.go), and follows it rule by rule, so that both agree.

// An edge is a goroutine where a piece ends.
type edge struct {
	id     uint64
	until  Time  // end of its last span, which may lie behind the piece's
	offAt  int64 // in a system call: when its P was taken, in ns; -1 not
	group  int32 // in pieceJoin.groups
	reason int32 // in pieceJoin.reasons
	index  int32 // of the last piece that had it
	proc   int16 // the last that it was seen on, -1 none
	state  uint8 // st…; stLost when not known
}

// words are strings with small numbers; 0 is "".
type words struct {
	of   map[string]int32
	text []string
}

func newWords() words { return words{map[string]int32{"": 0}, []string{""}} }

func (w *words) add(b []byte) int32 {
	if i, ok := w.of[string(b)]; ok {
		return i
	}
	i := int32(len(w.text))
	w.text = append(w.text, string(b))
	w.of[w.text[i]] = i
	return i
}

// An openSpan is a user region, or a stop of the world, that goes on over the
// edge between two pieces.
type openSpan struct {
	g    int64
	task uint64
	name string
}

// A pieceJoin completes pieces in their order.
type pieceJoin struct {
	ids     idTable // place in edges by goroutine id
	edges   []edge
	free    []int32
	live    int
	groups  words
	reasons words
	procs   []Time // by P: end of its last span
	to      Time   // end of the last piece
	begun   bool

	regions map[int64][]openSpan // by goroutine, the innermost last
	pauses  map[int64]string     // by goroutine
	tasks   map[uint64]string    // names of those begun and not ended

	known *pieceMemory // from an earlier pass; nil none
	write *pieceMemory // of this pass; nil when it is not the whole trace

	// Of the piece at hand.
	groupOf  []int32 // by tally
	reasonOf []int16 // by place in reasons, -1 none: place in Piece.Reasons
	lives    []Life
	backward bool
}

func newPieceJoin(known, write *pieceMemory) *pieceJoin {
	j := &pieceJoin{
		groups: newWords(), reasons: newWords(), to: math.MinInt64, known: known, write: write,
		regions: map[int64][]openSpan{}, pauses: map[int64]string{}, tasks: map[uint64]string{},
	}
	j.ids.reset()
	return j
}

// add completes the piece of the next generation, whose end is known.
func (j *pieceJoin) add(e *engine) *Piece {
	n := e.notes
	p := &n.p
	if !j.begun {
		j.recall(p.Index)
	} else if e.g.gap {
		j.loseAll(p.Index - 1)
	}
	j.begun = true
	p.Trusted = trusted(e)
	if !p.Trusted {
		n.discard()
	}
	j.identify(e)
	j.makeLives(n)
	j.backward = n.backward
	if e.forced > 0 {
		j.mend(n)
	}
	j.fit(e)
	seen := 0
	for i := range n.overs {
		j.goroutine(e, &n.overs[i])
		if !n.overs[i].dead {
			seen++
		}
	}
	if seen < j.live {
		j.unseen(n)
	}
	j.joinProcs(p, n.heldTo)
	j.joinPauses(n)
	j.joinRegions(n)
	j.joinTasks(p)
	if j.backward {
		n.forward()
		j.takeEnds(n)
	}
	p.Spans = n.spans.appendTo(p.Spans[:0])
	if !p.Trusted {
		j.loseAll(p.Index)
	}
	j.to = p.To
	if j.write != nil {
		j.write.end(j, p.Index+1, Time(e.ns(e.last)))
	}
	return p
}

// fit lets a piece begin where the one before ended. That is what it does
// anyhow, but where damage changed the times of batches.
func (j *pieceJoin) fit(e *engine) {
	n := e.notes
	p := &n.p
	if first := j.to == math.MinInt64; first || p.From >= j.to {
		return
	}
	p.From = j.to
	p.To = max(p.To, p.From)
	for i := range n.overs {
		if o := &n.overs[i]; !o.dead && o.until < p.To {
			*n.spans.next() = Span{From: o.until, To: p.To, Life: o.life, Thread: -1, Proc: -1}
			o.until = p.To
		}
	}
	j.backward = true
}

// mend lets goroutines of one number live one after the other. Where events were
// lost, a thread may go on with one that ended elsewhere, and one that ended may seem
// to have been there from the begin of the piece.
func (j *pieceJoin) mend(n *notes) {
	n.forward() // by which the ends of lives are those of their spans
	lives := n.p.Lives
	latest := map[int64]int32{}
	for i := range lives {
		x := &lives[i]
		if k, again := latest[x.G]; again {
			before := &lives[k]
			if before.Ended == 0 {
				before.Ended = max(n.last[k], before.Created, n.p.From)
			}
			if x.Created == 0 {
				x.Created = before.Ended
			}
			x.Created = max(x.Created, before.Created)
		}
		latest[x.G] = int32(i)
	}
	for i := range n.overs {
		o := &n.overs[i]
		switch {
		case o.dead:
		case latest[int64(o.id)] == o.life:
			lives[o.life].Ended = 0
		default:
			o.dead = true
		}
	}
	j.backward = true
}

// discard forgets what a generation says of states.
func (n *notes) discard() {
	p := &n.p
	n.release()
	p.Procs, p.Ranges, p.Wakes, p.Regions = p.Procs[:0], p.Ranges[:0], p.Wakes[:0], p.Regions[:0]
	n.overs, n.heldTo = n.overs[:0], n.heldTo[:0]
	n.backward = false
}

// identify prepares the maps between the generation's words and the pass's.
func (j *pieceJoin) identify(e *engine) {
	j.groupOf = j.groupOf[:0]
	for _, t := range e.tallies {
		j.groupOf = append(j.groupOf, j.groups.add(t.name))
	}
	p := &e.notes.p
	p.Reasons = p.Reasons[:0]
	j.reasonOf = j.reasonOf[:0]
	for i, r := range e.reasons {
		if i > math.MaxUint8 {
			break
		}
		w := j.reasons.add(r)
		p.Reasons = append(p.Reasons, j.reasons.text[w])
		*j.place(w) = int16(i)
	}
}

// place returns where the place of a reason in Piece.Reasons is kept.
func (j *pieceJoin) place(w int32) *int16 {
	for int(w) >= len(j.reasonOf) {
		j.reasonOf = append(j.reasonOf, -1)
	}
	return &j.reasonOf[w]
}

// reason returns the place of a reason in Piece.Reasons.
func (j *pieceJoin) reason(p *Piece, w int32) uint8 {
	at := j.place(w)
	if *at < 0 {
		if len(p.Reasons) > math.MaxUint8 {
			return 0
		}
		*at = int16(len(p.Reasons))
		p.Reasons = append(p.Reasons, j.reasons.text[w])
	}
	return uint8(*at)
}

// goroutine completes what one did before the generation, and notes how it
// goes on after it.
func (j *pieceJoin) goroutine(e *engine, o *over) {
	p := &e.notes.p
	at := j.ids.get(o.id)
	if o.born && at >= 0 { // the life before ended without our seeing it
		j.drop(at)
		at = -1
	}
	var before edge
	known := at >= 0
	if known {
		before = j.edges[at]
	} else {
		before = edge{id: o.id, until: p.From, offAt: -1, proc: -1, state: o.state}
		if !o.born && p.Index > 0 && j.known != nil {
			known = j.known.recall(&before, p.Index)
		}
	}
	now := before
	if !known && o.why > 0 {
		now.reason = j.reasons.add([]byte(p.Reasons[o.why]))
	}
	if before.state != o.state || o.forced {
		now.reason, now.offAt = 0, -1
	}
	if o.first >= 0 {
		now.offAt = j.complete(e, o, &now)
	}
	if now.group == 0 {
		now.group = j.groupOf[o.group]
	}
	e.notes.p.Lives[o.life].Group = j.groups.text[now.group]
	if o.dead {
		if at >= 0 {
			j.drop(at)
		}
		return
	}
	j.goOn(e, o, at, &now, before)
}

// complete corrects the span of the state that a goroutine was found in, and
// returns when its P was taken, for a system call that goes on.
func (j *pieceJoin) complete(e *engine, o *over, now *edge) (offAt int64) {
	p := &e.notes.p
	x := e.notes.spans.at(o.first)
	x.From = max(x.From, now.until)
	if x.To < x.From {
		j.backward = true
	}
	switch x.State {
	case Waiting:
		x.Reason = j.reason(p, now.reason)
	case Syscall:
		off, until := j.steal(e, o, now)
		y := e.notes.spans.at(o.first + 1)
		x.To = min(max(until, x.From), max(y.To, x.From))
		y.From = x.To
		y.To = max(y.To, y.From)
		return off
	}
	return -1
}

// steal returns when the P of a system call that was under way was taken, -1
// for not, and until when the goroutine had it.
func (j *pieceJoin) steal(e *engine, o *over, now *edge) (off int64, until Time) {
	p := &e.notes.p
	off = now.offAt
	if off < 0 && (o.moved || o.dead) {
		off = o.before
	} else if off < 0 {
		off = o.offAt
	}
	held := !o.moved && !o.dead && o.proc >= 0
	if off < 0 && !held && now.proc >= 0 && int(now.proc) < len(e.ps) && e.ps[now.proc].stolen >= 0 {
		off = e.ns(e.ps[now.proc].stolen)
	}
	switch {
	case off >= 0:
	case o.moved || o.dead:
		if o.taken { // every P is taken back from system calls where a generation begins
			off = int64(p.From)
		}
	case !held: // for the whole generation, on a thread without a P
		off = int64(p.From)
	}
	if off < 0 {
		return -1, math.MaxInt64
	}
	return off, Time(off)
}

// goOn notes a goroutine for the next piece.
func (j *pieceJoin) goOn(e *engine, o *over, at int32, now *edge, before edge) {
	p := &e.notes.p
	now.id, now.index, now.until, now.state = o.id, int32(p.Index), o.until, o.end
	if o.moved {
		now.reason, now.offAt = 0, -1
		switch o.end {
		case stWaiting:
			now.reason = j.reasons.add([]byte(p.Reasons[o.reason]))
		case stSyscall:
			now.offAt = o.offAt
		}
	}
	if o.proc >= 0 {
		now.proc = o.proc
	}
	if at < 0 {
		at = j.room(o.id)
	}
	j.edges[at] = *now
	if j.write != nil && (o.moved || now.group != before.group || now.offAt != before.offAt || now.proc != before.proc || now.reason != before.reason || now.until > p.To) {
		j.write.note(now)
	}
}

func (j *pieceJoin) room(id uint64) int32 {
	j.live++
	var at int32
	if k := len(j.free); k > 0 {
		at = j.free[k-1]
		j.free = j.free[:k-1]
	} else {
		at = int32(len(j.edges))
		j.edges = extend(j.edges)
	}
	j.ids.put(id, at)
	return at
}

func (j *pieceJoin) drop(at int32) {
	x := &j.edges[at]
	j.ids.remove(x.id)
	x.index = -1
	j.free = append(j.free, at)
	j.live--
}

// unseen gives up goroutines that a piece does not mention: they live on, and
// nobody knows how.
func (j *pieceJoin) unseen(n *notes) {
	p := &n.p
	for i := range j.edges {
		x := &j.edges[i]
		if x.index == int32(p.Index) || x.index < 0 {
			continue
		}
		life := int32(len(p.Lives))
		p.Lives = append(p.Lives, Life{G: int64(x.id), Group: j.groups.text[x.group], Creator: -1})
		from := max(p.From, x.until)
		to := max(p.To, from)
		*n.spans.next() = Span{From: from, To: to, Life: life, Thread: -1, Proc: -1}
		x.index, x.until, x.state, x.reason, x.offAt = int32(p.Index), to, stLost, 0, -1
		if j.write != nil {
			j.write.note(x)
		}
	}
}

// loseAll gives up what all do, at the end of a piece.
func (j *pieceJoin) loseAll(index int) {
	for i := range j.edges {
		x := &j.edges[i]
		x.state, x.reason, x.offAt = stLost, 0, -1
	}
	clear(j.regions)
	clear(j.pauses)
	if j.write != nil {
		j.write.losses = append(j.write.losses, int32(index))
	}
}

// makeLives makes the lives of a piece, with the groups that it tells. The memory
// of the notes of them is there for the next generation from now on.
func (j *pieceJoin) makeLives(n *notes) {
	n.most = n.memory()
	n.leaveOut()
	if n.lives.n > cap(j.lives) {
		j.lives = make([]Life, 0, n.lives.n)
	}
	j.lives = j.lives[:n.lives.n]
	for i := range j.lives {
		l := n.lives.at(int32(i))
		x := &j.lives[i]
		*x = Life{G: int64(l.g), Created: l.created, Ended: l.ended, Creator: l.creator, Cause: l.cause}
		if l.group != 0 {
			x.Group = j.groups.text[j.groupOf[l.group]]
		}
	}
	n.lives.release()
	n.p.Lives = j.lives
}

// leaveOut removes the lives that have no part in the clip, unless they have spans,
// or are known at an edge of the piece: a join needs these.
func (n *notes) leaveOut() {
	clip := n.wish.clip
	if clip.IsZero() {
		return
	}
	n.number = zeroed(n.number, n.lives.n)
	for i := range n.overs {
		n.number[n.overs[i].life] = 1
	}
	for i := range n.spans.n {
		n.number[n.spans.at(int32(i)).Life] = 1
	}
	kept := int32(0)
	for i := range n.number {
		l := n.lives.at(int32(i))
		if n.number[i] == 0 && (l.created > clip.To || l.ended != 0 && l.ended < clip.From) {
			continue
		}
		*n.lives.at(kept) = *l
		n.number[i] = kept
		kept++
	}
	n.lives.n = int(kept)
	for i := range n.overs {
		n.overs[i].life = n.number[n.overs[i].life]
	}
	for i := range n.spans.n {
		x := n.spans.at(int32(i))
		x.Life = n.number[x.Life]
	}
}

// takeEnds takes over the ends of the last spans, after they were corrected.
func (j *pieceJoin) takeEnds(n *notes) {
	for i := range n.overs {
		o := &n.overs[i]
		if at := j.ids.get(o.id); at >= 0 && !o.dead {
			j.edges[at].until = o.until
			if j.write != nil && o.until > n.p.To {
				j.write.note(&j.edges[at])
			}
		}
	}
}

// joinProcs lets the first spans of each P begin where its last one ended.
func (j *pieceJoin) joinProcs(p *Piece, held []Time) {
	for id, to := range held {
		for len(j.procs) <= id {
			j.procs = append(j.procs, math.MinInt64)
		}
		until := j.procs[id]
		if until > p.From || j.backward {
			until = forwardProc(p.Procs, int32(id), until)
		}
		j.procs[id] = max(until, to)
	}
}

// forwardProc lets no span of a P begin before a moment.
func forwardProc(procs []ProcSpan, id int32, until Time) Time {
	for i := range procs {
		s := &procs[i]
		if s.Proc != id {
			continue
		}
		if s.From >= until {
			break
		}
		s.From = until
		s.To = max(s.To, until)
		until = s.To
	}
	return until
}

// joinPauses names stops of the world that began in an earlier piece.
func (j *pieceJoin) joinPauses(n *notes) {
	p := &n.p
	open := map[int64]string{}
	for i := range p.Ranges {
		r := &p.Ranges[i]
		if r.Goroutine < 0 || r.Name == RangeAssist || r.Name == RangeSweep {
			continue
		}
		if r.Name == "" {
			if r.Name = j.pauses[r.Goroutine]; r.Name == "" {
				r.Name = "stop-the-world"
			}
			delete(j.pauses, r.Goroutine)
		}
		if i >= n.goingOn {
			open[r.Goroutine] = r.Name
		}
	}
	j.pauses = open
}

// joinRegions completes the user regions that go over an edge.
func (j *pieceJoin) joinRegions(n *notes) {
	p := &n.p
	opened := map[int64][]openSpan{}
	for i := range p.Regions {
		r := &p.Regions[i]
		if !r.Began {
			if open := j.regions[r.Goroutine]; len(open) > 0 {
				j.regions[r.Goroutine] = open[:len(open)-1]
			}
		}
		if !r.Ended {
			opened[r.Goroutine] = append(opened[r.Goroutine], openSpan{r.Goroutine, r.Task, r.Name})
		}
	}
	ended := map[int64]Time{}
	for i := range n.overs {
		if o := &n.overs[i]; o.dead && len(j.regions[int64(o.id)]) > 0 {
			ended[int64(o.id)] = p.Lives[o.life].Ended
		}
	}
	for _, g := range sortedKeys(j.regions) {
		to, dead := ended[g]
		if !dead {
			to = p.To
		}
		for _, r := range j.regions[g] {
			p.Regions = append(p.Regions, RegionSpan{From: p.From, To: max(to, p.From), Goroutine: g, Task: r.task, Name: r.name, Ended: dead})
		}
		if dead || len(j.regions[g]) == 0 {
			delete(j.regions, g)
		}
	}
	for g, list := range opened {
		j.regions[g] = append(j.regions[g], list...)
	}
}

func sortedKeys[V any](m map[int64]V) []int64 {
	keys := make([]int64, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// joinTasks names the ends of tasks. Begin and end may be on different threads,
// and stand in any order.
func (j *pieceJoin) joinTasks(p *Piece) {
	for i := range p.Tasks {
		if t := &p.Tasks[i]; !t.End {
			j.tasks[t.ID] = t.Name
		}
	}
	for i := range p.Tasks {
		t := &p.Tasks[i]
		if !t.End {
			continue
		}
		name, ok := j.tasks[t.ID]
		if !ok && j.known != nil {
			name = j.known.tasks[t.ID]
		}
		t.Name = name
		delete(j.tasks, t.ID)
	}
}

// recall takes over what an earlier pass knew of the begin of a generation.
func (j *pieceJoin) recall(index int) {
	m := j.known
	if m == nil || index == 0 || index >= m.upTo {
		j.known = nil
		return
	}
	j.groups, j.reasons = m.groups.clone(), m.reasons.clone()
	for _, r := range m.regions[index] {
		j.regions[r.g] = append(j.regions[r.g], r)
	}
	for _, r := range m.pauses[index] {
		j.pauses[r.g] = r.name
	}
	j.procs = append(j.procs, m.procs[index]...)
}

func (w words) clone() words {
	c := newWords()
	for _, s := range w.text[1:] {
		c.add([]byte(s))
	}
	return c
}

// A pieceMemory is what a pass over a whole trace keeps of the edges between
// pieces, for those who read pieces in the middle later. What a goroutine is doing
// is noted where it changed, so one that sleeps costs nothing.
type pieceMemory struct {
	edges   []edge  // by id, and for each in order, once the pass is over
	last    []Time  // of each piece's events
	losses  []int32 // pieces at whose end what all did was lost
	upTo    int     // pieces before this one have their begins here
	full    bool
	groups  words
	reasons words
	regions map[int][]openSpan // by piece, at its begin
	pauses  map[int][]openSpan
	procs   map[int][]Time
	open    int               // elements of regions and pauses
	tasks   map[uint64]string // that did not end in the piece where they began
}

// Bounds of a pieceMemory: 16 MiB of edges, and some of what else is open.
const (
	maxEdges = 16 << 20 / 40
	maxOpen  = 1 << 16
)

func newPieceMemory() *pieceMemory {
	return &pieceMemory{
		regions: map[int][]openSpan{}, pauses: map[int][]openSpan{}, procs: map[int][]Time{}, tasks: map[uint64]string{},
	}
}

// note keeps a goroutine's edge.
func (m *pieceMemory) note(x *edge) {
	if m.full {
		return
	}
	if len(m.edges) >= maxEdges {
		m.full = true // from the next edge on
		return
	}
	m.edges = append(m.edges, *x)
}

// end is called when all that lives over the edge before a piece was noted.
func (m *pieceMemory) end(j *pieceJoin, index int, last Time) {
	m.last = append(m.last, last)
	if m.full {
		return
	}
	m.upTo = index + 1
	m.groups, m.reasons = j.groups, j.reasons
	for _, g := range sortedKeys(j.regions) {
		m.regions[index] = append(m.regions[index], j.regions[g]...)
	}
	for _, g := range sortedKeys(j.pauses) {
		m.pauses[index] = append(m.pauses[index], openSpan{g: g, name: j.pauses[g]})
	}
	if m.open += len(m.regions[index]) + len(m.pauses[index]); m.open > maxOpen {
		m.full = true
	}
	m.procs[index] = slices.Clone(j.procs)
	for id, name := range j.tasks {
		if len(m.tasks) < maxOpen {
			m.tasks[id] = name
		}
	}
}

// sort makes edges ready for recall.
func (m *pieceMemory) sort() {
	slices.SortStableFunc(m.edges, func(a, b edge) int { return cmp.Compare(a.id, b.id) })
}

// recall fills in what was known of a goroutine before a piece, and reports whether
// anything was.
func (m *pieceMemory) recall(x *edge, index int) bool {
	at := sort.Search(len(m.edges), func(i int) bool {
		e := &m.edges[i]
		return e.id > x.id || e.id == x.id && int(e.index) >= index
	}) - 1
	if at < 0 || m.edges[at].id != x.id {
		return false
	}
	until := x.until
	*x = m.edges[at]
	if int(x.index) != index-1 {
		x.until = until
	}
	for _, l := range m.losses {
		if l >= x.index && int(l) < index {
			x.state, x.reason, x.offAt = stLost, 0, -1
		}
	}
	return true
}
