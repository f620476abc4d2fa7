// Package wire has the daily batch that a data concentrator sends for its meters.
package wire

import (
	"encoding/binary"
	"errors"
	"hash/crc32"
)

// Intervals is the number of quarter hours of a day.
const Intervals = 96

// Flags of a register.
const (
	FlagGap uint8 = 1 << iota
	FlagReset
	FlagTamper
)

// Register is the load profile of one meter for one day.
type Register struct {
	Meter string
	Day   int32
	Flags uint8
	Wh    [Intervals]int32
}

// Sum returns the energy of the day.
func (r *Register) Sum() int64 {
	var n int64
	for _, v := range r.Wh {
		n += int64(v)
	}
	return n
}

// Batch is what a concentrator sends in one go.
type Batch struct {
	Concentrator uint32
	Registers    []Register
}

var (
	errShort    = errors.New("wire: short batch")
	errChecksum = errors.New("wire: wrong checksum")
)

// Append appends the encoded batch to dst.
func Append(dst []byte, b *Batch) []byte {
	start := len(dst)
	dst = binary.BigEndian.AppendUint32(dst, b.Concentrator)
	dst = binary.AppendUvarint(dst, uint64(len(b.Registers)))
	for i := range b.Registers {
		r := &b.Registers[i]
		dst = append(dst, byte(len(r.Meter)))
		dst = append(dst, r.Meter...)
		dst = binary.AppendVarint(dst, int64(r.Day))
		dst = append(dst, r.Flags)
		var last int32
		for _, v := range r.Wh {
			dst = binary.AppendVarint(dst, int64(v-last))
			last = v
		}
	}
	return binary.BigEndian.AppendUint32(dst, crc32.ChecksumIEEE(dst[start:]))
}

type cursor struct {
	p   []byte
	bad bool
}

func (c *cursor) varint() int64 {
	v, n := binary.Varint(c.p)
	if n <= 0 {
		c.bad = true
		return 0
	}
	c.p = c.p[n:]
	return v
}

func (c *cursor) take(n int) []byte {
	if n > len(c.p) {
		c.bad = true
		return make([]byte, n)
	}
	p := c.p[:n]
	c.p = c.p[n:]
	return p
}

// Decode reads a batch.
func Decode(p []byte) (*Batch, error) {
	if len(p) < 9 {
		return nil, errShort
	}
	body, sum := p[:len(p)-4], binary.BigEndian.Uint32(p[len(p)-4:])
	if crc32.ChecksumIEEE(body) != sum {
		return nil, errChecksum
	}
	b := &Batch{Concentrator: binary.BigEndian.Uint32(body)}
	n, used := binary.Uvarint(body[4:])
	if used <= 0 || n > 4096 {
		return nil, errShort
	}
	c := cursor{p: body[4+used:]}
	b.Registers = make([]Register, n)
	for i := range b.Registers {
		r := &b.Registers[i]
		r.Meter = string(c.take(int(c.take(1)[0])))
		r.Day = int32(c.varint())
		r.Flags = c.take(1)[0]
		var last int64
		for j := range r.Wh {
			last += c.varint()
			r.Wh[j] = int32(last)
		}
		if c.bad {
			return nil, errShort
		}
	}
	return b, nil
}
