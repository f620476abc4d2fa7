package timeline

import (
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gowhy/gowhy/internal/know/model"
)

// A Timeline answers what to draw. Its methods may be called from several
// goroutines at once. What they need of the trace is read again, and kept as
// long as there is room.
type Timeline struct {
	detailInputs
	src     Rereader
	length  int64
	pyramid *pyramid
	chunks  []chunk
	gaps    []Gap
	cycles  intervals
	pauses  intervals
	sched   map[string]*model.Group
	tasks   []model.Task // the slowest, by begin

	cache   *cache               // what is made of single pieces
	passes  *cache               // what needs a pass over many: it must not keep pictures waiting
	totals  [][NumStates]float64 // by lane, over all of the trace
	peaks   []float64            // by lane
	regions []string             // names by number
	whole   []atomic.Bool        // by piece: to read a part of it takes as long as all of it
	spare   sync.Pool            // of *hands that nobody uses
	sorted  sync.Map             // goroutines by group and filter, as last asked for
}

const (
	// shelfBytes bounds what is kept of pieces that were read again. A window of
	// the size that needs them takes about half of it.
	shelfBytes = 112 << 20
	// passBytes bounds the lanes of single goroutines and the results of searches.
	passBytes = 32 << 20
	// maxHands is how many parts of pieces are read at a time. Each takes some ten
	// megabytes meanwhile.
	maxHands = 4
)

// Timeline ends the building. src, which may be nil, gives the pieces again; it
// should be the trace that gave them to the builder, as what it learned then
// helps to read single ones. m, which may be nil, tells more of groups and
// tasks. It returns nil when there was no piece.
//
// The builder must not be used any more.
func (b *Builder) Timeline(src Rereader, m *model.Model) *Timeline {
	if len(b.chunks) == 0 {
		return nil
	}
	t := &Timeline{src: src, length: max(b.end, 1), chunks: b.chunks, gaps: b.gaps, cycles: b.cycles, pauses: b.pauses}
	t.detailInputs = detailInputs{origin: b.origin, reg: &b.reg, gors: &b.gors, stacks: newStacks(), reasons: newWords()}
	t.gors.living = nil
	t.pyramid = newPyramid(b.base, t.length)
	t.cycles.sort()
	t.pauses.sort()
	t.measure()
	t.regions = make([]string, len(t.reg.regions))
	for name, lane := range t.reg.regions {
		t.regions[t.reg.lanes[lane].id] = name
	}
	t.learn(m)
	t.whole = make([]atomic.Bool, t.chunks[len(t.chunks)-1].gen+1)
	t.spare.New = func() any { return &workspace{maker: maker{detailInputs: &t.detailInputs}} }
	t.cache = newCache(shelfBytes, min(runtime.GOMAXPROCS(0), maxHands))
	t.passes = newCache(passBytes, 1) // a pass reads all pieces, several at a time
	for _, s := range []*cache{t.cache, t.passes} {
		s.make, s.batch = t.make, t.batch
	}
	return t
}

// Close stops reading. What is asked for afterwards is answered from what is there.
func (t *Timeline) Close() {
	t.cache.close()
	t.passes.close()
}

// want asks for an item without waiting for it.
func (t *Timeline) want(k itemKey) *item {
	if k.kind == itemGo || k.kind == itemSearch {
		return t.passes.want(k)
	}
	return t.cache.want(k)
}

// learn takes from the model what pieces do not tell.
func (t *Timeline) learn(m *model.Model) {
	t.sched = map[string]*model.Group{}
	if m == nil {
		return
	}
	if m.Sched != nil {
		for i := range m.Sched.Groups {
			t.sched[m.Sched.Groups[i].Name] = &m.Sched.Groups[i]
		}
	}
	if m.Tasks != nil {
		t.tasks = slices.Clone(m.Tasks.Slow)
		slices.SortStableFunc(t.tasks, func(a, b model.Task) int { return compare(int64(a.Begin), int64(b.Begin)) })
	}
}

// measure finds what lanes sum up to, and how many are in them at once.
func (t *Timeline) measure() {
	base := t.pyramid.base()
	t.totals = make([][NumStates]float64, len(t.reg.lanes))
	t.peaks = make([]float64, len(t.reg.lanes))
	for i := range min(len(base.lanes), len(t.reg.lanes)) {
		l := &base.lanes[i]
		var all []float64
		for st := range l.pages {
			for n, p := range l.pages[st] {
				if p == nil {
					continue
				}
				for len(all) < (n+1)<<tileShift {
					all = append(all, 0)
				}
				sum := all[n<<tileShift : (n+1)<<tileShift]
				for k, v := range p {
					sum[k] += float64(v)
					t.totals[i][st] += float64(v)
				}
			}
		}
		if len(all) > 0 {
			t.peaks[i] = slices.Max(all) / float64(int64(1)<<base.level)
		}
	}
}

// Length returns how long the timeline is.
func (t *Timeline) Length() time.Duration { return time.Duration(t.length) }

// Gaps returns the times without trusted evidence.
func (t *Timeline) Gaps() []Gap { return t.gaps }

// Levels returns the finest and the coarsest level of tiles. One tile of the
// coarsest covers all. Without a source the finest is that of the base.
func (t *Timeline) Levels() (finest, coarsest int) {
	top := minLevel
	for t.length>>(top+tileShift) > 0 {
		top++
	}
	if t.src == nil {
		return int(t.pyramid.base().level), max(top, int(t.pyramid.base().level))
	}
	return minLevel, max(top, int(t.pyramid.base().level))
}

// chunksIn returns the chunks that have a part in [from, to).
func (t *Timeline) chunksIn(from, to int64) (out []int) {
	for i := range t.chunks {
		if c := &t.chunks[i]; c.lo < to && c.end > from {
			out = append(out, i)
		}
	}
	return out
}
