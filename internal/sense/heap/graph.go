package heap

import (
	"context"
	"encoding/binary"
	"math/bits"
)

// A graph is what points to what. Of each object with pointers it has one entry for each of
// them, in their order: the object that it leads to, and which word it is.
type graph struct {
	to   [][]uint32
	tag  [][]uint16
	n    uint32
	ends []uint16 // behind the last entry of an object, counted from its span's first; see span.ends
	room uint64   // bytes that may be used yet
	lost uint64   // words that point into the heap and to no object
	// boxed are the types that an interface somewhere says of objects: what leads to them
	// elsewhere, as a stack, often says none.
	boxed map[uint32]typeID
}

// Entries are kept in pieces: what grows in one would be there twice while it is moved.
const (
	pieceShift   = 18
	pieceEntries = 1 << pieceShift
	entryBytes   = 4 + 2
)

// A tag is the number of a word in its type, or one of these.
const (
	tagInterior = 1 << 15 // the word points into the object, not to its begin
	tagWord     = 1<<14 - 1
	tagUnknown  = tagWord // which word it is is not known, or does not matter
	tagHint     = 1 << 14 // no pointer, as all that follow: the next one's target is of this type
	tagType     = 1<<14 + 1
	tagClosure  = 1<<14 + 2
	// tagPlace is no pointer: in an object without a known type, the words of those behind it count
	// from the one that it has in place of an object.
	tagPlace = 1<<14 + 3
)

func (g *graph) add(to uint32, tag uint16) bool {
	if g.n&(pieceEntries-1) == 0 {
		if g.room < pieceEntries*entryBytes || g.n>>pieceShift == 1<<(32-pieceShift)-1 {
			return false
		}
		g.room -= pieceEntries * entryBytes
		g.to, g.tag = append(g.to, make([]uint32, pieceEntries)), append(g.tag, make([]uint16, pieceEntries))
	}
	last := len(g.to) - 1
	g.to[last][g.n&(pieceEntries-1)], g.tag[last][g.n&(pieceEntries-1)] = to, tag
	g.n++
	return true
}

// entries returns those of an object, from and up to.
func (g *graph) entries(s *spans, n int32, object uint32) (from, to uint32) {
	sp := &s.list[n]
	if sp.noscan {
		return 0, 0
	}
	if sp.class == 0 {
		return sp.edges, g.after(s, n)
	}
	i := sp.ends + object - sp.first
	if object > sp.first {
		from = uint32(g.ends[i-1])
	}
	return sp.edges + from, sp.edges + uint32(g.ends[i])
}

// after returns the first entry of the next span.
func (g *graph) after(s *spans, n int32) uint32 {
	if int(n)+1 < len(s.list) {
		return s.list[n+1].edges
	}
	return g.n
}

func (g *graph) entry(i uint32) (to uint32, tag uint16) {
	return g.to[i>>pieceShift][i&(pieceEntries-1)], g.tag[i>>pieceShift][i&(pieceEntries-1)]
}

// A scanner reads the contents of all objects with pointers, once, in large pieces.
type scanner struct {
	m      memory
	s      *spans
	t      *types
	g      *graph
	inline bool // marks are in the spans: see inlineMarks
	image  imageRange

	read uint64  // bytes
	full bool    // the graph has no more room
	part float64 // of the spans, what was read when the reading was interrupted; the graph has that
	step func(done, of uint64)
}

// imageRange is where the program itself is.
type imageRange struct{ low, high, text, textEnd uint64 }

// contentBytes is read by one call.
const contentBytes = 1 << 20

func (c *scanner) run(ctx context.Context) error {
	buffer, at := make([]byte, contentBytes), make([]uint64, 0, contentBytes/pageBytes)
	list := c.s.list
	for i := 0; i < len(list); {
		if err := ctx.Err(); err != nil {
			c.part = float64(i) / float64(len(list))
			for ; i < len(list); i++ { // those that were not read lead nowhere
				list[i].edges = c.g.n
			}
			return err
		}
		n := &list[i]
		n.edges = c.g.n
		if n.noscan {
			i++
			continue
		}
		var err error
		count := 1
		if n.bytes > contentBytes || n.class == 0 {
			err = c.large(ctx, n, buffer)
		} else {
			at = at[:0]
			for j := i; j < len(list) && (list[j].noscan || list[j].bytes == n.bytes && list[j].class != 0) && (len(at)+1)*int(n.bytes) <= contentBytes; j++ {
				if !list[j].noscan {
					at = append(at, list[j].start)
				}
				count = j + 1 - i
			}
			err = c.several(list[i:i+count], at, buffer)
		}
		if err != nil {
			return err
		}
		if c.full {
			return errBudget
		}
		i += count
		c.step(uint64(i), uint64(len(list)))
	}
	return nil
}

// several reads spans of the same size, those with pointers at the addresses; what cannot be
// read has no pointers.
func (c *scanner) several(list []span, at []uint64, b []byte) error {
	size := int(list[0].bytes)
	base, got, k := 0, 0, 0 // what the buffer begins with, how many are in it, the next
	for i := range list {
		n := &list[i]
		n.edges = c.g.n
		if n.noscan {
			continue
		}
		if k >= base+got {
			var err error
			base = k
			if got, err = c.m.ReadEach(b, size, at[k:]); err != nil {
				return err
			}
		}
		if k < base+got {
			c.span(n, b[(k-base)*size:][:size])
			c.read += uint64(size)
		} else {
			c.s.dropped++
			c.nothing(n)
		}
		k++
	}
	return nil
}

// nothing notes that the objects of a span have no entries.
func (c *scanner) nothing(n *span) {
	for i := range n.n {
		c.g.ends[n.ends+i] = 0
	}
}

func (c *scanner) span(n *span, b []byte) {
	if n.headed() {
		c.headed(n, b)
		return
	}
	end := len(b)
	if c.inline && n.elem >= 16 {
		end -= inlineMarks
	}
	size := len(b) / 64
	bitmap := b[end-size : end]
	object, closure := uint32(0), false
	limit := n.elem // of the object
	for w := 0; w+8 <= len(bitmap); w += 8 {
		for set := binary.LittleEndian.Uint64(bitmap[w:]); set != 0; set &= set - 1 {
			at := uint64(w*8+bits.TrailingZeros64(set)) * 8
			for at >= limit {
				c.g.ends[n.ends+object] = c.count(n)
				object++
				limit += n.elem
				closure = false
				if object >= n.n {
					return
				}
			}
			if !c.s.isUsed(n.first + object) {
				continue
			}
			begin := limit - n.elem
			if !closure {
				closure = true
				if pc := word(b[begin:]); at > begin && pc >= c.image.text && pc < c.image.textEnd {
					c.put(uint32(c.t.closure(pc)), tagClosure)
				}
			}
			c.pointer(b, at, begin, uint16((at-begin)/8))
		}
	}
	for ; object < n.n; object++ {
		c.g.ends[n.ends+object] = c.count(n)
	}
}

// count returns how many entries a span has yet.
func (c *scanner) count(n *span) uint16 { return uint16(min(c.g.n-n.edges, 1<<16-1)) }

// headed reads objects that begin with the address of their type.
func (c *scanner) headed(n *span, b []byte) {
	for i := range n.n {
		if c.s.isUsed(n.first + i) {
			begin := uint64(i) * n.elem
			id := c.t.at(word(b[begin:]))
			if id != untyped {
				c.put(uint32(id), tagType)
			}
			c.typed(id, b[begin+8:][:n.elem-8], 0)
		}
		c.g.ends[n.ends+i] = c.count(n)
	}
}

// large reads a span of one object, piece by piece.
func (c *scanner) large(ctx context.Context, n *span, b []byte) error {
	id := c.t.at(n.kind)
	if n.kind == 0 {
		id = untyped
	}
	if id != untyped {
		c.put(uint32(id), tagType)
	}
	for done := uint64(0); done < n.elem && !c.full; {
		if err := ctx.Err(); err != nil {
			return err
		}
		part := b[:min(uint64(len(b)), n.elem-done)]
		got, err := c.m.Read(part, n.start+done)
		if err != nil {
			return err
		}
		c.read += uint64(got)
		c.typed(id, part[:got&^7], done)
		if got < len(part) {
			c.s.dropped++
			break
		}
		done += uint64(got)
	}
	return nil
}

// typed reads values of a type, one behind the other; before is how many bytes of them were
// read already.
func (c *scanner) typed(id typeID, b []byte, before uint64) {
	mask, ok := c.t.words(id)
	size := c.t.of(id).size
	if !ok || size%8 != 0 {
		if id != untyped && c.t.of(id).pointers == 0 && size > 0 {
			return
		}
		for at := 0; at+8 <= len(b); at += 8 {
			c.pointer(b, uint64(at), 0, tagUnknown)
		}
		return
	}
	words := c.t.of(id).pointers / 8
	w := before % size / 8
	for at := 0; at+8 <= len(b); at += 8 {
		if w < words && mask[w/8]>>(w%8)&1 != 0 {
			c.pointer(b, uint64(at), 0, uint16(min(w, tagUnknown)))
		}
		if w++; w == size/8 {
			w = 0
		}
	}
}

// pointer notes what the word at an offset leads to.
func (c *scanner) pointer(b []byte, at, begin uint64, tag uint16) {
	p := word(b[at:])
	if p == 0 {
		return
	}
	to, interior, ok := c.lookup(p)
	if !ok {
		return
	}
	if at > begin {
		if before := word(b[at-8:]); before >= c.image.low && before < c.image.high {
			if id := c.hint(before); id != untyped {
				c.put(uint32(id), tagHint)
				if len(c.g.boxed) < maxBoxed && !interior {
					c.g.boxed[to] = id
				}
			}
		}
	}
	if interior {
		tag |= tagInterior
	}
	c.put(to, tag)
}

// maxBoxed is enough for what a program has few of, as its servers and stores.
const maxBoxed = 1 << 16

// hint returns the type that an interface's first word tells.
func (c *scanner) hint(before uint64) typeID {
	if before%8 != 0 {
		return untyped
	}
	if c.t.described(before) {
		if id := c.t.at(before); id != untyped {
			return id
		}
	}
	return c.t.itab(before)
}

// lookup returns the object that an address leads to.
func (c *scanner) lookup(p uint64) (object uint32, interior, ok bool) {
	if p < c.s.low {
		return 0, false, false
	}
	i := c.s.find(p)
	if i < 0 {
		return 0, false, false
	}
	n := &c.s.list[i]
	offset := p - n.start
	k := n.index(offset)
	if offset >= n.bytes || k >= n.n || !c.s.isUsed(n.first+k) {
		c.g.lost++
		return 0, false, false
	}
	return n.first + k, offset-uint64(k)*n.elem != n.skip(), true
}

func (c *scanner) put(to uint32, tag uint16) {
	if !c.full && !c.g.add(to, tag) {
		c.full = true
	}
}
