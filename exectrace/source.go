package exectrace

import (
	"errors"
	"io"
	"sync"
)

// slack is how many bytes after the end of every batch may be read, so that
// an event can be decoded before checking that it fits.
const slack = 64

// An input hands out the bytes of a trace front to back.
type input interface {
	// fill returns the bytes that were not skipped yet: at least n, unless
	// the input ends sooner.
	fill(n int) ([]byte, error)
	// skip moves forward by n bytes, which fill must have returned.
	skip(n int)
	// offset is the number of bytes skipped.
	offset() int64
	// hold returns a handle that keeps everything filled from now on in memory
	// until release is called on it; the memory of what came before is kept by earlier handles.
	hold() lease
}

// A lease keeps a part of an input in memory.
type lease interface{ release() }

// A mapping is an input that is in memory as a whole: a mapped file or a byte slice.
type mapping struct {
	data []byte
	pos  int
	drop func(from, to int) // gives pages back; nil when there is nothing to give
}

func (in *mapping) fill(int) ([]byte, error) { return in.data[in.pos:], nil }
func (in *mapping) skip(n int)               { in.pos += n }
func (in *mapping) offset() int64            { return int64(in.pos) }
func (in *mapping) hold() lease              { return noLease{} }

type noLease struct{}

func (noLease) release() {}

// blockSize is how much a stream reads at a time. It must hold the longest
// chain of batches that resynchronisation looks at.
const blockSize = 1 << 20

// A block is a piece of a stream in memory. It is used again when the last generation
// that points into it has been read.
type block struct {
	data []byte
	refs int
}

// A blockPool keeps blocks for another use: a stream of any length is read
// in as many blocks as its generations in flight need.
type blockPool struct {
	mu   sync.Mutex
	free []*block
}

func (p *blockPool) get() *block {
	p.mu.Lock()
	defer p.mu.Unlock()
	if n := len(p.free); n > 0 {
		b := p.free[n-1]
		p.free = p.free[:n-1]
		return b
	}
	return &block{data: make([]byte, blockSize+slack)}
}

func (p *blockPool) ref(b *block) {
	p.mu.Lock()
	b.refs++
	p.mu.Unlock()
}

func (p *blockPool) unref(b *block) {
	p.mu.Lock()
	if b.refs--; b.refs == 0 {
		p.free = append(p.free, b)
	}
	p.mu.Unlock()
}

// A stream is an input from a reader that cannot go back.
type stream struct {
	r     io.Reader
	pool  *blockPool
	cur   *block
	pos   int // in cur, of the first byte not skipped
	end   int // in cur, of the bytes read
	off   int64
	err   error // io.EOF or what the reader said
	lease *blockLease
}

func newStream(r io.Reader) *stream {
	in := &stream{r: r, pool: new(blockPool)}
	in.cur = in.pool.get()
	in.pool.ref(in.cur)
	return in
}

func (in *stream) fill(n int) ([]byte, error) {
	if in.end-in.pos < n && in.pos+n > blockSize {
		in.turn()
	}
	for in.end-in.pos < n && in.err == nil {
		var k int
		k, in.err = in.r.Read(in.cur.data[in.end:blockSize])
		in.end += k
	}
	var err error
	if in.err != nil && !errors.Is(in.err, io.EOF) {
		err = in.err
	}
	return in.cur.data[in.pos:in.end], err
}

// turn continues in a fresh block that begins with what was not skipped yet.
func (in *stream) turn() {
	next := in.pool.get()
	in.pool.ref(next)
	in.end = copy(next.data, in.cur.data[in.pos:in.end])
	in.pos = 0
	in.pool.unref(in.cur)
	in.cur = next
	if in.lease != nil {
		in.lease.add(next)
	}
}

func (in *stream) skip(n int)    { in.pos += n; in.off += int64(n) }
func (in *stream) offset() int64 { return in.off }

func (in *stream) hold() lease {
	in.lease = &blockLease{pool: in.pool}
	in.lease.add(in.cur)
	return in.lease
}

type blockLease struct {
	pool   *blockPool
	blocks []*block
}

func (l *blockLease) add(b *block) {
	l.pool.ref(b)
	l.blocks = append(l.blocks, b)
}

func (l *blockLease) release() {
	for _, b := range l.blocks {
		l.pool.unref(b)
	}
	l.blocks = nil
}
