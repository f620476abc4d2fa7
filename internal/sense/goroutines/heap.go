package goroutines

import (
	"strings"
	"time"

	"github.com/gowhy/gowhy/internal/sense/symbols"
)

// A Heap is what the program's runtime has sampled of its allocations since the start,
// as its memory profile has it: up to the last collection but one.
type Heap struct {
	Time  time.Time
	Rate  int64 // runtime.MemProfileRate: one sample for this number of bytes, on average
	Sites []Site
	// Later are the same sites when all is published that is counted by now: with what was
	// allocated since, of which nobody knows yet how much is garbage.
	Later []Site
}

// A Site is the objects of one size that were allocated by one stack, of those that were
// sampled.
type Site struct {
	ID            uint64 // the same in each [Heap] of a program
	Size          int64  // of an object
	Allocs, Frees int64
	Stack         []uint64 // return addresses, innermost first
}

// A HeapReader reads the memory profile that a program's runtime keeps, without asking
// the program for it. It is for one goroutine at a time, which may be another than that
// of the [Reader] it is from.
type HeapReader struct {
	memory     memory
	layout     *layout
	list       uint64 // an address that there is
	head, rate uint64 // of runtime.mbuckets and runtime.MemProfileRate
	names      func(pc uint64, leaf bool) []symbols.Place
	close      func()                   // of these
	known      map[uint64]symbols.Place // of addresses: thousands of stacks have the same few
	blocks     map[uint64][]byte
	stacks     []uint64 // of many sites, one behind the other
}

const (
	// maxSites is far more than programs have, which are some thousands, and maxBlocks
	// bounds what is read for them.
	maxSites  = 1 << 18
	maxBlocks = 2048
	// blockBytes is read at a time: the runtime allocates what it keeps of sites in
	// chunks of 256 KiB, one after the other.
	blockBytes = 64 << 10
	// maxDepth is the runtime's own bound.
	maxDepth = 1024
	// memProfile is the kind of bucket that is of allocations.
	memProfile = 1
	cycles     = 4 // of a record: the published cycle, and those of the next collections
	// stacksAtOnce is how many addresses have room in one piece of memory, at least a stack's.
	stacksAtOnce = 8 * maxDepth
)

// HeapReader prepares the reading of the memory profile. The error has [ErrUnsure] in it
// where the program keeps none: one into which neither runtime/pprof nor anything else
// that reads it is linked.
func (r *Reader) HeapReader() (*HeapReader, error) {
	head, rate := r.counter["runtime.mbuckets"], r.counter["runtime.MemProfileRate"]
	if head == 0 || rate == 0 {
		return nil, unsure("it keeps no memory profile, or has no symbols")
	}
	for f := bucketNext; f <= cycleFrees; f++ {
		if r.layout.at[f] == missing {
			return nil, unsure("where its memory profile is was not found")
		}
	}
	m, err := r.memory.another()
	if err != nil {
		return nil, err
	}
	if err := r.memory.same(r.list); err != nil { // what was opened may be another's
		m.close()
		return nil, err
	}
	return r.heapReader(m, head, rate), nil
}

func (r *Reader) heapReader(m memory, head, rate uint64) *HeapReader {
	h := &HeapReader{memory: m, layout: r.layout, list: r.list, head: head, rate: rate, known: map[uint64]symbols.Place{}, close: func() {}}
	if p, ok := r.code.(program); ok {
		names := p.process.Share()
		h.names, h.close = names.Frames, names.Close
	}
	return h
}

// Close lets go of the program's file and memory.
func (h *HeapReader) Close() {
	h.close()
	h.memory.close()
}

// Frames returns the stack of a site, innermost first, without the runtime's own code at its
// end: as the runtime's memory profile has it.
func (h *HeapReader) Frames(s *Site) (stack []symbols.Place) {
	for _, pc := range s.Stack {
		if at := h.frame(pc); at.Func != "" && at.Func != "runtime.goexit" && (len(stack) > 0 || !OfRuntime(at.Func)) {
			stack = append(stack, at)
		}
	}
	return stack
}

// frame returns one function: of what is inlined the runtime notes an address for each.
func (h *HeapReader) frame(pc uint64) symbols.Place {
	at, ok := h.known[pc]
	if !ok {
		if all := h.names(pc, false); len(all) > 0 {
			at = all[0]
		}
		if len(h.known) < maxKnown {
			h.known[pc] = at
		}
	}
	return at
}

// OfRuntime reports whether a function is the runtime's: what allocates for the program.
func OfRuntime(function string) bool {
	return strings.HasPrefix(function, "runtime.") || strings.HasPrefix(function, "internal/runtime/")
}

// Read reads all of it. A profile that changes meanwhile may have a site too little.
func (h *HeapReader) Read() (*Heap, error) {
	var b [16]byte
	if got, err := h.memory.gather(b[:], []span{{h.head, 8}, {h.rate, 8}}); err != nil || got < len(b) {
		return nil, cannot(err)
	}
	all := &Heap{Time: time.Now(), Rate: int64(word(b[8:]))}
	if all.Rate <= 0 {
		return nil, unsure("it keeps no memory profile: runtime.MemProfileRate is %d", all.Rate)
	}
	h.blocks = map[uint64][]byte{}
	defer func() { h.blocks = nil }()
	told := false
	for at := word(b[:]); at != 0; {
		site, later, next, err := h.site(at)
		if err != nil {
			return nil, err
		}
		if len(all.Sites) == maxSites {
			return nil, unsure("its memory profile has more than %d sites", maxSites)
		}
		told = told || site.Allocs > 0
		all.Sites, all.Later = append(all.Sites, site), append(all.Later, later)
		at = next
	}
	if !told { // it was never collected, and the runtime's profile has all then, too
		all.Sites = all.Later
	}
	return all, h.memory.same(h.list)
}

// site reads one, and what it will be when all that was counted is published.
func (h *HeapReader) site(at uint64) (s, later Site, next uint64, err error) {
	of := func(f field) uint64 { return uint64(h.layout.at[f]) }
	record := of(bucketDepth) + 8 // behind the structure is the stack, and then the record
	head, err := h.bytes(at, record)
	if err != nil {
		return s, later, 0, err
	}
	kind, size, depth := word(head[of(bucketKind):]), word(head[of(bucketSize):]), word(head[of(bucketDepth):])
	next = word(head[of(bucketNext):])
	if kind != memProfile || depth > maxDepth || size > 1<<48 {
		return s, later, 0, unsure("its memory profile is not where it should be")
	}
	cycle := of(recordFuture)
	rest, err := h.bytes(at+record, 8*depth+cycles*cycle)
	if err != nil {
		return s, later, 0, err
	}
	s = Site{ID: at, Size: int64(size)}
	if uint64(cap(h.stacks)-len(h.stacks)) < depth {
		h.stacks = make([]uint64, 0, stacksAtOnce)
	}
	from := len(h.stacks)
	for i := range depth {
		h.stacks = append(h.stacks, word(rest[8*i:]))
	}
	s.Stack = h.stacks[from:len(h.stacks):len(h.stacks)]
	later = s
	for i := range uint64(cycles) {
		counts := rest[8*depth+i*cycle:]
		allocs, frees := int64(word(counts)), int64(word(counts[of(cycleFrees):]))
		if i == 0 {
			s.Allocs, s.Frees = allocs, frees
		}
		later.Allocs, later.Frees = later.Allocs+allocs, later.Frees+frees
	}
	if s.Allocs < 0 || s.Frees < 0 || s.Frees > s.Allocs {
		return s, later, 0, unsure("its memory profile has %d objects freed of %d", s.Frees, s.Allocs)
	}
	return s, later, next, nil
}

// bytes reads the program's memory block by block; the same block once.
func (h *HeapReader) bytes(at, n uint64) ([]byte, error) {
	if at == 0 || at > maxAddress || n > blockBytes {
		return nil, unsure("its memory profile leads nowhere")
	}
	base := at &^ (blockBytes - 1)
	if at-base+n > blockBytes { // it goes over the end of the block
		return h.exactly(at, n)
	}
	b, ok := h.blocks[base]
	if !ok {
		if len(h.blocks) == maxBlocks {
			return nil, unsure("its memory profile is spread over more than %d MiB", maxBlocks*blockBytes>>20)
		}
		b = make([]byte, blockBytes)
		got, err := h.memory.gather(b, []span{{base, blockBytes}})
		if err != nil {
			return nil, cannot(err)
		}
		b = b[:got]
		h.blocks[base] = b
	}
	if at-base+n > uint64(len(b)) { // a part of the block is not mapped
		return h.exactly(at, n)
	}
	return b[at-base:][:n], nil
}

func (h *HeapReader) exactly(at, n uint64) ([]byte, error) {
	b := make([]byte, n)
	if got, err := h.memory.gather(b, []span{{at, int(n)}}); err != nil || got < len(b) {
		return nil, cannot(err)
	}
	return b, nil
}

// cannot returns why memory was not read; without an error nothing is there.
func cannot(err error) error {
	if err == nil {
		return unsure("its memory profile leads nowhere")
	}
	return err
}
