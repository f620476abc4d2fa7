// Package heapdump reads what runtime/debug.WriteHeapDump writes: all objects of a program's
// heap, its variables, stacks, finalizers, counts and memory profile. [Open] looks through it once
// and keeps where things are; their contents are read where somebody needs them.
//
// It hides the format, which has been the same since Go 1.7 and has no lengths of its records: a
// damaged one ends what can be read. Nothing is believed: each length is compared with what the
// file has, and each list is bounded. It never keeps contents.
package heapdump

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
)

// Magic is what a dump begins with.
const Magic = "go1.7 heap dump\n"

// Tags of records, and kinds of fields.
const (
	tagEnd = iota
	tagObject
	tagOtherRoot
	tagType
	tagGoroutine
	tagFrame
	tagParams
	tagFinalizer
	tagItab
	tagThread
	tagMemStats
	tagQueuedFinalizer
	tagData
	tagBSS
	tagDefer
	tagPanic
	tagMemProf
	tagAllocSample
)

const (
	fieldEnd = iota
	fieldPointer
	fieldIface
	fieldEface
)

const wordBytes = 8

// Bounds of what is kept. Programs have some hundred types with methods, and few finalizers.
const (
	maxItabs      = 1 << 18
	maxFinalizers = 1 << 21
	maxRoots      = 1 << 16
	maxSegment    = 4 << 30
)

// Params are what a dump says of its program.
type Params struct {
	Arch    string // GOARCH
	Version string // of Go
	CPUs    int
}

// A Row is objects of one size whose places follow each other in the file and in the memory, as of
// a span: each begins a multiple of the size behind the first.
type Row struct {
	Start, End uint64 // addresses
	Size       uint64 // of an object
	Offset     int64  // of the first record in the file
	Count      uint32 // objects
	Pointers   bool   // one has some
}

// A Segment is a part of the program's variables.
type Segment struct {
	Start  uint64
	Size   uint64
	Offset int64  // of its contents in the file
	Mask   []byte // a bit for each word that may be a pointer
}

// End returns where it ends.
func (s *Segment) End() uint64 { return s.Start + s.Size }

// A Finalizer is of an object; it waits to be called, or for the object to be garbage.
type Finalizer struct{ Object, Func, Type uint64 }

// A Root is an address that the runtime keeps for a reason of its own.
type Root struct {
	Reason string
	To     uint64
}

// MemStats are the fields of runtime.MemStats by their names.
type MemStats map[string]uint64

// A File is a heap dump.
type File struct {
	Params
	Rows            []Row
	Objects, Bytes  uint64
	Types           map[uint64]string // names by address, of types with methods
	Itabs           map[uint64]uint64 // address of the type by that of the table
	Data, BSS       Segment
	Roots           []Root
	Waiting, Queued []Finalizer
	Stats           MemStats // nil where they are missing
	Goroutines      int
	// Whole is false where the dump is cut short or damaged: Damage says where, and Missing what it
	// does not have for that.
	Whole   bool
	Damage  error
	Missing []string

	r          io.ReaderAt
	size       int64
	goroutines part
	sites      part
	behind     int64 // the last object in the file
	budget     uint64
}

// A part is where records of some kinds are in the file.
type part struct{ from, end int64 }

// ErrOther is in the error of a file that gowhy does not read: of another format or machine.
var ErrOther = errors.New("not a heap dump that can be read")

// Open looks through a dump, of which it keeps where things are, in budget bytes at most. A dump that
// is cut short is no error if it tells of the program that it is of.
func Open(r io.ReaderAt, size int64, budget uint64, progress func(share float64)) (*File, error) {
	head := make([]byte, len(Magic))
	if n, err := r.ReadAt(head, 0); n < len(head) || !bytes.Equal(head, []byte(Magic)) {
		if err != nil && !errors.Is(err, io.EOF) {
			return nil, err
		}
		return nil, fmt.Errorf("%w: it does not begin like one", ErrOther)
	}
	f := &File{r: r, size: size, budget: budget, Types: map[uint64]string{}, Itabs: map[uint64]uint64{}}
	c := newCursor(r, int64(len(Magic)), size)
	begun := f.look(c, progress)
	if !f.Whole && c.err != nil && !errors.Is(c.err, errEnd) && !begun {
		return nil, fmt.Errorf("%w: %w", ErrOther, c.err)
	}
	if !begun {
		return nil, fmt.Errorf("%w: it ends before it says of which program it is", ErrOther)
	}
	if errors.Is(c.err, ErrOther) || errors.Is(c.err, ErrBudget) {
		return nil, c.err
	}
	if !f.Whole {
		f.Damage = fmt.Errorf("at byte %d of %d: %w", c.offset(), size, c.err)
		f.missing()
	}
	return f, nil
}

// ErrBudget ends the look at a dump that needs more memory than it may use.
var ErrBudget = errors.New("its objects need more memory to be read than is allowed")

// missing notes what a dump lacks that does not end as it should: of the first a part may be there.
func (f *File) missing() {
	for _, p := range []struct {
		there bool
		what  string
	}{
		{f.goroutines.from > 0, "objects"}, {f.Data.Offset > 0, "goroutines"}, {f.BSS.Offset > 0, "variables"},
		{f.Stats != nil, "finalizers and MemStats"}, {false, "memory profile"},
	} {
		switch {
		case p.there:
		case len(f.Missing) == 0:
			f.Missing = append(f.Missing, "the rest of its "+p.what)
		default:
			f.Missing = append(f.Missing, p.what)
		}
	}
	if f.goroutines.from > 0 && f.goroutines.end == 0 {
		f.goroutines.end = f.size
	}
	if f.sites.from > 0 && f.sites.end == 0 {
		f.sites.end = f.size
	}
}

// progressEvery is how many records there are between two words about progress.
const progressEvery = 1 << 16

// look reads all records, and reports whether it met what the dump says of its program.
func (f *File) look(c *cursor, progress func(share float64)) (begun bool) {
	for count := 1; c.err == nil; count++ {
		if count%progressEvery == 0 && progress != nil {
			progress(float64(c.offset()) / float64(max(1, f.size)))
		}
		at := c.offset()
		tag := c.number()
		if c.err != nil {
			return begun
		}
		if tag != tagParams && !begun {
			c.fail(errors.New("it does not say first of which program it is"))
			return false
		}
		if f.goroutines.from > 0 && f.goroutines.end == 0 && tag != tagGoroutine && tag != tagFrame && tag != tagDefer && tag != tagPanic {
			f.goroutines.end = at
		}
		switch tag {
		case tagEnd:
			f.Whole = true
			if f.sites.from > 0 {
				f.sites.end = at
			}
			return begun
		case tagParams:
			f.params(c)
			begun = c.err == nil || errors.Is(c.err, ErrOther)
		case tagObject:
			f.object(c, at)
		case tagGoroutine:
			if f.goroutines.from == 0 {
				f.goroutines.from = at
			}
			f.Goroutines++
			readGoroutine(c)
		case tagMemProf:
			if f.sites.from == 0 {
				f.sites.from = at
			}
			readSite(c, nil)
		default:
			f.other(c, tag)
		}
	}
	return begun
}

// other reads records of which nothing needs to be kept in order.
func (f *File) other(c *cursor, tag uint64) {
	switch tag {
	case tagOtherRoot:
		if r := (Root{c.text(), c.number()}); c.err == nil && len(f.Roots) < maxRoots {
			f.Roots = append(f.Roots, r)
		}
	case tagType:
		at, _, name, _ := c.number(), c.number(), c.text(), c.number()
		if c.err == nil && len(f.Types) < maxItabs {
			f.Types[at] = name
		}
	case tagItab:
		if at, is := c.number(), c.number(); c.err == nil && len(f.Itabs) < maxItabs {
			f.Itabs[at] = is
		}
	case tagFrame:
		readFrame(c, nil, nil)
	case tagFinalizer:
		f.Waiting = finalizer(c, f.Waiting)
	case tagQueuedFinalizer:
		f.Queued = finalizer(c, f.Queued)
	case tagData:
		f.segment(c, &f.Data)
	case tagBSS:
		f.segment(c, &f.BSS)
	case tagMemStats:
		f.stats(c)
	case tagThread:
		numbers(c, 3)
	case tagDefer:
		numbers(c, 7)
	case tagPanic:
		numbers(c, 6)
	case tagAllocSample:
		numbers(c, 2)
	default:
		c.fail(fmt.Errorf("a record has the unknown kind %d", tag))
	}
}

func numbers(c *cursor, n int) {
	for range n {
		c.number()
	}
}

func finalizer(c *cursor, list []Finalizer) []Finalizer {
	f := Finalizer{Object: c.number(), Func: c.number()}
	c.number() // the function's code
	f.Type = c.number()
	c.number() // the type of the object's pointer
	if c.err == nil && len(list) < maxFinalizers {
		list = append(list, f)
	}
	return list
}

func (f *File) params(c *cursor) {
	bigEndian, pointer := c.number(), c.number()
	numbers(c, 2) // where the heap is
	f.Arch, f.Version = c.text(), c.text()
	f.CPUs = int(min(c.number(), 1<<20))
	if c.err == nil && (bigEndian != 0 || pointer != wordBytes) {
		c.fail(fmt.Errorf("%w: %s is no machine of 64 bits whose numbers begin with the least byte", ErrOther, f.Arch))
	}
}

// pageBytes is the runtime's: pages belong to one span each.
const pageBytes = 8 << 10

const (
	// MaxSmall is the size up to which a span has several objects. One of that size may be a large object, too:
	// it is a run of its own.
	MaxSmall = 32 << 10
	// rowBytes is how large a row of objects grows that are in several spans.
	rowBytes = 64 << 10
	// runCost is what a run costs, with what is made of it.
	runCost = 192
)

// object adds one to its run. Spans have no records: another begins where the size changes or the
// address does not fit, behind a whole page without objects, and at a page from which on
// objects have pointers, or have none.
func (f *File) object(c *cursor, record int64) {
	at, size := c.number(), uint64(c.size())
	c.skip(int64(size))
	pointers := false
	c.fields(int64(size), func(int64) { pointers = true })
	if c.err != nil {
		return
	}
	if size == 0 || size%wordBytes != 0 || at%wordBytes != 0 || at == 0 || at >= 1<<56 {
		c.fail(fmt.Errorf("an object of %d bytes is at %#x", size, at))
		return
	}
	f.Objects++
	f.Bytes += size
	follows := record == f.behind
	f.behind = c.offset()
	if n := len(f.Rows); n > 0 && size < MaxSmall && follows {
		r := &f.Rows[n-1]
		fits := r.Size == size && at >= r.End && (at-r.Start)%size == 0 && at/pageBytes <= (r.End-1)/pageBytes+1
		if fits && (at%pageBytes != 0 || r.Pointers == pointers && at-r.Start < rowBytes) {
			r.End, r.Pointers = at+size, r.Pointers || pointers
			r.Count++
			return
		}
	}
	if uint64(len(f.Rows)+1)*runCost > f.budget {
		c.fail(ErrBudget)
		return
	}
	f.Rows = append(f.Rows, Row{Start: at, End: at + size, Size: size, Offset: record, Count: 1, Pointers: pointers})
}

func (f *File) segment(c *cursor, s *Segment) {
	s.Start, s.Size = c.number(), uint64(c.size())
	if c.err != nil {
		return
	}
	if s.Size > maxSegment || s.Start > 1<<56 {
		c.fail(fmt.Errorf("variables have %d bytes", s.Size))
		return
	}
	s.Offset = c.offset()
	c.skip(int64(s.Size))
	s.Mask = make([]byte, s.Size/wordBytes/8+1)
	c.fields(int64(s.Size), func(at int64) { s.Mask[at/wordBytes/8] |= 1 << (at / wordBytes % 8) })
}

// statNames are the fields in the order of the record; pauses of collections are before the last.
const statNames = "Alloc TotalAlloc Sys Lookups Mallocs Frees HeapAlloc HeapSys HeapIdle HeapInuse HeapReleased HeapObjects " +
	"StackInuse StackSys MSpanInuse MSpanSys MCacheInuse MCacheSys BuckHashSys GCSys OtherSys NextGC LastGC PauseTotalNs"

const pauses = 256

func (f *File) stats(c *cursor) {
	s := MemStats{}
	for name := range strings.FieldsSeq(statNames) {
		s[name] = c.number()
	}
	numbers(c, pauses)
	s["NumGC"] = c.number()
	if c.err == nil {
		f.Stats = s
	}
}
