package goroutines

import (
	"slices"

	"github.com/gowhy/gowhy/internal/sense/symbols"
)

// A View is the memory of a process for who reads other parts of it than goroutines and
// counters. It is the [Reader]'s: for one goroutine at a time, and gone when that is closed.
type View struct{ r *Reader }

// View returns the memory that the goroutines are read out of. The error has [ErrUnsure] in
// it where the program has no symbols, and what the heap is found by was not found by its code either.
func (r *Reader) View() (*View, error) {
	r.findHeap()
	if r.counter["runtime.mheap_"] == 0 || r.counter["runtime.firstmoduledata"] == 0 {
		return nil, unsure("where its heap is was not found, for it has no symbols")
	}
	return &View{r}, nil
}

// Read fills b from an address and returns how many bytes there were. An error is of reading
// as such; of a part that is not mapped there are just fewer bytes.
func (v *View) Read(b []byte, at uint64) (int, error) {
	if len(b) == 0 || at > maxAddress {
		return 0, nil
	}
	return v.r.memory.gather(b, []span{{at, len(b)}})
}

// ReadEach reads pieces of the same size, one behind the other, and returns how many there
// were: the first that is not mapped ends it.
func (v *View) ReadEach(b []byte, size int, at []uint64) (int, error) {
	n := min(len(at), len(b)/max(1, size))
	spans := make([]span, n)
	for i := range spans {
		spans[i] = span{at[i], size}
	}
	got, err := v.r.memory.gather(b[:n*size], spans)
	return got / max(1, size), err
}

// Same returns an error when another program's memory is read by now, or none.
func (v *View) Same() error { return v.r.memory.same(v.r.list) }

// Image returns the program's file, and what is added to its addresses to have the process's.
// It is nil where there is none.
func (v *View) Image() (im *symbols.Image, base uint64) {
	if p, ok := v.r.code.(program); ok {
		return p.image, p.base
	}
	return nil, 0
}

// Function returns the name of the function that an address is in, and where it begins.
func (v *View) Function(pc uint64) (entry uint64, name string, ok bool) { return v.r.code.Entry(pc) }

// Frames returns the functions of a return address, the inlined first.
func (v *View) Frames(pc uint64) []symbols.Place { return v.r.code.frames(pc) }

// Frame returns which words of a frame are in use, by the address that a call returns to in it.
func (v *View) Frame(pc uint64) (f symbols.FrameMap, ok bool) {
	if p, is := v.r.code.(program); is {
		return p.image.Frame(pc - p.base)
	}
	return f, false
}

// Started returns the function that a goroutine was started with, by where it begins: the one that
// go calls with arguments, not what the compiler puts around it.
func (v *View) Started(entry uint64) string {
	if f := v.r.function(entry); f != nil {
		return v.r.code.started(entry, f.name).Func
	}
	return ""
}

// Variable returns the address of one of the runtime's variables; 0 where it is not known.
func (v *View) Variable(name string) uint64 { return v.r.counter[name] }

// Field returns where a field is in a structure of the runtime's.
func (v *View) Field(in, path string) (offset uint64, ok bool) {
	f := slices.Index(fieldNames[:], struct{ in, path string }{in, path + "?"})
	if f < 0 || v.r.layout.at[f] == missing {
		return 0, false
	}
	return uint64(v.r.layout.at[f]), true
}

// Counters reads what the runtime counts.
func (v *View) Counters() Runtime { return v.r.Counters() }

// Arenas reads the addresses of the heap.
func (v *View) Arenas() ([]Range, error) { return v.r.Arenas() }

// A Goroutine is one, with where it goes on. What runs has other registers by now.
type Goroutine struct {
	At             uint64 // address of the runtime's structure
	ID             uint64
	State          State
	Reason         string // of waiting
	Start, Creator uint64 // the function it began at, and where it was started
	System         bool   // the runtime's own
	PC, SP, BP     uint64
	Low, High      uint64 // its stack
}

// Goroutines reads all that there are, in the order of their addresses.
func (v *View) Goroutines() (list []Goroutine, err error) {
	r := v.r
	stacks := r.Stacks
	r.Stacks = false
	r.every = func(g Goroutine) { list = append(list, g) }
	defer func() { r.Stacks, r.every = stacks, nil }()
	_, err = r.Read()
	return list, err
}

// one returns a goroutine that add has just counted.
func (r *Reader) one(k key, index int32, g []byte) Goroutine {
	at := r.registers(index, g, k.state)
	one := Goroutine{At: r.pointer(index), ID: at.id, State: k.state, Start: k.start, Creator: k.creator, PC: at.pc, SP: at.sp, BP: at.bp, Low: r.field(g, gStackLo), High: at.top}
	if k.state == Waiting || k.state == leaked {
		one.Reason = r.layout.reasons[r.field(g, gWaitReason)&0xff]
	}
	if f := r.function(k.start); f != nil {
		one.System = f.system
	}
	return one
}
