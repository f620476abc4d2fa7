// Package report writes the survey of a field in the format of the land office.
package report

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"io"
	"strconv"

	"soilsurveys/internal/samples"
	"soilsurveys/internal/scratch"
)

// Writer writes reports by way of buffers from a store.
type Writer struct {
	Buffers *scratch.Store
}

func number(b *bytes.Buffer, v float64, prec int) {
	b.WriteByte(';')
	b.Write(strconv.AppendFloat(b.AvailableBuffer(), v, 'f', prec, 64))
}

func integer(b *bytes.Buffer, v int) {
	b.WriteByte(';')
	b.Write(strconv.AppendInt(b.AvailableBuffer(), int64(v), 10))
}

func horizon(p []byte, core int, h *samples.Horizon) []byte {
	le := binary.LittleEndian
	p = le.AppendUint32(p, uint32(core))
	p = le.AppendUint16(p, uint16(h.Top))
	p = le.AppendUint16(p, uint16(h.Bottom))
	p = le.AppendUint16(p, uint16(h.PH*100))
	p = le.AppendUint16(p, uint16(h.Carbon*100))
	p = le.AppendUint16(p, uint16(h.Nitrogen*1000))
	p = le.AppendUint16(p, uint16(h.Potash*10))
	p = append(p, byte(len(h.Texture)))
	return append(p, h.Texture...)
}

func body(b *bytes.Buffer, f *samples.Field) {
	for i := range f.Cores {
		c := &f.Cores[i]
		b.WriteByte('C')
		number(b, c.Lat, 5)
		number(b, c.Lon, 5)
		for k := range c.Horizons {
			b.Write(horizon(b.AvailableBuffer(), i, &c.Horizons[k]))
		}
		integer(b, len(c.Spectrum))
		b.WriteByte('\n')
		b.Write(c.Spectrum)
	}
}

// Write sends the report of a field to w and returns its length.
func (wr *Writer) Write(w io.Writer, f *samples.Field) (int64, error) {
	b := wr.Buffers.Get()
	defer wr.Buffers.Put(b)

	b.WriteString("SURVEY")
	integer(b, f.ID)
	b.WriteByte(';')
	b.WriteString(f.Farm)
	number(b, f.Mean(func(h *samples.Horizon) float64 { return h.PH }), 2)
	number(b, f.Mean(func(h *samples.Horizon) float64 { return h.Carbon }), 2)
	b.WriteByte('\n')
	body(b, f)
	sum := crc32.ChecksumIEEE(b.Bytes())
	b.WriteString("END;")
	b.Write(strconv.AppendUint(b.AvailableBuffer(), uint64(sum), 16))
	b.WriteByte('\n')
	n, err := w.Write(b.Bytes())
	return int64(n), err
}
