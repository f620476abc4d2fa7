package heap

import (
	"cmp"
	"encoding/binary"
	"maps"
	"math"
	"math/bits"
	"slices"

	"github.com/gowhy/gowhy/internal/know/model"
)

const (
	pageBytes  = 8 << 10
	arenaBytes = 64 << 20
	arenaPages = arenaBytes / pageBytes
	// maxBits is up to which size an object's pointers are in a bitmap at the end of its span.
	maxBits = 512
	// inlineMarks is what the collector of Go 1.26 has behind that bitmap.
	inlineMarks = 128
	// maxSpans is far over what a machine's memory holds of 8 KiB each.
	maxSpans  = 1 << 26
	maxArenas = 1 << 22 // over which the heap may be spread: all 48 bits of addresses
	// atOnce is how many structures one call reads.
	atOnce = 1024
)

// A span is pages of objects of one size.
type span struct {
	start, bytes uint64
	elem         uint64 // bytes of an object
	kind         uint64 // address of the type of the one large object
	specials     uint64
	allocated    uint64 // address of the bits of what is allocated
	at           uint64 // of its description
	n            uint32 // objects there is room for
	first        uint32 // number of the first object
	div          uint32
	edges        uint32 // number of the first edge
	ends         uint32 // in graph.ends, of a span with several objects
	free         uint16 // what is before it is allocated
	class        uint8
	noscan       bool
}

// headed reports whether each object begins with the address of its type.
func (s *span) headed() bool { return !s.noscan && s.elem > maxBits && s.class != 0 }

// skip returns how far behind an object's place its own bytes begin.
func (s *span) skip() uint64 {
	if s.headed() {
		return 8
	}
	return 0
}

// index returns which object of the span an address is in.
func (s *span) index(offset uint64) uint32 {
	if s.class == 0 {
		return 0
	}
	return uint32(offset * uint64(s.div) >> 32)
}

// spans are all that have objects, by address, and how an address leads to one.
type spans struct {
	list    []span
	low     uint64
	arena   []int32 // number of its pages' table and 1, by arena from low on
	pages   [][arenaPages]int32
	block   []int32 // the span of each 64th object
	objects uint32
	scanned uint32 // objects in spans with pointers
	used    []uint64
	// Dropped are spans that cannot be: they changed while they were read.
	dropped int
}

func (s *spans) isUsed(object uint32) bool { return s.used[object/64]>>(object%64)&1 != 0 }

// find returns the number of the span that an address is in, and -1 where there is none.
func (s *spans) find(at uint64) int32 {
	a := (at - s.low) / arenaBytes
	if a >= uint64(len(s.arena)) || s.arena[a] == 0 {
		return -1
	}
	return s.pages[s.arena[a]-1][(at-s.low)%arenaBytes/pageBytes] - 1
}

// near reports whether an address is among the spans, or where the next ones come.
func (s *spans) near(at uint64) bool {
	const next = 4
	return at >= s.low && (at-s.low)/arenaBytes < uint64(len(s.arena))+next
}

// of returns the number of the span of an object.
func (s *spans) of(object uint32) int32 {
	n := s.block[object/64]
	for n+1 < int32(len(s.list)) && s.list[n+1].first <= object {
		n++
	}
	return n
}

func word(b []byte) uint64 { return binary.LittleEndian.Uint64(b) }

// offsets are where the fields of the runtime's description of a span are.
type offsets struct {
	start, pages, elems, free, allocated, elem, class, state, kind, specials uint64
	size                                                                     int
}

// offsetsOf looks them up; ok is false where one is not known.
func offsetsOf(m memory) (o offsets, ok bool) {
	for _, f := range []struct {
		to   *uint64
		path string
	}{
		{&o.start, "startAddr"}, {&o.pages, "npages"}, {&o.elems, "nelems"}, {&o.free, "freeindex"}, {&o.allocated, "allocBits"},
		{&o.elem, "elemsize"}, {&o.class, "spanclass"}, {&o.state, "state"}, {&o.kind, "largeType"}, {&o.specials, "specials"},
	} {
		at, known := m.Field("runtime.mspan", f.path)
		if !known {
			return o, false
		}
		*f.to = at
		o.size = max(o.size, int(at)+8)
	}
	return o, true
}

// readSpans reads the list of all spans, and what is allocated in them.
func readSpans(m memory, budget uint64) (*spans, error) {
	at, ok := m.Field("runtime.mheap", "allspans")
	o, known := offsetsOf(m)
	if !ok || !known {
		return nil, unsure("where its list of spans is was not found")
	}
	pointers, err := readWords(m, m.Variable("runtime.mheap_")+at)
	if err != nil {
		return nil, err
	}
	s := &spans{}
	b := make([]byte, atOnce*o.size)
	for len(pointers) > 0 {
		part := pointers[:min(len(pointers), atOnce)]
		got, err := m.ReadEach(b, o.size, part)
		if err != nil {
			return nil, err
		}
		for i := range got {
			s.add(part[i], b[i*o.size:][:o.size], &o)
		}
		if got < len(part) { // the one behind them is nowhere
			got++
			s.dropped++
		}
		pointers = pointers[got:]
	}
	if err := s.number(budget); err != nil {
		return nil, err
	}
	return s, s.readUsed(m, &o)
}

// readWords reads a slice of addresses: its head before and after, for one that grows moves.
func readWords(m memory, at uint64) ([]uint64, error) {
	for range 5 {
		var head, again [16]byte
		if got, err := m.Read(head[:], at); err != nil || got < len(head) {
			return nil, cannot(err)
		}
		n := word(head[8:])
		if n == 0 || n > maxSpans {
			return nil, unsure("its list of spans is empty or too long")
		}
		var last [8]byte // the last must be there before they get memory here
		if got, err := m.Read(last[:], word(head[:])+8*(n-1)); err != nil || got < len(last) {
			return nil, cannot(err)
		}
		list := make([]uint64, 0, n)
		b := make([]byte, 64<<10)
		for at := word(head[:]); len(list) < int(n); at += uint64(len(b)) {
			b = b[:min(len(b), 8*(int(n)-len(list)))]
			got, err := m.Read(b, at)
			if err != nil {
				return nil, err
			}
			if got < len(b) {
				break
			}
			for i := 0; i < len(b); i += 8 {
				list = append(list, word(b[i:]))
			}
		}
		if got, err := m.Read(again[:], at); err != nil || got < len(again) {
			return nil, cannot(err)
		}
		if word(again[:]) == word(head[:]) && len(list) == int(n) {
			return list, nil
		}
	}
	return nil, unsure("its list of spans moves faster than it can be read")
}

// add keeps a span with objects that can be.
func (s *spans) add(at uint64, b []byte, o *offsets) {
	const inUse = 1
	if b[o.state] != inUse {
		return
	}
	n := span{at: at, start: word(b[o.start:]), elem: word(b[o.elem:]), kind: word(b[o.kind:]), specials: word(b[o.specials:]), allocated: word(b[o.allocated:]),
		n: uint32(binary.LittleEndian.Uint16(b[o.elems:])), free: binary.LittleEndian.Uint16(b[o.free:]), class: b[o.class] >> 1, noscan: b[o.class]&1 != 0}
	pages := word(b[o.pages:])
	const maxPages = 1 << 30
	if n.start == 0 || n.start%pageBytes != 0 || n.start >= maxAddress || pages == 0 || pages > maxPages || n.elem == 0 || n.n == 0 {
		s.dropped++
		return
	}
	n.bytes = pages * pageBytes
	if n.class == 0 {
		n.n, n.free = 1, 1
		n.elem = min(n.elem, n.bytes)
	} else {
		n.div = math.MaxUint32/uint32(min(n.elem, n.bytes)) + 1
	}
	if n.elem > n.bytes || uint64(n.n) > n.bytes/n.elem || n.class != 0 && n.elem%8 != 0 || n.class != 0 && n.bytes > maxClassed {
		s.dropped++
		return
	}
	s.list = append(s.list, n)
}

// maxClassed is over the largest span of several objects, which has 10 pages.
const maxClassed = 512 << 10

// number puts the spans in order, drops what overlaps, and numbers their objects.
func (s *spans) number(budget uint64) error {
	slices.SortFunc(s.list, func(a, b span) int { return cmp.Compare(a.start, b.start) })
	end := uint64(0)
	s.list = slices.DeleteFunc(s.list, func(n span) bool {
		if n.start < end {
			s.dropped++
			return true
		}
		end = n.start + n.bytes
		return false
	})
	if len(s.list) == 0 {
		return unsure("its heap has no spans")
	}
	s.low = s.list[0].start &^ (arenaBytes - 1)
	arenas := (end-s.low)/arenaBytes + 1
	if arenas > maxArenas {
		return unsure("its heap is spread over %d GiB", arenas*arenaBytes>>30)
	}
	s.arena = make([]int32, arenas)
	total, scanned := uint64(0), uint64(0)
	for i := range s.list {
		n := &s.list[i]
		n.first = uint32(total)
		n.ends = uint32(scanned)
		total += uint64(n.n)
		if !n.noscan && n.class != 0 {
			scanned += uint64(n.n)
		}
		if total > math.MaxUint32-64 {
			return unsure("its heap has more than %d objects", uint32(math.MaxUint32))
		}
		if !s.note(i, budget/8) {
			return tooSmall(2*budget, budget)
		}
	}
	if total*objectBytes > budget {
		return tooSmall(total*objectBytes, budget)
	}
	s.objects, s.scanned = uint32(total), uint32(scanned)
	s.block = make([]int32, total/64+1)
	next := 0
	for i := range s.list {
		for ; next < len(s.block) && uint64(next)*64 < uint64(s.list[i].first)+uint64(s.list[i].n); next++ {
			s.block[next] = int32(i)
		}
	}
	return nil
}

// objectBytes is what an object costs at least.
const objectBytes = 5

// note notes the pages of a span. It is false where the tables would have more bytes.
func (s *spans) note(i int, most uint64) bool {
	n := &s.list[i]
	for at := n.start &^ (pageBytes - 1); at < n.start+n.bytes; at += pageBytes {
		a := (at - s.low) / arenaBytes
		if s.arena[a] == 0 {
			if uint64(len(s.pages)+1)*arenaPages*4 > most {
				return false
			}
			s.pages = append(s.pages, [arenaPages]int32{})
			s.arena[a] = int32(len(s.pages))
		}
		s.pages[s.arena[a]-1][(at-s.low)%arenaBytes/pageBytes] = int32(i) + 1
	}
	return true
}

// usedTries is how often the bits of a span are read when a collection takes them away meanwhile.
const usedTries = 4

// readUsed notes which objects are allocated: those before the index from which the next is
// looked for, and those that the last collection found alive. The bits are others after each
// collection, and their place is used again after two: a span is looked at again before they are
// read, and behind that, until both say the same. One that is another by now has none.
func (s *spans) readUsed(m memory, o *offsets) error {
	s.used = make([]uint64, s.objects/64+1)
	u := usedReader{s: s, m: m, o: o, bits: make([]byte, usedBytes*atOnce), about: make([]byte, o.size*atOnce)}
	for from := 0; from < len(s.list); from += atOnce {
		left := make([]int, 0, atOnce)
		for i := from; i < min(len(s.list), from+atOnce); i++ {
			left = append(left, i)
		}
		err := u.refresh(left, func(int) {})
		for try := 0; err == nil && try < usedTries && len(left) > 0; try++ {
			if err = u.read(left); err != nil {
				break
			}
			changed := left[:0]
			err = u.refresh(left, func(i int) { changed = append(changed, i) })
			left = changed
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// freeSizes returns what is free between objects, by their size, most first.
func (s *spans) freeSizes() []model.FreeSize {
	by := map[uint64]model.FreeSize{}
	for i := range s.list {
		n := &s.list[i]
		if n.class == 0 {
			continue // of one object, which is there
		}
		used := uint64(0)
		for o := n.first; o < n.first+n.n; o++ {
			if s.isUsed(o) {
				used++
			}
		}
		f := by[n.elem]
		by[n.elem] = model.FreeSize{Size: n.elem, Free: f.Free + (uint64(n.n)-used)*n.elem, Objects: f.Objects + used, Bytes: f.Bytes + n.bytes}
	}
	list := slices.SortedFunc(maps.Values(by), func(a, b model.FreeSize) int {
		return cmp.Or(cmp.Compare(b.Free, a.Free), cmp.Compare(a.Size, b.Size))
	})
	return list[:min(len(list), model.MaxFreeSizes)]
}

// usedBytes are bits of 1024 objects, more than a span has.
const usedBytes = 128

// A usedReader reads the bits of some spans.
type usedReader struct {
	s           *spans
	m           memory
	o           *offsets
	bits, about []byte
	at          []uint64
}

// refresh looks at spans again, and names those whose bits are elsewhere.
func (u *usedReader) refresh(list []int, changed func(i int)) error {
	for len(list) > 0 {
		got, err := u.pieces(list, u.about, u.o.size, func(n *span) uint64 { return n.at })
		if err != nil {
			return err
		}
		for k, i := range list[:got] {
			if u.s.list[i].refresh(u.about[k*u.o.size:][:u.o.size], u.o) {
				changed(i)
			}
		}
		list = list[max(got, 1):]
	}
	return nil
}

// refresh takes over where the bits are, and reports whether that is elsewhere.
func (n *span) refresh(b []byte, o *offsets) bool {
	allocated, free := word(b[o.allocated:]), binary.LittleEndian.Uint16(b[o.free:])
	if word(b[o.start:]) != n.start || b[o.class]>>1 != n.class || n.class != 0 && word(b[o.elem:]) != n.elem {
		allocated, free = 0, 0
	}
	if n.class == 0 && allocated != 0 {
		free = 1
	}
	moved := allocated != n.allocated
	n.allocated, n.free = allocated, free
	return moved
}

// read reads the bits of spans.
func (u *usedReader) read(list []int) error {
	for len(list) > 0 {
		got, err := u.pieces(list, u.bits, usedBytes, func(n *span) uint64 { return n.allocated })
		if err != nil {
			return err
		}
		for k, i := range list[:got] {
			u.s.mark(&u.s.list[i], u.bits[k*usedBytes:][:usedBytes])
		}
		if got == len(list) {
			return nil
		}
		n := &u.s.list[list[got]] // alone, and no more than it has
		clear(u.bits[:usedBytes])
		if _, err := u.m.Read(u.bits[:min(usedBytes, (n.n+7)/8)], n.allocated); err != nil {
			return err
		}
		u.s.mark(n, u.bits[:usedBytes])
		list = list[got+1:]
	}
	return nil
}

// pieces reads a piece of each span, and returns of how many there is one.
func (u *usedReader) pieces(list []int, b []byte, size int, at func(*span) uint64) (int, error) {
	u.at = u.at[:0]
	for _, i := range list {
		u.at = append(u.at, at(&u.s.list[i]))
	}
	return u.m.ReadEach(b, size, u.at)
}

// mark notes which objects of a span are allocated.
func (s *spans) mark(n *span, b []byte) {
	for i := range n.n {
		bit := uint64(1) << ((n.first + i) % 64)
		s.used[(n.first+i)/64] &^= bit
		if i < uint32(n.free) || i/8 < uint32(len(b)) && b[i/8]>>(i%8)&1 != 0 {
			s.used[(n.first+i)/64] |= bit
		}
	}
}

// allocated counts the objects that are allocated, and their bytes.
func (s *spans) allocated() (objects, bytes uint64) {
	for i := range s.list {
		n := &s.list[i]
		count := uint64(0)
		for o := n.first; o < n.first+n.n; {
			if o%64 == 0 && o+64 <= n.first+n.n {
				count += uint64(bits.OnesCount64(s.used[o/64]))
				o += 64
				continue
			}
			count += s.used[o/64] >> (o % 64) & 1
			o++
		}
		objects, bytes = objects+count, bytes+count*n.elem
	}
	return objects, bytes
}
