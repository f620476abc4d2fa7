// Package wire is the framing between concentrators and head-end.
package wire

import (
	"bufio"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io"
)

// Kinds of frames.
const (
	Batch = iota + 1
	Ping
	Rotate
)

var errFrame = errors.New("wire: damaged frame")

// Write sends a frame in one write.
func Write(w io.Writer, kind byte, payload []byte) error {
	b := make([]byte, 0, 9+len(payload))
	b = append(b, kind)
	b = binary.BigEndian.AppendUint32(b, uint32(len(payload)))
	b = append(b, payload...)
	b = binary.BigEndian.AppendUint32(b, crc32.ChecksumIEEE(payload))
	_, err := w.Write(b)
	return err
}

// Read reads a frame into the buffer, which may grow.
func Read(r *bufio.Reader, buf []byte) (byte, []byte, error) {
	var head [5]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return 0, buf, err
	}
	n := int(binary.BigEndian.Uint32(head[1:])) + 4
	if n > 1<<20 {
		return 0, buf, errFrame
	}
	if cap(buf) < n {
		buf = make([]byte, n)
	}
	buf = buf[:n]
	if _, err := io.ReadFull(r, buf); err != nil {
		return 0, buf, err
	}
	body := buf[:n-4]
	if crc32.ChecksumIEEE(body) != binary.BigEndian.Uint32(buf[n-4:]) {
		return 0, buf, errFrame
	}
	return head[0], body, nil
}
