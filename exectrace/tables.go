package exectrace

import "slices"

// A rawFrame is a stack frame with string ids of its generation.
type rawFrame struct {
	pc             uint64
	fn, file, line uint32
}

// A stackRef is a stack's place in tables.frames.
type stackRef struct {
	first uint32
	n     uint8 // at most maxFrames
}

// A stringRef is a string's place in tables.text.
type stringRef struct {
	batch, at uint32
	n         uint16
}

// tables are the strings and stacks of one generation, dense by id. They are
// used again for the next one.
//
// Strings are kept as places, not as slices: a program that logs has
// hundreds of thousands in a generation, and the collector would look at each.
type tables struct {
	strings []stringRef
	text    [][]byte // bodies of the batches of strings
	stacks  []stackRef
	frames  []rawFrame
	lost    int64 // bytes of tables that could not be decoded
}

// load decodes the tables of a generation.
func (t *tables) load(g *generation) {
	clear(t.strings)
	clear(t.stacks)
	t.strings, t.text, t.stacks, t.frames, t.lost = t.strings[:0], t.text[:0], t.stacks[:0], t.frames[:0], 0
	for i := range g.strings {
		t.text = append(t.text, g.strings[i].body())
		t.lost += t.addStrings(g.strings[i].body())
	}
	frames := 0
	for i := range g.stacks {
		frames += g.stacks[i].size / frameSize
	}
	t.frames = slices.Grow(t.frames, frames)
	for i := range g.stacks {
		t.lost += t.addStacks(g.stacks[i].body())
	}
}

// frameSize is about what a frame takes in the trace, from below: a program
// counter of four or five bytes and three small numbers.
const frameSize = 8

// The runtime numbers strings and stacks without gaps, and each takes some
// bytes. An id far beyond what the bytes so far could hold is damage.
func plausibleID(id uint64, have int) bool { return id < uint64(have)*4+1<<16 }

// Tables grow by doubling: append does so in quarters, and would copy a table of
// all goroutines five times.

// grow returns s with index i present.
func grow[T any](s []T, i int) []T {
	return reserve(s, i+1-len(s))[:max(len(s), i+1)]
}

// reserve returns s with room for n more.
func reserve[T any](s []T, n int) []T {
	if n <= cap(s)-len(s) {
		return s
	}
	return slices.Grow(s, max(n, cap(s), 64))
}

// extend appends a zero element.
func extend[T any](s []T) []T {
	s = grow(s, len(s))
	clear(s[len(s)-1:])
	return s
}

func (t *tables) addStrings(b []byte) (lost int64) {
	i := 1
	for i < len(b) {
		if eventType(b[i]) != evString {
			return int64(len(b) - i)
		}
		start := i
		var id, n uint64
		if id, i = uvarint(b, i+1); i >= 0 {
			n, i = uvarint(b, i)
		}
		if i < 0 || n > maxString || uint64(len(b)-i) < n || !plausibleID(id, len(t.strings)) {
			return int64(len(b) - start)
		}
		t.strings = grow(t.strings, int(id))
		t.strings[id] = stringRef{uint32(len(t.text) - 1), uint32(i), uint16(n)}
		i += int(n)
	}
	return 0
}

func (t *tables) addStacks(b []byte) (lost int64) {
	i := 1
	for i < len(b) {
		if eventType(b[i]) != evStack {
			return int64(len(b) - i)
		}
		start := i
		var id, n uint64
		if id, i = uvarint(b, i+1); i >= 0 {
			n, i = uvarint(b, i)
		}
		if i < 0 || n > maxFrames || !plausibleID(id, len(t.stacks)) {
			return int64(len(b) - start)
		}
		ref := stackRef{uint32(len(t.frames)), uint8(n)}
		for range n {
			var v [4]uint64
			for k := range v {
				if v[k], i = uvarint(b, i); i < 0 {
					t.frames = t.frames[:ref.first]
					return int64(len(b) - start)
				}
			}
			t.frames = append(t.frames, rawFrame{v[0], uint32(v[1]), uint32(v[2]), uint32(v[3])})
		}
		t.stacks = grow(t.stacks, int(id))
		t.stacks[id] = ref
	}
	return 0
}

// str returns a string of the generation, nil when it is not there.
func (t *tables) str(id uint64) []byte {
	if id >= uint64(len(t.strings)) {
		return nil
	}
	r := t.strings[id]
	if r.n == 0 {
		return nil
	}
	return t.text[r.batch][r.at : r.at+uint32(r.n)]
}

// find returns the id of a string, or -1.
func (t *tables) find(s string) int {
	for id := range t.strings {
		if int(t.strings[id].n) == len(s) && string(t.str(uint64(id))) == s {
			return id
		}
	}
	return -1
}

// has reports whether a string is there, if only an empty one.
func (t *tables) has(id uint64) bool {
	return id < uint64(len(t.strings)) && t.strings[id].at != 0
}

// stack returns the frames of a stack, leaf first.
func (t *tables) stack(id uint32) []rawFrame {
	if id >= uint32(len(t.stacks)) {
		return nil
	}
	r := t.stacks[id]
	return t.frames[r.first : r.first+uint32(r.n)]
}

// An interner gives strings and stacks of all generations one identity each.
type interner struct {
	strings map[string]int32
	names   []string
	byHash  idTable // first stack with a hash; the rest by next
	next    []int32
	frames  []rawFrame // with ids of names
	refs    []stackRef
}

func newInterner() *interner {
	in := &interner{strings: map[string]int32{"": 0}, names: []string{""}, next: []int32{0}, refs: []stackRef{{}}}
	in.byHash.reset()
	return in
}

func (in *interner) str(b []byte) int32 {
	if id, ok := in.strings[string(b)]; ok {
		return id
	}
	s := string(b)
	id := int32(len(in.names))
	in.strings[s] = id
	in.names = append(in.names, s)
	return id
}

// stack returns the identity of a generation's stack. Two stacks are one
// when all their PCs and lines agree.
func (in *interner) stack(t *tables, local uint32) Stack { return in.frameStack(t, t.stack(local)) }

// frameStack is stack of frames with the strings of a generation.
func (in *interner) frameStack(t *tables, fs []rawFrame) Stack {
	if len(fs) == 0 {
		return 0
	}
	h := uint64(len(fs))
	for i := range fs {
		h = (h ^ fs[i].pc ^ uint64(fs[i].line)<<48) * 0x9e3779b97f4a7c15
		h ^= h >> 29
	}
	first := in.byHash.get(h)
	for id := first; id > 0; id = in.next[id] {
		if in.same(id, fs) {
			return Stack(id)
		}
	}
	ref := stackRef{uint32(len(in.frames)), uint8(len(fs))}
	in.frames = reserve(in.frames, len(fs))
	for _, f := range fs {
		f.fn = uint32(in.str(t.str(uint64(f.fn))))
		f.file = uint32(in.str(t.str(uint64(f.file))))
		in.frames = append(in.frames, f)
	}
	id := int32(len(in.refs))
	in.refs = append(in.refs, ref)
	if first < 0 {
		in.next = append(in.next, 0)
		in.byHash.put(h, id)
	} else {
		in.next = append(in.next, in.next[first])
		in.next[first] = id
	}
	return Stack(id)
}

func (in *interner) same(id int32, fs []rawFrame) bool {
	r := in.refs[id]
	if int(r.n) != len(fs) {
		return false
	}
	have := in.frames[r.first:]
	for i := range fs {
		if have[i].pc != fs[i].pc || have[i].line != fs[i].line {
			return false
		}
	}
	return true
}

// resolve returns all stacks with their names, by identity.
func (in *interner) resolve() [][]Frame {
	flat := make([]Frame, len(in.frames))
	for i, f := range in.frames {
		flat[i] = Frame{PC: f.pc, Func: in.names[f.fn], File: in.names[f.file], Line: int(f.line)}
	}
	out := make([][]Frame, len(in.refs))
	for i, r := range in.refs[1:] {
		out[i+1] = flat[r.first : r.first+uint32(r.n) : r.first+uint32(r.n)]
	}
	return out
}
