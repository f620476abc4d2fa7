package symbols

import (
	"encoding/binary"
	"runtime/debug"
	"strings"
)

// A FrameMap says which words of a function's frame are in use where a call returns to: what
// the compiler noted for the collector.
type FrameMap struct {
	// Size is how far the stack pointer is below that of the caller, without the address to
	// return to where calls push it.
	Size uint64
	// Locals are the words in front of the saved frame pointer, Args those from the first
	// argument on.
	Locals, Args Words
	// Objects are variables whose addresses are taken: in use while something leads to them.
	// With Defers the runtime's own list may lead to records of deferred calls among them.
	Objects []StackObject
	Defers  bool
}

// Words are a row of words of a stack, with a bit for each that is in use and may be a pointer.
type Words struct {
	N    int
	bits []byte
}

// NewWords returns words by whether each is in use.
func NewWords(used ...bool) (w Words) {
	w = Words{len(used), make([]byte, (len(used)+7)/8)}
	for i, is := range used {
		if is {
			w.bits[i/8] |= 1 << (i % 8)
		}
	}
	return w
}

// Used reports whether a word is in use.
func (w *Words) Used(i int) bool { return w.bits[i/8]>>(i%8)&1 != 0 }

// A StackObject is where a variable is: from the saved frame pointer on where At is negative,
// else from the first argument.
type StackObject struct{ At, Size int32 }

// Of a function's data, as internal/abi numbers it.
const (
	pcdataStackMap = 1
	dataArgs       = 0
	dataLocals     = 1
	dataObjects    = 2
)

const (
	// maxMapWords bounds the words of one frame: 1 MiB of it.
	maxMapWords = 1 << 17
	// maxStackObjects bounds a function's variables whose addresses are taken.
	maxStackObjects = 1 << 12
)

// Frame returns what is known of the frame of the function that a call returns to. It is not
// ok where nothing is, as of functions in assembly.
func (im *Image) Frame(pc uint64) (f FrameMap, ok bool) {
	defer recoverFault(debug.SetPanicOnFault(true))
	if im.lines == nil {
		return f, false
	}
	im.looked.Store(true)
	return im.lines.frame(pc - 1)
}

func (t *lineTable) frame(pc uint64) (m FrameMap, ok bool) {
	const argsWord, deferWord, sizeWord = 8, 12, 16
	f, found := t.find(pc)
	if !found || !t.inlined || t.readInline == nil {
		return m, false
	}
	if file, _ := t.fileLine(f, pc); strings.HasSuffix(file, ".s") {
		return m, false
	}
	size := t.value(f.word(sizeWord), f.entry, pc, -1)
	if size <= 0 {
		return m, false
	}
	m.Size, m.Defers = uint64(size), f.word(deferWord) != 0
	index := max(0, t.value(f.pcdata(pcdataStackMap), f.entry, pc, -1))
	locals, hasLocals := t.words(f, dataLocals, index)
	args, hasArgs := t.words(f, dataArgs, index)
	const none = 8 // a frame of so much has no variables, as where it is not made yet
	if m.Size <= none {
		locals = Words{}
	} else if !hasLocals {
		return m, false
	}
	if !hasArgs && f.word(argsWord) > 0 {
		return m, false
	}
	m.Locals, m.Args = locals, args
	m.Objects, ok = t.objects(f)
	return m, ok
}

// data returns where a function's data of a kind is, from go:func.* on.
func (f tableFunc) data(kind uint32) (at uint32, ok bool) {
	if uint32(f.nfuncs) <= kind {
		return 0, false
	}
	at = f.word(uint64(f.size) + 4*uint64(f.npc) + 4*uint64(kind))
	return at, at != ^uint32(0)
}

// words reads one of a function's bitmaps: their number, how many bits each has, and the bits.
func (t *lineTable) words(f tableFunc, kind uint32, index int32) (w Words, ok bool) {
	at, ok := f.data(kind)
	var head [8]byte
	if !ok || !t.readInline(head[:], at) {
		return w, false
	}
	n, bits := binary.LittleEndian.Uint32(head[:]), binary.LittleEndian.Uint32(head[4:])
	if bits > maxMapWords || uint32(index) >= n {
		return w, false
	}
	w = Words{int(bits), make([]byte, (bits+7)/8)}
	return w, bits == 0 || t.readInline(w.bits, at+8+uint32(index)*uint32(len(w.bits)))
}

// objects reads a function's variables whose addresses are taken.
func (t *lineTable) objects(f tableFunc) (list []StackObject, ok bool) {
	at, there := f.data(dataObjects)
	if !there {
		return nil, true
	}
	const each = 16
	var head [8]byte
	if !t.readInline(head[:], at) {
		return nil, false
	}
	n := binary.LittleEndian.Uint64(head[:])
	if n > maxStackObjects {
		return nil, false
	}
	b := make([]byte, each*n)
	if n > 0 && !t.readInline(b, at+8) {
		return nil, false
	}
	for ; len(b) > 0; b = b[each:] {
		list = append(list, StackObject{int32(binary.LittleEndian.Uint32(b)), int32(binary.LittleEndian.Uint32(b[4:]))})
	}
	return list, true
}
