// Package wire is the form in which positions travel: a length and the fields.
package wire

import (
	"encoding/binary"
	"errors"
	"io"
	"math"
)

// A Position is where a tram is.
type Position struct {
	Line, Car   uint16
	Serial      uint32
	Lat, Lon    float64
	Destination string
	Next        string
}

// ErrFormat says that something is no position.
var ErrFormat = errors.New("wire: format")

// Append adds a position with its length to a buffer.
func Append(to []byte, p *Position) []byte {
	at := len(to)
	to = append(to, 0, 0)
	to = binary.BigEndian.AppendUint16(to, p.Line)
	to = binary.BigEndian.AppendUint16(to, p.Car)
	to = binary.BigEndian.AppendUint32(to, p.Serial)
	to = binary.BigEndian.AppendUint64(to, math.Float64bits(p.Lat))
	to = binary.BigEndian.AppendUint64(to, math.Float64bits(p.Lon))
	for _, s := range []string{p.Destination, p.Next} {
		to = append(to, byte(len(s)))
		to = append(to, s...)
	}
	binary.BigEndian.PutUint16(to[at:], uint16(len(to)-at-2))
	return to
}

// Read reads a position; buf is used and returned.
func Read(r io.Reader, buf []byte, p *Position) ([]byte, error) {
	var size [2]byte
	if _, err := io.ReadFull(r, size[:]); err != nil {
		return buf, err
	}
	n := int(binary.BigEndian.Uint16(size[:]))
	if n < 26 {
		return buf, ErrFormat
	}
	if cap(buf) < n {
		buf = make([]byte, n)
	}
	b := buf[:n]
	if _, err := io.ReadFull(r, b); err != nil {
		return buf, err
	}
	p.Line, p.Car = binary.BigEndian.Uint16(b), binary.BigEndian.Uint16(b[2:])
	p.Serial = binary.BigEndian.Uint32(b[4:])
	p.Lat = math.Float64frombits(binary.BigEndian.Uint64(b[8:]))
	p.Lon = math.Float64frombits(binary.BigEndian.Uint64(b[16:]))
	b = b[24:]
	for _, s := range []*string{&p.Destination, &p.Next} {
		if len(b) == 0 || len(b) < 1+int(b[0]) {
			return buf, ErrFormat
		}
		*s, b = string(b[1:1+b[0]]), b[1+b[0]:]
	}
	return buf, nil
}
