package exectrace

import (
	"context"
	"fmt"
	"io"
	"math"
	"slices"
)

// Reading pieces: which generations lie where, and where each ends for what
// goes on over its end.

// A cut is where a generation lies, with what a walker knows before it.
type cut struct {
	off         int64
	number      uint64 // of the generation before, 0 none
	time        uint64 // of the last batch before
	freq        uint64 // ticks per second as those before say, 0 none
	start, last Time   // of the first event and, before a pass over the trace, the last batch
	gap         bool   // generations are missing before it
}

// begin returns when the generation begins.
func (g *generation) begin() Time {
	c := g.readClock()
	return Time(c.ns(int64(g.start())))
}

// lastBatch returns when the last batch of the generation begins.
func (g *generation) lastBatch() Time {
	c := g.readClock()
	var last uint64
	for i := range g.events {
		last = max(last, g.events[i].time)
	}
	return Time(c.ns(int64(last)))
}

// A piece is a generation that is read to be given out, and where it ends.
type piece struct {
	g       *generation
	until   Time // begin of the next one
	gap     bool // with generations missing between
	bounded bool // that is known
}

// A cutter hands out the generations of a trace. With ahead it looks at the
// batches of the one that follows first.
type cutter struct {
	w     *walker
	ahead bool
	cuts  []cut // those known; it adds what it meets
	limit int   // the last generation to hand out, plus one; 0 is all

	held *generation // what was read ahead
	err  error
}

func (c *cutter) next() (piece, error) {
	g, err := c.held, c.err
	if c.held = nil; g == nil && err == nil {
		g, err = c.read()
	}
	if err != nil {
		return piece{}, err
	}
	p := piece{g: g}
	switch {
	case !c.ahead:
		return p, nil
	case g.index+1 < len(c.cuts):
		next := &c.cuts[g.index+1]
		p.until, p.gap, p.bounded = next.start, next.gap, true
		return p, nil
	}
	if c.held, c.err = c.read(); c.err == nil && c.held.batches > 0 {
		p.until, p.gap, p.bounded = c.held.begin(), c.held.gap, true
	}
	return p, nil
}

func (c *cutter) read() (*generation, error) {
	if c.limit > 0 && c.w.count >= c.limit {
		return nil, io.EOF
	}
	number, time, freq := c.w.number, c.w.time, c.w.freq
	g, err := c.w.next()
	if err == nil && c.ahead && g.batches > 0 && g.index == len(c.cuts) {
		c.cuts = append(c.cuts, cut{g.off, number, time, freq, g.begin(), g.lastBatch(), g.gap})
	}
	return g, err
}

// close ends the piece of a job, when that was not done yet.
func (j *job) close(until Time, window Range) {
	n := j.e.notes
	if n == nil || n.closed || j.g.batches == 0 {
		return
	}
	if e := j.e; !window.IsZero() { // to the tick, as events are
		until = min(max(until, Time(e.ns(e.from))), Time(e.ns(e.to)))
	}
	n.close(j.e, until, j.gap)
}

// layout returns where generations lie and what a pass over the trace has left
// for reading pieces. There are no cuts of a stream.
func (t *Trace) layout() (cuts []cut, known *pieceMemory, end Time, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.info != nil {
		end = t.info.End
	}
	if t.cuts != nil || t.openAt == nil {
		return t.cuts, t.known, end, nil
	}
	w, err := t.walk()
	if err != nil {
		return nil, nil, 0, err
	}
	c := cutter{w: w, ahead: true}
	for {
		p, err := c.next()
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, nil, 0, err
		}
		p.g.lease.release()
	}
	t.cuts = slices.Clip(c.cuts)
	return t.cuts, t.known, end, nil
}

// remember keeps what a pass over the whole trace has found.
func (t *Trace) remember(m *pieceMemory, cuts []cut) {
	m.sort()
	t.mu.Lock()
	defer t.mu.Unlock()
	t.known = m
	t.marks = nil // made before, they know less
	if t.openAt == nil {
		return
	}
	t.cuts = slices.Clone(cuts)
	for i, last := range m.last {
		t.cuts[i].last = max(t.cuts[i].last, last)
	}
}

// choose returns the generations that have a part in a window.
func choose(cuts []cut, w Range, known bool) (first, limit int) {
	if w.IsZero() {
		return 0, len(cuts)
	}
	in := func(i int) bool {
		to := cuts[i].last + 1
		if i+1 < len(cuts) {
			to = max(to, cuts[i+1].start)
		} else if !known {
			to = math.MaxInt64 // its last batch has more after its begin
		}
		return cuts[i].start < w.To && to > w.From
	}
	for first < len(cuts) && !in(first) {
		first++
	}
	for limit = len(cuts); limit > first && !in(limit-1); {
		limit--
	}
	return first, limit
}

// walkFrom returns a walker that begins with a generation.
func (t *Trace) walkFrom(cuts []cut, first int) (*walker, error) {
	if first == 0 {
		return t.walk()
	}
	c := &cuts[first]
	in, err := t.openAt(c.off)
	if err != nil {
		return nil, err
	}
	return &walker{in: in, version: t.minor, count: first, number: c.number, time: c.time, freq: c.freq}, nil
}

// Pieces reads single generations and gives yield what happened in each, in
// order, until it returns false. With Options.Piece of [Trace.Account] the same
// comes beside the accounts, in one pass.
//
// Where the first generation of the window is not the trace's first, what a
// goroutine had been doing at its begin is known from an earlier pass over all
// of the trace, by Account with Piece or by Pieces without a window: for what it
// waits, since when it had no P in a system call, which group it is of if its
// stacks do not tell, which user regions it is in. Without such a pass these
// are "" and 0 for states that began before the window. The pass keeps
// that for some 400,000 changes (16 MiB) and forgets what comes after them.
//
// It takes about seven times the bytes of the generations that are read at once:
// Workers of them, or fewer where they are large. What that is for is kept for the
// next call, until the collector needs it.
//
// A trace of Go 1.21 or older has no generations: it is cut every million events, and
// read as a whole, unless it is small enough to be kept from the first time.
//
// It fails with ErrOldFormat for such a trace that is damaged, with ErrNoEvents for
// an empty trace, for a stream that was read before, and when the source fails or
// ctx ends.
func (t *Trace) Pieces(ctx context.Context, o PieceOptions, yield func(*Piece) bool) error {
	if t.old() {
		return t.piecesOfOld(ctx, o, yield)
	}
	cuts, known, _, err := t.layout()
	if err != nil {
		return err
	}
	first, limit := choose(cuts, o.Window, known != nil)
	if first >= limit && len(cuts) > 0 {
		return nil
	}
	if o.Clip.IsZero() || o.Goroutines != nil || t.openAt == nil {
		return t.pieces(ctx, o, o.wish(), first, limit, yield)
	}
	for more := true; first < limit && more && err == nil; first++ {
		err = t.clipped(ctx, cuts, first, o, func(p *Piece) bool { more = yield(p); return more })
	}
	return err
}

// clipped reads a clip of one generation, from marks where there are any.
func (t *Trace) clipped(ctx context.Context, cuts []cut, index int, o PieceOptions, yield func(*Piece) bool) error {
	x, err := t.marksOf(ctx, cuts, index)
	switch {
	case err != nil:
		return err
	case x != nil:
		return t.fromMark(ctx, cuts, index, x, o.wish(), yield)
	}
	return t.pieces(ctx, o, o.wish(), index, index+1, yield)
}

// pieces reads the pieces of some generations.
func (t *Trace) pieces(ctx context.Context, o PieceOptions, wish pieceWish, first, limit int, yield func(*Piece) bool) error {
	cuts, known, end, err := t.layout()
	if err != nil {
		return err
	}
	r := pieceReading{window: o.Window, end: end, yield: yield}
	c := &cutter{ahead: true}
	if t.openAt != nil {
		c.cuts, c.limit = cuts, limit
		if c.w, err = t.walkFrom(cuts, first); err != nil {
			return err
		}
	} else if c.w, err = t.walk(); err != nil {
		return err
	}
	var write *pieceMemory
	if o.Window.IsZero() {
		write = newPieceMemory()
		if m, ok := c.w.in.(*mapping); ok {
			r.drop = m.drop
		}
	}
	r.join = newPieceJoin(known, write)
	opts := Options{Keep: 1, Workers: o.Workers, Piece: func(*Piece) {}, wish: wish}
	if err := replayAll(ctx, c, opts, r.add); err != nil {
		return err
	}
	if !r.begun && o.Window.IsZero() {
		return fmt.Errorf("%w: it has a header and nothing after it", ErrNoEvents)
	}
	if write != nil && !r.stopped {
		t.remember(write, c.cuts)
	}
	return nil
}

// wish returns what the notes have to know of the options.
func (o *PieceOptions) wish() pieceWish {
	w := pieceWish{bare: o.Bare, clip: o.Clip}
	if o.Goroutines != nil {
		w.only = make(map[uint64]bool, len(o.Goroutines))
		for _, g := range o.Goroutines {
			w.only[uint64(g)] = true
		}
	}
	return w
}

// A pieceReading is a call of Pieces.
type pieceReading struct {
	join    *pieceJoin
	window  Range
	end     Time // of the trace, as far as known
	drop    func(from, to int)
	yield   func(*Piece) bool
	begun   bool
	stopped bool
}

// add hands out the piece of a generation.
func (r *pieceReading) add(j *job) bool {
	if j.g.batches == 0 {
		return true
	}
	last := Time(j.e.ns(j.e.last))
	r.end = max(r.end, last)
	j.close(r.end, Range{})
	p := r.join.add(j.e)
	r.begun = true
	if n := j.e.notes; n.wish.makesMarks() {
		n.wish.marks.keep(j.e, r.join)
	}
	if w := r.window; !w.IsZero() {
		if p.From >= w.To {
			r.stopped = true
			return false
		}
		if max(p.To, last) <= w.From && j.bounded {
			return true // of a stream, which has to be read from its begin
		}
	}
	r.stopped = !r.yield(p)
	if r.drop != nil {
		r.drop(int(j.g.off), int(j.g.end))
	}
	return !r.stopped
}
