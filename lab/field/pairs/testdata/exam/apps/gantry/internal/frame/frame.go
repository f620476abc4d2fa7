// Package frame is the binary protocol between gantries and the clearing house: a header
// of twelve bytes and a payload.
package frame

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
)

// A Kind says what a payload is.
type Kind uint16

// The kinds of frames.
const (
	Passage Kind = iota + 1
	Receipt
	Refusal
)

const (
	magic      = 0x6754
	headerSize = 12
	maxPayload = 64 << 10
)

// ErrFormat says that what was read is no frame.
var ErrFormat = errors.New("frame: not a frame")

// A Writer writes frames.
type Writer struct {
	w      io.Writer
	header [headerSize]byte
}

// NewWriter writes to w.
func NewWriter(w io.Writer) *Writer { return &Writer{w: w} }

// Write writes a frame.
func (w *Writer) Write(kind Kind, payload []byte) error {
	h := w.header[:]
	binary.BigEndian.PutUint16(h, magic)
	binary.BigEndian.PutUint16(h[2:], uint16(kind))
	binary.BigEndian.PutUint32(h[4:], uint32(len(payload)))
	binary.BigEndian.PutUint32(h[8:], crc32.ChecksumIEEE(payload))
	if _, err := w.w.Write(h); err != nil {
		return err
	}
	_, err := w.w.Write(payload)
	return err
}

// A Reader reads frames.
type Reader struct {
	r       *bufio.Reader
	header  [headerSize]byte
	payload []byte
}

// NewReader reads from r.
func NewReader(r io.Reader) *Reader { return &Reader{r: bufio.NewReader(r)} }

// Read returns the next frame; the payload is good until the next call.
func (r *Reader) Read() (Kind, []byte, error) {
	h := r.header[:]
	if _, err := io.ReadFull(r.r, h); err != nil {
		return 0, nil, err
	}
	size := binary.BigEndian.Uint32(h[4:])
	if binary.BigEndian.Uint16(h) != magic || size > maxPayload {
		return 0, nil, ErrFormat
	}
	if cap(r.payload) < int(size) {
		r.payload = make([]byte, size)
	}
	r.payload = r.payload[:size]
	if _, err := io.ReadFull(r.r, r.payload); err != nil {
		return 0, nil, fmt.Errorf("frame: payload: %w", err)
	}
	if crc32.ChecksumIEEE(r.payload) != binary.BigEndian.Uint32(h[8:]) {
		return 0, nil, ErrFormat
	}
	return Kind(binary.BigEndian.Uint16(h[2:])), r.payload, nil
}
