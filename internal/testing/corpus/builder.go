package corpus

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
)

// A Builder writes a trace in the wire format of Go 1.22 and later. It checks
// nothing: sick traces are what it is for. Create one with [NewBuilder], write
// each [Generation] in order, and finish with [Builder.Close].
type Builder struct {
	// TicksPerSecond is the unit of all times given to the builder; the
	// default is one per nanosecond.
	TicksPerSecond uint64

	w     io.Writer
	minor int
	gen   *Generation
	pcs   map[string]uint64 // of a function, the same in all generations
	err   error
}

// NewBuilder begins a trace on w in the format that Go 1.minor writes; the
// formats are 22, 23, 25 and 26.
func NewBuilder(w io.Writer, minor int) *Builder {
	b := &Builder{TicksPerSecond: 1e9, w: w, minor: minor, pcs: make(map[string]uint64)}
	_, b.err = w.Write(header(minor))
	return b
}

// A Generation is one self-contained piece of the trace being built.
type Generation struct {
	b       *Builder
	number  uint64
	start   uint64
	body    bytes.Buffer // finished batches
	threads []*Thread
	strings map[string]uint64
	names   []string
	stacks  map[string]uint64
	frames  []byte // body of the stacks, without their batches
	cuts    []int  // ends of the single stacks in frames
	samples []byte
}

// Generation ends the generation before and begins one that starts at the
// given time.
func (b *Builder) Generation(number, start uint64) *Generation {
	b.finish()
	b.gen = &Generation{
		b: b, number: number, start: start,
		strings: make(map[string]uint64), stacks: make(map[string]uint64),
	}
	return b.gen
}

// Close ends the last generation. It returns the first error of writing.
func (b *Builder) Close() error {
	b.finish()
	return b.err
}

func (b *Builder) finish() {
	g := b.gen
	if g == nil {
		return
	}
	b.gen = nil
	for _, t := range g.threads {
		t.Flush()
	}
	// Runtimes before 1.25 learn the frequency last; a reader has to cope.
	var out bytes.Buffer
	if b.minor >= 25 {
		g.writeSync(&out)
	}
	g.body.WriteTo(&out)
	g.writeTables(&out)
	if b.minor < 25 {
		g.writeSync(&out)
	}
	if b.minor >= 26 {
		out.WriteByte(byte(EndOfGen))
	}
	b.write(out.Bytes())
}

func (b *Builder) write(p []byte) {
	if b.err == nil {
		_, b.err = b.w.Write(p)
	}
}

func (g *Generation) writeSync(out *bytes.Buffer) {
	if g.b.minor < 25 {
		body := binary.AppendUvarint([]byte{byte(Frequency)}, g.b.TicksPerSecond)
		g.batch(out, NoThread, g.start, body)
		return
	}
	body := []byte{byte(Sync), byte(Frequency)}
	body = binary.AppendUvarint(body, g.b.TicksPerSecond)
	ns := uint64(float64(g.start) * (1e9 / float64(g.b.TicksPerSecond)))
	body = append(body, byte(Clock))
	for _, v := range []uint64{0, ns, 1_700_000_000 + ns/1e9, ns % 1e9} {
		body = binary.AppendUvarint(body, v)
	}
	g.batch(out, NoThread, g.start, body)
}

func (g *Generation) writeTables(out *bytes.Buffer) {
	if len(g.samples) > 0 {
		g.batch(out, NoThread, g.start, append([]byte{byte(CPUSamples)}, g.samples...))
	}
	from := 0
	for i, cut := range g.cuts {
		// A stack must not straddle two batches.
		if last := i == len(g.cuts)-1; last || g.cuts[i+1]-from > maxBatch-1 {
			g.batch(out, NoThread, g.start, append([]byte{byte(Stacks)}, g.frames[from:cut]...))
			from = cut
		}
	}
	body := []byte{byte(Strings)}
	for i, s := range g.names {
		if len(body)+len(s)+maxEventSize > maxBatch {
			g.batch(out, NoThread, g.start, body)
			body = []byte{byte(Strings)}
		}
		body = binary.AppendUvarint(append(body, byte(String)), uint64(i+1))
		body = append(binary.AppendUvarint(body, uint64(len(s))), s...)
	}
	if len(body) > 1 {
		g.batch(out, NoThread, g.start, body)
	}
}

func (g *Generation) batch(out *bytes.Buffer, m, time uint64, body []byte) {
	h := []byte{byte(EventBatch)}
	for _, v := range []uint64{g.number, m, time, uint64(len(body))} {
		h = binary.AppendUvarint(h, v)
	}
	out.Write(h)
	out.Write(body)
}

// Raw writes a batch with any body, before what the threads have not yet
// flushed.
func (g *Generation) Raw(m, time uint64, body []byte) { g.batch(&g.body, m, time, body) }

// Experiment writes a batch of an experiment, before what the threads have not
// yet flushed.
func (g *Generation) Experiment(id byte, m, time uint64, body []byte) {
	g.body.Write([]byte{byte(Experimental), id})
	for _, v := range []uint64{g.number, m, time, uint64(len(body))} {
		g.body.Write(binary.AppendUvarint(nil, v))
	}
	g.body.Write(body)
}

// String gives the id of s in this generation; that of "" is 0.
func (g *Generation) String(s string) uint64 {
	if s == "" {
		return 0
	}
	id := g.strings[s]
	if id == 0 {
		g.names = append(g.names, s)
		id = uint64(len(g.names))
		g.strings[s] = id
	}
	return id
}

// Stack gives the id of a call stack in this generation, leaf first; that of
// no function is 0. The functions lie in files named after them, and a
// function has the same PC in all generations.
func (g *Generation) Stack(functions ...string) uint64 {
	if len(functions) == 0 {
		return 0
	}
	key := fmt.Sprintf("%q", functions)
	if id := g.stacks[key]; id != 0 {
		return id
	}
	id := uint64(len(g.stacks) + 1)
	g.stacks[key] = id
	b := binary.AppendUvarint(append(g.frames, byte(Stack)), id)
	b = binary.AppendUvarint(b, uint64(len(functions)))
	for _, f := range functions {
		pc := g.b.PC(f)
		for _, v := range []uint64{pc, g.String(f), g.String(f + ".go"), pc & 0xffff} {
			b = binary.AppendUvarint(b, v)
		}
	}
	g.frames, g.cuts = b, append(g.cuts, len(b))
	return id
}

// PC returns the program counter of a function in stacks of b.
func (b *Builder) PC(function string) uint64 {
	pc := b.pcs[function]
	if pc == 0 {
		pc = 0x400000 + 16*uint64(len(b.pcs)+1)
		b.pcs[function] = pc
	}
	return pc
}

// Sample adds a CPU sample.
func (g *Generation) Sample(at, m, p, gid, stack uint64) {
	g.samples = append(g.samples, byte(CPUSample))
	for _, v := range []uint64{at, m, p, gid, stack} {
		g.samples = binary.AppendUvarint(g.samples, v)
	}
}

// A Thread is the events that one thread writes in one generation.
type Thread struct {
	g     *Generation
	m     uint64
	start uint64
	last  uint64
	body  []byte
}

// Thread begins the events of thread m. Batches reach the file in the order in
// which they fill up, and what is left of them in the order of the threads.
func (g *Generation) Thread(m uint64) *Thread {
	t := &Thread{g: g, m: m}
	g.threads = append(g.threads, t)
	return t
}

// Event writes an event. The times of a thread must not go back: the format
// cannot say that.
func (t *Thread) Event(at uint64, typ Type, args ...uint64) {
	if len(t.body) > maxBatch-maxEventSize {
		t.Flush()
	}
	if len(t.body) == 0 {
		t.start, t.last = at, at
	}
	if at < t.last {
		panic(fmt.Sprintf("corpus: thread %d: event at %d after one at %d", t.m, at, t.last))
	}
	t.body = binary.AppendUvarint(append(t.body, byte(typ)), at-t.last)
	for _, a := range args {
		t.body = binary.AppendUvarint(t.body, a)
	}
	t.last = at
}

// Flush ends the current batch.
func (t *Thread) Flush() {
	if len(t.body) > 0 {
		t.g.Raw(t.m, t.start, t.body)
		t.body = t.body[:0]
	}
}
