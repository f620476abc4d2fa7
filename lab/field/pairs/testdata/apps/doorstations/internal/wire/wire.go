// Package wire has the frames that door stations and the control send.
package wire

import (
	"bufio"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"io"
)

// ErrSeal is returned for frames with a wrong seal.
var ErrSeal = errors.New("wire: wrong seal")

// Frame is one command or answer.
type Frame struct {
	Seq  uint32
	Body []byte
}

// Codec seals frames with a key.
type Codec struct{ Key []byte }

func (c Codec) seal(seq uint32, body []byte) []byte {
	m := hmac.New(sha256.New, c.Key)
	m.Write(binary.BigEndian.AppendUint32(nil, seq))
	m.Write(body)
	return m.Sum(nil)[:16]
}

// Write sends a frame.
func (c Codec) Write(w io.Writer, f Frame) error {
	b := binary.BigEndian.AppendUint32(nil, f.Seq)
	b = binary.BigEndian.AppendUint16(b, uint16(len(f.Body)))
	b = append(b, f.Body...)
	_, err := w.Write(append(b, c.seal(f.Seq, f.Body)...))
	return err
}

// Read receives a frame.
func (c Codec) Read(r *bufio.Reader) (Frame, error) {
	var head [6]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return Frame{}, err
	}
	f := Frame{Seq: binary.BigEndian.Uint32(head[:])}
	b := make([]byte, int(binary.BigEndian.Uint16(head[4:]))+16)
	if _, err := io.ReadFull(r, b); err != nil {
		return Frame{}, err
	}
	f.Body = b[:len(b)-16]
	if !hmac.Equal(b[len(b)-16:], c.seal(f.Seq, f.Body)) {
		return Frame{}, ErrSeal
	}
	return f, nil
}
