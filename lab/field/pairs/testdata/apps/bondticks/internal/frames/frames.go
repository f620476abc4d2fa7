// Package frames has the space in which books are written.
package frames

import (
	"hash/fnv"
	"strconv"
	"sync"

	"bondticks/internal/market"
)

// Size is the most that a frame can take.
const Size = 40 << 10

// Frame is a book in the format of subscribers.
type Frame struct {
	n   int
	buf [Size]byte
}

// Rack lends frames.
type Rack struct{ pool sync.Pool }

// NewRack returns a rack.
func NewRack() *Rack {
	return &Rack{sync.Pool{New: func() any { return new(Frame) }}}
}

// Take lends a frame.
func (r *Rack) Take() *Frame {
	f := r.pool.Get().(*Frame)
	f.n = 0
	return f
}

// Give takes a frame back.
func (r *Rack) Give(f *Frame) { r.pool.Put(f) }

// Write writes a book.
func (f *Frame) Write(b *market.Book) {
	out := append(f.buf[:0], b.ISIN...)
	out = append(out, '\n')
	for _, side := range [][]market.Level{b.Bids, b.Asks} {
		for i := range side {
			l := &side[i]
			out = strconv.AppendInt(out, l.Price/100, 10)
			out = append(out, '.', byte('0'+l.Price/10%10), byte('0'+l.Price%10), ' ')
			out = strconv.AppendInt(out, l.Size, 10)
			out = append(out, ' ')
			out = strconv.AppendInt(out, int64(l.Orders), 10)
			out = append(out, '@')
			out = strconv.AppendUint(out, uint64(l.Dealer), 16)
			out = append(out, '\n')
		}
		out = append(out, '-', '\n')
	}
	f.n = len(out)
}

// Sum is the fingerprint of what was written.
func (f *Frame) Sum() uint64 {
	h := fnv.New64a()
	h.Write(f.buf[:f.n])
	return h.Sum64()
}

// Bytes is what was written.
func (f *Frame) Bytes() []byte { return f.buf[:f.n] }
