package goroutines

import (
	"math"
	"time"
)

// A Runtime is what the program's runtime counts, at one moment. What is
// negative was not found.
type Runtime struct {
	Procs       int           // GOMAXPROCS
	IdleProcs   int           // of these, without work
	HeapLive    int64         // bytes, as the pacer counts: marked, and allocated since
	HeapMarked  int64         // bytes that the last collection found alive
	HeapGoal    int64         // at which the next collection ends, by GOGC alone; negative with GOGC=off
	GOGC        int64         // percent; [Off] when it is off
	MemoryLimit int64         // GOMEMLIMIT in bytes; [Off] when it is off
	Allocated   int64         // bytes since the start, but for what Ps have not yet told: some spans each
	Mapped      int64         // bytes that the runtime took from the system and has not given back
	Released    int64         // bytes of the heap that were given back
	Collections int64         // since the start
	Forced      int64         // of these, those that somebody asked for
	GCTime      time.Duration // CPU time of collections, as of the last one
	TotalTime   time.Duration // CPU time that there was, to that moment
}

// Off is the value of a setting that is off.
const Off = math.MaxInt64

// unknown is what is known of a program whose memory cannot be read.
var unknown = Runtime{-1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1}

// counters are where the counters are, and what becomes of what is read there.
var counters = []struct {
	variable string
	f        field
	set      func(c *Runtime, v uint64)
}{
	{"runtime.sched", schedIdleProcs, func(c *Runtime, v uint64) { c.IdleProcs = int(int32(v)) }},
	{"runtime.gcController", gcHeapLive, func(c *Runtime, v uint64) { c.HeapLive = int64(v) }},
	{"runtime.gcController", gcHeapMarked, func(c *Runtime, v uint64) { c.HeapMarked = int64(v) }},
	{"runtime.gcController", gcHeapGoal, func(c *Runtime, v uint64) { c.HeapGoal = int64(v) }}, // all ones with GOGC=off
	{"runtime.gcController", gcPercent, func(c *Runtime, v uint64) { c.GOGC = setting(int64(int32(v))) }},
	{"runtime.gcController", gcMemoryLimit, func(c *Runtime, v uint64) { c.MemoryLimit = setting(int64(v)) }},
	{"runtime.gcController", gcAllocated, func(c *Runtime, v uint64) { c.Allocated = int64(v) }},
	{"runtime.gcController", gcMapped, func(c *Runtime, v uint64) { c.Mapped = int64(v) }},
	{"runtime.gcController", gcReleased, func(c *Runtime, v uint64) { c.Released = int64(v) }},
	{"runtime.memstats", statsCollections, func(c *Runtime, v uint64) { c.Collections = int64(uint32(v)) }},
	{"runtime.memstats", statsForced, func(c *Runtime, v uint64) { c.Forced = int64(uint32(v)) }},
	{"runtime.work", workGCTime, func(c *Runtime, v uint64) { c.GCTime = time.Duration(v) }},
	{"runtime.work", workTotalTime, func(c *Runtime, v uint64) { c.TotalTime = time.Duration(v) }},
}

// setting returns a setting whose numbers below zero mean that it is off.
func setting(v int64) int64 {
	if v < 0 {
		return Off
	}
	return v
}

// A Gauge reads what one program's runtime counts, again and again. It is for one
// goroutine at a time, which may be another than that of the [Reader] it is from.
type Gauge struct {
	memory memory
	list   uint64 // an address that there is
	spans  []span
	sets   []func(c *Runtime, v uint64)
	usage  *usageReader // nil where it is not known
}

// Gauge prepares the reading of the counters on another goroutine. It stays of use
// when the reader is closed.
func (r *Reader) Gauge() (*Gauge, error) {
	m, err := r.memory.another()
	if err != nil {
		return nil, err
	}
	if err := r.memory.same(r.list); err != nil { // what was opened may be another's
		m.close()
		return nil, err
	}
	return r.gauge(m), nil
}

func (r *Reader) gauge(m memory) *Gauge {
	g := &Gauge{memory: m, list: r.list, usage: r.usage(m)}
	add := func(variable string, offset uint32, set func(c *Runtime, v uint64)) {
		if at, ok := r.counter[variable]; ok && offset != missing {
			g.spans, g.sets = append(g.spans, span{at + uint64(offset), 8}), append(g.sets, set)
		}
	}
	add("runtime.gomaxprocs", 0, func(c *Runtime, v uint64) { c.Procs = int(int32(v)) })
	for _, w := range counters {
		add(w.variable, r.layout.at[w.f], w.set)
	}
	return g
}

// Close lets go of the program's memory.
func (g *Gauge) Close() { g.memory.close() }

// Gone reports whether the memory is no more: the program has ended, or executed another.
func (g *Gauge) Gone() bool { return g.memory.same(g.list) != nil }

// Counters reads what the program's runtime counts, in two system calls. Of a program
// without symbols it is found by the runtime's code, or nothing is.
func (r *Reader) Counters() Runtime { return r.gauge(r.memory).Read() }

// Read returns as [Reader.Counters].
func (g *Gauge) Read() Runtime {
	c := unknown
	if len(g.spans) == 0 {
		return unknown
	}
	b := make([]byte, 8*len(g.spans))
	if got, err := g.memory.gather(b, g.spans); err != nil || got < len(b) || g.memory.same(g.list) != nil {
		return unknown
	}
	for i, set := range g.sets {
		set(&c, word(b[8*i:]))
	}
	const most = 1 << 16
	if c.Procs <= 0 || c.Procs > most || c.IdleProcs > c.Procs || c.Forced > c.Collections {
		return unknown
	}
	return c
}
