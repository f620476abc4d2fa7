package goroutines

import (
	"debug/dwarf"
	"encoding/binary"
	"errors"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/gowhy/gowhy/internal/sense/symbols"
	"github.com/gowhy/gowhy/internal/testing/attempt"
)

// A fake is memory made of pieces, and code in which each multiple of 16 from
// 0x1000 to 0x2000 begins a function, which pushes 8 bytes with its first instruction and makes
// its frame with the next. Signals inject the last one.
type fake map[uint64][]byte

func (f fake) gather(b []byte, spans []span) (n int, err error) {
	for _, s := range spans {
		ok := false
		for at, piece := range f {
			if s.at >= at && s.at-at <= uint64(len(piece)) && uint64(len(piece))-(s.at-at) >= uint64(s.size) {
				copy(b[n:n+s.size], piece[s.at-at:])
				ok = true
				break
			}
		}
		if !ok {
			return n, nil
		}
		n += s.size
	}
	return n, nil
}

func (fake) same(uint64) error          { return nil }
func (f fake) another() (memory, error) { return f, nil }
func (fake) used() int64                { return 0 }
func (fake) now() int64                 { return 1e9 }
func (fake) close()                     {}

func (fake) Entry(pc uint64) (uint64, string, bool) {
	if pc < 0x1000 || pc >= 0x2000 {
		return 0, "", false
	}
	if pc >= interruptsAt {
		return pc &^ 15, "runtime.asyncPreempt", true
	}
	return pc &^ 15, "main.f", true
}

// interruptsAt is the function that signals inject.
const interruptsAt = 0x1ff0

func (fake) frames(uint64) []symbols.Place               { return []symbols.Place{{Func: "main.g", Line: 1}} }
func (fake) pushed(pc uint64) (n uint64, ok bool)        { return 8 * (pc % 16), pc%16 < 2 }
func (fake) started(_ uint64, name string) symbols.Place { return symbols.Place{Func: name} }

const (
	listAt, pointersAt, structuresAt, stacksAt = 0x10000, 0x100_0000, 0x1000_0000, 0x1_0000_0000
	structureSize, stackSize                   = 512, 256
)

// goroutinesOf makes the memory of a program with so many goroutines, each with a
// stack of three functions, and the reader of it.
func goroutinesOf(n int) (fake, *Reader) {
	l := layouts["go1.26 amd64"]
	head := make([]byte, 24)
	put(head, pointersAt)
	put(head[8:], uint64(n))
	pointers, all, stacks := make([]byte, 8*n), make([]byte, structureSize*n), make([]byte, stackSize*n)
	for i := range n {
		put(pointers[8*i:], structuresAt+uint64(structureSize*i))
		g := all[structureSize*i:]
		g[l.at[gStatus]], g[l.at[gWaitReason]] = byte(Waiting), 2
		sp := stacksAt + uint64(stackSize*i)
		for f, v := range map[field]uint64{
			gID: uint64(i + 1), gStartPC: 0x1010, gCreatorPC: 0x1800, gWaitSince: 5,
			gStackLo: sp, gStackHi: sp + stackSize, gSchedSP: sp + 8, gSchedPC: 0x1025, gSchedBP: sp + 16,
		} {
			put(g[l.at[f]:], v)
		}
		stack := stacks[stackSize*i:]
		put(stack[16:], sp+64)
		put(stack[24:], 0x1035)
		put(stack[72:], 0x1045)
	}
	m := fake{listAt: head, pointersAt: pointers, structuresAt: all, stacksAt: stacks}
	r := newReader(m, m, &l)
	r.list = listAt
	return m, r
}

func put(b []byte, v uint64) { binary.LittleEndian.PutUint64(b, v) }

func TestTorn(t *testing.T) {
	l := layouts["go1.26 amd64"]
	for _, c := range []struct {
		name   string
		damage func(m fake, g []byte)
		torn   int
	}{
		{"none", func(fake, []byte) {}, 0},
		{"a state that does not exist", func(_ fake, g []byte) { g[l.at[gStatus]] = 77 }, 1},
		{"a state being scanned", func(_ fake, g []byte) { g[l.at[gStatus]+1] = 0x10 }, 0},
		{"no function's start", func(_ fake, g []byte) { g[l.at[gStartPC]] = 0x11 }, 1},
		{"no number", func(_ fake, g []byte) { put(g[l.at[gID]:], 0) }, 1},
		{"a reason that does not exist", func(_ fake, g []byte) { g[l.at[gWaitReason]] = 200 }, 1},
		{"a pointer to nothing", func(m fake, _ []byte) { put(m[pointersAt][8*299:], 0x7000_0000) }, 1},
		{"no pointer", func(m fake, _ []byte) { m[pointersAt][0] = 1 }, 1},
		{"nil", func(m fake, _ []byte) { put(m[pointersAt], 0) }, 1},
		{"an address that none can be", func(m fake, _ []byte) { put(m[pointersAt], 1<<63) }, 1},
		{"twice the same", func(m fake, _ []byte) { copy(m[pointersAt][8:16], m[pointersAt]) }, 1},
		{"one in another", func(m fake, _ []byte) { m[pointersAt][8*7] += 8 }, 1},
	} {
		m, r := goroutinesOf(300)
		c.damage(m, m[structuresAt])
		s, err := r.Read()
		if err != nil || s.Torn != c.torn || s.Count != 300-c.torn {
			t.Errorf("%s: %+v, %v, want %d torn of 300", c.name, s, err, c.torn)
		}
	}
	m, r := goroutinesOf(300)
	for i := range 100 {
		m[structuresAt][structureSize*i+int(l.at[gStatus])] = 77
	}
	if _, err := r.Read(); !errors.Is(err, ErrUnsure) {
		t.Errorf("a third is torn: %v, want %v", err, ErrUnsure)
	}
}

// TestStates gives each number of a state that there is, or may be.
func TestStates(t *testing.T) {
	l := layouts["go1.26 amd64"]
	for status, want := range map[uint32]string{
		1: "runnable", 2: "running", 3: "syscall", 4: "waiting IO wait", 8: "running", 9: "runnable", 10: "waiting IO wait",
		0x1001: "runnable", 0x1004: "waiting IO wait", 0x100a: "waiting IO wait", // with the bit of scanning
		0: "none", 6: "none", 11: "none", 0x1006: "none",
		5: "torn", 7: "torn", 12: "torn", 0x2004: "torn", 0xffffffff: "torn",
	} {
		m, r := goroutinesOf(1)
		binary.LittleEndian.PutUint32(m[structuresAt][l.at[gStatus]:], status)
		s, err := r.Read()
		if err != nil {
			t.Fatal(err)
		}
		got := "none"
		if s.Torn == 1 {
			got = "torn"
		} else if len(s.Groups) == 1 {
			got = strings.TrimSpace(s.Groups[0].State.String() + " " + s.Groups[0].Reason)
		}
		if got != want {
			t.Errorf("state %#x is %q, want %q", status, got, want)
		}
	}
}

// TestHostileStacks gives stacks that lead nowhere.
func TestHostileStacks(t *testing.T) {
	l := layouts["go1.26 amd64"]
	for _, c := range []struct {
		name   string
		damage func(g, stack []byte)
		frames int
	}{
		{"none", func(g, stack []byte) {}, 3},
		{"not begun", func(g, stack []byte) {
			put(g[l.at[gSchedPC]:], 0x1020)
			put(stack[8:], 0x1035)
			put(g[l.at[gSchedBP]:], 0)
		}, 2},
		{"interrupted before it pushed", func(g, stack []byte) {
			put(g[l.at[gSchedPC]:], interruptsAt+5)
			put(stack[24:], 0x1020)
			put(stack[32:], 0x1035)
			put(stack[72:], 0x1045)
		}, 4},
		{"interrupted before its frame was made", func(g, stack []byte) {
			put(g[l.at[gSchedPC]:], interruptsAt+5)
			put(stack[24:], 0x1021)
			put(stack[32:], stacksAt+64)
			put(stack[40:], 0x1035)
			put(stack[72:], 0x1045)
		}, 4},
		{"interrupted in its frame", func(g, stack []byte) {
			put(g[l.at[gSchedPC]:], interruptsAt+5)
			put(stack[24:], 0x1025)
			put(stack[72:], 0x1045)
		}, 3},
		{"no code", func(g, stack []byte) { put(g[l.at[gSchedPC]:], 0x5000) }, 0},
		{"no address to go on", func(g, stack []byte) { put(g[l.at[gSchedPC]:], 0) }, 0},
		{"no caller's code", func(g, stack []byte) { put(stack[24:], 0x5000) }, 1},
		{"a frame in itself", func(g, stack []byte) { put(stack[16:], stacksAt+16) }, 1},
		{"frames in a circle", func(g, stack []byte) { put(stack[64:], stacksAt+16) }, 2},
		{"a frame elsewhere", func(g, stack []byte) { put(stack[16:], 1<<63) }, 2},
		{"a frame over the end", func(g, stack []byte) { put(stack[16:], stacksAt+stackSize-8) }, 2},
		{"a stack that ends before it begins", func(g, stack []byte) { put(g[l.at[gStackHi]:], stacksAt) }, 0},
		{"a stack over all memory", func(g, stack []byte) { put(g[l.at[gStackHi]:], ^uint64(0)) }, 0}, // less than 16 KB is there
		{"a stack at no place", func(g, stack []byte) { put(g[l.at[gSchedSP]:], 0x6000); put(g[l.at[gStackHi]:], 0x7000) }, 0},
	} {
		m, r := goroutinesOf(1)
		c.damage(m[structuresAt], m[stacksAt])
		s, err := r.Read()
		if err != nil || len(s.Groups) != 1 || len(s.Groups[0].Stack) != c.frames {
			t.Errorf("%s: %+v, %v, want a stack of %d functions", c.name, s, err, c.frames)
		}
	}
}

// A vast memory has something at every address.
type vast struct {
	fake
	fill  func(b []byte, at uint64)
	calls *int
}

func (v vast) gather(b []byte, spans []span) (n int, err error) {
	*v.calls++
	for _, s := range spans {
		v.fill(b[n:n+s.size], s.at)
		n += s.size
	}
	return n, nil
}

// TestVast reads memory of which a list of goroutines claims much.
func TestVast(t *testing.T) {
	list := func(n uint64, fill func(b []byte, at uint64)) func(b []byte, at uint64) {
		return func(b []byte, at uint64) {
			if at != listAt {
				fill(b, at)
				return
			}
			put(b, pointersAt)
			put(b[8:], n)
		}
	}
	words := func(word func(at uint64) uint64) func(b []byte, at uint64) {
		return func(b []byte, at uint64) {
			for ; len(b) >= 8; b, at = b[8:], at+8 {
				put(b, word(at))
			}
		}
	}
	random := func(at uint64) uint64 { return at * 0x9e3779b97f4a7c15 }
	for _, c := range []struct {
		name      string
		fill      func(b []byte, at uint64)
		megabytes uint64
	}{
		{"a billion", list(1e9, words(random)), 2},
		{"all ones", words(func(uint64) uint64 { return ^uint64(0) }), 2},
		{"zeros", list(1<<22, func(b []byte, at uint64) { clear(b) }), 120},
		{"the same ones", list(1<<22, words(func(uint64) uint64 { return structuresAt })), 120},
		{"addresses of nothing", list(1<<20, words(func(at uint64) uint64 { return at << 12 & (maxAddress - 1) })), 100},
		{"noise", list(1<<20, words(random)), 60},
		{"a list that moves", words(random2()), 2},
	} {
		calls := 0
		m := vast{fill: c.fill, calls: &calls}
		l := layouts["go1.26 amd64"]
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		began := attempt.CPU()
		r := newReader(m, m, &l)
		r.list = listAt
		s, err := r.Read()
		runtime.ReadMemStats(&after)
		if !errors.Is(err, ErrUnsure) {
			t.Errorf("%s: %v, want %v", c.name, s, ErrUnsure)
		}
		took, grown := attempt.CPU()-began, (after.TotalAlloc-before.TotalAlloc)>>20
		t.Logf("%s: %v, %d calls, %d MB: %v", c.name, took, calls, grown, err)
		if took > 10*time.Second || calls > 3000 || grown > c.megabytes {
			t.Errorf("%s takes %v of CPU, %d calls and %d MB, want %d MB at most", c.name, took, calls, grown, c.megabytes)
		}
	}
}

// random2 gives lists of one goroutine, each elsewhere.
func random2() func(at uint64) uint64 {
	n := uint64(0)
	return func(at uint64) uint64 {
		if at == listAt+8 {
			return 1
		}
		n += 8
		return pointersAt + n
	}
}

// TestManyGroups reads goroutines of which each was started elsewhere.
func TestManyGroups(t *testing.T) {
	const n = 2 * maxGroups
	m, r := goroutinesOf(n)
	l := layouts["go1.26 amd64"]
	for i := range n {
		put(m[structuresAt][structureSize*i+int(l.at[gCreatorPC]):], uint64(i))
	}
	for range 2 {
		s, err := r.Read()
		if err != nil || s.Count != n || len(s.Groups) != maxGroups+1 || s.Groups[0].Count != n-maxGroups {
			t.Fatalf("%d of %d groups, %v, want %d", s.Count, len(s.Groups), err, maxGroups+1)
		}
	}
}

// TestReadStrings reads wait reasons out of memory that is no such list.
func TestReadStrings(t *testing.T) {
	const at = 0x100
	for _, c := range []struct {
		name string
		n    int
		size uint64
		text string
		want int
	}{
		{"one", 1, 5, "sleep", 1},
		{"empty", 1, 0, "", 1},
		{"none", 0, 5, "sleep", 0},
		{"negative", -1, 5, "sleep", 0},
		{"too many", 257, 5, "sleep", 0},
		{"more than there are", 2, 5, "sleep", 0},
		{"long", 1, ^uint64(0), "sleep", 0},
		{"long and there", 1, 1 << 40, strings.Repeat("x", 128), 1},
		{"control characters", 1, 5, "a\x1b[2J", 0},
		{"no text", 1, 5, "\xff\xfe\x00ab", 0},
	} {
		head := make([]byte, 16)
		put(head, 0x200)
		put(head[8:], c.size)
		if got := readStrings(fake{at: head, 0x200: []byte(c.text)}, at, c.n); len(got) != c.want {
			t.Errorf("%s: %q, want %d", c.name, got, c.want)
		}
	}
}

// changing is memory that is another at each look: its answers are what is there
// with changes, or shorter.
type changing struct {
	fake
	changes *[]byte
	calls   *int
}

func (c changing) next() (b byte) {
	if s := *c.changes; len(s) > 0 {
		b, *c.changes = s[0], s[1:]
	}
	return b
}

func (c changing) gather(b []byte, spans []span) (int, error) {
	*c.calls++
	n, err := c.fake.gather(b, spans)
	switch kind := c.next(); {
	case kind == 0xff:
		return 0, errors.New("no memory")
	case kind >= 0xf0:
		n = n * int(kind&15) / 16
	case kind >= 0x80 && n >= 8:
		for range kind & 15 {
			at := (int(c.next())<<16 | int(c.next())<<8 | int(c.next())) % (n - 7)
			switch how := c.next(); {
			case how < 0x80:
				b[at] = how
			case how < 0xc0:
				put(b[at:], structuresAt+8*uint64(c.next()))
			case how < 0xe0:
				put(b[at:], stacksAt+8*uint64(c.next()))
			case how < 0xf0:
				put(b[at:], 0x1000+uint64(how&15)<<8|uint64(c.next()))
			default:
				put(b[at:], uint64(1)<<(c.next()%64)-uint64(how&1))
			}
		}
	}
	return n, err
}

// FuzzRead gives the reader any memory, which may change with each look at it:
// the head of the list, the pointers, the structures and the stacks are the
// fuzzer's.
func FuzzRead(f *testing.F) {
	for _, n := range []int{0, 1, 3, 40} {
		m, _ := goroutinesOf(n)
		f.Add(m[listAt], m[pointersAt], m[structuresAt], m[stacksAt], []byte{})
		f.Add(m[listAt], m[pointersAt], m[structuresAt], m[stacksAt], []byte{0, 0, 0, 0, 0x81, 0, 0, 88, 77, 0xf8, 0, 0x82, 0, 0, 3, 0xd0, 4, 0, 1, 2, 0xf1, 60})
	}
	f.Fuzz(func(t *testing.T, list, pointers, structures, stacksOf, changes []byte) {
		m, _ := goroutinesOf(0)
		m[listAt], m[pointersAt], m[structuresAt], m[stacksAt] = list, pointers, structures, stacksOf
		calls, most := 0, (len(list)+len(pointers)+len(structures)+len(stacksOf))/8
		c := changing{m, &changes, &calls}
		l := layouts["go1.26 amd64"]
		r := newReader(c, m, &l)
		r.list = listAt
		for _, read := range []func() (*Snapshot, error){r.Read, r.Sample, r.Read, r.Sample} {
			calls = 0
			s, err := read()
			if calls > 30+ofProcess.stacks+sampledTries*most {
				t.Fatalf("%d calls for %d pointers", calls, most)
			}
			if err != nil {
				continue
			}
			n := 0
			for _, g := range s.Groups {
				n += g.Count
				if len(g.Stack) > maxFrames || g.Oldest < 0 || g.State.String() == "unknown" && g.Start.Func != "" {
					t.Errorf("a group of %q, %v, has %d frames and is %v old, "+
						"want a known state, %d frames at most, no time below 0",
						g.Start.Func, g.State, len(g.Stack), g.Oldest, maxFrames)
				}
			}
			if n != s.Count+s.System || n+s.Torn > most {
				t.Errorf("groups of %d, want %d, and with %d torn no more than %d pointers", n, s.Count+s.System, s.Torn, most)
			}
		}
	})
}

// Of what a unit of DWARF consists: a unit, a structure, a member, another name
// for a type, a structure without a name.
var abbreviations = []byte{
	1, 0x11, 1, 0, 0,
	2, 0x13, 1, 0x03, 0x08, 0, 0,
	3, 0x0d, 0, 0x03, 0x08, 0x38, 0x0f, 0x49, 0x13, 0, 0,
	4, 0x16, 0, 0x49, 0x13, 0, 0,
	5, 0x13, 1, 0, 0,
	0,
}

// unit puts the head of a unit before its entries.
func unit(entries []byte) []byte {
	b := binary.LittleEndian.AppendUint32(nil, uint32(7+len(entries)))
	return append(append(b, 4, 0, 0, 0, 0, 0, 8), entries...)
}

// structure describes runtime.g, with all its fields in the type at an offset.
func structure(offset uint64, of uint32) []byte {
	b := append([]byte{1, 2}, "runtime.g\x00"...)
	for _, n := range fieldNames {
		if n.in == "runtime.g" {
			name, _, _ := strings.Cut(strings.TrimSuffix(n.path, "?"), ".")
			b = append(append(append(b, 3), name...), 0)
			b = binary.LittleEndian.AppendUint32(binary.AppendUvarint(b, offset), of)
		}
	}
	return append(b, 0, 0)
}

// TestHostileDWARF reads descriptions of types that lie.
func TestHostileDWARF(t *testing.T) {
	const first = 11 // the offset of a unit's first entry
	deep := []byte{1}
	for range 3_000_000 {
		deep = append(deep, 5)
	}
	itself := uint32(first + len(structure(8, 0)))
	circle := binary.LittleEndian.AppendUint32(append(structure(8, itself), 4), itself)
	for _, c := range []struct {
		name string
		info []byte
		want string
	}{
		{"nothing", unit([]byte{1, 0}), "no runtime.g"},
		{"a structure in itself", unit(structure(8, first+1)), "has no field stack.lo"},
		{"a name of itself", unit(circle), "has no field stack.lo"},
		{"a type behind the end", unit(structure(8, 1<<31)), "has no field stack.lo"},
		{"far away", unit(structure(1<<40, first)), "has no field stack.lo"},
		{"cut", unit(structure(8, first)[:20]), ""},
		{"deep", unit(deep), ""},
		{"deep, and more", unit(append(deep, structure(8, 0)...)), "has no field stack.lo"},
	} {
		d, err := dwarf.New(abbreviations, nil, nil, c.info, nil, nil, nil, nil)
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		began := attempt.CPU()
		l, err := fromDWARF(d)
		if l != nil || err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, %v, want an error with %q", c.name, l, err, c.want)
		}
		if took := attempt.CPU() - began; took > 5*time.Second {
			t.Errorf("%s takes %v of CPU", c.name, took)
		}
	}
}

func FuzzDWARF(f *testing.F) {
	f.Add(abbreviations, unit(structure(8, 12)))
	f.Add(abbreviations, unit(append(structure(8, 12), 4, 12, 0, 0, 0)))
	f.Fuzz(func(t *testing.T, abbrev, info []byte) {
		d, err := dwarf.New(abbrev, nil, nil, info, nil, nil, nil, nil)
		if err != nil {
			return
		}
		if l, err := fromDWARF(d); err == nil {
			for f, at := range l.at {
				if fieldNames[f].in == "runtime.g" && at > maxG && at != missing {
					t.Errorf("%v at %d", fieldNames[f], at)
				}
			}
		}
	})
}
