package timeline

import (
	"context"
	"math"
	"slices"
	"sort"
	"time"

	"github.com/gowhy/gowhy/internal/ground/problem"
)

// A Picture is one lane in one tile: 256 buckets of a level.
type Picture struct {
	ID string
	// Empty lanes have nothing in the tile, Pending ones are still being read
	// (Done says how far, 0 to 1): neither has what follows.
	Empty, Pending bool
	Done           float64
	// Spans are all stretches that have a part in the tile, when those are at
	// most MaxSpans and the lane is a single one. Then there are no Shares.
	Spans   []Span
	Moments []time.Duration // of what is rare, with Spans
	// Shares are the part of a bucket, or the mean number of goroutines, by
	// bucket and state, in units of Max/255. What is not 0 is at least 1.
	Max    float64
	Shares []uint8 // 256 × NumStates, bucket by bucket
	Marks  []uint8 // by bucket: MarkRare, MarkLong, MarkLost
}

// MaxSpans is how many spans of a lane are given one by one.
const MaxSpans = 512

// A Span is a stretch of time of one lane.
type Span struct {
	From, To  time.Duration
	State     State
	Reason    string
	Goroutine int64 // -1 for none
	Group     string
	Proc      int   // -1 for none
	Thread    int64 // -1 for none
	stack     uint32
}

// Tile draws lanes. It waits for what has to be read of the trace as
// long as ctx allows: lanes that would need more come back Pending. Unknown lanes
// are left out.
func (t *Timeline) Tile(ctx context.Context, level int, tile int64, lanes []string) ([]Picture, error) {
	finest, coarsest := t.Levels()
	if level < finest || level > coarsest {
		return nil, problem.New(problem.Misuse, "", "there are tiles of level %d to %d, not of %d", finest, coarsest, level)
	}
	if tile < 0 || tile > t.length>>(level+tileShift) {
		return nil, problem.New(problem.Misuse, "", "level %d has tiles 0 to %d, not %d", level, t.length>>(level+tileShift), tile)
	}
	v := newView(t, uint(level), tile)
	var refs []laneRef
	for _, id := range lanes {
		if r, ok := t.parse(id); ok {
			refs = append(refs, r)
			v.want(&r)
		}
	}
	var out []Picture
	for i := range refs {
		p, err := v.picture(ctx, &refs[i])
		if err != nil {
			return nil, err
		}
		out = append(out, p)
	}
	if len(refs) > 0 && ctx.Err() == nil {
		v.ahead()
	}
	return out, nil
}

// ahead reads what lies beside the tile, when nothing else is to be done: who
// looks at this moves on.
func (v *view) ahead() {
	if len(v.chunks) == 0 || v.t.src == nil {
		return
	}
	for _, c := range [...]int{v.chunks[len(v.chunks)-1] + 1, v.chunks[0] - 1} {
		if c >= 0 && c < len(v.t.chunks) {
			v.t.cache.hint(v.chunkKey(c))
		}
	}
}

// A view is one tile while it is drawn.
type view struct {
	t        *Timeline
	level    uint
	from, to int64
	tile     int64
	chunks   []int
	items    map[itemKey]*item
	coarse   map[uint32]bool // chunks whose strips do not do: they have too many lanes
}

func newView(t *Timeline, level uint, tile int64) *view {
	v := &view{t: t, level: level, tile: tile, from: tile << (level + tileShift), to: (tile + 1) << (level + tileShift), items: map[itemKey]*item{}, coarse: map[uint32]bool{}}
	if level < t.pyramid.base().level {
		v.chunks = t.chunksIn(v.from, v.to)
	}
	return v
}

// keys returns the items that a lane needs.
func (v *view) keys(r *laneRef) (out []itemKey) {
	switch r.kind {
	case "gc", "stw", "task":
		return nil
	case "go":
		from, to := v.t.life(r.gor)
		if from >= v.to || to < v.from {
			return nil
		}
		if v.level >= v.t.pyramid.base().level {
			return []itemKey{{kind: itemGo, n: r.gor}}
		}
		for _, c := range v.chunks {
			if ch := &v.t.chunks[c]; ch.lo <= to && ch.end >= from {
				out = append(out, itemKey{kind: itemDetail, n: uint32(c)})
			}
		}
		return out
	}
	for _, c := range v.chunks {
		out = append(out, v.chunkKey(c))
	}
	return out
}

// chunkKey returns the part of a chunk that the tile needs for lanes that are in its strips.
func (v *view) chunkKey(c int) itemKey {
	if v.level < v.t.stripLevel(&v.t.chunks[c]) || v.coarse[uint32(c)] {
		return itemKey{kind: itemDetail, n: uint32(c)}
	}
	key := itemKey{kind: itemStrips, n: uint32(c)}
	if it := v.t.cache.peek(key); it != nil && (it.err != nil || it.value.(*store).level > v.level) {
		v.coarse[uint32(c)] = true
		key.kind = itemDetail
	}
	return key
}

// want asks for what a lane needs, so that all of it is made at once.
func (v *view) want(r *laneRef) {
	for _, k := range v.keys(r) {
		if v.items[k] == nil {
			v.items[k] = v.t.want(k)
		}
	}
}

// ready waits for what a lane needs.
func (v *view) ready(ctx context.Context, r *laneRef) (items []*item, done float64, err error) {
	keys := v.keys(r)
	n := 0.0
	for _, k := range keys {
		if v.items[k] == nil {
			v.items[k] = v.t.want(k)
		}
		ok, err := wait(ctx, v.items[k])
		if err != nil {
			return nil, 0, err
		}
		if ok {
			items = append(items, v.items[k])
			n++
		} else {
			n += v.items[k].done()
		}
	}
	if len(items) < len(keys) {
		return nil, min(n/float64(len(keys)), 0.99), nil
	}
	return items, 1, nil
}

// picture draws one lane.
func (v *view) picture(ctx context.Context, r *laneRef) (Picture, error) {
	items, done, err := v.ready(ctx, r)
	if err == ErrNoSource { // a goroutine's lane: all others have their base
		return Picture{ID: r.id, Empty: true}, nil
	}
	if err != nil {
		return Picture{}, err
	}
	if done < 1 {
		return Picture{ID: r.id, Pending: true, Done: done}, nil
	}
	// Strips may turn out coarser than they were thought to be.
	for _, it := range items {
		if s, ok := it.value.(*store); ok && it.key.kind == itemStrips && s.level > v.level {
			v.coarse[it.key.n] = true
			return v.picture(ctx, r)
		}
	}
	if spans, ok := v.spans(r, items); ok {
		if len(spans) == 0 {
			return v.withGaps(Picture{ID: r.id, Empty: true}), nil
		}
		return Picture{ID: r.id, Max: 1, Spans: spans, Moments: v.moments(r)}, nil
	}
	var c cells
	v.sum(r, items, &c)
	return v.encode(r, &c), nil
}

// withGaps turns an empty picture into one that shows where evidence was lost.
func (v *view) withGaps(p Picture) Picture {
	var c cells
	v.markGaps(&c)
	if !slices.ContainsFunc(c.marks[:], func(m uint8) bool { return m != 0 }) {
		return p
	}
	return Picture{ID: p.ID, Max: 1, Shares: make([]uint8, tileBuckets*NumStates), Marks: c.marks[:]}
}

// sum adds up a lane's buckets.
func (v *view) sum(r *laneRef, items []*item, c *cells) {
	switch r.kind {
	case "gc":
		v.intervals(v.t.cycles.list, c, MarkRare)
	case "stw":
		v.intervals(v.t.pauses.list, c, MarkRare)
	case "task":
		from, to := v.t.taskTimes(r.task)
		c.add(v, Running, from, to, 1)
	case "go":
		for _, it := range items {
			if s, ok := it.value.(*store); ok {
				s.tile(0, v.level, v.tile, c)
				continue
			}
			d := it.value.(*detail)
			for _, s := range d.goroutine(v.t, r.gor, v.from, v.to) {
				v.addSpan(c, d, &s)
			}
		}
	default:
		for _, lane := range v.lanes(r) {
			v.lane(lane, items, c)
		}
	}
}

func (v *view) addSpan(c *cells, d *detail, s *span) {
	from, to := d.within(s.from, s.to)
	c.add(v, s.state, from, to, 1)
	if s.long {
		c.mark(v, d.time(s.to), MarkLong)
	}
}

// lanes returns those of the pyramid that a lane consists of.
func (v *view) lanes(r *laneRef) []int32 {
	if !r.ofGroups() {
		return []int32{r.lane}
	}
	var out []int32
	for g := range v.t.reg.groups {
		if headOf(v.t.reg.groups[g].name) == r.kind {
			out = append(out, v.t.reg.groups[g].lane)
		}
	}
	return out
}

// lane adds a lane of the pyramid.
func (v *view) lane(lane int32, items []*item, c *cells) {
	if v.level >= v.t.pyramid.base().level {
		v.t.pyramid.tile(int(lane), v.level, v.tile, c)
	}
	for _, it := range items {
		switch x := it.value.(type) {
		case *store:
			x.tile(int(lane), v.level, v.tile, c)
		case *detail:
			v.detailLane(x, lane, c)
		}
	}
}

// detailLane adds a lane from spans.
func (v *view) detailLane(d *detail, lane int32, c *cells) {
	id := v.t.reg.lanes[lane]
	switch {
	case id.kind == laneGroup:
		v.group(d, lane, c)
	case id.kind == laneProc || id.kind == laneThread:
		v.onLane(d, lane, c)
	case lane == lanePs:
		v.each(laneProc, func(l int32) { v.onLane(d, l, c) })
	case lane == laneThreads:
		v.each(laneThread, func(l int32) { v.onLane(d, l, c) })
	default:
		for _, e := range d.extras[lane] {
			c.add(v, e.state, e.from, e.to, float64(e.n))
		}
	}
}

func (v *view) each(kind laneKind, do func(lane int32)) {
	for l, id := range v.t.reg.lanes {
		if id.kind == kind {
			do(int32(l))
		}
	}
}

// onLane adds the spans of a P or thread, and that it was held.
func (v *view) onLane(d *detail, lane int32, c *cells) {
	for _, i := range d.windowOf(d.onLane[lane], v.from, v.to) {
		s := &d.spans[i]
		from, to := d.within(s.from, s.to)
		c.add(v, s.state, from, to, 1)
		if !s.blocked {
			c.add(v, Wait, from, to, -1)
		}
	}
	for _, h := range d.heldIn(lane, v.from, v.to) {
		from, to := d.within(h.from, h.to)
		c.add(v, Wait, from, to, 1)
	}
}

// lookBack is how many spans before the window are looked at: those of one P
// lie side by side, but for damage.
const lookBack = 4

// windowOf returns those of a lane's spans that may have a part in [from, to).
func (d *detail) windowOf(list []uint32, from, to int64) []uint32 {
	a, z := d.offset(from), d.offset(to)
	first := sort.Search(len(list), func(i int) bool { return d.spans[list[i]].from >= a })
	first = max(0, first-lookBack)
	last := first + sort.Search(len(list)-first, func(i int) bool { return d.spans[list[first+i]].from > z })
	return list[first:last]
}

func (d *detail) heldIn(lane int32, from, to int64) []hold {
	list, a, z := d.holds[lane], d.offset(from), d.offset(to)
	first := sort.Search(len(list), func(i int) bool { return list[i].from >= a })
	first = max(0, first-lookBack)
	last := first + sort.Search(len(list)-first, func(i int) bool { return list[first+i].from > z })
	return list[first:last]
}

// group adds a group from its changes.
func (v *view) group(d *detail, lane int32, c *cells) {
	for _, m := range d.marks[lane] {
		c.mark(v, m.at, m.what)
	}
	g := d.groups[lane]
	if g == nil {
		return
	}
	i, now := g.before(d.offset(v.from))
	var since [NumStates]int64
	for st := range since {
		since[st] = max(v.from, d.chunk.lo)
	}
	flush := func(st uint8, at int64) {
		if st >= NumStates {
			return
		}
		if n := now[st]; n != 0 && at > since[st] {
			c.add(v, State(st), since[st], at, float64(n))
		}
		since[st] = max(since[st], at)
	}
	end := min(v.to, d.end())
	for ; i < len(g.at); i++ {
		at := d.time(g.at[i])
		if at >= end {
			break
		}
		flush(g.step[i]>>4, at)
		flush(g.step[i]&15, at)
		take(&now, g.step[i])
	}
	for st := range uint8(NumStates) {
		flush(st, end)
	}
}

// end returns where the chunk's own time ends.
func (d *detail) end() int64 {
	if d.chunk.last() {
		return d.chunk.end
	}
	return d.chunk.hi
}

// before returns the first change after a moment, and the numbers before it.
func (g *changes) before(at uint32) (int, [NumStates]int32) {
	i := sort.Search(len(g.at), func(i int) bool { return g.at[i] > at })
	k := i / checkEvery
	if k == len(g.check) {
		k--
	}
	var now [NumStates]int32
	if k < 0 {
		return i, now
	}
	now = g.check[k]
	for j := k * checkEvery; j < i; j++ {
		take(&now, g.step[j])
	}
	return i, now
}

// add adds n times [from, to), as far as it is in the tile.
func (c *cells) add(v *view, st State, from, to int64, n float64) {
	from, to = max(from, v.from), min(to, v.to)
	if from >= to {
		return
	}
	b, e := (from-v.from)>>v.level, (to-1-v.from)>>v.level
	if b == e {
		c.time[st][b] += n * float64(to-from)
		return
	}
	c.time[st][b] += n * float64(v.from+(b+1)<<v.level-from)
	c.time[st][e] += n * float64(to-v.from-e<<v.level)
	width := n * float64(int64(1)<<v.level)
	for k := b + 1; k < e; k++ {
		c.time[st][k] += width
	}
}

func (c *cells) mark(v *view, at int64, what uint8) {
	if at >= v.from && at < v.to {
		c.marks[(at-v.from)>>v.level] |= what
	}
}

// intervals adds collections or pauses.
func (v *view) intervals(list []interval, c *cells, what uint8) {
	for _, in := range intervalsIn(list, v.from, v.to) {
		c.add(v, GC, in.from, max(in.to, in.from+1), 1)
		c.mark(v, in.from, what)
	}
}

// intervalsIn returns those that may have a part in [from, to): they lie side
// by side, but for those that the trace's edge cut.
func intervalsIn(list []interval, from, to int64) []interval {
	a := sort.Search(len(list), func(i int) bool { return list[i].from >= from })
	for a > 0 && list[a-1].to > from {
		a--
	}
	z := sort.Search(len(list), func(i int) bool { return list[i].from >= to })
	return list[a:max(a, z)]
}

func (t *Timeline) taskTimes(i int) (from, to int64) {
	k := &t.tasks[i]
	from, to = max(int64(k.Begin), 0), int64(k.End)
	if to < 0 {
		to = t.length
	}
	return from, to
}

// smallGroup is how many goroutines a group may have for the birth of one of
// them to be worth a mark.
const smallGroup = 1000

// small reports whether a group is one.
func (c *detailInputs) small(group int32) bool {
	return int(group) < len(c.gors.counts) && c.gors.counts[group] <= smallGroup
}

// encode turns buckets into bytes.
func (v *view) encode(r *laneRef, c *cells) Picture {
	v.markGaps(c)
	p := Picture{ID: r.id, Max: 1, Marks: make([]uint8, tileBuckets)}
	width := float64(int64(1) << v.level)
	most := 0.0
	for st := range c.time {
		for _, ns := range c.time[st] {
			most = max(most, ns/width)
		}
	}
	rare := r.kind == "go" || r.kind == "g" && v.t.small(r.group)
	any := uint8(0)
	for b, m := range c.marks {
		if m&markLife != 0 && rare {
			m |= MarkRare
		}
		p.Marks[b] = m &^ markLife
		any |= p.Marks[b]
	}
	// Rounding of sums that cancel each other leaves less than a thousandth of a bucket.
	if most < noise && any == 0 {
		return Picture{ID: r.id, Empty: true}
	}
	if !r.single() {
		p.Max = max(most, noise)
	}
	p.Shares = make([]uint8, tileBuckets*NumStates)
	for st := range c.time {
		for b, ns := range c.time[st] {
			p.Shares[b*NumStates+st] = share(ns/width, p.Max)
		}
	}
	return p
}

// noise is the share of a bucket that may come of rounding. Of the widest
// buckets it is an hour, so that what is rounded is compared with its own size there.
const noise = 1e-7

func share(v, most float64) uint8 {
	if v < noise {
		return 0
	}
	return uint8(min(max(math.Round(255*v/most), 1), 255))
}

func (v *view) markGaps(c *cells) {
	for _, g := range v.t.gaps {
		from, to := max(int64(g.From), v.from), min(int64(g.To), v.to)
		for at := from; at < to; at = (at>>v.level + 1) << v.level {
			c.mark(v, at, MarkLost)
		}
	}
}

// spans returns the spans of a single lane, when they are few enough.
func (v *view) spans(r *laneRef, items []*item) ([]Span, bool) {
	var out []Span
	switch r.kind {
	case "gc":
		return v.t.intervalSpans(v.t.cycles.list, v.from, v.to)
	case "stw":
		return v.t.intervalSpans(v.t.pauses.list, v.from, v.to)
	case "task":
		from, to := v.t.taskTimes(r.task)
		if from < v.to && to > v.from {
			out = append(out, Span{From: time.Duration(from), To: time.Duration(to), State: Running, Reason: v.t.tasks[r.task].Name, Goroutine: -1, Proc: -1, Thread: -1})
		}
		return out, true
	case "p", "m", "go":
	default:
		return nil, false
	}
	if v.level >= v.t.pyramid.base().level {
		return nil, r.kind == "go" && len(items) == 0
	}
	for _, it := range items {
		d, ok := it.value.(*detail)
		if !ok {
			return nil, false
		}
		var more []Span
		if r.kind == "go" {
			own := d.goroutine(v.t, r.gor, v.from, v.to)
			if len(own) > MaxSpans {
				return nil, false
			}
			for i := range own {
				more = append(more, v.t.span(d, &own[i]))
			}
		} else if more, ok = v.laneSpans(d, r.lane); !ok {
			return nil, false
		}
		if out = joinSpans(out, more); len(out) > MaxSpans {
			return nil, false
		}
	}
	return out, true
}

// joinSpans appends spans; one that an edge had cut is one again, and one that
// two chunks have is there once.
func joinSpans(to, more []Span) []Span {
	for _, s := range more {
		if n := len(to); n > 0 && to[n-1].From == s.From && to[n-1].To == s.To && to[n-1].Goroutine == s.Goroutine {
			continue
		}
		if n := len(to); n > 0 && to[n-1].To == s.From && to[n-1].State == s.State && to[n-1].Reason == s.Reason &&
			to[n-1].Goroutine == s.Goroutine && to[n-1].Proc == s.Proc && to[n-1].Thread == s.Thread {
			to[n-1].To = s.To
			continue
		}
		to = append(to, s)
	}
	return to
}

func (t *Timeline) intervalSpans(list []interval, from, to int64) (out []Span, ok bool) {
	in := intervalsIn(list, from, to)
	if len(in) > MaxSpans {
		return nil, false
	}
	for _, x := range in {
		if x.to < from {
			continue
		}
		out = append(out, Span{From: time.Duration(x.from), To: time.Duration(x.to), State: GC, Reason: x.name, Goroutine: x.g, Proc: -1, Thread: -1})
	}
	return out, true
}

// laneSpans returns the spans of a P or thread, and those in which it was held
// without a goroutine.
func (v *view) laneSpans(d *detail, lane int32) ([]Span, bool) {
	list := d.windowOf(d.onLane[lane], v.from, v.to)
	held := d.heldIn(lane, v.from, v.to)
	if len(list) > MaxSpans+2*lookBack || len(held) > MaxSpans+2*lookBack {
		return nil, false
	}
	a, z := d.offset(v.from), d.offset(v.to)
	var out []Span
	for _, i := range list {
		if s := &d.spans[i]; s.to > a && s.from < z {
			out = append(out, v.t.span(d, s))
		}
	}
	busy := len(out)
	for _, h := range held {
		if h.to > a && h.from < z {
			out = v.t.idle(out, out[:busy], d, h)
		}
	}
	slices.SortStableFunc(out, func(a, b Span) int { return compare(int64(a.From), int64(b.From)) })
	return out, true
}

// lookingForWork is the reason of a P or thread that is held without a goroutine.
const lookingForWork = "looking for work"

// idle appends the parts of a hold that no busy span covers.
func (t *Timeline) idle(out, busy []Span, d *detail, h hold) []Span {
	from, to := time.Duration(d.time(h.from)), time.Duration(d.time(h.to))
	gap := func(a, z time.Duration) {
		if a < z {
			out = append(out, Span{From: a, To: z, State: Wait, Reason: lookingForWork, Goroutine: -1, Proc: int(h.proc), Thread: h.thread})
		}
	}
	for i := range busy {
		if s := &busy[i]; s.From < to && s.To > from {
			gap(from, s.From)
			from = max(from, s.To)
		}
	}
	gap(from, to)
	return out
}

// span tells a span of a detail.
func (t *Timeline) span(d *detail, s *span) Span {
	l := &d.lives[s.life]
	out := Span{From: time.Duration(d.time(s.from)), To: time.Duration(d.time(s.to)), State: s.state, Reason: t.reasons.text(s.reason),
		Goroutine: l.g, Proc: int(s.proc), Thread: -1, stack: s.stack}
	if l.group >= 0 {
		out.Group = t.reg.groups[l.group].name
	}
	if s.thread >= 0 {
		out.Thread = t.reg.lanes[s.thread].id
	}
	if s.state == GC && out.Group != markWorker {
		out.Reason = "mark assist"
	}
	return out
}

// goroutine returns the spans of a goroutine that have a part in [from, to).
func (d *detail) goroutine(t *Timeline, i uint32, from, to int64) []span {
	birth, end := t.gors.bounds(i)
	n, ok := d.byG[t.gors.list[i].id]
	for ; ok && n >= 0; n = d.lives[n].nextOfID {
		own := d.of(n)
		if len(own) == 0 || d.time(own[0].from) >= end || d.time(own[len(own)-1].to) <= birth {
			continue
		}
		return window(own, d.offset(from), d.offset(to))
	}
	return nil
}

// moments returns the birth and the end of a goroutine, the begins of collections
// and pauses.
func (v *view) moments(r *laneRef) (out []time.Duration) {
	add := func(at int64) {
		if at >= v.from && at < v.to {
			out = append(out, time.Duration(at))
		}
	}
	switch r.kind {
	case "go":
		birth, end := v.t.gors.bounds(r.gor)
		if birth > 0 {
			add(birth)
		}
		add(end)
	case "gc", "stw":
		list := v.t.cycles.list
		if r.kind == "stw" {
			list = v.t.pauses.list
		}
		for _, in := range intervalsIn(list, v.from, v.to) {
			add(in.from)
		}
	}
	return out
}
