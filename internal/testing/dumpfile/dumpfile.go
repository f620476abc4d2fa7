// Package dumpfile makes heap dumps, for tests: a small one that has a record of each kind, and others
// out of pieces.
//
// It hides how debug.WriteHeapDump writes numbers and fields.
package dumpfile

import (
	"encoding/binary"
	"slices"
)

// Magic is what dumps begin with.
const Magic = "go1.7 heap dump\n"

// Tags of records.
const (
	End = iota
	Object
	OtherRoot
	Type
	Goroutine
	Frame
	Params
	Finalizer
	Itab
	Thread
	MemStats
	QueuedFinalizer
	Data
	BSS
	Defer
	Panic
	MemProf
	AllocSample
)

// Addresses of [Small]: the list's objects, the goroutine's structure, the variables, a stack.
const (
	Small0, Record, Large, DataAt, BSSAt, Stack = 0xc000010000, 0xc000020000, 0xc000400000, 0x500000, 0x501000, 0xc000800000
	SmallSize, LargeSize                        = 64, 40 << 10
)

// A File is a dump in the making.
type File []byte

// New returns one that says of which program it is.
func New() File {
	f := File(Magic)
	return f.Put(Params, 0, 8, Small0, Stack, "amd64", "go1.26.8", 4)
}

// Put appends a record: numbers, and texts and contents with their lengths.
func (f File) Put(values ...any) File {
	for _, v := range values {
		switch v := v.(type) {
		case int:
			f = binary.AppendUvarint(f, uint64(v))
		case uint64:
			f = binary.AppendUvarint(f, v)
		case string:
			f = append(binary.AppendUvarint(f, uint64(len(v))), v...)
		case []byte:
			f = append(binary.AppendUvarint(f, uint64(len(v))), v...)
		case Pointers:
			for _, at := range v {
				f = binary.AppendUvarint(append(f, 1), uint64(at))
			}
			f = append(f, 0)
		default:
			panic("a value of another kind")
		}
	}
	return f
}

// Pointers are the offsets of fields.
type Pointers []int

// Words returns contents of a size that begin with words.
func Words(size int, words ...uint64) []byte {
	b := make([]byte, 0, size)
	for _, w := range words {
		b = binary.LittleEndian.AppendUint64(b, w)
	}
	return append(b, make([]byte, size-len(b))...)
}

// Small returns a dump of four objects in a circle that a variable leads to, one that a goroutine's stack
// leads to, which has 40 KiB, and two with finalizers, of which one waits.
func Small() []byte {
	f := New()
	f = f.Put(Type, 0x600000, 16, "main.Closer", 1).Put(Itab, 0x610000, 0x600000)
	for i := range 4 {
		f = f.Put(Object, Small0+i*SmallSize, Words(SmallSize, uint64(Small0+(i+1)%4*SmallSize)), Pointers{0})
	}
	for i := range 3 {
		f = f.Put(Object, Small0+(8+i)*SmallSize, Words(SmallSize), Pointers{})
	}
	f = f.Put(Object, Record, Words(480), Pointers{})
	f = f.Put(Object, Large, Words(LargeSize, 0, Small0+8*SmallSize), Pointers{8})
	f = f.Put(Goroutine, Record, Stack, 7, 0x401234, 4, 0, 0, 1_000_000_000, "chan receive", 0, 0, 0, 0)
	f = f.Put(Frame, Stack, 0, 0, Words(64, 1, Large), 0x401000, 0x401010, 0x401010, "main.wait", Pointers{8})
	f = f.Put(Frame, Stack+64, 1, Stack, Words(32), 0x402000, 0x402010, 0x402010, "main.main", Pointers{})
	f = f.Put(Defer, 0, Record, 0, 0, 0, 0, 0).Put(Panic, 0, Record, 0, 0, 0, 0)
	f = f.Put(Thread, 0x700000, 1, 42)
	f = f.Put(Data, DataAt, Words(256, 0, Small0), Pointers{8})
	f = f.Put(BSS, BSSAt, Words(256), Pointers{0, 16})
	f = f.Put(Finalizer, Small0+9*SmallSize, 0, 0, 0, 0)
	f = f.Put(QueuedFinalizer, Small0+10*SmallSize, 0, 0, 0, 0)
	f = f.Put(OtherRoot, "a root", Small0+9*SmallSize)
	f = f.Put(MemStats)
	for i := range 24 + 256 + 1 {
		f = f.Put((i + 1) << 20)
	}
	f = f.Put(MemProf, 1, 512, 2, "main.wait", "main.go", 12, "main.main", "main.go", 5, 30, 10)
	f = f.Put(AllocSample, Small0, 1)
	return slices.Clone(f.Put(End))
}
