// Package wire is the format of the telemetry stream.
package wire

import (
	"bufio"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io"
)

const maxBody = 64 << 10

// Errors of the stream.
var (
	ErrTooLong  = errors.New("wire: frame too long")
	ErrChecksum = errors.New("wire: bad checksum")
)

// Frame is one message of a station.
type Frame struct {
	Station uint64
	Seq     uint64
	Body    []byte
}

// Append adds the encoded frame to b.
func (f Frame) Append(b []byte) []byte {
	b = binary.AppendUvarint(b, uint64(len(f.Body)))
	b = binary.AppendUvarint(b, f.Station)
	b = binary.AppendUvarint(b, f.Seq)
	b = binary.AppendUvarint(b, uint64(crc32.ChecksumIEEE(f.Body)))
	return append(b, f.Body...)
}

type source interface {
	io.Reader
	io.ByteReader
}

type byteReader struct {
	io.Reader
	b [1]byte
}

func (r *byteReader) ReadByte() (byte, error) {
	_, err := io.ReadFull(r.Reader, r.b[:])
	return r.b[0], err
}

// Reader reads frames.
type Reader struct {
	src  source
	body []byte
}

// NewReader returns a reader of the frames in r.
func NewReader(r io.Reader, v2 bool) *Reader {
	out := &Reader{}
	switch s := r.(type) {
	case source:
		out.src = s
	default:
		if v2 {
			out.src = bufio.NewReaderSize(r, 16<<10)
		} else {
			out.src = &byteReader{Reader: r}
		}
	}
	return out
}

// Next returns the next frame. Its body is valid until the next call.
func (r *Reader) Next() (Frame, error) {
	var f Frame
	var head [4]uint64
	for i := range head {
		v, err := binary.ReadUvarint(r.src)
		if err != nil {
			return f, err
		}
		head[i] = v
	}
	if head[0] > maxBody {
		return f, ErrTooLong
	}
	n := int(head[0])
	if cap(r.body) < n {
		r.body = make([]byte, n)
	}
	r.body = r.body[:n]
	if _, err := io.ReadFull(r.src, r.body); err != nil {
		return f, err
	}
	f = Frame{Station: head[1], Seq: head[2], Body: r.body}
	if crc32.ChecksumIEEE(f.Body) != uint32(head[3]) {
		return f, ErrChecksum
	}
	return f, nil
}
