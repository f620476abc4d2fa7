package goroutines

import "time"

// A Runtime is what the program's runtime counts, at one moment. What is
// negative was not found.
type Runtime struct {
	Procs       int           // GOMAXPROCS
	IdleProcs   int           // of these, without work
	HeapLive    int64         // bytes, as the pacer counts: marked, and allocated since
	HeapGoal    int64         // at which the next collection ends; negative with GOGC=off
	Collections int64         // since the start
	GCTime      time.Duration // CPU time of collections, as of the last one
	TotalTime   time.Duration // CPU time that there was, to that moment
}

// Counters reads what the program's runtime counts, in two system calls. Of a
// program without symbols nothing is found.
func (r *Reader) Counters() Runtime {
	none := Runtime{-1, -1, -1, -1, -1, -1, -1}
	c := none
	type want struct {
		variable string
		f        field
		set      func(uint64)
	}
	wants := []want{
		{"runtime.sched", schedIdleProcs, func(v uint64) { c.IdleProcs = int(int32(v)) }},
		{"runtime.gcController", gcHeapLive, func(v uint64) { c.HeapLive = int64(v) }},
		{"runtime.gcController", gcHeapGoal, func(v uint64) { c.HeapGoal = int64(v) }}, // all ones with GOGC=off
		{"runtime.memstats", statsCollections, func(v uint64) { c.Collections = int64(uint32(v)) }},
		{"runtime.work", workGCTime, func(v uint64) { c.GCTime = time.Duration(v) }},
		{"runtime.work", workTotalTime, func(v uint64) { c.TotalTime = time.Duration(v) }},
	}
	var spans []span
	var sets []func(uint64)
	if at, ok := r.counter["runtime.gomaxprocs"]; ok {
		spans = append(spans, span{at, 8})
		sets = append(sets, func(v uint64) { c.Procs = int(int32(v)) })
	}
	for _, w := range wants {
		at, ok := r.counter[w.variable]
		if ok && r.layout.at[w.f] != missing {
			spans = append(spans, span{at + uint64(r.layout.at[w.f]), 8})
			sets = append(sets, w.set)
		}
	}
	if len(spans) == 0 {
		return none
	}
	b := make([]byte, 8*len(spans))
	if got, err := r.memory.gather(b, spans); err != nil || got < len(b) || r.memory.same(r.list) != nil {
		return none
	}
	for i, set := range sets {
		set(word(b[8*i:]))
	}
	const most = 1 << 16
	if c.Procs <= 0 || c.Procs > most || c.IdleProcs > c.Procs {
		return none
	}
	return c
}
