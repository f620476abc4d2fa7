// Package chunk keeps samples of one series compressed: times as differences of
// differences, values as what differs from the one before.
package chunk

import (
	"encoding/binary"
	"errors"
	"math"
	"math/bits"
)

// A Sample is a value at a time, in microseconds.
type Sample struct {
	Time  int64
	Value float64
}

// A Chunk is a header and the samples after it.
type Chunk struct {
	data  []byte
	count int
}

// New returns an empty chunk.
func New() *Chunk { return &Chunk{data: make([]byte, 0, 256)} }

// Len returns how many samples there are.
func (c *Chunk) Len() int { return c.count }

// Size returns how many bytes they take.
func (c *Chunk) Size() int { return len(c.data) }

// An Appender adds samples at the end of a chunk.
type Appender struct {
	c     *Chunk
	time  int64
	delta int64
	value uint64
}

// Appender returns what adds to the chunk where it ends.
func (c *Chunk) Appender() (*Appender, error) {
	it := c.Iterator()
	for it.Next() {
	}
	if it.Err() != nil {
		return nil, it.Err()
	}
	return &Appender{c: c, time: it.time, delta: it.delta, value: it.value}, nil
}

// Append adds a sample.
func (a *Appender) Append(s Sample) {
	delta := s.Time - a.time
	v := math.Float64bits(s.Value)
	a.c.data = binary.AppendVarint(a.c.data, delta-a.delta)
	a.c.data = binary.AppendUvarint(a.c.data, bits.Reverse64(v^a.value))
	a.c.count++
	a.time, a.delta, a.value = s.Time, delta, v
}

// An Iterator reads the samples of a chunk.
type Iterator struct {
	data  []byte
	left  int
	time  int64
	delta int64
	value uint64
	err   error
}

// Iterator returns what reads from the first sample on.
func (c *Chunk) Iterator() *Iterator { return &Iterator{data: c.data, left: c.count} }

var errShort = errors.New("chunk: data end within a sample")

// Next reads a sample, if there is one.
func (it *Iterator) Next() bool {
	if it.left == 0 || it.err != nil {
		return false
	}
	dod, n := binary.Varint(it.data)
	if n <= 0 {
		it.err = errShort
		return false
	}
	x, m := binary.Uvarint(it.data[n:])
	if m <= 0 {
		it.err = errShort
		return false
	}
	it.data = it.data[n+m:]
	it.delta += dod
	it.time += it.delta
	it.value ^= bits.Reverse64(x)
	it.left--
	return true
}

// At returns the sample that was read.
func (it *Iterator) At() Sample { return Sample{it.time, math.Float64frombits(it.value)} }

// Err returns what is wrong with the chunk.
func (it *Iterator) Err() error { return it.err }
