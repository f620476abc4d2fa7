// Package meter counts the bytes that are sent.
package meter

import (
	"io"
	"sync/atomic"
)

// A Meter counts bytes of many streams.
type Meter struct{ n atomic.Int64 }

// Bytes returns how many there were.
func (m *Meter) Bytes() int64 { return m.n.Load() }

type reader struct {
	io.Reader
	m *Meter
}

func (r reader) Read(p []byte) (int, error) {
	n, err := r.Reader.Read(p)
	r.m.n.Add(int64(n))
	return n, err
}

// Reader returns a reader that counts what is read.
func (m *Meter) Reader(r io.Reader) io.Reader { return reader{r, m} }

type body struct {
	reader
	io.Closer
}

// Body returns a stream that counts what is read.
func (m *Meter) Body(r io.ReadCloser) io.ReadCloser { return body{reader{r, m}, r} }
