// Package frame is how cabinets and hub talk: a length, a check sum, a body.
package frame

import (
	"bufio"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io"
)

// Limit is the size of the largest body.
const Limit = 32 << 10

// ErrSum says that a body is damaged.
var ErrSum = errors.New("frame: wrong check sum")

// Append adds a frame with the body to buf.
func Append(buf, body []byte) []byte {
	buf = binary.BigEndian.AppendUint32(buf, uint32(len(body)))
	buf = binary.BigEndian.AppendUint32(buf, crc32.ChecksumIEEE(body))
	return append(buf, body...)
}

// Read reads a frame's body.
func Read(br *bufio.Reader) ([]byte, error) {
	var head [8]byte
	if _, err := io.ReadFull(br, head[:]); err != nil {
		return nil, err
	}
	n := binary.BigEndian.Uint32(head[:])
	if n > Limit {
		return nil, errors.New("frame: too large")
	}
	body := make([]byte, n)
	if _, err := io.ReadFull(br, body); err != nil {
		return nil, err
	}
	if crc32.ChecksumIEEE(body) != binary.BigEndian.Uint32(head[4:]) {
		return nil, ErrSum
	}
	return body, nil
}
