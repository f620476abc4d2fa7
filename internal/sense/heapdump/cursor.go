package heapdump

import (
	"errors"
	"fmt"
	"io"
)

// errEnd is of a file that ends in the middle of something.
var errEnd = errors.New("it ends there")

// bufferBytes is read at a time. An object of several in a span has half of it at most.
const bufferBytes = 64 << 10

// A cursor reads a part of a file from its begin on. The first error stays: behind it all
// numbers are 0.
type cursor struct {
	r    io.ReaderAt
	end  int64
	b    []byte
	at   int64 // of b in the file
	i, n int   // the next byte in b, and how many are in it
	err  error
}

func newCursor(r io.ReaderAt, from, end int64) *cursor {
	return &cursor{r: r, at: from, end: end, b: make([]byte, bufferBytes)}
}

// offset returns where the next byte is in the file.
func (c *cursor) offset() int64 { return c.at + int64(c.i) }

func (c *cursor) fail(err error) {
	if c.err == nil {
		c.err = err
	}
}

// seek goes on from a place in the file.
func (c *cursor) seek(at int64) {
	if at >= c.at && at <= c.at+int64(c.n) {
		c.i = int(at - c.at)
		return
	}
	c.at, c.i, c.n = at, 0, 0
}

// fill has n bytes in the buffer, which is as large, or fails.
func (c *cursor) fill(n int) bool {
	if c.err != nil {
		return false
	}
	if c.n-c.i >= n {
		return true
	}
	c.n = copy(c.b, c.b[c.i:c.n])
	c.at, c.i = c.at+int64(c.i), 0
	from := c.at + int64(c.n)
	got, err := c.r.ReadAt(c.b[c.n:c.n+int(max(0, min(int64(len(c.b)-c.n), c.end-from)))], from)
	c.n += got
	switch {
	case c.n >= n:
		return true
	case err != nil && !errors.Is(err, io.EOF):
		c.fail(err)
	default:
		c.fail(errEnd)
	}
	return false
}

// number reads one as encoding/binary writes it.
func (c *cursor) number() (v uint64) {
	for shift := uint(0); shift < 70; shift += 7 {
		if c.i == c.n && !c.fill(1) {
			return 0
		}
		b := c.b[c.i]
		c.i++
		if b < 0x80 {
			if shift == 63 && b > 1 {
				break
			}
			return v | uint64(b)<<shift
		}
		v |= uint64(b&0x7f) << shift
	}
	c.fail(errors.New("a number has more than 64 bits"))
	return 0
}

// size reads how many bytes follow, which must be there.
func (c *cursor) size() int64 {
	n := c.number()
	if c.err == nil && n > uint64(c.end-c.offset()) {
		if n > maxContent {
			c.fail(fmt.Errorf("something has %d bytes", n))
		}
		c.fail(errEnd)
	}
	if c.err != nil {
		return 0
	}
	return int64(n)
}

// maxContent is over the largest object.
const maxContent = 1 << 47

// skip goes over bytes that are there.
func (c *cursor) skip(n int64) {
	if c.err == nil {
		c.seek(c.offset() + n)
	}
}

// content reads bytes. They are there until the next is read.
func (c *cursor) content(n int) []byte {
	if n > len(c.b) {
		c.fail(fmt.Errorf("something has %d bytes", n))
	}
	if !c.fill(n) {
		return nil
	}
	b := c.b[c.i:][:n]
	c.i += n
	return b
}

// text reads a name; what is behind its first bytes is left out.
func (c *cursor) text() string {
	n := c.size()
	s := string(c.content(int(min(n, maxText))))
	c.skip(n - int64(len(s)))
	return s
}

// maxText is over the length of names of functions, types and files.
const maxText = 4 << 10

// fields reads where the pointers of something of a size are, and calls each for them.
func (c *cursor) fields(size int64, each func(at int64)) {
	for c.err == nil {
		kind := c.number()
		if kind == fieldEnd || c.err != nil {
			return
		}
		at := int64(c.number())
		if kind > fieldEface || at < 0 || at > size-wordBytes {
			c.fail(fmt.Errorf("a pointer is at %d of %d bytes", at, size))
			return
		}
		if kind != fieldPointer { // its value is the second word
			at += wordBytes
		}
		if each != nil && at <= size-wordBytes {
			each(at)
		}
	}
}
