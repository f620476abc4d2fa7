// Package archive packs values into checked blocks.
package archive

import (
	"bytes"
	"compress/flate"
	"crypto/sha256"
	"encoding/binary"
	"math"

	"substationfeed/internal/rollup"
)

// Writer packs the values of one collector.
type Writer struct {
	buf    []byte
	packed bytes.Buffer
	z      *flate.Writer
	sum    [sha256.Size]byte
	Blocks int
	Bytes  int
}

// Put appends a value of the series.
func (w *Writer) Put(s *rollup.Series, v float64, at int64) error {
	w.buf = binary.AppendVarint(w.buf, at-s.LastAt)
	w.buf = binary.AppendUvarint(w.buf, math.Float64bits(v)^math.Float64bits(s.Last))
	s.Last, s.LastAt = v, at
	if len(w.buf) < 32<<10 {
		return nil
	}
	return w.block()
}

func (w *Writer) block() error {
	w.packed.Reset()
	if w.z == nil {
		w.z, _ = flate.NewWriter(&w.packed, flate.DefaultCompression)
	}
	w.z.Reset(&w.packed)
	w.z.Write(w.buf)
	if err := w.z.Close(); err != nil {
		return err
	}
	w.packed.Write(w.sum[:])
	w.sum = sha256.Sum256(w.packed.Bytes())
	w.Blocks++
	w.Bytes += w.packed.Len()
	w.buf = w.buf[:0]
	return nil
}
