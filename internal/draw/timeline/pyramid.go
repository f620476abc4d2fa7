package timeline

// The pyramid.
//
// The problem. A trace of half a gigabyte holds sixty million stretches of
// time: a goroutine runs for eight microseconds, waits for twenty, runs again.
// A picture of it is two thousand pixels wide. Drawing from the stretches means
// to touch all of them for a picture of the whole, and keeping them means five
// times the trace in memory. The trace itself is the compactest store of them
// that there is: four bytes for each event.
//
// The idea. Three layers, each for pictures of another width:
//
//   - The base: for each lane (a P, a thread, a group of goroutines) the time
//     spent in each of eight states in buckets of 2^n ns, at most maxBuckets of
//     them for the whole trace; and above it coarser levels, each a quarter of the
//     one below, so that any wider bucket is a sum of one or two. It is built
//     while the trace is read for its accounts, generation by generation, and
//     stays in memory.
//   - Strips: the same for a part of a generation, in a thousand buckets of its own.
//   - Details: the stretches of such a part themselves, sorted by lane and time.
//
// Strips and details are made by reading their part of the trace again when a
// picture needs it, and kept while there is room. The parts, chunks, are of equal
// time and small enough to be read in milliseconds, several of them at a time: the
// first reading of a generation goes through all of it and leaves marks, from which
// others begin in its middle (package exectrace). The base is as fine as that a window
// too narrow for it covers few generations, so that what a picture needs fits into
// that room; the cost of a picture does not depend on the trace. Nobody waits for
// the reading: a lane that needs it for longer is answered as pending, and asked for
// again; and when nothing is waited for, the chunks beside the last picture are read,
// until somebody waits for something else.
//
// Folding. Nearly all stretches are shorter than a bucket of the base and are
// one addition. One that is longer adds two pieces at its ends, and for what is
// between them +1 and -1 in a list of differences: a running sum of it, times
// the width, is the time in each bucket in between. So a goroutine that waits
// for all of the generation costs as much as one that runs for a microsecond,
// and a hundred thousand that wait cost nothing for the picture. Sums are whole
// nanoseconds within a generation and become float32 when the generation is
// done: each bucket is rounded once or twice, to one part in sixteen million.
//
// Memory. Buckets are kept in pages of 256, one for each state that occurs, so
// that what did not happen takes nothing. A page is a tile of its level: 256 buckets
// are what the page of the browser asks for. The length of a trace is not known
// before it is read, and a thousand threads want more than two: when there are too
// many buckets or pages, neighbours are merged into a level twice as wide, for all
// lanes. That is exact, as all widths are powers of two and all levels begin at
// time zero. So one rule bounds both.
//
// What is rare is not averaged away: each bucket has a byte of marks, merged by
// or, for births and ends (of groups small enough that one of them is
// rare), long waits and lost evidence; and a share above zero is never drawn as
// zero. Pauses and collections are kept whole, as intervals: there are few.
//
// Why not other ways. A tree of intervals over all stretches answers exactly,
// but needs all of them. A sampled picture loses just what is searched for. Levels
// that are a half of each other instead of a quarter cost a third of the base
// more and save an addition. Deciding in the browser means to send everything.
//
// A single goroutine has no lane in the base: there may be millions. Its lane
// over all of the trace is collected when it is opened, by a pass in the
// background for all those opened together.
//
// Limits. The first picture that needs a generation costs as much as reading all of
// that generation: eighty milliseconds for 15 MB, a sixth of a second for 40 MB,
// which a program writes in a second that does nothing but switch goroutines; others
// of the same generation five to ten, unless it has no marks, being damaged. A wait that
// goes over the edge of a generation is cut there, and its mark is of the part. More
// than maxLanes groups or threads share a lane. In a generation with forced
// transitions of Ps, what no thread is known to have held is drawn as idle.

const (
	tileShift   = 8
	tileBuckets = 1 << tileShift

	// maxBuckets bounds the base. With 65,536 the widest window that is too narrow
	// for it, 2,048 half buckets on a large screen, is a 64th of the trace. A finer one
	// would cost loading a twelfth for each level.
	maxBuckets = 1 << 16

	// minLevel is the finest level: 64 ns, which is what the clock of a trace resolves.
	minLevel = 6
	// topLevel bounds widths, so that a bucket's number times its width never overflows.
	topLevel = 50
)

// Marks of a bucket.
const (
	MarkRare = 1 << iota // a stopped world, a cycle's begin, a birth or an end in a small group
	MarkLong             // a wait longer than longWait ended
	MarkLost             // evidence was lost

	markLife // a birth or an end, of a group of any size
)

// longWait is what a person notices in a picture of a second.
const longWait = 10_000_000 // ns

// A page is the time of one lane in one state, in tileBuckets buckets, in ns.
type page [tileBuckets]float32

const pageBytes = tileBuckets * 4

// A strip is one lane of one level: its pages by state and place, nil where
// there is nothing.
type strip struct {
	pages [NumStates][]*page
	marks []*[tileBuckets]uint8
}

// A store is one level of a pyramid, for all of its lanes.
type store struct {
	level uint // buckets of 1<<level ns
	first int  // number of the first page: a store of one generation does not begin at zero
	lanes []strip
	bytes int64
}

// lane makes room for a lane.
func (s *store) lane(i int) *strip {
	for len(s.lanes) <= i {
		s.lanes = append(s.lanes, strip{})
	}
	return &s.lanes[i]
}

// page returns the page of a lane and state, made when it is not there.
func (s *store) page(lane int, st State, n int) *page {
	l := s.lane(lane)
	n -= s.first
	if n < 0 {
		return nil
	}
	for len(l.pages[st]) <= n {
		l.pages[st] = append(l.pages[st], nil)
		s.bytes += 8
	}
	if l.pages[st][n] == nil {
		l.pages[st][n] = new(page)
		s.bytes += pageBytes
	}
	return l.pages[st][n]
}

// add adds time to one bucket.
func (s *store) add(lane int, st State, bucket int64, ns float64) {
	if p := s.page(lane, st, int(bucket>>tileShift)); p != nil {
		p[bucket&(tileBuckets-1)] += float32(ns)
	}
}

// mark sets marks of one bucket.
func (s *store) mark(lane int, bucket int64, marks uint8) {
	l, n := s.lane(lane), int(bucket>>tileShift)-s.first
	if n < 0 {
		return
	}
	for len(l.marks) <= n {
		l.marks = append(l.marks, nil)
		s.bytes += 8
	}
	if l.marks[n] == nil {
		l.marks[n] = new([tileBuckets]uint8)
		s.bytes += tileBuckets
	}
	l.marks[n][bucket&(tileBuckets-1)] |= marks
}

// coarser returns the level that is by shift wider, made from s.
func (s *store) coarser(shift uint) *store {
	c := &store{level: s.level + shift, first: s.first >> shift, lanes: make([]strip, len(s.lanes))}
	for i := range s.lanes {
		for st := range s.lanes[i].pages {
			for n, p := range s.lanes[i].pages[st] {
				if p != nil {
					c.merge(i, State(st), s.first+n, p, shift)
				}
			}
		}
		for n, m := range s.lanes[i].marks {
			if m == nil {
				continue
			}
			for k, v := range m {
				if v != 0 {
					c.mark(i, (int64(s.first+n)<<tileShift+int64(k))>>shift, v)
				}
			}
		}
	}
	return c
}

// merge adds a page of a finer level.
func (s *store) merge(lane int, st State, n int, p *page, shift uint) {
	to := s.page(lane, st, n>>shift)
	at := (n << tileShift >> shift) & (tileBuckets - 1)
	for k, v := range p {
		to[at+k>>shift] += v
	}
}

// cells are the buckets of a tile while they are summed: ns by state, and marks.
type cells struct {
	time  [NumStates][tileBuckets]float64
	marks [tileBuckets]uint8
}

// tile adds what a store has of a lane in a tile of its own level or a wider one.
func (s *store) tile(lane int, level uint, tile int64, out *cells) {
	if lane >= len(s.lanes) {
		return
	}
	l, shift := &s.lanes[lane], level-s.level
	from, to := tile<<shift, (tile+1)<<shift // pages
	for st := range l.pages {
		pages := l.pages[st]
		for n := max(from, int64(s.first)); n < to && n-int64(s.first) < int64(len(pages)); n++ {
			if p := pages[n-int64(s.first)]; p != nil {
				at := int((n - from) << tileShift >> shift)
				for k, v := range p {
					out.time[st][at+k>>shift] += float64(v)
				}
			}
		}
	}
	for n := max(from, int64(s.first)); n < to && n-int64(s.first) < int64(len(l.marks)); n++ {
		if m := l.marks[n-int64(s.first)]; m != nil {
			at := int((n - from) << tileShift >> shift)
			for k, v := range m {
				out.marks[at+k>>shift] |= v
			}
		}
	}
}

// sum returns the time of a lane in buckets [from, to), by state.
func (s *store) sum(lane int, from, to int64) (t [NumStates]float64) {
	if lane >= len(s.lanes) {
		return t
	}
	for st := range s.lanes[lane].pages {
		for n, p := range s.lanes[lane].pages[st] {
			start := int64(s.first+n) << tileShift
			if p == nil || start >= to || start+tileBuckets <= from {
				continue
			}
			for k := max(0, from-start); k < min(tileBuckets, to-start); k++ {
				t[st] += float64(p[k])
			}
		}
	}
	return t
}

// A pyramid is a store with the coarser ones above it, each a quarter of the one before.
type pyramid struct{ levels []*store }

const pyramidStep = 2

// newPyramid puts levels above a store, up to the one whose page covers length.
func newPyramid(base *store, length int64) *pyramid {
	p := &pyramid{levels: []*store{base}}
	for top := base; length>>top.level > tileBuckets && top.level+pyramidStep <= topLevel; {
		top = top.coarser(pyramidStep)
		p.levels = append(p.levels, top)
	}
	return p
}

func (p *pyramid) base() *store { return p.levels[0] }

// tile adds a lane's tile of any level that is not finer than the base.
func (p *pyramid) tile(lane int, level uint, tile int64, out *cells) {
	i := min(int(level-p.base().level)/pyramidStep, len(p.levels)-1)
	p.levels[i].tile(lane, level, tile, out)
}
