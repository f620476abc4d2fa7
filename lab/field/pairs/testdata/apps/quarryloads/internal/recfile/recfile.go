// Package recfile keeps records, each after its length, in a file.
package recfile

import (
	"bufio"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io"
	"os"
)

// ErrSum is returned when a record and its check sum differ.
var ErrSum = errors.New("recfile: wrong check sum")

const maxRecord = 1 << 16

// Writer appends records.
type Writer struct {
	f *os.File
	b *bufio.Writer
}

// Create makes a new file.
func Create(name string) (*Writer, error) {
	f, err := os.Create(name)
	if err != nil {
		return nil, err
	}
	return &Writer{f, bufio.NewWriter(f)}, nil
}

// Append writes a record.
func (w *Writer) Append(rec []byte) error {
	head := binary.AppendUvarint(nil, uint64(len(rec)))
	head = binary.LittleEndian.AppendUint32(head, crc32.ChecksumIEEE(rec))
	w.b.Write(head)
	_, err := w.b.Write(rec)
	return err
}

// Close completes the file.
func (w *Writer) Close() error {
	if err := w.b.Flush(); err != nil {
		w.f.Close()
		return err
	}
	return w.f.Close()
}

// Source is where a Reader reads from.
type Source interface {
	io.Reader
	io.ByteReader
}

// Reader gives the records of a source.
type Reader struct {
	src Source
	buf []byte
}

// NewReader makes a reader; a source that can give bytes is used as it is.
func NewReader(r io.Reader) *Reader {
	src, ok := r.(Source)
	if !ok {
		src = &byteSource{Reader: r}
	}
	return &Reader{src: src}
}

type byteSource struct {
	io.Reader
	one [1]byte
}

func (s *byteSource) ReadByte() (byte, error) {
	_, err := io.ReadFull(s.Reader, s.one[:])
	return s.one[0], err
}

// Next gives the next record, valid until the following call.
func (r *Reader) Next() ([]byte, error) {
	n, err := binary.ReadUvarint(r.src)
	if err != nil {
		return nil, err
	}
	if n > maxRecord {
		return nil, errors.New("recfile: record too long")
	}
	need := int(n) + 4
	if cap(r.buf) < need {
		r.buf = make([]byte, need*2)
	}
	b := r.buf[:need]
	if _, err := io.ReadFull(r.src, b); err != nil {
		return nil, err
	}
	if crc32.ChecksumIEEE(b[4:]) != binary.LittleEndian.Uint32(b) {
		return nil, ErrSum
	}
	return b[4:], nil
}
