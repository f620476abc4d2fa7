package exectrace

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"time"
)

// Reading begins with the headers of batches alone: they tell which
// generation and thread a batch belongs to and how long it is, so a trace is
// cut into generations without looking at a single event. A generation can
// be read alone, hence all that follows works on one at a time.
//
// Damage is handled here first. A header that cannot be, because its fields
// make no sense after what came before, starts a search for the next place
// where several headers follow each other; what lies between is lost and
// counted. The body of a batch is not looked at: the replay finds out.

// A batch is a run of events, or a piece of a table, of one thread.
type batch struct {
	data []byte // the body, followed by up to slack readable bytes
	size int    // of the body
	m    uint64 // thread; noThread for the tracer itself
	time uint64 // ticks; base of the events' times
}

func (b *batch) body() []byte { return b.data[:b.size] }

// A generation is what was found of one generation.
type generation struct {
	index   int // 0 for the first one in the trace
	version int // minor Go version of the trace
	number  uint64
	off     int64
	end     int64
	events  []batch // timed events
	strings []batch
	stacks  []batch
	samples []batch
	sync    []batch

	batches      int
	experimental int    // bytes of experimental batches
	lost         int64  // bytes between batches that could not be read
	freq         uint64 // ticks per second as the generations before say; for one that lost its own
	cut          bool   // the input ended inside a batch of this generation
	gap          bool   // generations are missing before this one
	closed       bool   // an end marker was seen

	lease lease
}

// start returns the smallest base time of the generation in ticks.
func (g *generation) start() uint64 {
	first := ^uint64(0)
	for _, bs := range [][]batch{g.events, g.sync} {
		for i := range bs {
			first = min(first, bs[i].time)
		}
	}
	if first == ^uint64(0) {
		return 0
	}
	return first
}

// torn reports whether the end of the generation is missing, and with it
// events of any thread: the runtime writes the stacks and strings of all events
// when it has written the last of them. What synchronizes the clocks says
// nothing: of a program that was killed it may be all there is.
func (g *generation) torn() bool {
	switch {
	case len(g.events) == 0:
		return true // a whole one has at least every goroutine's status
	case len(g.stacks) > 0:
		return false
	case g.version >= 26:
		return !g.closed
	}
	return g.cut || g.lost > 0 || len(g.strings) == 0
}

// batchHeader is the head of a batch on the wire.
type batchHeader struct {
	size       int // of the header itself
	gen        uint64
	m          uint64
	time       uint64
	body       int
	experiment bool
	endOfGen   bool
}

// maxHeader is the longest head: two bytes and four varints.
const maxHeader = 2 + 4*10

// parseBatchHeader decodes the head of a batch at the begin of b.
func parseBatchHeader(b []byte) (h batchHeader, ok bool) {
	if len(b) == 0 {
		return h, false
	}
	i := 1
	switch eventType(b[0]) {
	case evEndOfGeneration:
		return batchHeader{size: 1, endOfGen: true}, true
	case evEventBatch:
	case evExperimentalBatch:
		h.experiment = true
		i = 2
	default:
		return h, false
	}
	var size uint64
	for _, v := range []*uint64{&h.gen, &h.m, &h.time, &size} {
		if *v, i = uvarint(b, i); i < 0 {
			return h, false
		}
	}
	if size > maxBatchSize || h.gen == 0 {
		return h, false
	}
	h.size, h.body = i, int(size)
	return h, true
}

// A walker cuts an input into generations.
type walker struct {
	in      input
	version int // minor Go version of the header
	count   int // generations returned
	number  uint64
	time    uint64 // of the last batch; 0 none yet
	freq    uint64 // ticks per second of the last generation that tells; 0 none yet
	lost    int64  // bytes of generations before the next that are left out; 0 none
	err     error
}

// ErrNotTrace is returned for input that does not begin like an execution trace.
var ErrNotTrace = errors.New("not a Go execution trace")

// readHeader reads the 16 bytes that every trace begins with and returns the
// minor version of Go in it.
func readHeader(in input) (minor int, err error) {
	b, err := in.fill(headerSize)
	if err != nil {
		return 0, err
	}
	if len(b) == 0 {
		return 0, fmt.Errorf("%w: it is empty", ErrNotTrace)
	}
	if minor = parseHeader(b); minor == 0 {
		return 0, ErrNotTrace
	}
	in.skip(headerSize)
	return minor, nil
}

// parseHeader returns the minor Go version of a trace's first bytes, 0 when
// they are something else.
func parseHeader(b []byte) (minor int) {
	if len(b) < headerSize {
		return 0
	}
	if n, err := fmt.Sscanf(string(b[:headerSize]), "go 1.%d trace\x00\x00\x00", &minor); err != nil || n != 1 {
		return 0
	}
	return minor
}

// next returns the next generation, or io.EOF.
func (w *walker) next() (*generation, error) {
	if w.err != nil {
		return nil, w.err
	}
	g := &generation{index: w.count, version: w.version, off: w.in.offset(), lease: w.in.hold(), lost: w.lost, freq: w.freq}
	for {
		b, err := w.in.fill(maxHeader)
		if err != nil {
			w.err = err
			break
		}
		if len(b) == 0 {
			w.err = io.EOF
			break
		}
		h, ok := parseBatchHeader(b)
		if !ok || !h.endOfGen && !w.follows(g, h.gen) {
			lost, err := w.resync()
			g.lost += lost
			if err != nil {
				w.err = err
				break
			}
			continue
		}
		if h.endOfGen {
			w.in.skip(h.size)
			if g.batches > 0 {
				g.closed = true
				break
			}
			continue
		}
		if g.batches > 0 && h.gen != g.number {
			break
		}
		if b, err = w.in.fill(h.size + h.body + slack); err != nil {
			w.err = err
			break
		}
		w.time = h.time
		if end := h.size + h.body; end > len(b) || end < len(b) && !w.header(g, b[end:]) {
			if h.body, err = w.torn(h); err != nil {
				w.err = err
				break
			}
			b, _ = w.in.fill(h.size + h.body + slack)
		}
		if g.batches == 0 {
			g.gap = w.number != 0 && (h.gen != w.number+1 || w.lost > 0)
			g.number, w.number = h.gen, h.gen
		}
		g.batches++
		w.in.skip(g.add(h, b))
	}
	g.end = w.in.offset()
	if g.batches == 0 {
		g.lease.release()
		if w.err == io.EOF && g.lost > 0 {
			// Nothing but rubbish up to the end; hand it out once, to be counted.
			w.count++
			return g, nil
		}
		return nil, w.err
	}
	if !g.timed() {
		return w.leaveOut(g)
	}
	if c := g.readClock(); c.ok {
		w.freq = c.freq
	}
	w.lost = 0
	w.count++
	return g, nil
}

// timed reports whether anything is left of a generation that has a time.
func (g *generation) timed() bool { return len(g.events)+len(g.sync) > 0 }

// leaveOut returns the generation after one of which only tables are left: when it was
// nothing tells, and it would lie where the machine was started. Where none follows, what
// was lost is handed out to be counted.
func (w *walker) leaveOut(g *generation) (*generation, error) {
	lost := w.lost + g.end - g.off
	if w.err == nil {
		g.lease.release()
		w.lost = lost
		return w.next()
	}
	w.count++
	return &generation{index: g.index, version: g.version, number: g.number, off: g.off, end: g.end, lost: lost, lease: g.lease}, nil
}

// header reports whether the head of a batch that can come now begins b.
func (w *walker) header(g *generation, b []byte) bool {
	h, ok := parseBatchHeader(b)
	return ok && (h.endOfGen || w.follows(g, h.gen))
}

// torn returns how much of a batch's body is its own, when no batch begins
// where it should end: a piece of the trace is missing inside it, and what
// seems to be its end are other batches.
func (w *walker) torn(h batchHeader) (body int, err error) {
	b, err := w.in.fill(h.size + h.body + chain*(maxHeader+maxBatchSize))
	if err != nil {
		return 0, err
	}
	for i := h.size; i < min(h.size+h.body, len(b)); i++ {
		if w.plausible(b[i:], 2) {
			return i - h.size, nil
		}
	}
	return h.body, nil
}

// follows reports whether a batch of generation gen can come now. One or two
// generations may be missing; more is taken for a damaged header, unless
// resync has seen several headers that agree.
func (w *walker) follows(g *generation, gen uint64) bool {
	last := w.number
	if g.batches > 0 {
		last = g.number
	}
	return last == 0 || gen >= last && gen <= last+3
}

// add puts the batch whose head is h at the begin of b into g and returns
// how many bytes it takes. A batch that the input cuts short is kept: its
// events up to the cut are whole.
func (g *generation) add(h batchHeader, b []byte) int {
	end := h.size + h.body
	if end > len(b) {
		g.cut = true
		end = len(b)
	}
	body := b[h.size:end]
	if len(b) >= end+slack {
		body = b[h.size : end+slack]
	} else {
		body = append(make([]byte, 0, len(body)+slack), body...)[:len(body)+slack]
	}
	x := batch{data: body, size: end - h.size, m: h.m, time: h.time}
	switch {
	case h.experiment:
		g.experimental += h.body
	case x.size == 0:
	default:
		switch eventType(body[0]) {
		case evStrings:
			g.strings = append(g.strings, x)
		case evStacks:
			g.stacks = append(g.stacks, x)
		case evCPUSamples:
			g.samples = append(g.samples, x)
		case evFrequency, evSync:
			g.sync = append(g.sync, x)
		default:
			g.events = append(g.events, x)
		}
	}
	return end
}

// chain is how many headers must follow each other before a place is taken
// for the begin of a batch. Three made by chance were seen in random bytes.
const chain = 4

// resync skips to the next place where a chain of batches begins, or to the
// end of the input, and returns how many bytes it skipped.
func (w *walker) resync() (lost int64, err error) {
	const look = chain*(maxHeader+maxBatchSize) + slack
	for first := true; ; first = false {
		b, err := w.in.fill(look)
		if err != nil || len(b) == 0 {
			return lost, err
		}
		// A place can be judged when the whole chain is in view; near the
		// end of the input the chain may end with it.
		last := len(b)
		if len(b) >= look {
			last = len(b) - look + 1
		}
		i := 0
		if first {
			i = 1
		}
		for ; i < last; i++ {
			if w.plausible(b[i:], 0) {
				break
			}
		}
		i = min(i, last)
		w.in.skip(i)
		lost += int64(i)
		if i < last {
			return lost, nil
		}
	}
}

// maxJump is how far, in ticks, the times of batches that follow each other may
// lie apart: a quarter of an hour on Linux, some seconds where a tick is a cycle.
// Events that repeat look like batches of the length of the pattern, with the
// right generation, but not with a time since the machine was started.
const maxJump = 1 << 34

// maxPause is how long, in ticks, a thread may have nothing to tell within a batch:
// 19 hours on Linux. A program may be stopped overnight, but what lies centuries
// ahead is damage, and would stretch the whole trace.
const maxPause = 1 << 40

// plausible reports whether b begins with a chain of headers. Where the input
// ends, after least of them, a shorter chain will do.
func (w *walker) plausible(b []byte, least int) bool {
	gen, time := w.number, w.time
	for n := range chain {
		h, ok := parseBatchHeader(b)
		if !ok {
			return false
		}
		if !h.endOfGen {
			if h.gen < gen || gen != 0 && h.gen > gen+3 {
				return false
			}
			if time != 0 && max(h.time, time)-min(h.time, time) > maxJump {
				return false
			}
			gen, time = h.gen, h.time
		}
		if h.size+h.body >= len(b) {
			// The input ends in or after this batch, which nothing contradicts.
			return n >= least && (!h.endOfGen || len(b) == 1)
		}
		b = b[h.size+h.body:]
	}
	return true
}

// A clock converts ticks to nanoseconds and ties them to the wall clock.
type clock struct {
	freq uint64 // ticks per second
	mul  int64  // nanoseconds per tick where that is whole, else 0
	snap Clock
	ok   bool // a frequency was found
}

// defaultFreq is the frequency on Linux and wherever nanotime is the clock.
const defaultFreq = 15_625_000

func (c *clock) setFreq(f uint64) {
	c.freq, c.mul = f, 0
	if 1_000_000_000%f == 0 {
		c.mul = int64(1_000_000_000 / f)
	}
}

// ns converts ticks, a moment or a length.
func (c *clock) ns(ticks int64) int64 {
	if c.mul != 0 {
		return ticks * c.mul
	}
	return int64(float64(ticks) * (1e9 / float64(c.freq)))
}

// ticks converts nanoseconds.
func (c *clock) ticks(ns int64) int64 {
	if c.mul != 0 {
		return ns / c.mul
	}
	return int64(float64(ns) * (float64(c.freq) / 1e9))
}

// frequency reports whether a clock may have this one. It is measured anew for each
// generation and stays what it is: half or twice as much as before is damage, unless it
// is that of Linux, which the one before was not.
func (g *generation) frequency(f uint64) bool {
	const least, most = 1e5, 1e12 // the slowest that the runtime counts has a tick in some microseconds
	return f >= least && f <= most && (g.freq == 0 || f == defaultFreq || f/2 <= g.freq && g.freq/2 <= f)
}

// readClock decodes the sync batches of a generation.
func (g *generation) readClock() (c clock) {
	c.setFreq(cmp.Or(g.freq, defaultFreq))
	for i := range g.sync {
		b := g.sync[i].body()
		at := g.sync[i].time
		pos := 0
		if eventType(b[0]) == evSync {
			pos = 1
		}
		for pos < len(b) {
			t := eventType(b[pos])
			pos++
			var a [4]uint64
			n := 1
			if t == evClockSnapshot {
				n = 4
			} else if t != evFrequency {
				break
			}
			for k := 0; k < n && pos >= 0; k++ {
				a[k], pos = uvarint(b, pos)
			}
			if pos < 0 {
				break
			}
			if t == evFrequency {
				if g.frequency(a[0]) {
					c.setFreq(a[0])
					c.ok = true
				}
				continue
			}
			at += a[0]
			if a[2] < 1<<40 && a[3] < 1e9 {
				c.snap = Clock{At: Time(at), Mono: a[1], Wall: time.Unix(int64(a[2]), int64(a[3]))}
			}
		}
	}
	if c.snap.Mono != 0 {
		c.snap.At = Time(c.ns(int64(c.snap.At)))
	}
	return c
}
