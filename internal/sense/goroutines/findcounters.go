package goroutines

import (
	"encoding/binary"
	"slices"
	"time"

	"github.com/gowhy/gowhy/internal/sense/symbols"
)

// The counters of a program without symbols are found in two steps. Its code says where they may be:
// functions of the runtime name several fields of one structure, and their distances are those of the
// version's layout at one place only. Then the memory has to agree: sums that must be equal, pointers
// that must lead back. Of two places that would do neither is believed, and without one of the variables
// that belong together none is: a number of a wrong place is worse than no number.

// allProcs is runtime.allp, a slice of all Ps. Its length is GOMAXPROCS, of which other variables
// have copies.
const allProcs = "runtime.allp"

const (
	sliceLength = 8 // where a slice has it
	idleList    = 8 // how far the scheduler's list of idle Ps is before their number
	gcParts     = 4 // how many times are before their sum, of the CPU's that collections took
)

// A trace is where in the runtime's code a variable shows: what its users name in it.
type trace struct {
	variable string
	users    []string
	offsets  []uint32
}

func traces(l *layout) []trace {
	return []trace{
		{allProcs, []string{"runtime.procresize"}, []uint32{0, sliceLength, 16}},
		{"runtime.sched", []string{"runtime.pidleput"}, []uint32{l.at[schedIdleProcs] - idleList, l.at[schedIdleProcs]}},
		{"runtime.gcController",
			[]string{"runtime.gcinit", "runtime.gcMarkTermination", "runtime.gcResetMarkState", "runtime.(*mheap).allocSpan"},
			[]uint32{l.at[gcPercent], l.at[gcHeapLive], l.at[gcHeapInUse], l.at[gcHeapFree], l.at[gcMapped]}},
		{"runtime.memstats", []string{"runtime.(*mheap).init", "runtime.(*mheap).allocSpan", "runtime.stkbucket"},
			[]uint32{l.at[statsHeap], l.at[statsSpans], l.at[statsCaches], l.at[statsBuckets], l.at[statsGC], l.at[statsOther]}},
		{"runtime.work", []string{"runtime.gcMarkTermination", "runtime.gcMark"},
			[]uint32{l.at[workMarkEnd], l.at[workGCTime] - 8*gcParts, l.at[workGCTime], l.at[workTotalTime]}},
	}
}

// traced returns the addresses of an image that variables may have by its code.
func traced(im *symbols.Image, l *layout) map[string][]uint64 {
	at := map[string][]uint64{}
	for _, t := range traces(l) {
		if !slices.Contains(t.offsets, missing) {
			list := bases(operands(im, t.users...), t.offsets)
			at[t.variable] = slices.DeleteFunc(list, func(a uint64) bool { return !im.Writable(a) })
		}
	}
	both := operands(im, "runtime.mProf_FlushLocked")
	at["runtime.mbuckets"] = slices.DeleteFunc(operands(im, "runtime.stkbucket"), func(a uint64) bool {
		return !slices.Contains(both, a) || !im.Writable(a)
	})
	at["runtime.MemProfileRate"] = slices.DeleteFunc(operands(im, "runtime.profilealloc"), func(a uint64) bool {
		var b [8]byte
		return !im.Writable(a) || !im.Read(b[:], a) || word(b[:]) != firstRate
	})
	return at
}

// firstRate is what programs begin with: their files have it.
const firstRate = 512 << 10

// bases returns the addresses that have all of the offsets among sorted addresses.
func bases(addrs []uint64, offsets []uint32) (list []uint64) {
	for _, a := range addrs {
		base := a - uint64(offsets[0])
		if !slices.ContainsFunc(offsets, func(o uint32) bool {
			_, named := slices.BinarySearch(addrs, base+uint64(o))
			return !named
		}) {
			list = append(list, base)
		}
	}
	return list
}

// findCounters finds the variables that the runtime counts in, in a program without symbols, and its memory
// profile. Of counters it takes all or none: without the number of idle Ps, say, all would seem to work.
func (r *Reader) findCounters(t *tables, base uint64) {
	at := t.traced()
	only := func(name string, is func(at uint64) bool) (found uint64) {
		n := 0
		for _, a := range at[name] {
			if steadily(func() bool { return is(a + base) }) {
				found, n = a+base, n+1
			}
		}
		if n != 1 {
			return 0
		}
		return found
	}
	for _, name := range []string{"runtime.mbuckets", "runtime.MemProfileRate"} {
		if list := at[name]; len(list) == 1 { // who reads the memory profile checks each site
			r.counter[name] = list[0] + base
		}
	}
	var procs []uint64
	all := only(allProcs, func(a uint64) bool {
		list := r.procs(a)
		if list != nil {
			procs = list
		}
		return list != nil
	})
	sched := only("runtime.sched", func(a uint64) bool { return r.isSched(a, procs) })
	controller := only("runtime.gcController", r.isController)
	stats := only("runtime.memstats", func(a uint64) bool { return r.isStats(a, controller) })
	if all == 0 || sched == 0 || controller == 0 || stats == 0 {
		return
	}
	r.counter["runtime.gomaxprocs"], r.counter["runtime.sched"] = all+sliceLength, sched
	r.counter["runtime.gcController"], r.counter["runtime.memstats"] = controller, stats
	if work := only("runtime.work", func(a uint64) bool { return r.isWork(a, stats) }); work != 0 {
		r.counter["runtime.work"] = work
	}
}

// steadily tries again what may have failed because the memory changed while it was read.
func steadily(is func() bool) bool {
	const tries = 5
	for range tries {
		if is() {
			return true
		}
	}
	return false
}

// procs returns the runtime's Ps if runtime.allp is at an address: each begins with its number, and its state
// is behind it. It is nil where that is not so.
func (r *Reader) procs(at uint64) []uint64 {
	const most, states = 1 << 12, 5
	head := make([]byte, 24)
	if got, err := r.memory.gather(head, []span{{at, len(head)}}); err != nil || got < len(head) {
		return nil
	}
	first, n, room := word(head), word(head[sliceLength:]), word(head[16:])
	if first%8 != 0 || n == 0 || n > room || room > most {
		return nil
	}
	b := make([]byte, 8*n)
	if got, err := r.memory.gather(b, []span{{first, len(b)}}); err != nil || got < len(b) {
		return nil
	}
	list, spans := make([]uint64, n), make([]span, n)
	for i := range list {
		list[i] = word(b[8*i:])
		spans[i] = span{list[i], 8}
		if list[i] == 0 || list[i]%8 != 0 || list[i] > maxAddress {
			return nil
		}
	}
	if got, err := r.memory.gather(b, spans); err != nil || got < len(b) {
		return nil
	}
	for i := range list {
		if binary.LittleEndian.Uint32(b[8*i:]) != uint32(i) || binary.LittleEndian.Uint32(b[8*i+4:]) >= states {
			return nil
		}
	}
	return list
}

// isSched reports whether the scheduler's structure is at an address: its list of idle Ps begins with one of
// all Ps, or there is none and their number is 0.
func (r *Reader) isSched(at uint64, procs []uint64) bool {
	var b [16]byte
	got, err := r.memory.gather(b[:], []span{{at + uint64(r.layout.at[schedIdleProcs]) - idleList, len(b)}})
	first, n := word(b[:]), binary.LittleEndian.Uint32(b[idleList:])
	switch {
	case err != nil || got < len(b) || uint64(n) > uint64(len(procs)):
		return false
	case first == 0:
		return n == 0
	}
	return n > 0 && slices.Contains(procs, first)
}

// maxCounted is beyond the bytes that a program has.
const maxCounted = 1 << 48

// isController reports whether the collector's controller is at an address: settings that somebody can set,
// a heap in whole pages, and no more freed than was allocated.
func (r *Reader) isController(at uint64) bool {
	const pageBytes = 8 << 10
	w := r.words(at, gcHeapInUse, gcHeapFree, gcReleased, gcHeapLive, gcHeapMarked, gcMapped, // bytes there are
		gcAllocated, gcFreed, gcMemoryLimit, gcPercent)
	if w == nil || w[0] == 0 {
		return false
	}
	for i, v := range w[:6] {
		if v > maxCounted || i < 3 && v%pageBytes != 0 {
			return false
		}
	}
	allocated, freed, percent := w[6], w[7], int32(w[9])
	return w[5] > 0 && allocated > 0 && allocated < 1<<62 && freed <= allocated && int64(w[8]) >= 0 && percent >= -1
}

// isStats reports whether the runtime's counts of memory are at an address: what their parts have of the heap
// is what the controller has.
func (r *Reader) isStats(at, controller uint64) bool {
	const drift = 1 << 20 // of a heap that changes while it is read
	if controller == 0 {
		return false
	}
	of := &r.layout.at
	size := of[statsHeapEnd] - of[statsHeap]
	w := r.words(at, statsSpans, statsCaches, statsGC, statsOther)
	// Both numbers of collections are of 4 bytes.
	n := r.words(at, statsCollections, statsForced)
	c := r.words(controller, gcHeapInUse)
	if w == nil || n == nil || c == nil || of[statsHeapEnd] == missing || of[statsHeap] == missing || size > maxStats {
		return false
	}
	if slices.ContainsFunc(w, func(v uint64) bool { return v == 0 || v > maxCounted }) || uint32(n[1]) > uint32(n[0]) {
		return false
	}
	parts := make([]byte, size)
	if got, err := r.memory.gather(parts, []span{{at + uint64(of[statsHeap]), len(parts)}}); err != nil || got < len(parts) {
		return false
	}
	inUse := int64(c[0])
	apart := sumOfShards(parts, of[deltaInHeap]) - inUse
	return max(apart, -apart) <= drift+inUse/8
}

// isWork reports whether the collector's own notes are at an address: its times of the CPU are the sum of their
// parts, and there are some when it has collected.
func (r *Reader) isWork(at, stats uint64) bool {
	const parts, total, drift = gcParts, 10, int64(time.Second)
	of := &r.layout.at
	n := r.words(stats, statsCollections)
	// Time of assists, workers, idle workers and pauses, their sum; of the scavenger two and their sum; idle,
	// the program's, and the sum of all. Pauses are in the last when a collection ends.
	if n == nil || of[workGCTime] == missing || of[workTotalTime] != of[workGCTime]+8*(total-parts) {
		return false
	}
	var b [8 * (total + 1)]byte
	if got, err := r.memory.gather(b[:], []span{{at + uint64(of[workGCTime]) - 8*parts, len(b)}}); err != nil || got < len(b) {
		return false
	}
	var t [total + 1]int64
	for i := range t {
		if t[i] = int64(word(b[8*i:])); t[i] < 0 || t[i] > 1<<60 {
			return false
		}
	}
	apart := t[4] + t[7] + t[8] + t[9] - t[total]
	return t[4] == t[0]+t[1]+t[2]+t[3] && t[7] == t[5]+t[6] && max(apart, -apart) <= drift+t[total]/8 &&
		(t[total] > 0) == (uint32(n[0]) > 0)
}
