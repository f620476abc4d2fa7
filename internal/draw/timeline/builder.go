package timeline

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/gowhy/gowhy/exectrace"
)

// A Rereader gives pieces of a trace again; [exectrace.Trace] is one.
type Rereader interface {
	Pieces(ctx context.Context, o exectrace.PieceOptions, yield func(*exectrace.Piece) bool) error
}

// A Builder makes a [Timeline] from the pieces of a trace, in their order. The
// zero value is ready; its methods are called by one goroutine.
type Builder struct {
	// Length is how long the trace will be, as far as known. Nothing but speed
	// depends on it.
	Length time.Duration

	begun     bool
	origin    int64
	end       int64
	base      *store
	reg       registry
	gors      gorTable
	chunks    []chunk
	gaps      []Gap
	fold      folder
	groupOf   []uint32 // by life of the piece
	lastName  string   // of the group that was looked up last
	lastGroup int32
	openTask  int64 // tasks that began and did not end so far
	cycles    intervals
	pauses    intervals
	lastTo    int64
	perChunk  int // spans; chunkSpans but in tests
}

// maxTime bounds times: 13 days. What lies beyond is damage.
const maxTime = 1 << 50

// A chunk is a part of the trace that is read again at once: a piece, or a part
// of one that is too large.
type chunk struct {
	gen      int
	lo, hi   int64 // what of the piece belongs to it
	pieceLo  int64
	pieceEnd int64
	end      int64 // hi, or where the last span ends that runs over the piece's end
	late     int64 // where the last of the piece's spans ends
	openTask int64 // tasks open when the piece begins
	weight   int64 // about the bytes of its detail
}

func (c *chunk) last() bool { return c.hi >= c.pieceEnd }

// chunkSpans is how many spans a chunk should have at most. To read as many from a
// mark of the trace and to make a detail of them takes seven milliseconds and five
// megabytes; in smaller chunks more is read twice.
const chunkSpans = 100_000

// What a detail has for a span and a life, in bytes: themselves, their places in the
// lists of lanes, and half a wake-up.
const (
	spanWeight = 64
	lifeWeight = 160
)

// A Gap is time without trusted evidence.
type Gap struct {
	From, To time.Duration
	Why      string
}

// minBaseLevel is the finest base: 16 µs.
const minBaseLevel = 14

// baseBytes bounds the base.
const baseBytes = 96 << 20

// firstLevel is the base's level before the length of a trace is known: room for 17 s.
const firstLevel = 18

// Add takes the next piece, with its spans. It keeps nothing of it.
func (b *Builder) Add(p *exectrace.Piece) {
	if !b.begun {
		b.start(p)
	}
	lo, hi := max(int64(p.From)-b.origin, 0), int64(p.To)-b.origin
	if hi <= lo || hi > maxTime {
		return // no piece of time
	}
	c := newClassifier(p.Reasons)
	b.grow(hi)
	b.prepare(p, lo, hi)
	f := &b.fold
	spans := p.Spans.Len()
	f.reserve()
	for block := range p.Take() {
		f.block(block, &c)
	}
	f.addHolds(p)
	open := b.openTask
	b.openTask = max(0, open+f.extras(p, lo, open))
	f.finish(b.base)
	for b.base.bytes > baseBytes && b.base.level < topLevel {
		b.base = b.base.coarser(1)
	}
	b.gors.add(p, f.run, b.groupOf, b.origin)
	b.note(p, spans, lo, hi, open)
}

func (b *Builder) start(p *exectrace.Piece) {
	b.begun, b.origin = true, int64(p.From)
	level := uint(firstLevel)
	if b.Length > 0 {
		for level = minBaseLevel; int64(b.Length)>>level >= maxBuckets && level < topLevel; {
			level++
		}
	}
	b.base = &store{level: level}
	b.reg.init()
	b.gors.init()
}

// grow makes the base coarse enough for times up to end.
func (b *Builder) grow(end int64) {
	b.end = max(b.end, end)
	for end>>b.base.level >= maxBuckets && b.base.level < topLevel {
		b.base = b.base.coarser(1)
	}
}

// prepare gives all lanes of the piece their slots, in buckets wide enough for
// their sums to have room.
func (b *Builder) prepare(p *exectrace.Piece, lo, hi int64) {
	f := &b.fold
	f.look = b
	for {
		b.groupOf = slices.Grow(b.groupOf[:0], len(p.Lives))
		f.begin(b.origin, b.base.level, lo, hi, hi)
		f.prepare(p, b.openTask)
		level := roomyLevel(b.base.level, lo, hi, len(f.lanes)+numFixed)
		if level == b.base.level {
			return
		}
		b.base = b.base.coarser(level - b.base.level)
	}
}

// roomyLevel returns the first level from one on whose sums have room.
func roomyLevel(level uint, lo, hi int64, lanes int) uint {
	for scratchOf(level, lo, hi, lanes) > maxScratch && level < topLevel {
		level++
	}
	return level
}

// The builder is the lookup that makes lanes.

func (b *Builder) life(l *exectrace.Life) (int32, bool) {
	if len(b.groupOf) == 0 || l.Group != b.lastName { // most are of the same group as the one before
		b.lastName, b.lastGroup = l.Group, b.reg.group(groupName(l.Group))
	}
	b.groupOf = append(b.groupOf, uint32(b.lastGroup))
	return b.reg.groups[b.lastGroup].lane, l.Group == markWorker
}

func (b *Builder) proc(id int64) int32      { return b.reg.lane(laneProc, id) }
func (b *Builder) thread(id int64) int32    { return b.reg.lane(laneThread, id) }
func (b *Builder) region(name string) int32 { return b.reg.region(name) }
func (b *Builder) roof(lane int32) int32    { return b.reg.roof(lane) }

// maxProcs bounds the ids of Ps; the runtime allows 1024.
const maxProcs = 1 << 12

// An extra is time of a lane that is no goroutine's, P's or thread's; n is -1
// where an end takes away what a begin had given to the end of the piece.
type extra struct {
	lane     int32
	state    State
	n        int64
	from, to int64
}

// samplePeriod is the CPU time that a sample stands for: the runtime takes 100 a second.
const samplePeriod = 10_000_000 // ns

// eachExtra gives the extras of a piece, and returns by how much the number of
// open tasks changed in it.
func eachExtra(p *exectrace.Piece, region func(string) int32, origin, lo, hi, openTask int64, emit func(extra)) (opened int64) {
	for i := range p.Samples {
		if at := int64(p.Samples[i].At) - origin; at > 0 && at < maxTime {
			emit(extra{laneSamples, Running, 1, at - samplePeriod, at})
		}
	}
	for i := range p.Regions {
		r := &p.Regions[i]
		from, to := int64(r.From)-origin, int64(r.To)-origin
		if from >= to || from < 0 || to > maxTime {
			continue
		}
		emit(extra{laneRegions, Running, 1, from, to})
		if lane := region(r.Name); lane >= numFixed {
			emit(extra{lane, Running, 1, from, to})
		}
	}
	if openTask > 0 {
		emit(extra{laneTasks, Running, openTask, lo, hi})
	}
	for i := range p.Tasks {
		t := &p.Tasks[i]
		at := min(max(int64(t.At)-origin, lo), hi)
		n := int64(1)
		if t.End {
			n = -1
		}
		if openTask+opened+n < 0 {
			continue // its begin was before the trace
		}
		opened += n
		if at < hi {
			emit(extra{laneTasks, Running, n, at, hi})
		}
	}
	return opened
}

// note remembers what of the piece can be asked for again, its intervals, and
// where evidence was lost.
func (b *Builder) note(p *exectrace.Piece, spans int, lo, hi, open int64) {
	if b.lastTo > 0 && lo-b.lastTo > longWait {
		b.gaps = append(b.gaps, Gap{time.Duration(b.lastTo), time.Duration(lo), "a piece of the trace is not there"})
	}
	b.lastTo = hi
	if !p.Trusted {
		b.gaps = append(b.gaps, Gap{time.Duration(lo), time.Duration(hi), "damaged: what goroutines did is not certain"})
	}
	for i := range p.Ranges {
		b.interval(&p.Ranges[i])
	}
	parts := min(spans/cmp.Or(b.perChunk, chunkSpans)+1, 1024)
	weight := (int64(spans)*spanWeight + int64(len(p.Lives))*lifeWeight) / int64(parts)
	for i := range parts {
		c := chunk{gen: p.Index, pieceLo: lo, pieceEnd: hi, late: b.fold.end, openTask: open, weight: weight}
		c.lo, c.hi = lo+(hi-lo)*int64(i)/int64(parts), lo+(hi-lo)*int64(i+1)/int64(parts)
		if c.end = c.hi; i == parts-1 {
			c.end = max(c.end, b.fold.end)
		}
		if c.lo < c.hi {
			b.chunks = append(b.chunks, c)
		}
	}
	b.end = max(b.end, b.fold.end)
}

// interval keeps collections and pauses.
func (b *Builder) interval(r *exectrace.RangeSpan) {
	from, to := int64(r.From)-b.origin, int64(r.To)-b.origin
	if from < 0 || to < from || to > maxTime {
		return
	}
	switch {
	case r.Name == exectrace.RangeMark:
		b.cycles.add(interval{from, to, r.Name, r.Goroutine})
	case strings.HasPrefix(r.Name, stopPrefix):
		b.pauses.add(interval{from, to, r.Name, r.Goroutine})
	}
}

const stopPrefix = "stop-the-world"

// An interval is a collection or a pause.
type interval struct {
	from, to int64
	name     string
	g        int64
}

// intervals are collections or pauses in order.
type intervals struct {
	list []interval
	lost int // too many
}

// maxIntervals bounds them: a program that does nothing but collect
// has some hundred thousand in a minute.
const maxIntervals = 1 << 20

// add takes the next; one that goes on over the edge of a piece is joined.
func (s *intervals) add(v interval) {
	if n := len(s.list); n > 0 && s.list[n-1].to == v.from && s.list[n-1].name == v.name && s.list[n-1].g == v.g {
		s.list[n-1].to = v.to
		return
	}
	if len(s.list) >= maxIntervals {
		s.lost++
		return
	}
	s.list = append(s.list, v)
}

func (s *intervals) sort() {
	slices.SortStableFunc(s.list, func(a, b interval) int { return compare(a.from, b.from) })
}

// laneKind is what a lane is of.
type laneKind uint8

const (
	laneFixed laneKind = iota
	laneGroup
	laneProc
	laneThread
	laneRegion
)

// Lanes of every timeline.
const (
	lanePs = iota
	laneThreads
	laneSamples
	laneTasks
	laneRegions
	numFixed

	noLanes = -2 // a lookup knows only lives
)

// maxLanes bounds the groups, threads and names of regions with a lane of their own.
const maxLanes = 4096

// A registry numbers lanes and groups.
type registry struct {
	lanes   []laneID // by lane
	byID    map[laneID]int32
	groups  []group
	byName  map[string]int32 // of groups
	regions map[string]int32 // lanes by name
	count   [laneRegion + 1]int
}

type laneID struct {
	kind laneKind
	id   int64 // of a P or thread; index of a group or region
}

type group struct {
	name string
	lane int32
}

// otherID is the id of the lane that many share.
const otherID = -1

// otherGroups is the name of the groups that have no lane of their own.
const otherGroups = "(other groups)"

func (r *registry) init() {
	r.byID = map[laneID]int32{}
	r.byName = map[string]int32{}
	r.regions = map[string]int32{}
	for i := range numFixed {
		r.lanes = append(r.lanes, laneID{laneFixed, int64(i)})
	}
}

// lane returns the lane of a P or thread.
func (r *registry) lane(kind laneKind, id int64) int32 {
	key := laneID{kind, id}
	if l, ok := r.byID[key]; ok {
		return l
	}
	if r.count[kind] >= maxLanes {
		key.id = otherID
		if l, ok := r.byID[key]; ok {
			return l
		}
	}
	r.count[kind]++
	l := int32(len(r.lanes))
	r.lanes = append(r.lanes, key)
	r.byID[key] = l
	return l
}

// find is lane for reading: -1 when there is none.
func (r *registry) find(kind laneKind, id int64) int32 {
	if l, ok := r.byID[laneID{kind, id}]; ok {
		return l
	}
	if l, ok := r.byID[laneID{kind, otherID}]; ok && r.count[kind] > maxLanes {
		return l
	}
	return -1
}

// group returns the number of a group, made when it is new.
func (r *registry) group(name string) int32 {
	if g, ok := r.byName[name]; ok {
		return g
	}
	if len(r.groups) >= maxLanes {
		name = otherGroups
		if g, ok := r.byName[name]; ok {
			return g
		}
	}
	g := int32(len(r.groups))
	r.groups = append(r.groups, group{name, int32(len(r.lanes))})
	r.lanes = append(r.lanes, laneID{laneGroup, int64(g)})
	r.byName[name] = g
	return g
}

// findGroup is group for reading: -1 when there is none.
func (r *registry) findGroup(name string) int32 {
	if g, ok := r.byName[name]; ok {
		return g
	}
	if g, ok := r.byName[otherGroups]; ok {
		return g
	}
	return -1
}

// markWorkers returns the group of mark workers, -1 when there is none.
func (r *registry) markWorkers() int32 {
	if g, ok := r.byName[markWorker]; ok {
		return g
	}
	return -1
}

// region returns the lane of a name of regions.
func (r *registry) region(name string) int32 {
	if l, ok := r.regions[name]; ok {
		return l
	}
	if len(r.regions) >= maxLanes {
		return laneRegions
	}
	l := int32(len(r.lanes))
	r.lanes = append(r.lanes, laneID{laneRegion, int64(len(r.regions))})
	r.regions[name] = l
	return l
}

func (r *registry) findRegion(name string) int32 {
	if l, ok := r.regions[name]; ok {
		return l
	}
	return -1
}

// roof returns the lane that gets the time of another as well: all Ps, all threads.
func (r *registry) roof(lane int32) int32 {
	switch r.lanes[lane].kind {
	case laneProc:
		return lanePs
	case laneThread:
		return laneThreads
	}
	return -1
}
