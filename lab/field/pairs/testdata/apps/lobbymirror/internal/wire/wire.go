// Package wire carries updates between mirrors: a length, then the update.
package wire

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"encoding/gob"
	"fmt"
	"io"
	"net"

	"lobbymirror/internal/session"
)

const maxFrame = 1 << 20

// Update is one change of a session.
type Update struct {
	Origin  string
	Seq     uint64
	Session session.Session
	Digest  [32]byte
}

// Codec turns updates into frames and back.
type Codec interface {
	Encode(out *bytes.Buffer, u *Update) error
	Decode(in *bytes.Buffer, u *Update) error
}

type single struct{}

// Single is the codec of whole updates.
func Single() Codec { return single{} }

func (single) Encode(out *bytes.Buffer, u *Update) error { return gob.NewEncoder(out).Encode(u) }

func (single) Decode(in *bytes.Buffer, u *Update) error { return gob.NewDecoder(in).Decode(u) }

// Stream is the codec of one link.
func Stream() Codec { return &stream{} }

type stream struct {
	enc *gob.Encoder
	dec *gob.Decoder
}

func (s *stream) Encode(out *bytes.Buffer, u *Update) error {
	if s.enc == nil {
		s.enc = gob.NewEncoder(out)
	}
	return s.enc.Encode(u)
}

func (s *stream) Decode(in *bytes.Buffer, u *Update) error {
	if s.dec == nil {
		s.dec = gob.NewDecoder(in)
	}
	return s.dec.Decode(u)
}

// Link is one end of a connection between mirrors.
type Link struct {
	codec   Codec
	r       *bufio.Reader
	w       *bufio.Writer
	out, in bytes.Buffer
	head    [4]byte
}

// NewLink wraps a connection.
func NewLink(c net.Conn, codec Codec) *Link {
	return &Link{codec: codec, r: bufio.NewReaderSize(c, 32<<10), w: bufio.NewWriterSize(c, 32<<10)}
}

// Send writes an update.
func (l *Link) Send(u *Update) error {
	l.out.Reset()
	if err := l.codec.Encode(&l.out, u); err != nil {
		return err
	}
	binary.BigEndian.PutUint32(l.head[:], uint32(l.out.Len()))
	l.w.Write(l.head[:])
	_, err := l.w.Write(l.out.Bytes())
	return err
}

// Flush sends what has been written.
func (l *Link) Flush() error { return l.w.Flush() }

// Recv reads the next update.
func (l *Link) Recv(u *Update) error {
	if _, err := io.ReadFull(l.r, l.head[:]); err != nil {
		return err
	}
	n := binary.BigEndian.Uint32(l.head[:])
	if n > maxFrame {
		return fmt.Errorf("wire: frame of %d bytes", n)
	}
	l.in.Reset()
	if _, err := io.CopyN(&l.in, l.r, int64(n)); err != nil {
		return err
	}
	return l.codec.Decode(&l.in, u)
}
