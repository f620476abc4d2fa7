package heap

import (
	"context"
	"encoding/binary"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/gowhy/gowhy/internal/know/model"
	"github.com/gowhy/gowhy/internal/sense/goroutines"
	"github.com/gowhy/gowhy/internal/sense/symbols"
)

// A fake is a small process in one piece of memory. Where its parts are:
const (
	fakeBase = 0xc000000000
	fakeSize = 64 << 10

	heapAt, spansAt, spanAt, spanStep          = 0, 0x100, 0x200, 0x100
	moduleAt, finAt, bitsAt, typesAt, typesEnd = 0x800, 0x900, 0xa00, 0x1000, 0x1800
	dataAt, bssAt, bssEnd, maskAt, stackAt     = 0x1800, 0x1900, 0x1a00, 0x1b00, 0x1c00
	specialAt, finBlockAt                      = 0xf00, 0xc000
	cleanupsAt, cleanupBlockAt                 = 0xd000, 0xe000
	smallAt, headedAt, largeAt                 = 0x2000, 0x4000, 0x6000
	textAt                                     = 0x400000
)

type fake []byte

func (f fake) Read(b []byte, at uint64) (int, error) {
	if at < fakeBase || at-fakeBase >= uint64(len(f)) {
		return 0, nil
	}
	return copy(b, f[at-fakeBase:]), nil
}

func (f fake) ReadEach(b []byte, size int, at []uint64) (int, error) {
	for i, a := range at {
		if got, _ := f.Read(b[i*size:][:size], a); got < size {
			return i, nil
		}
	}
	return len(at), nil
}

func (fake) Same() error { return nil }

func (fake) Variable(name string) uint64 {
	return map[string]uint64{"runtime.mheap_": fakeBase + heapAt, "runtime.firstmoduledata": fakeBase + moduleAt, "runtime.allfin": fakeBase + finAt, "runtime.gcCleanups": fakeBase + cleanupsAt}[name]
}

func (fake) Field(in, path string) (uint64, bool) {
	for i, n := range []string{"allspans"} {
		if n == path {
			return uint64(8 * i), true
		}
	}
	at, ok := map[string]uint64{
		"startAddr": 0, "npages": 8, "nelems": 16, "freeindex": 18, "allocBits": 24, "elemsize": 32, "spanclass": 40, "state": 41, "largeType": 48, "specials": 56,
		"text": 0, "etext": 8, "data": 16, "edata": 24, "bss": 32, "ebss": 40, "types": 48, "etypes": 56, "gcdatamask.bytedata": 64, "gcbssmask.bytedata": 72,
		"next": 0, "offset": 8, "kind": 16, "fn": 24,
	}[path]
	return at, ok
}

func (fake) Function(pc uint64) (uint64, string, bool) {
	if pc < textAt || pc >= textAt+0x1000 {
		return 0, "", false
	}
	return pc &^ 0xff, "main.f", true
}

func (fake) Started(uint64) string { return "main.f" }

func (fake) Frames(uint64) []symbols.Place { return nil }

// Frame has one word in use, and a variable whose address is taken behind it.
func (fake) Frame(uint64) (f symbols.FrameMap, ok bool) {
	return symbols.FrameMap{Size: 40, Locals: symbols.NewWords(true, false, false, false), Objects: []symbols.StackObject{{At: -16, Size: 16}}}, true
}

func (fake) Goroutines() ([]goroutines.Goroutine, error) {
	return []goroutines.Goroutine{{ID: 1, State: goroutines.Waiting, PC: textAt + 16, SP: fakeBase + stackAt, BP: fakeBase + stackAt + 32, Low: fakeBase + stackAt, High: fakeBase + stackAt + 128}}, nil
}

func (fake) Counters() goroutines.Runtime { return goroutines.Runtime{} }

func (f fake) put(at int, values ...uint64) {
	for i, v := range values {
		binary.LittleEndian.PutUint64(f[at+8*i:], v)
	}
}

// newFake returns a process with a list of four small objects in a variable, an object with a type
// in front on a stack, a large one that it leads to, and one that waits for its finalizer.
func newFake() fake {
	f := make(fake, fakeSize)
	f.put(heapAt, fakeBase+spansAt, 3, 3)
	f.put(spansAt, fakeBase+spanAt, fakeBase+spanAt+spanStep, fakeBase+spanAt+2*spanStep)
	span := func(i int, start, pages, elem uint64, n uint16, class byte) {
		at := spanAt + i*spanStep
		f.put(at, fakeBase+start, pages, 0, fakeBase+bitsAt+uint64(i)*128, elem, 0, 0, 0)
		binary.LittleEndian.PutUint16(f[at+16:], n)
		f[at+40], f[at+41] = class, 1
		for b := range 128 {
			f[bitsAt+i*128+b] = 0xff
		}
	}
	const small, headed = 64, 1024
	span(0, smallAt, 1, small, (pageBytes-pageBytes/64)/small, 5<<1)
	span(1, headedAt, 1, headed, pageBytes/headed, 30<<1)
	span(2, largeAt, 2, 2*pageBytes, 1, 0)
	f.put(spanAt+2*spanStep+48, fakeBase+typesAt)
	f.put(spanAt+56, fakeBase+specialAt)
	f.put(specialAt, 0, 9*small, 2, fakeBase+smallAt+10*small)
	for i := range uint64(4) { // a list, in a circle
		f.put(smallAt+int(i*small), fakeBase+smallAt+(i+1)%4*small)
		bit := i * small / 8
		f[smallAt+pageBytes-pageBytes/64+int(bit/8)] |= 1 << (bit % 8)
	}
	f.put(headedAt+headed, fakeBase+typesAt, fakeBase+largeAt, 0)
	f.put(largeAt, fakeBase+headedAt+2*headed+8, 0)
	// The type: 16 bytes, of which the first 8 are a pointer.
	f.put(typesAt, 16, 8)
	f[typesAt+23] = byte(kindPointer)
	f.put(typesAt+typeMask, fakeBase+typesAt+0x100)
	f.put(typesAt+typeElem, fakeBase+typesAt)
	f[typesAt+0x100] = 1
	copy(f[typesAt+0x200:], "\x00\x08main.one")
	binary.LittleEndian.PutUint32(f[typesAt+typeName:], 0x200)
	f.put(moduleAt, textAt, textAt+0x1000, fakeBase+dataAt, fakeBase+bssAt, fakeBase+bssAt, fakeBase+bssEnd, fakeBase+typesAt, fakeBase+typesEnd, fakeBase+maskAt, fakeBase+maskAt)
	f[maskAt] = 0xff
	f.put(dataAt, fakeBase+smallAt)
	f.put(stackAt, fakeBase+headedAt+headed+8, fakeBase+smallAt+20*small, 0, 0, 0, textAt+32) // the second word is left over
	f.put(finAt, fakeBase+finBlockAt)
	f.put(finBlockAt, 0, 0, 1, 0, fakeBase+smallAt+7*small)
	f.put(cleanupsAt+int(cleanupList("amd64")), fakeBase+cleanupBlockAt)
	f.put(cleanupBlockAt, 0, 0, fakeBase+cleanupBlockAt, 1, 0, 0, fakeBase+smallAt+13*small, fakeBase+smallAt+14*small) // a circle; the last is behind the one entry
	return f
}

func readFake(f fake, budget uint64) (*model.HeapLook, error) {
	return read(context.Background(), f, fakeProgram{}, Options{Budget: budget}, nil)
}

// late has a list of spans that lacks the last one, the first times that it is read.
type late struct {
	fake
	times *int
}

func (l late) Read(b []byte, at uint64) (int, error) {
	n, err := l.fake.Read(b, at)
	if at == fakeBase+heapAt && len(b) >= 16 && *l.times > 0 {
		*l.times--
		binary.LittleEndian.PutUint64(b[8:], 2)
	}
	return n, err
}

// TestLate has a variable lead to an object that is newer than the list of spans.
func TestLate(t *testing.T) {
	for times, want := range map[int]bool{0: true, 2: true, 100: false} {
		f := newFake()
		f.put(dataAt, fakeBase+largeAt)
		left := times
		look, err := read(context.Background(), late{f, &left}, fakeProgram{}, Options{}, nil)
		if err != nil || times < 100 && left != 0 {
			t.Fatalf("%d times too early: %v, %d left", times, err, left)
		}
		found := slices.ContainsFunc(look.Holders, func(h model.Holder) bool { return h.Kind == model.HeldByVariable && h.Bytes >= 2*pageBytes })
		if found != want {
			t.Errorf("%d times too early: the variable holds it: %v, want %v; %+v", times, found, want, look.Holders)
		}
	}
}

// A fakeProgram has two variables.
type fakeProgram struct{}

func (fakeProgram) variables(low, high uint64) (list []symbols.NamedVariable) {
	if low == fakeBase+dataAt {
		list = append(list, symbols.NamedVariable{Name: "main.list", Variable: symbols.Variable{Addr: low, Size: 8}})
	}
	return list
}

func (fakeProgram) inlineMarks() bool                        { return false }
func (fakeProgram) cleanupWords() int                        { return 3 }
func (fakeProgram) specialKinds() specialKinds               { return specialKindsOf("go1.26.8") }
func (fakeProgram) arch() string                             { return "amd64" }
func (fakeProgram) types(map[uint64]bool, *types) *variables { return nil }
func (fakeProgram) from() uint64                             { return 0 }

// wantWays compares the kinds of all holders, and the way to the most of each.
func wantWays(t *testing.T, look *model.HeapLook, want []string) {
	t.Helper()
	var got []string
	for _, h := range look.Holders {
		got = append(got, h.Kind+" "+h.Way())
	}
	if !slices.Equal(got, want) {
		t.Errorf("holders\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestFake(t *testing.T) {
	look, err := readFake(newFake(), 0)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"goroutines main.f (waiting) in main.f → []main.one",
		"global main.list → 64-byte objects with a pointer at 0",
		"finalizers finalizers and cleanups of what is not reached → 64-byte objects",
		"finalizers finalizers that wait to be called → 64-byte objects",
		"finalizers cleanups that wait to be called → 64-byte objects",
	}
	wantWays(t, look, want)
	if look.Reached != (model.ObjectSum{Objects: 11, Bytes: 4*64 + 2*1024 + 2*pageBytes + 4*64}) {
		t.Errorf("reached %+v, want 11 objects of %d bytes", look.Reached, 4*64+2*1024+2*pageBytes+4*64)
	}
}

// before is a process of a release whose notes of objects are two bytes for the offset and one for the kind.
type before struct{ fake }

func (b before) Field(in, path string) (uint64, bool) {
	at, ok := map[string]uint64{"kind": 10, "fn": 16}[path]
	if in != "runtime.special" && in != "runtime.specialfinalizer" || !ok {
		return b.fake.Field(in, path)
	}
	return at, ok
}

// TestSpecials has an object with a finalizer, one with a cleanup and one that is sampled, as each release numbers these.
func TestSpecials(t *testing.T) {
	const small = 64
	for _, tt := range []struct {
		version                     string
		finalizer, cleanup, profile uint64
		early                       bool
	}{
		{"go1.22.12", 1, 0, 2, true}, {"go1.23.1", 1, 0, 3, true}, {"go1.24.11", 1, 6, 3, false}, {"go1.25.5", 2, 7, 4, false}, {"go1.27.4", 2, 7, 4, false},
	} {
		t.Run(tt.version, func(t *testing.T) {
			f := newFake()
			m := memory(f)
			if tt.early {
				m = before{f}
			}
			note := func(at, next int, object, kind, word uint64) {
				if tt.early {
					f.put(at, uint64(next), object*small|kind<<16, word, 0, 0)
				} else {
					f.put(at, uint64(next), object*small, kind, word, 0, 0)
				}
			}
			note(specialAt, fakeBase+specialAt+48, 9, tt.finalizer, fakeBase+smallAt+10*small)
			note(specialAt+48, fakeBase+specialAt+96, 11, tt.cleanup, 0)
			note(specialAt+96, 0, 12, tt.profile, 77)
			h := reading{m: m, p: fakeProgram{}, from: live{m: m, p: fakeProgram{}}, budget: Budget, progress: func(string, float64) {}, look: &model.HeapLook{}}
			if err := h.roots(t.Context()); err != nil {
				t.Fatal(err)
			}
			got, err := readSpecials(t.Context(), h.c, specialKindsOf(tt.version))
			want := []uint32{9, 10}
			if tt.cleanup > 0 {
				want = append(want, 11)
			}
			if err != nil || !slices.Equal(got.kept, want) || !slices.Equal(got.samples, []sample{{12, 77}}) {
				t.Errorf("readSpecials() = %+v, %v, want %v kept and object 12 sampled at site 77", got, err, want)
			}
		})
	}
}

// TestFrames has three frames on a stack. On amd64 a frame pointer is above what its function
// has there, on arm64 below.
func TestFrames(t *testing.T) {
	const sp = fakeBase + stackAt
	b := make([]byte, 128)
	put := func(at int, v ...uint64) {
		for i, v := range v {
			binary.LittleEndian.PutUint64(b[at+8*i:], v)
		}
	}
	put(16, sp+48, textAt+0x110)
	put(48, 0, textAt+0x210)
	g := &goroutines.Goroutine{PC: textAt + 0x10, SP: sp, BP: sp + 16, Low: sp, High: sp + 128}
	for _, below := range []bool{false, true} {
		k := &stacks{c: &scanner{m: newFake()}, places: map[uint64]place{}, number: map[string]int32{}, below: below}
		frames, where := k.walk(g, b)
		want := []uint64{sp + 16, sp + 48, sp + 128}
		if below {
			want = []uint64{sp + 48, sp + 128, sp + 128}
		}
		var got []uint64
		for _, f := range frames {
			got = append(got, f.end)
		}
		if !slices.Equal(got, want) || where != "main.f" {
			t.Errorf("below %v: frames end at %#x in %q, want %#x", below, got, where, want)
		}
	}
}

// A budget that is too small is an error, and so are lists that cannot be.
func TestRefused(t *testing.T) {
	var small *BudgetError
	if _, err := readFake(newFake(), 1000); !errors.As(err, &small) || small.Budget != 1000 || small.Need <= 1000 {
		t.Errorf("with 1000 bytes: %v", err)
	}
	for name, change := range map[string]func(f fake){
		"no list":             func(f fake) { f.put(heapAt, 0) },
		"an empty list":       func(f fake) { f.put(heapAt+8, 0) },
		"a list too long":     func(f fake) { f.put(heapAt+8, 1<<40) },
		"a list with no end":  func(f fake) { f.put(heapAt+8, 1<<20) },
		"no span in use":      func(f fake) { f[spanAt+41], f[spanAt+spanStep+41], f[spanAt+2*spanStep+41] = 0, 0, 0 },
		"variables backwards": func(f fake) { f.put(moduleAt+24, 1) },
	} {
		f := newFake()
		change(f)
		if _, err := readFake(f, 0); !errors.Is(err, goroutines.ErrUnsure) {
			t.Errorf("%s: %v, want %v", name, err, goroutines.ErrUnsure)
		}
	}
}

// TestInterrupted ends a reading before it begins, while objects are read, and in the walk.
func TestInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	whole, err := read(ctx, newFake(), fakeProgram{}, Options{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	objects, stop := context.WithCancel(ctx)
	part, err := read(objects, newFake(), fakeProgram{}, Options{Progress: func(what string, share float64) {
		if what == readingObjects {
			stop()
		}
	}}, nil)
	switch {
	case err != nil:
		t.Errorf("interrupted while objects are read: read() = %v, want no error", err)
	case !part.Partial || part.PartRead <= 0 || part.PartRead >= 1:
		t.Errorf("interrupted while objects are read: partial is %t of %v, want a part", part.Partial, part.PartRead)
	case part.Reached.Bytes == 0 || part.Reached.Bytes >= whole.Reached.Bytes:
		t.Errorf("interrupted while objects are read: %d bytes reached, want some of %d", part.Reached.Bytes, whole.Reached.Bytes)
	}
	look, err := read(ctx, newFake(), fakeProgram{}, Options{Progress: func(what string, _ float64) {
		if what == walking {
			cancel()
		}
	}}, nil)
	if err != nil {
		t.Errorf("interrupted in the walk: read() = %v, want no error", err)
	} else if !look.Partial {
		t.Error("interrupted in the walk: read() is whole, want it partial")
	}
	if _, err := read(ctx, newFake(), fakeProgram{}, Options{}, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("interrupted before: %v", err)
	}
}

// FuzzRead puts words where nobody expects them. Each 10 bytes are a place and what is there.
func FuzzRead(f *testing.F) {
	patch := func(at int, v uint64) []byte {
		return binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint16(nil, uint16(at)), v)
	}
	f.Add([]byte{})
	f.Add(patch(spanAt+8, 1<<29))                   // pages
	f.Add(patch(spanAt+32, 1))                      // bytes of an object
	f.Add(patch(spanAt+spanStep, fakeBase+smallAt)) // overlapping
	f.Add(patch(specialAt, fakeBase+specialAt))     // a circle
	f.Add(patch(finBlockAt, fakeBase+finBlockAt))
	f.Add(patch(typesAt, 1<<63))
	f.Add(patch(typesAt+typePointers, 1<<20))
	f.Add(patch(stackAt+32, fakeBase+stackAt+32))
	f.Fuzz(func(t *testing.T, b []byte) {
		m := newFake()
		for ; len(b) >= 10; b = b[10:] {
			m.put(min(int(binary.LittleEndian.Uint16(b)), fakeSize-8), binary.LittleEndian.Uint64(b[2:]))
		}
		const budget = 8 << 20
		look, err := readFake(m, budget)
		if err != nil {
			return
		}
		checkSum(t, look)
	})
}

// checkSum adds up the holders.
func checkSum(t *testing.T, look *model.HeapLook) {
	t.Helper()
	sum := model.ObjectSum{}
	for _, h := range look.Holders {
		sum.Objects, sum.Bytes = sum.Objects+h.Objects, sum.Bytes+h.Bytes
		if h.Shared > h.Bytes || h.OnStacks > h.Bytes {
			t.Errorf("%s holds %d bytes, %d shared, %d on stacks, want no more of these than it holds",
				h.Name, h.Bytes, h.Shared, h.OnStacks)
		}
	}
	if sum != look.Reached {
		t.Errorf("the holders hold %+v, want what is reached, %+v", sum, look.Reached)
	}
}
