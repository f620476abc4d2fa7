package timeline

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/gowhy/gowhy/exectrace"
)

// What is made by reading pieces of the trace again.

const (
	// gorsPerPass is how many goroutines are collected in one pass.
	gorsPerPass = 128
	// chunksPerPass is how much is made of a piece that has to be read as a whole.
	chunksPerPass = 12
)

// batch tells the cache what is made in one pass: lanes of goroutines, and
// all that one piece is needed for.
func (t *Timeline) batch(one itemKey) (int, func(itemKey) bool) {
	switch one.kind {
	case itemGo:
		return gorsPerPass, func(k itemKey) bool { return k.kind == itemGo }
	case itemSearch:
		return 1, nil
	}
	gen := t.chunks[one.n].gen
	whole := t.whole[gen].Load()
	return chunksPerPass, func(k itemKey) bool {
		return (k.kind == itemStrips || k.kind == itemDetail) && (k.n == one.n || whole && t.chunks[k.n].gen == gen)
	}
}

// make makes items for the cache.
func (t *Timeline) make(ctx context.Context, items []*item) {
	switch items[0].key.kind {
	case itemGo:
		t.collect(ctx, items)
	case itemSearch:
		t.find(ctx, items[0])
	default:
		t.makeOfPiece(ctx, items)
	}
}

// A workspace is the memory with which something is made of a piece.
type workspace struct {
	maker  maker
	folder folder
}

// makeOfPiece makes what is wanted of a piece.
func (t *Timeline) makeOfPiece(ctx context.Context, items []*item) {
	c := &t.chunks[items[0].key.n]
	from, to, bare := c.lo, c.reach(), true
	for _, it := range items {
		other := &t.chunks[it.key.n]
		from, to, bare = min(from, other.lo), max(to, other.reach()), bare && it.key.kind == itemStrips
	}
	h := t.spare.Get().(*workspace)
	defer t.spare.Put(h)
	err := t.read(ctx, c, exectrace.PieceOptions{Clip: t.times(from, to), Bare: bare}, func(p *exectrace.Piece) {
		t.whole[p.Index].Store(!p.Part)
		for _, it := range items {
			if c := &t.chunks[it.key.n]; it.key.kind == itemStrips {
				s := t.strips(&h.folder, p, c)
				it.value, it.bytes = s, s.bytes
			} else {
				d := h.maker.detail(p, c)
				it.value, it.bytes = d, d.bytes
			}
		}
		h.maker.d, h.maker.p = nil, nil
	})
	for _, it := range items {
		if it.err = err; err == nil && it.value == nil {
			it.err = fmt.Errorf("piece %d of the trace could not be read again", t.chunks[it.key.n].gen)
		}
	}
}

// read reads a chunk's piece again, as far as o wants it.
func (t *Timeline) read(ctx context.Context, c *chunk, o exectrace.PieceOptions, use func(*exectrace.Piece)) error {
	if t.src == nil {
		return ErrNoSource
	}
	// In its middle: what lies at its edges may be of two pieces.
	middle := c.pieceLo + (c.pieceEnd-c.pieceLo)/2
	o.Window, o.Workers = t.times(middle, middle+1), 1
	return t.src.Pieces(ctx, o, func(p *exectrace.Piece) bool {
		if p.Index != c.gen {
			return true
		}
		use(p)
		return false
	})
}

// times returns a window of the timeline on the trace's clock.
func (t *Timeline) times(from, to int64) exectrace.Range {
	return exectrace.Range{From: exectrace.Time(from + t.origin), To: exectrace.Time(to + t.origin)}
}

// ErrNoSource is returned for what only the trace itself tells, where it came as
// a stream.
var ErrNoSource = errors.New("the trace came as a stream and cannot be read again")

// stripBuckets is how fine the strips of one chunk are. To make more of them takes
// longer than to read the chunk.
const stripBuckets = 1 << 10

// stripBytes bounds the strips of one chunk.
const stripBytes = 8 << 20

// stripLevel returns the level of a chunk's strips.
func (t *Timeline) stripLevel(c *chunk) uint {
	level := uint(minLevel)
	for (c.end-c.lo)>>level >= stripBuckets {
		level++
	}
	return min(level, t.pyramid.base().level)
}

// strips makes the buckets of a chunk from its piece.
func (t *Timeline) strips(f *folder, p *exectrace.Piece, c *chunk) *store {
	level := t.stripLevel(c)
	class := newClassifier(p.Reasons)
	f.look = &finder{&t.detailInputs, c}
	for {
		f.begin(t.origin, level, c.lo, c.hi, c.pieceEnd)
		f.prepare(p, c.openTask)
		roomy := roomyLevel(level, c.lo, c.hi, len(f.lanes)+numFixed)
		if roomy == level {
			break
		}
		level = roomy
	}
	f.add(p, &class)
	f.addHolds(p)
	f.extras(p, c.pieceLo, c.openTask)
	s := &store{level: level, first: int(c.lo >> level >> tileShift)}
	f.finish(s)
	f.look = nil
	for s.bytes > stripBytes && s.level < t.pyramid.base().level {
		s = s.coarser(1)
	}
	return s
}

// A finder is the lookup of lanes that are there.
type finder struct {
	*detailInputs
	c *chunk
}

func (f *finder) life(l *exectrace.Life) (int32, bool) {
	g := f.groupOf(l, f.c.pieceLo, f.c.pieceEnd)
	if g < 0 {
		return -1, false
	}
	return f.reg.groups[g].lane, f.reg.groups[g].name == markWorker
}

func (f *finder) proc(id int64) int32      { return f.reg.find(laneProc, id) }
func (f *finder) thread(id int64) int32    { return f.reg.find(laneThread, id) }
func (f *finder) region(name string) int32 { return f.reg.findRegion(name) }
func (f *finder) roof(lane int32) int32    { return f.reg.roof(lane) }

// collect makes the lanes of goroutines over all of the trace, in one pass.
func (t *Timeline) collect(ctx context.Context, items []*item) {
	if t.src == nil {
		for _, it := range items {
			it.err = ErrNoSource
		}
		return
	}
	w := &itemLookup{t: t, byG: map[int64][]int32{}, items: items}
	from, to := int64(maxTime), int64(0)
	for i, it := range items {
		w.byG[t.gors.list[it.key.n].id] = append(w.byG[t.gors.list[it.key.n].id], int32(i))
		a, z := t.life(it.key.n)
		from, to = min(from, a), max(to, z)
	}
	to = max(to, from+1)
	all := &store{level: t.pyramid.base().level, first: int(from >> t.pyramid.base().level >> tileShift)}
	f := &folder{look: w}
	o := exectrace.PieceOptions{Window: t.times(from, to), Bare: true, Goroutines: slices.Collect(maps.Keys(w.byG))}
	err := t.src.Pieces(ctx, o, func(p *exectrace.Piece) bool {
		w.take(p, f, all)
		for _, it := range items {
			it.setProgress(float64(int64(p.To)-t.origin-from) / float64(to-from))
		}
		return ctx.Err() == nil
	})
	if err == nil {
		err = ctx.Err()
	}
	all.lane(len(items) - 1)
	for i, it := range items {
		own := &store{level: all.level, first: all.first, lanes: all.lanes[i : i+1 : i+1]}
		own.weigh()
		it.value, it.bytes, it.err = own, own.bytes, err
	}
}

// weigh counts the bytes of a store.
func (s *store) weigh() {
	s.bytes = 0
	for i := range s.lanes {
		for _, pages := range s.lanes[i].pages {
			for _, p := range pages {
				s.bytes += 8
				if p != nil {
					s.bytes += pageBytes
				}
			}
		}
		s.bytes += int64(len(s.lanes[i].marks)) * (8 + tileBuckets)
	}
}

// An itemLookup finds single goroutines: lanes are places in items.
type itemLookup struct {
	t     *Timeline
	byG   map[int64][]int32
	items []*item
	lo    int64
	hi    int64
}

func (w *itemLookup) take(p *exectrace.Piece, f *folder, s *store) {
	w.lo, w.hi = max(int64(p.From)-w.t.origin, 0), int64(p.To)-w.t.origin
	if w.hi <= w.lo || w.hi > maxTime {
		return
	}
	class := newClassifier(p.Reasons)
	f.begin(w.t.origin, s.level, w.lo, w.hi, w.hi)
	f.prepare(p, 0)
	f.add(p, &class)
	f.lifeMarks(p)
	f.finish(s)
}

func (w *itemLookup) life(l *exectrace.Life) (int32, bool) {
	for _, i := range w.byG[l.G] {
		if w.t.sameLife(w.items[i].key.n, l, w.lo, w.hi) {
			return i, w.t.worker(w.items[i].key.n)
		}
	}
	return -1, false
}

func (w *itemLookup) proc(int64) int32      { return -1 }
func (w *itemLookup) thread(int64) int32    { return -1 }
func (w *itemLookup) region(string) int32   { return noLanes }
func (w *itemLookup) roof(lane int32) int32 { return -1 }

// sameLife reports whether a life of a piece is that of a goroutine.
func (t *Timeline) sameLife(i uint32, l *exectrace.Life, lo, hi int64) bool {
	birth, end := t.gors.bounds(i)
	if l.Created != 0 {
		lo = int64(l.Created) - t.origin
		return lo>>t.gors.unit == birth>>t.gors.unit
	}
	if l.Ended != 0 {
		hi = int64(l.Ended) - t.origin
	}
	return birth <= lo && hi <= end
}

func (t *Timeline) worker(i uint32) bool {
	return t.reg.groups[t.gors.list[i].group].name == markWorker
}
