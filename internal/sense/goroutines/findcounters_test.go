package goroutines

import (
	"slices"
	"testing"
)

// TestBases looks for structures by what is named of them.
func TestBases(t *testing.T) {
	addrs := []uint64{0x100, 0x108, 0x110, 0x200, 0x210, 0x300}
	for _, c := range []struct {
		offsets []uint32
		want    []uint64
	}{
		{[]uint32{0, 8, 16}, []uint64{0x100}},
		{[]uint32{16, 8}, []uint64{0xf8, 0x100}},
		{[]uint32{0, 16}, []uint64{0x100, 0x200}},
		{[]uint32{0, 4}, nil},
		{[]uint32{0x1000, 0}, nil}, // it would begin before there is memory
	} {
		if got := bases(addrs, c.offsets); !slices.Equal(got, c.want) {
			t.Errorf("bases(…, %d) = %#x, want %#x", c.offsets, got, c.want)
		}
	}
}

// counted is the memory of a program whose counters are at places that only its code tells.
func counted() (m fake, r *Reader, at map[string][]uint64) {
	const (
		all, pointers, firstP, sched, controller, stats, work = 0x1000, 0x2000, 0x3000, 0x5000, 0x6000, 0x8000, 0xc000
		psize, inUse                                          = 0x100, 80 << 13
	)
	l := layouts["go1.26 amd64"]
	m = fake{all: make([]byte, 24), pointers: make([]byte, 32), firstP: make([]byte, 4*psize),
		sched: make([]byte, 256), controller: make([]byte, 512), stats: make([]byte, 8<<10), work: make([]byte, 1<<10)}
	words := func(piece, from uint64, values ...uint64) {
		for i, v := range values {
			put(m[piece][from+8*uint64(i):], v)
		}
	}
	words(all, 0, pointers, 4, 4)
	for i := range uint64(4) {
		words(pointers, 8*i, firstP+psize*i)
		words(firstP, psize*i, i)
	}
	words(sched, uint64(l.at[schedIdleProcs])-idleList, firstP+psize, 2)
	for f, v := range map[field]uint64{gcHeapInUse: inUse, gcHeapLive: inUse - 100, gcMapped: 2 * inUse, gcAllocated: 3 * inUse, gcFreed: inUse,
		gcMemoryLimit: Off, gcPercent: 100} {
		words(controller, uint64(l.at[f]), v)
	}
	words(stats, uint64(l.at[statsHeap]+l.at[deltaInHeap]), inUse)
	words(stats, uint64(l.at[statsCollections]), 1<<32|7) // of 4 bytes: one of 7 that was forced
	for _, f := range []field{statsSpans, statsCaches, statsGC, statsOther} {
		words(stats, uint64(l.at[f]), 1000)
	}
	words(work, uint64(l.at[workGCTime])-8*gcParts, 1, 2, 3, 4, 10, 5, 6, 11, 100, 200, 321)
	at = map[string][]uint64{allProcs: {all}, "runtime.sched": {sched}, "runtime.gcController": {controller},
		"runtime.memstats": {stats}, "runtime.work": {work}}
	return m, newReader(m, m, &l), at
}

// TestCountersThatLie changes the memory of a program without symbols: nothing is told of one that is not
// what it should be in each respect.
func TestCountersThatLie(t *testing.T) {
	l := layouts["go1.26 amd64"]
	field := func(base uint64, f field, v uint64) func(fake) {
		return func(m fake) { put(m[base][l.at[f]:], v) }
	}
	at := func(base, offset, v uint64) func(fake) { return func(m fake) { put(m[base][offset:], v) } }
	for name, c := range map[string]struct {
		change     func(fake)
		also       string // a variable that may be at a second place
		none, half bool   // nothing is told, or only nothing of the time of collections
	}{
		"":                             {change: func(fake) {}},
		"none idle":                    {change: at(0x5000, uint64(l.at[schedIdleProcs])-idleList, 0), none: true},
		"idle, but no number":          {change: field(0x5000, schedIdleProcs, 0), none: true},
		"more idle than there are":     {change: field(0x5000, schedIdleProcs, 5), none: true},
		"idle, but no P":               {change: at(0x5000, uint64(l.at[schedIdleProcs])-idleList, 0x3008), none: true},
		"no Ps":                        {change: at(0x1000, 8, 0), none: true},
		"more Ps than room":            {change: at(0x1000, 8, 5), none: true},
		"a million Ps":                 {change: func(m fake) { put(m[0x1000][8:], 1<<20); put(m[0x1000][16:], 1<<20) }, none: true},
		"Ps that are nowhere":          {change: at(0x1000, 0, 0x7_0000), none: true},
		"a P that is nowhere":          {change: at(0x2000, 8, 0x7_0000), none: true},
		"two Ps that are one":          {change: at(0x2000, 8, 0x3000), none: true},
		"a P in a state unknown":       {change: at(0x3000, 0, 9<<32), none: true},
		"no heap":                      {change: field(0x6000, gcHeapInUse, 0), none: true},
		"parts of pages":               {change: field(0x6000, gcHeapInUse, 80<<13+8), none: true},
		"a heap of all memory":         {change: field(0x6000, gcHeapLive, 1<<50), none: true},
		"more freed than allocated":    {change: field(0x6000, gcFreed, 4*80<<13), none: true},
		"a limit below zero":           {change: field(0x6000, gcMemoryLimit, 1<<63), none: true},
		"a percentage below zero":      {change: field(0x6000, gcPercent, 0xffff_fffe), none: true},
		"GOGC=off":                     {change: field(0x6000, gcPercent, 0xffff_ffff)},
		"another heap than its parts":  {change: at(0x8000, uint64(l.at[statsHeap]+l.at[deltaInHeap]), 800<<13), none: true},
		"more forced than there were":  {change: field(0x8000, statsCollections, 8<<32|7), none: true},
		"no tables":                    {change: field(0x8000, statsGC, 0), none: true},
		"times that are no sum":        {change: field(0xc000, workGCTime, 11), half: true},
		"time without collections":     {change: field(0x8000, statsCollections, 0), half: true},
		"a second place of the heap's": {change: func(m fake) { m[0x2_0000] = m[0x6000] }, also: "runtime.gcController", none: true},
		"a second place that is empty": {change: func(m fake) { m[0x2_0000] = make([]byte, 4<<10) }, also: "runtime.gcController"},
		"a second place of Ps":         {change: func(m fake) { m[0x2_0000] = m[0x1000] }, also: allProcs, none: true},
		"a second place of times":      {change: func(m fake) { m[0x2_0000] = m[0xc000] }, also: "runtime.work", half: true},
		"a second place nowhere":       {change: func(fake) {}, also: "runtime.sched"},
	} {
		m, r, where := counted()
		c.change(m)
		if c.also != "" {
			where[c.also] = append(where[c.also], 0x2_0000)
		}
		r.findCounters(&tables{traced: func() map[string][]uint64 { return where }}, 0)
		got := r.Counters()
		_, timed := r.counter["runtime.work"]
		if told := got.Procs > 0; told == c.none || told && timed == c.half {
			t.Errorf("%s: %+v, of times %v; want nothing: %v, no times: %v", name, got, timed, c.none, c.half)
		}
		if name == "" && (got.Procs != 4 || got.IdleProcs != 2 || got.Collections != 7 || got.Forced != 1 ||
			got.HeapLive != 80<<13-100 || got.GCTime != 10 || got.TotalTime != 321) {
			t.Errorf("Counters() = %+v, want 4 Ps, 2 idle, 7 collections, 1 forced, live %d, 10 of 321 s",
				got, 80<<13-100)
		}
	}
}
