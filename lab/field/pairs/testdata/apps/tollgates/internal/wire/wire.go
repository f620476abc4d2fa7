// Package wire holds the framing between lane controllers and the hub.
package wire

import (
	"bufio"
	"encoding/binary"
	"io"
)

const Hello, Passage, Price, Push, Bye byte = 1, 2, 3, 4, 5

type Frame struct {
	Kind byte
	Body []byte
}

// Write appends one frame to w without flushing it.
func Write(w *bufio.Writer, f Frame) error {
	w.WriteByte(f.Kind)
	w.Write(binary.BigEndian.AppendUint16(nil, uint16(len(f.Body))))
	_, err := w.Write(f.Body)
	return err
}

// Read returns the next frame of r.
func Read(r *bufio.Reader) (Frame, error) {
	var head [3]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return Frame{}, err
	}
	body := make([]byte, binary.BigEndian.Uint16(head[1:]))
	_, err := io.ReadFull(r, body)
	return Frame{head[0], body}, err
}
