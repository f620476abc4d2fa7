// Package link reads and writes the frames of the substation protocol:
// uvarint length, uvarint kind, then the body.
package link

import (
	"bufio"
	"encoding/binary"
	"errors"
	"io"
)

const (
	KindReadings = 0x81 // two bytes as uvarint
	KindClock    = 0x02
)

const maxBody = 1 << 20

var ErrTooLong = errors.New("link: frame too long")

// byteReader gives an io.Reader the ReadByte that binary.ReadUvarint needs.
type byteReader struct {
	io.Reader
	one [1]byte
}

func (b *byteReader) ReadByte() (byte, error) {
	if _, err := io.ReadFull(b.Reader, b.one[:]); err != nil {
		return 0, err
	}
	return b.one[0], nil
}

// Reader reads frames.
type Reader struct {
	src  *byteReader
	body []byte
}

// NewReader returns a Reader of conn.
func NewReader(conn io.Reader, next bool) *Reader {
	if next {
		conn = bufio.NewReaderSize(conn, 32<<10)
	}
	return &Reader{src: &byteReader{Reader: conn}}
}

// Next returns the next frame. The body is valid until the next call.
func (r *Reader) Next() (kind uint64, body []byte, err error) {
	n, err := binary.ReadUvarint(r.src)
	if err != nil {
		return 0, nil, err
	}
	if n > maxBody {
		return 0, nil, ErrTooLong
	}
	if kind, err = binary.ReadUvarint(r.src); err != nil {
		return 0, nil, err
	}
	if uint64(cap(r.body)) < n {
		r.body = make([]byte, n)
	}
	r.body = r.body[:n]
	if _, err = io.ReadFull(r.src, r.body); err != nil {
		return 0, nil, err
	}
	return kind, r.body, nil
}

// Append adds a frame to dst.
func Append(dst []byte, kind uint64, body []byte) []byte {
	dst = binary.AppendUvarint(dst, uint64(len(body)))
	dst = binary.AppendUvarint(dst, kind)
	return append(dst, body...)
}
