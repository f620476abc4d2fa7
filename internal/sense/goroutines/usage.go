package goroutines

import (
	"cmp"
	"debug/elf"
	"slices"
)

// A Usage is what the runtime counts of the memory that it took from the system and has not
// given back, in bytes. Only what of it was touched is resident.
type Usage struct {
	// These lie in the arenas of the heap.
	Objects int64 // allocated and not yet swept, garbage included, but for what Ps have not yet told
	Unused  int64 // of spans that have objects: what no object has
	Free    int64 // spans without any
	Stacks  int64 // of goroutines
	GCWork  int64 // what collections note there
	// These lie outside of them.
	Spans, Caches, Buckets int64 // descriptions of spans, what Ps allocate from, the memory profile
	GC, Other              int64 // tables of the heap, and the rest
	ThreadStacks           int64 // of threads that the runtime allocated itself
}

// A Range is of addresses, from Low up to High.
type Range struct{ Low, High uint64 }

const (
	// arenaBytes is the size of an arena on all systems of 64 bits that can be read.
	arenaBytes = 64 << 20
	// maxArenas is 8 TiB, more than machines have.
	maxArenas = 1 << 17
	// statShards is how many parts the runtime's counts of the heap are kept in. Their sum
	// is what counts.
	statShards = 3
)

// arenaBase is what the addresses of arenas count from, by architecture.
var arenaBase = map[elf.Machine]uint64{elf.EM_X86_64: 0xffff_8000_0000_0000, elf.EM_AARCH64: 0}

// A usageReader reads the counts.
type usageReader struct {
	memory            memory
	at                *[fields]uint32
	stats, controller uint64 // where runtime.memstats and runtime.gcController are
	torn              bool   // one could not be read
}

// Usage reads what the runtime counts of its memory; ok is false where it is not known.
func (g *Gauge) Usage() (u Usage, ok bool) {
	if g.usage == nil {
		return u, false
	}
	w := *g.usage
	at := w.at
	shards := make([]byte, at[statsHeapEnd]-at[statsHeap])
	if got, err := g.memory.gather(shards, []span{{w.stats + uint64(at[statsHeap]), len(shards)}}); err != nil || got < len(shards) {
		return u, false
	}
	inUse, freed := w.count(w.controller, gcHeapInUse), w.count(w.controller, gcFreed)
	u = Usage{
		Free:   w.count(w.controller, gcHeapFree),
		Stacks: sumOfShards(shards, at[deltaStacks]), GCWork: sumOfShards(shards, at[deltaWorkBufs]) + sumOfShards(shards, at[deltaPtrBits]),
		Spans: w.count(w.stats, statsSpans), Caches: w.count(w.stats, statsCaches), Buckets: w.count(w.stats, statsBuckets),
		GC: w.count(w.stats, statsGC), Other: w.count(w.stats, statsOther), ThreadStacks: w.count(w.stats, statsThreadStacks),
	}
	u.Objects = min(max(0, w.count(w.controller, gcAllocated)-freed), inUse)
	u.Unused = inUse - u.Objects
	// Both are of the spans in use: what is far apart is read at the wrong place.
	apart := sumOfShards(shards, at[deltaInHeap]) - inUse
	if w.torn || max(apart, -apart) > max(usageDrift, inUse/4) || g.memory.same(g.list) != nil {
		return Usage{}, false
	}
	return u, true
}

// usage returns where the counts are, nil where one of them is not known.
func (r *Reader) usage(m memory) *usageReader {
	w := &usageReader{memory: m, at: &r.layout.at, stats: r.counter["runtime.memstats"], controller: r.counter["runtime.gcController"]}
	for f := gcFreed; f < deltaPtrBits; f++ {
		if w.at[f] == missing {
			return nil
		}
	}
	size := w.at[statsHeapEnd] - w.at[statsHeap]
	if w.stats == 0 || w.controller == 0 || w.at[gcAllocated] == missing || w.at[statsHeapEnd] < w.at[statsHeap] || size > maxStats {
		return nil
	}
	return w
}

// maxStats is far over the 3.5 KB that the runtime's counts of the heap have.
const maxStats = 64 << 10

// count reads one number of bytes.
func (w *usageReader) count(base uint64, f field) int64 {
	var b [8]byte
	got, err := w.memory.gather(b[:], []span{{base + uint64(w.at[f]), 8}})
	// Both counts of bytes since the start, of which only the difference is used, may be large.
	if v := word(b[:]); err == nil && got == 8 && v < 1<<62 {
		return int64(v)
	}
	w.torn = true
	return 0
}

// usageDrift is by how much two counts of a heap may differ that changes while they are
// read: some arenas.
const usageDrift = 4 * arenaBytes

// sumOfShards adds up a count of all parts; 0 where a version does not have it.
func sumOfShards(b []byte, at uint32) (sum int64) {
	size := len(b) / statShards &^ 7 // the last may have what fills it up behind it
	for i := range statShards {
		if at != missing && int(at)+8 <= size {
			sum += int64(word(b[i*size+int(at):]))
		}
	}
	return max(0, sum)
}

// Arenas returns the addresses of the program's heap, in order and joined where they touch. The
// error has [ErrUnsure] in it where they are not known.
func (r *Reader) Arenas() ([]Range, error) {
	r.findHeap()
	heap, p := r.counter["runtime.mheap_"], machineOf(r.code)
	base, known := arenaBase[p]
	if heap == 0 || !known {
		return nil, unsure("where its heap is was not found, or it has no symbols")
	}
	var all []Range
	for _, f := range []field{heapArenas, heapAllArenas, heapUserArenas} {
		if r.layout.at[f] == missing {
			continue
		}
		list, err := r.arenas(heap+uint64(r.layout.at[f]), base)
		if err != nil {
			return nil, err
		}
		all = append(all, list...)
	}
	if len(all) == 0 {
		return nil, unsure("where its heap is was not found")
	}
	return joined(all), nil
}

func machineOf(c code) elf.Machine {
	if p, ok := c.(program); ok {
		return p.image.Machine()
	}
	return elf.EM_NONE
}

// arenas reads a slice of numbers of arenas.
func (r *Reader) arenas(at, base uint64) (list []Range, err error) {
	var head [24]byte
	if got, err := r.memory.gather(head[:], []span{{at, len(head)}}); err != nil || got < len(head) {
		return nil, unsure("where its heap is cannot be read")
	}
	first, n, room := word(head[:]), word(head[8:]), word(head[16:])
	if n > room || room > maxArenas {
		return nil, unsure("its heap is not where it should be")
	}
	if n == 0 {
		return nil, nil
	}
	numbers := make([]byte, 8*n)
	if got, err := r.memory.gather(numbers, []span{{first, len(numbers)}}); err != nil || got < len(numbers) {
		return nil, unsure("where its heap is cannot be read")
	}
	for i := range n {
		low := word(numbers[8*i:])*arenaBytes + base
		if low == 0 || low > maxAddress {
			return nil, unsure("its heap is not where it should be")
		}
		list = append(list, Range{low, low + arenaBytes})
	}
	return list, nil
}

func joined(list []Range) (out []Range) {
	slices.SortFunc(list, func(a, b Range) int { return cmp.Compare(a.Low, b.Low) })
	for _, r := range list {
		if n := len(out); n > 0 && r.Low <= out[n-1].High {
			out[n-1].High = max(out[n-1].High, r.High)
			continue
		}
		out = append(out, r)
	}
	return out
}
