package heapdump

import "errors"

// A Goroutine is one with its stack.
type Goroutine struct {
	Record  uint64 // address of the runtime's structure
	ID      uint64
	Creator uint64 // the go statement
	Status  uint64 // of the runtime
	System  bool   // the runtime's own
	Since   int64  // when it began to wait, by the clock of the runtime; 0 where that is not known
	Reason  string // of waiting
	Frames  []Frame
	// Left is how many frames were left out, or have no contents here.
	Left int
}

// A Frame is one of a stack, the innermost first.
type Frame struct {
	SP        uint64 // its lowest address
	Entry, PC uint64
	Name      string // of the function
	// Content is its words, and Pointers at which offsets it has pointers by the compiler's map.
	Content  []byte
	Pointers []uint32
}

const (
	// maxFrames of a stack are kept, and maxStack bytes of their contents.
	maxFrames = 1 << 10
	maxStack  = 16 << 20
)

func readGoroutine(c *cursor) (g Goroutine) {
	g.Record = c.number()
	c.number() // stack pointer
	g.ID, g.Creator, g.Status = c.number(), c.number(), c.number()
	g.System = c.number() != 0
	c.number()
	g.Since = int64(c.number())
	g.Reason = c.text()
	numbers(c, 4) // context, thread, calls that are deferred, panics
	return g
}

// readFrame reads a frame, with its contents where room is given.
func readFrame(c *cursor, f *Frame, room []byte) (content int64) {
	sp := c.number()
	numbers(c, 2) // depth, and the frame above
	size := c.size()
	kept := 0
	if f != nil && size <= int64(len(room)) {
		for kept < int(size) && c.err == nil {
			kept += copy(room[kept:size], c.content(int(min(size-int64(kept), bufferBytes))))
		}
		f.Content = room[:kept:kept]
	}
	c.skip(size - int64(kept))
	entry, pc := c.number(), c.number()
	c.number() // where it goes on
	name := c.text()
	if f == nil {
		c.fields(size, nil)
		return size
	}
	f.SP, f.Entry, f.PC, f.Name = sp, entry, pc, name
	f.Pointers = f.Pointers[:0]
	c.fields(size, func(at int64) {
		if at < int64(len(f.Content)) {
			f.Pointers = append(f.Pointers, uint32(at))
		}
	})
	return size
}

// EachGoroutine reads the goroutines. What each has is there until the call returns.
func (f *File) EachGoroutine(each func(g *Goroutine) error) error {
	if f.goroutines.from == 0 {
		return nil
	}
	c := newCursor(f.r, f.goroutines.from, f.goroutines.end)
	var g Goroutine
	frames, room := make([]Frame, 0, 64), make([]byte, 2*bufferBytes)
	used, kept := 0, -1 // of the room, and of the goroutine; less than 0 before the first
	give := func() error {
		if kept < 0 {
			return nil
		}
		g.Frames = frames
		return each(&g)
	}
	for c.offset() < f.goroutines.end && c.err == nil {
		switch tag := c.number(); tag {
		case tagGoroutine:
			next := readGoroutine(c)
			if c.err != nil {
				break
			}
			if err := give(); err != nil {
				return err
			}
			g, frames, used, kept = next, frames[:0], 0, 0
		case tagFrame:
			if len(frames) == maxFrames || kept > maxStack {
				readFrame(c, nil, nil)
				g.Left++
				continue
			}
			if len(room)-used < bufferBytes { // what frames have of the former stays theirs
				room, used = make([]byte, 2*bufferBytes), 0
			}
			if len(frames) < cap(frames) {
				frames = frames[:len(frames)+1]
			} else {
				frames = append(frames, Frame{})
			}
			last := &frames[len(frames)-1]
			last.Content = nil
			size := readFrame(c, last, room[used:])
			if c.err != nil {
				frames = frames[:len(frames)-1]
				break
			}
			if used, kept = used+len(last.Content), kept+len(last.Content); int64(len(last.Content)) < size {
				g.Left++
			}
		case tagDefer:
			numbers(c, 7)
		case tagPanic:
			numbers(c, 6)
		default:
			c.fail(errors.New("a record of another kind is among the goroutines"))
		}
	}
	return give()
}

// A Site is the objects of one size that one stack allocated, of those that were sampled.
type Site struct {
	ID            uint64
	Size          int64
	Stack         []Place // innermost first
	Allocs, Frees int64
}

// A Place is a line of a function.
type Place struct {
	Func, File string
	Line       int
}

// maxDepth is the runtime's bound of the stacks of its profile.
const maxDepth = 1024

func readSite(c *cursor, s *Site) {
	id, size, depth := c.number(), c.number(), c.number()
	if depth > maxDepth {
		c.fail(errors.New("a stack of the memory profile is too deep"))
		return
	}
	if s != nil {
		*s = Site{ID: id, Size: int64(size), Stack: s.Stack[:0]}
	}
	for range depth {
		fn, file := c.text(), c.text()
		line := c.number()
		if s != nil {
			s.Stack = append(s.Stack, Place{fn, file, int(min(line, 1<<31))})
		}
	}
	allocs, frees := c.number(), c.number()
	if s != nil {
		s.Allocs, s.Frees = int64(allocs), int64(frees)
	}
}

// EachSite reads the memory profile, and then which objects are sampled: by their addresses and the
// numbers of their sites. What a site has is there until the call returns.
func (f *File) EachSite(each func(s *Site), sample func(at, site uint64)) {
	if f.sites.from == 0 {
		return
	}
	c := newCursor(f.r, f.sites.from, f.sites.end)
	var s Site
	for c.offset() < f.sites.end && c.err == nil {
		switch c.number() {
		case tagMemProf:
			if readSite(c, &s); c.err == nil && s.Size >= 0 && s.Frees >= 0 && s.Allocs >= s.Frees {
				each(&s)
			}
		case tagAllocSample:
			if at, site := c.number(), c.number(); c.err == nil {
				sample(at, site)
			}
		default:
			return
		}
	}
}

// ReadAt fills b with the program's variables from an address on, and returns how many bytes there
// were.
func (f *File) ReadAt(b []byte, at uint64) int {
	for _, s := range []*Segment{&f.Data, &f.BSS} {
		if at >= s.Start && at < s.End() {
			n, _ := f.r.ReadAt(b[:min(uint64(len(b)), s.End()-at)], s.Offset+int64(at-s.Start))
			return n
		}
	}
	return 0
}

// ReadContent fills b with what is at an offset of the file, which is inside an object.
func (f *File) ReadContent(b []byte, offset int64) int {
	n, _ := f.r.ReadAt(b, offset)
	return n
}

// A Scanner reads the objects of runs.
type Scanner struct {
	f      *File
	c      *cursor
	window []byte
	from   int64 // of the window in the object
	object Object
}

// An Object is one of a run.
type Object struct {
	At, Size uint64
	Offset   int64 // of its contents in the file
	s        *Scanner
}

// NewScanner returns one, for one goroutine at a time.
func (f *File) NewScanner() *Scanner {
	return &Scanner{f: f, c: newCursor(f.r, 0, f.size), window: make([]byte, 0, bufferBytes)}
}

// Each calls object for each of a run, and between its calls pointer for each of its pointers.
func (s *Scanner) Each(r *Row, object func(o *Object), pointer func(o *Object, at uint64)) error {
	c := s.c
	c.err = nil
	c.seek(r.Offset)
	for range r.Count {
		tag, at, size := c.number(), c.number(), c.size()
		if c.err == nil && (tag != tagObject || uint64(size) != r.Size) {
			c.fail(errors.New("it changed while it was read"))
		}
		if c.err != nil {
			return c.err
		}
		s.object = Object{at, uint64(size), c.offset(), s}
		s.window, s.from = s.window[:0], 0
		if size <= MaxSmall { // it may have to be read again else
			s.window = append(s.window, c.content(int(size))...)
		} else {
			c.skip(size)
		}
		object(&s.object)
		if pointer != nil {
			c.fields(size, func(at int64) { pointer(&s.object, uint64(at)) })
		} else {
			c.fields(size, nil)
		}
		if c.err != nil {
			return c.err
		}
	}
	return nil
}

// Bytes returns n bytes of the object, fewer where it has no more. They are there until the next call.
func (o *Object) Bytes(at, n uint64) []byte {
	s := o.s
	if at >= o.Size {
		return nil
	}
	n = min(n, o.Size-at, bufferBytes)
	if at < uint64(s.from) || at+n > uint64(s.from)+uint64(len(s.window)) {
		s.from = int64(at)
		got, _ := s.f.r.ReadAt(s.window[:min(bufferBytes, o.Size-at)], o.Offset+int64(at))
		s.window = s.window[:got]
		n = min(n, uint64(got))
	}
	return s.window[at-uint64(s.from):][:n]
}
