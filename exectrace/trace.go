package exectrace

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
)

// A Trace is one execution trace. Its methods may be called from several
// goroutines, except that a trace from a stream can be read only once.
type Trace struct {
	minor int // Go version of the header
	size  int64
	open  func() (input, error) // an input that begins after the header
	close func() error
	raw   func() io.Reader // the whole input again, for the reader of old versions

	openAt func(off int64) (input, error) // an input that begins there; nil for a stream

	mu        sync.Mutex
	info      *Info
	cuts      []cut          // where generations lie; nil when not known
	known     *pieceMemory   // what a pass over the whole has left for pieces; nil before
	marks     map[int]*marks // by generation
	markEvery int64          // 0 but in tests
	looks     int64          // at marks

	oldPieces []*Piece // all of a trace of Go 1.21 or older, once read; nil before, and when they are too many
}

// errStreamRead is returned when a trace from a stream is read a second time.
var errStreamRead = errors.New("a trace from a stream can be read only once")

// Open opens a trace file. The file must not be changed while it is read;
// one that is still being written should be read as a stream.
func Open(path string) (*Trace, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	st, err := f.Stat()
	if err != nil {
		f.Close()
		return nil, err
	}
	if !st.Mode().IsRegular() {
		t, err := NewReader(f)
		if err != nil {
			f.Close()
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		t.close = f.Close
		return t, nil
	}
	t, err := openFile(f, st.Size())
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return t, nil
}

func openFile(f *os.File, size int64) (*Trace, error) {
	if size > 0 {
		if data, drop, unmap, err := mapFile(f, size); err == nil {
			t, err := newMapping(data, drop)
			if err != nil {
				_ = unmap()
				return nil, err
			}
			t.close = func() error { return errors.Join(unmap(), f.Close()) }
			return t, nil
		}
	}
	t, err := NewReaderAt(f, size)
	if err != nil {
		return nil, err
	}
	t.close = f.Close
	return t, nil
}

// newMapping reads a trace that is in memory.
func newMapping(data []byte, drop func(from, to int)) (*Trace, error) {
	t := &Trace{
		size:   int64(len(data)),
		open:   func() (input, error) { return &mapping{data: data, pos: headerSize, drop: drop}, nil },
		openAt: func(off int64) (input, error) { return &mapping{data: data, pos: int(off)}, nil },
		raw:    func() io.Reader { return bytes.NewReader(data) },
	}
	var err error
	t.minor, err = readHeader(&mapping{data: data})
	return t, err
}

// NewReaderAt reads a trace of the given size from r, piece by piece.
func NewReaderAt(r io.ReaderAt, size int64) (*Trace, error) {
	t := &Trace{size: size, raw: func() io.Reader { return io.NewSectionReader(r, 0, size) }}
	t.open = func() (input, error) {
		in := newStream(t.raw())
		_, err := readHeader(in)
		return in, err
	}
	t.openAt = func(off int64) (input, error) {
		in := newStream(io.NewSectionReader(r, off, size-off))
		in.off = off
		return in, nil
	}
	var err error
	t.minor, err = readHeader(newStream(t.raw()))
	return t, err
}

// NewReader reads a trace from a stream, like a pipe or a response body. It
// can be read once.
func NewReader(r io.Reader) (*Trace, error) {
	in := newStream(r)
	head, err := in.fill(headerSize)
	if err != nil {
		return nil, err
	}
	t := &Trace{}
	if t.minor, err = readHeader(in); err != nil {
		return nil, err
	}
	var once sync.Once
	first := func() (ok bool) {
		once.Do(func() { ok = true })
		return ok
	}
	t.open = func() (input, error) {
		if !first() {
			return nil, errStreamRead
		}
		return in, nil
	}
	t.raw = func() io.Reader {
		if !first() {
			return errReader{errStreamRead}
		}
		return io.MultiReader(bytes.NewReader(head), r)
	}
	return t, nil
}

type errReader struct{ err error }

func (r errReader) Read([]byte) (int, error) { return 0, r.err }

// Close releases what Open took. It must not be called while the trace is read.
func (t *Trace) Close() error {
	if t.close == nil {
		return nil
	}
	return t.close()
}

// old reports whether the trace is of Go 1.21 or older, whose format is another one.
func (t *Trace) old() bool { return t.minor < 22 }

// walk returns a walker over the generations.
func (t *Trace) walk() (*walker, error) {
	in, err := t.open()
	if err != nil {
		return nil, err
	}
	return &walker{in: in, version: t.minor}, nil
}
