// Package beacon has the frames that the beacons at the road exchange with the hub.
package beacon

import (
	"bufio"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io"
)

// Kinds of frames.
const (
	KindHello = iota + 1
	KindSighting
	KindAck
	KindBye
)

// Frame is one message.
type Frame struct {
	Kind byte
	Data []byte
}

var errSum = errors.New("beacon: wrong sum")

// Write sends a frame.
func Write(w io.Writer, f Frame) error {
	b := make([]byte, 0, 9+len(f.Data))
	b = append(b, f.Kind)
	b = binary.BigEndian.AppendUint32(b, uint32(len(f.Data)))
	b = binary.BigEndian.AppendUint32(b, crc32.ChecksumIEEE(f.Data))
	b = append(b, f.Data...)
	_, err := w.Write(b)
	return err
}

// Read receives a frame.
func Read(r *bufio.Reader) (Frame, error) {
	var head [9]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return Frame{}, err
	}
	n := binary.BigEndian.Uint32(head[1:])
	if n > 64<<10 {
		return Frame{}, errors.New("beacon: frame too long")
	}
	f := Frame{Kind: head[0], Data: make([]byte, n)}
	if _, err := io.ReadFull(r, f.Data); err != nil {
		return Frame{}, err
	}
	if crc32.ChecksumIEEE(f.Data) != binary.BigEndian.Uint32(head[5:]) {
		return Frame{}, errSum
	}
	return f, nil
}
